"""CSV for Excel and for machines: one row a sample, the user's own columns first."""

from __future__ import annotations

import codecs
import csv
import io
import math
import re
from collections.abc import Callable
from typing import IO, Any, ClassVar

from ragstone.export.base import FileExporter, Order
from ragstone.export.columns import Kind, columns_of, json_text
from ragstone.export.content import Content, Line
from ragstone.text import say

EXCEL_MOST = 32_767
"""Characters that a cell of Excel holds; what comes after is lost there."""

_UNSAFE = re.compile("[\\s\u200b\u2060\ufeff\0]*[=+\\-@＝＋－＠]|[\t\r\n]")


class CsvExporter(FileExporter):
    """Writes the wide table: the user's columns, each metric with status and reason, claims as text, what the run is.

    UTF-8 with a byte order mark, lines end in CR LF, as Excel writes them. Text that a spreadsheet would take for a formula
    has an apostrophe before it. Lists and objects are JSON. A cell that is not ok has no value.
    """

    name: ClassVar[str] = "csv"
    suffix: ClassVar[str] = ".csv"

    def write(self, content: Content, file: IO[bytes], order: Order) -> None:
        """Write the file row by row; cells longer than Excel can hold are kept, and told."""
        file.write(codecs.BOM_UTF8)
        text = io.TextIOWrapper(file, encoding="utf-8", errors="replace", newline="")
        try:
            writer, table = csv.writer(text), Table(content, order)
            writer.writerow(table.heads)
            writer.writerows(map(table.row, content.lines()))
        finally:
            text.detach()
        if table.long:
            order.tell(say("exported.long_cells", order.lang, count=table.long, most=EXCEL_MOST))


class Table:
    """The columns of the wide table, and the cells of a line in them."""

    def __init__(self, content: Content, order: Order) -> None:
        """Look through the samples for the columns there are."""
        self.long = 0
        """Cells so far that Excel cuts."""
        run = _run_columns(content, order)
        self._run = [self._cell(value) for value in run.values()]
        columns = columns_of(content, reserved=run, spelled=_safe)
        self.heads = [*columns.names, *run]
        """Names of the columns."""
        shown: dict[Kind, Callable[[Any], object]] = {"value": _plain, "status": _plain, "claims": self._claims}
        self._read = [(column.of, shown.get(column.kind, self._cell)) for column in columns.columns]

    def row(self, line: Line) -> list[object]:
        """Return the cells of a sample."""
        row = [None if (value := of(line)) is None else shown(value) for of, shown in self._read]
        row += self._run
        return row

    def _claims(self, claims: list[str]) -> object:
        """Claims one below the other."""
        return self._cell("\n".join(claims)) if claims else None

    def _cell(self, value: object) -> object:
        """A value as CSV holds it: numbers as such, text made safe, the rest as JSON."""
        if isinstance(value, str):
            text = _safe(value)
        elif value is None or (isinstance(value, float) and not math.isfinite(value)):
            return None
        elif isinstance(value, int | float) and not isinstance(value, bool):
            return value
        else:
            text = json_text(value)
        if len(text) > EXCEL_MOST:
            self.long += 1
        return text


def _plain(value: object) -> object:
    """A number in [0, 1], or a word of ragstone's own."""
    return value


def _safe(text: str) -> str:
    """Put an apostrophe before what a spreadsheet would take for a formula; NUL, which ends a text there, becomes �."""
    text = text.replace("\0", "\ufffd")
    return "'" + text if _UNSAFE.match(text) else text


def _run_columns(content: Content, order: Order) -> dict[str, str | None]:
    facts = content.facts
    counts = "; ".join(f"{m.metric} {m.n}/{m.total}" for m in content.summary.metrics)
    notice = say("judges.smoke_test", order.lang) if facts.notice else None
    return {"ragstone.run_id": facts.run_id, "ragstone.signature": facts.signature, "ragstone.counts": counts, "ragstone.notice": notice}
