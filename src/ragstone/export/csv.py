"""CSV for Excel and for machines: one row a sample, the user's own columns first."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any, ClassVar

from ragstone.analysis.slices import expected_behavior
from ragstone.export.base import FileExporter, Order
from ragstone.export.content import Cell, Content, Line
from ragstone.plain_json import dumped
from ragstone.text import say

EXCEL_MOST = 32_767
"""Characters that a cell of Excel holds; what comes after is lost there."""

_TEXTS = ("question", "answer", "contexts", "reference")
_LAST = ("language", "expected_behavior")
_UNSAFE = re.compile("[\\s\ufeff\0]*[=+\\-@＝＋－＠]|[\t\r\n]")
_GOOD = frozenset(("supported", "covered"))


class CsvExporter(FileExporter):
    """Writes the wide table: the user's columns, each metric with status and reason, claims as text, what the run is.

    UTF-8 with a byte order mark, lines end in CR LF, as Excel writes them. Text that a spreadsheet would take for a formula
    has an apostrophe before it. Lists and objects are JSON. A cell that is not ok has no value.
    """

    name: ClassVar[str] = "csv"
    suffix: ClassVar[str] = ".csv"

    def write(self, content: Content, file: IO[bytes], order: Order) -> None:
        """Write the file row by row; cells longer than Excel can hold are kept, and told."""
        text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace", newline="", write_through=False)
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
        self._metrics = content.metrics
        self._fields = tuple(_fields_of(content))
        behaviour = "expected_behavior" in self._fields
        self._meta = tuple(key for key in content.meta_keys if not (behaviour and key == "expected_behavior"))
        self._claims = [reader for reader in _READERS if any(_base(name) in reader.metrics for name in self._metrics)]
        run = _run_columns(content, order)
        self._run = [self._cell(value) for value in run.values()]
        scored = [head for name in self._metrics for head in (name, f"{name}.status", f"{name}.reason")]
        taken = ["id", *self._fields, *map(_safe, scored), *(reader.head for reader in self._claims), *run]
        own = list(_untaken(map(_safe, self._meta), set(taken)))
        split = 1 + len(self._fields)
        self.heads = [*taken[:split], *own, *taken[split:]]
        """Names of the columns."""

    def row(self, line: Line) -> list[object]:
        """Return the cells of a sample."""
        sample, cell = line.sample, self._cell
        meta = held if isinstance(held := sample.get("meta"), dict) else {}
        cells: list[object] = [cell(line.id)]
        cells += [cell(expected_behavior(sample) if name == "expected_behavior" else sample.get(name)) for name in self._fields]
        cells += [cell(meta.get(key)) for key in self._meta]
        for scored in line.cells:
            cells += (None, None, None) if scored is None else (scored.value, scored.status, cell(scored.reason))
        cells += [cell(reader.text(line)) for reader in self._claims]
        return cells + self._run

    def _cell(self, value: object) -> object:
        """A value as CSV holds it: numbers as such, text made safe, the rest as JSON."""
        if isinstance(value, str):
            text = _safe(value)
        elif value is None or (isinstance(value, float) and not math.isfinite(value)):
            return None
        elif isinstance(value, int | float) and not isinstance(value, bool):
            return value
        else:
            text = _json(value)
        if len(text) > EXCEL_MOST:
            self.long += 1
        return text


def _safe(text: str) -> str:
    """Put an apostrophe before what a spreadsheet would take for a formula; NUL, which ends a text there, becomes �."""
    text = text.replace("\0", "\ufffd")
    return "'" + text if _UNSAFE.match(text) else text


def _json(value: object) -> str:
    """JSON, of a list with an item a line, so that a person can read it in a cell."""
    if isinstance(value, list | tuple) and len(value) > 1:
        return "[" + ",\n ".join(dumped(item).decode() for item in value) + "]"
    return dumped(value).decode()


def _fields_of(content: Content) -> Iterator[str]:
    if content.has_samples:
        yield from _TEXTS
        yield from (name for name in content.fields if name not in (*_TEXTS, *_LAST))
        yield from (name for name in _LAST if name in content.fields or (name == _LAST[1] and name in content.meta_keys))


def _untaken(names: Iterable[str], taken: set[str]) -> Iterator[str]:
    for name in names:
        while name in taken:
            name = f"meta.{name}"
        taken.add(name)
        yield name


def _run_columns(content: Content, order: Order) -> dict[str, str | None]:
    facts = content.facts
    counts = "; ".join(f"{m.metric} {m.n}/{m.total}" for m in content.summary.metrics)
    notice = say("judges.smoke_test", order.lang) if facts.notice else None
    return {"ragstone.run_id": facts.run_id, "ragstone.signature": facts.signature, "ragstone.counts": counts, "ragstone.notice": notice}


# ------------------------------------------------------------------ claims
def _base(metric: str) -> str:
    return metric.partition("(")[0]


class _Reader:
    """A column of claims as text, one a line."""

    def __init__(self, head: str, metrics: tuple[str, ...], says: Callable[[Cell, Row], str | None]) -> None:
        self.head, self.metrics, self._says = head, metrics, says

    def text(self, line: Line) -> str | None:
        """Return the claims of a sample that hold not; None if there are none."""
        cells = (cell for cell in line.cells if cell is not None and _base(cell.metric) in self.metrics)
        told = [said for cell in cells for verdict in cell.verdicts if (said := self._says(cell, verdict))]
        return "\n".join(dict.fromkeys(told)) or None


Row = dict[str, Any]


def _unsupported(_: Cell, verdict: Row) -> str | None:
    return None if verdict.get("verdict") in _GOOD else _claim(verdict)


def _missing(cell: Cell, verdict: Row) -> str | None:
    wanted = verdict.get("kind") == "reference_claim" and verdict.get("verdict") not in _GOOD
    return f"{_base(cell.metric)} {_claim(verdict)}" if wanted else None


def _claim(verdict: Row) -> str:
    text = " ".join(str(verdict.get("text", "")).split())
    return f"{verdict.get('id', '?')} {verdict.get('verdict', '?')}: {text}"


_READERS = (
    _Reader("unsupported_claims", ("faithfulness",), _unsupported),
    _Reader("missing_claims", ("context_recall", "answer_correctness"), _missing),
)
