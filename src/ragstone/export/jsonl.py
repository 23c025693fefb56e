"""JSON lines: one a stored cell, with what an export must carry on every line, so that each can be read alone."""

from __future__ import annotations

from typing import IO, Any, ClassVar

from ragstone.export.base import FileExporter, Order
from ragstone.export.content import Content
from ragstone.lines import Row
from ragstone.plain_json import dumped

_FIELDS: dict[str, Any] = {
    **dict.fromkeys(("sample_id", "metric")),
    "repeat": 0,
    **dict.fromkeys(("value", "status", "reason")),
    "verdicts": [],
    "questions": [],
    "detail": {},
}
_NEVER_NONE = ("repeat", "verdicts", "questions", "detail")
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
            line = dumped(_whole(row))[:-1] + tails[str(row["metric"])]
            lines.append(line)
            size += len(line)
            if size > _TOGETHER:
                file.writelines(lines)
                lines, size = [], 0
        file.writelines(lines)


def _whole(row: Row) -> Row:
    """A line with every field, whatever another writer left out or empty."""
    found: Row = {**_FIELDS, **row}
    if type(found["sample_id"]) is str and found["status"] == "ok" and None not in map(found.get, _NEVER_NONE):
        return found
    filling = {name: _FIELDS[name] for name in _NEVER_NONE if found[name] is None}
    reason = found["reason"] or (None if found["status"] == "ok" else "unknown")
    return {**found, **filling, "sample_id": str(found["sample_id"]), "reason": reason}


def _tails(content: Content) -> dict[str, bytes]:
    """What closes a line of each metric."""
    facts = content.facts
    known = {"run_id": facts.run_id, "signature": facts.signature, "notice": facts.notice}
    counts = {m.metric: {"n": m.n, "total": m.total} for m in content.summary.metrics}
    return {name: b',"run":' + dumped({**known, **counts.get(name, {"n": 0, "total": 0})}) + b"}\n" for name in content.metrics}
