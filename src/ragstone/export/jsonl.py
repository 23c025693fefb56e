"""JSON lines: one a stored cell, with what an export must carry on every line, so that each can be read alone."""

from __future__ import annotations

from typing import IO, Any, ClassVar

from ragstone.export.base import FileExporter, Order
from ragstone.export.content import Content
from ragstone.plain_json import dumped

_FIELDS: dict[str, Any] = {
    **dict.fromkeys(("sample_id", "metric")),
    "repeat": 0,
    **dict.fromkeys(("value", "status", "reason")),
    "verdicts": [],
    "questions": [],
    "detail": {},
}
_TOGETHER = 1 << 20


class JsonlExporter(FileExporter):
    """Writes the lines of `scores.jsonl`, in run order, each with `run`: `{"run_id","signature","notice","n","total"}`.

    `n` and `total` are those of the line's metric: samples with a value, and samples that should have one. A cell that was
    promised and never stored is a line too, failed, `interrupted`.
    """

    name: ClassVar[str] = "jsonl"
    suffix: ClassVar[str] = ".jsonl"

    def write(self, content: Content, file: IO[bytes], order: Order) -> None:
        """Write the file line by line."""
        tails = _tails(content)
        lines, size = list[bytes](), 0
        for row in content.rows():
            line = dumped({**_FIELDS, **row, "sample_id": str(row["sample_id"])})[:-1] + tails[str(row["metric"])]
            lines.append(line)
            size += len(line)
            if size > _TOGETHER:
                file.writelines(lines)
                lines, size = [], 0
        file.writelines(lines)


def _tails(content: Content) -> dict[str, bytes]:
    """What closes a line of each metric."""
    facts = content.facts
    known = {"run_id": facts.run_id, "signature": facts.signature, "notice": facts.notice}
    counts = {m.metric: {"n": m.n, "total": m.total} for m in content.summary.metrics}
    return {name: b',"run":' + dumped({**known, **counts.get(name, {"n": 0, "total": 0})}) + b"}\n" for name in content.metrics}
