"""JSON: the whole run as one document that `ragstone.load` reads again; a line a sample and a score, so that it is never held whole."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Any, ClassVar

from ragstone.export.base import FileExporter, Order
from ragstone.export.content import Content
from ragstone.export_file import END, FORMAT, NO_SAMPLES, SAMPLES_HEAD, SCORES_HEAD, TAIL, TOLD_ON, VERSION
from ragstone.lines import Row
from ragstone.plain_json import dumped

_TOGETHER = 1 << 20


class JsonExporter(FileExporter):
    """Writes `{"format","version","run","manifest","summary","notices","samples","scores"}`.

    `run` and `summary` are those of `show --json`; `manifest` and `samples` are as the run folder holds them, null where it
    holds none; `scores` are the stored score lines with their verdicts, in the order of the file, of a doubled cell the last.
    """

    name: ClassVar[str] = "json"
    suffix: ClassVar[str] = ".json"

    def write(self, content: Content, file: IO[bytes], order: Order) -> None:
        """Write the document piece by piece."""
        run = content.run
        summary, facts = content.shown(), content.facts.to_dict()
        told = dict.fromkeys(notice for notice in summary.warnings if notice.code in TOLD_ON)
        head: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "run": facts,
            "manifest": run.manifest or None,
            "summary": summary.to_dict(),
            "notices": [{"code": notice.code, "values": dict(notice.values)} for notice in told],
        }
        file.write(b"{" + b",\n".join(dumped(name) + b":" + dumped(value) for name, value in head.items()) + b",\n")
        if run.holds_samples:
            _write(file, SAMPLES_HEAD, run.sample_rows([]), END)
        else:
            file.write(NO_SAMPLES + b"\n")
        _write(file, SCORES_HEAD, content.stored(), TAIL)


def _write(file: IO[bytes], head: bytes, rows: Iterable[Row], end: bytes) -> None:
    """Write one part of the document, a line a row."""
    pieces, size = [head, b"\n"], 0
    first = True
    for row in rows:
        line = dumped(row)
        pieces += (line,) if first else (b",\n", line)
        first = False
        size += len(line)
        if size > _TOGETHER:
            file.writelines(pieces)
            pieces, size = [], 0
    file.writelines([*pieces, b"" if first else b"\n", end, b"\n"])
