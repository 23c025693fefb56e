"""Score rows whose value is no number, read as what they are: cells that were not measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ragstone.analysis.cells import FAILED, Notice
from ragstone.lines import Lines, Row

REASON = "not_a_number"


class Measured:
    """Rows as they are held, but NaN, infinity and what is no number at all never stand as a value.

    An ok cell with such a value is failed, `not_a_number`; beside another status it is left out. A number outside [0, 1] stays:
    it was measured with another yardstick, and whoever reads the cells refuses it.
    """

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self.name, self.where = lines.name, lines.where

    def read(self, notices: list[Notice]) -> Iterator[tuple[int, int, Row]]:
        """Yield (place, line number, row); how many values were no numbers, and where the first stood, goes to `notices`."""
        count = first = 0
        for place, number, row in self._lines.read(notices):
            if is_no_number(row.get("value")):
                count, first = count + 1, first or number
                row = mended(row)
            yield place, number, row
        if count:
            notices.append(Notice(REASON, (("count", count), ("file", self.name), ("line", first))))

    def at(self, place: int) -> Row:
        """Return the row at a place."""
        return mended(self._lines.at(place))

    @contextmanager
    def fetching(self) -> Iterator[Callable[[int], Row]]:
        """Give what gets back the row at a place."""
        with self._lines.fetching() as fetch:
            yield lambda place: mended(fetch(place))


def is_no_number(value: object) -> bool:
    """True for NaN, infinity, text, true and false; None is no value, and fine."""
    if type(value) is float:
        return not math.isfinite(value)
    return value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value))


def mended(row: Row) -> Row:
    """Return a row with a number or None for its value."""
    if not is_no_number(row.get("value")):
        return row
    return {**row, "value": None} | ({"status": FAILED, "reason": REASON} if row.get("status") == "ok" else {})
