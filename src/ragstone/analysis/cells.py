"""Score rows packed into columns of numbers: 100,000 samples fit into a few megabytes.

A cell is one metric on one sample. Its value is the mean of its ok repeats; it is ok if one repeat is ok, failed if none
is and one failed, else not applicable. The reason of a cell that is not ok is that of its first such repeat.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import add
from typing import Any

from ragstone.analysis.ids import Ids
from ragstone.analysis.pooled import Pooling, pooling

Row = dict[str, Any]

ABSENT = -1.0
_MOST = 65535
FAILED, NOT_APPLICABLE = "failed", "not_applicable"
INTERRUPTED = (FAILED, "interrupted")
_NO_LINES: list[Row] = []


class RowProblem(ValueError):
    """A row that no run folder may hold; `code` says why, `value` what stood there."""

    def __init__(self, code: str, value: object = None) -> None:
        super().__init__(code, value)
        self.code, self.value = code, value


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a reader of the numbers should know: a code and its values."""

    code: str
    values: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        said = ", ".join(f"{name}={value}" for name, value in self.values)
        return f"{self.code}: {said}" if said else self.code


class Lane:
    """One repeat of one metric: a number a sample. >= 0 is a value, -1 no row, below that -2 - (number of the reason)."""

    def __init__(self, pool: Pooling) -> None:
        self.values = array("d")
        self.places: array[int] = array("I")
        self.pool = pool
        self.counts: array[int] = array("H")
        """`pool.counts` numbers a sample, one sample after another."""
        self.amounts = array("d")

    def put(self, at: int, value: float, place: int) -> bool:
        """Store a sample's number; returns True if one stood there."""
        values = self.values
        held = False
        if at == len(values):
            values.append(value)
        else:
            values.extend([ABSENT] * (at + 1 - len(values)))
            held = values[at] != ABSENT
            values[at] = value
        self.places = _set(self.places, at, place)
        return held

    def leave(self, at: int, counts: tuple[int, ...], amount: float) -> None:
        """Store what the sample leaves for the mean over claims; zeros where there is nothing."""
        start, end = at * len(counts), (at + 1) * len(counts)
        if start > len(self.counts):
            self.counts.extend([0] * (start - len(self.counts)))
        if max(counts) > _MOST and self.counts.typecode == "H":
            self.counts = array("Q", self.counts)
        if start == len(self.counts):
            self.counts.extend(counts)
        else:
            self.counts[start:end] = array(self.counts.typecode, counts)
        if amount or at < len(self.amounts):
            self.amounts.extend([0.0] * (at + 1 - len(self.amounts)))
            self.amounts[at] = amount

    def left(self, at: int) -> array[int]:
        """Return the counts that a sample left, all 0 or none where it left nothing."""
        return self.counts[at * self.pool.counts : (at + 1) * self.pool.counts]

    def value(self, at: int) -> float:
        """Return the number of a sample."""
        return self.values[at] if at < len(self.values) else ABSENT


def _set(column: array[int], at: int, value: int) -> array[int]:
    """Set a number, zeros before it where there were none; a column grows wider when a number no longer fits."""
    try:
        if at == len(column):
            column.append(value)
        else:
            column.extend([0] * (at + 1 - len(column)))
            column[at] = value
    except OverflowError:
        return _set(array("Q", column), at, value)
    return column


class Column:
    """One metric: its repeats, and the weight of the claim part where it has one."""

    def __init__(self, metric: str) -> None:
        self.metric = metric
        self.pool = pooling(metric)
        self.lanes: dict[int, Lane] = {}
        self.claim_weight = 1.0

    def lane(self, repeat: int) -> Lane:
        """Return a repeat's lane, a new one if need be; kept in order of the repeat."""
        found = self.lanes.get(repeat)
        if found is None:
            found = self.lanes[repeat] = Lane(self.pool)
            self.lanes = dict(sorted(self.lanes.items()))
        return found


class Cells:
    """All cells of a run. Samples are numbered in run order by `ids`."""

    def __init__(self) -> None:
        self.ids = Ids()
        self.columns: dict[str, Column] = {}
        self.reasons: dict[tuple[str, str], float] = {}
        self.doubled = 0
        self.in_parts: set[tuple[str, int, int]] = set()
        """Cells (metric, sample number, repeat) that did not fit into one request."""
        self.promised = 0
        """So many samples, the first ones, have a cell in every column; one without a row counts as interrupted."""
        self._promising: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.ids)

    def column(self, metric: str) -> Column:
        """Return a metric's column, a new one if need be."""
        found = self.columns.get(metric)
        if found is None:
            found = self.columns[metric] = Column(metric)
        return found

    def promise(self, metrics: Iterable[str]) -> None:
        """Say that every sample known so far has a cell of each of these metrics."""
        self.promised = len(self.ids)
        self._promising = frozenset(metrics)
        for metric in metrics:
            self.column(metric)

    def add(self, row: Row, place: int) -> None:
        """Take in one row, found at `place`. Raises RowProblem for a value or status that cannot be."""
        sample_id, metric, repeat, value = checked(row)
        if value is None:
            value = self._code(row["status"], row.get("reason"))
        column = self.columns.get(metric) or self.column(metric)
        at, lane = self.ids.number(sample_id), column.lanes.get(repeat) or column.lane(repeat)
        self.doubled += lane.put(at, value, place)
        self._note((metric, at, repeat), row)
        if value >= 0 and row.get("verdicts"):
            self._pool(column, lane, at, row)
        elif at * column.pool.counts < len(lane.counts):
            lane.leave(at, (0,) * column.pool.counts, 0.0)

    def _note(self, cell: tuple[str, int, int], row: Row) -> None:
        detail = row.get("detail")
        if isinstance(detail, dict) and detail.get("in_parts"):
            self.in_parts.add(cell)
        elif self.in_parts:
            self.in_parts.discard(cell)

    def _pool(self, column: Column, lane: Lane, at: int, row: Row) -> None:
        try:
            left = column.pool.read(row)
        except (KeyError, TypeError, ValueError):  # hand-made lines may lack what pooling needs: then micro cannot be computed
            left = None
        counts, amount, weight = left or ((0,) * column.pool.counts, 0.0, column.claim_weight)
        column.claim_weight = weight
        lane.leave(at, counts, amount)

    def _code(self, status: str, reason: object) -> float:
        return self.reasons.setdefault((status, str(reason or "unknown")), -2.0 - len(self.reasons))

    def reason(self, code: float) -> tuple[str, str]:
        """Return (status, reason) of a number below -1; of -1 in a promised cell: failed, interrupted."""
        return INTERRUPTED if code == ABSENT else list(self.reasons)[int(-2 - code)]

    def outcome(self, column: Column, at: int) -> float | None:
        """Return a cell's value (>= 0) or the number of its reason (< 0); None if there is no such cell."""
        return next(self.outcomes(column, (at,)))

    def outcomes(self, column: Column, rows: Iterable[int]) -> Iterator[float | None]:
        """Yield the outcome of a column's cells for some samples."""
        lanes = list(column.lanes.values())
        promised = self.promised if column.metric in self._promising else 0
        values = lanes[0].values if len(lanes) == 1 else ()
        held = len(values)
        for at in rows:
            found = values[at] if at < held else self._combined([lane.value(at) for lane in lanes])
            yield None if found == ABSENT and at >= promised else found

    def _combined(self, values: list[float]) -> float:
        fine = [v for v in values if v >= 0]
        if fine:
            return min(1.0, math.fsum(fine) / len(fine))
        codes = [v for v in values if v != ABSENT]
        return next((c for c in codes if self.reason(c)[0] == FAILED), codes[0] if codes else ABSENT)

    def place(self, column: Column, at: int) -> int:
        """Return where the row stands that shows a cell best: its first ok repeat, else the one its reason is from; -1 if it has none."""
        outcome = self.outcome(column, at)
        for lane in column.lanes.values():
            value = lane.value(at)
            if value >= 0 or (value == outcome and value != ABSENT):
                return lane.places[at]
        return -1

    def pooled(self, column: Column, rows: Sequence[int]) -> float | None:
        """Return the mean over all claims of these samples' ok repeats; None where no verdict lines say it."""
        totals, amount, cells = self.tallied(column, rows)
        return column.pool.value(column.metric, totals, amount, cells, column.claim_weight) if cells else None

    def tallied(self, column: Column, rows: Sequence[int]) -> tuple[list[int], float, int]:
        """Return what the ok repeats of these samples leave for the mean over claims: counts, amount, how many repeats left any."""
        totals, amounts, cells = [0] * column.pool.counts, array("d"), 0
        for lane in column.lanes.values():
            for at in rows:
                if any(left := lane.left(at)):
                    cells += 1
                    totals = list(map(add, totals, left))
                    if at < len(lane.amounts):
                        amounts.append(lane.amounts[at])
        return totals, math.fsum(amounts), cells


def checked(row: Row) -> tuple[str, str, int, float | None]:
    """Return (sample id, metric, repeat, value) of a row; raises RowProblem for what no run folder may hold."""
    return _as_written(row) or _checked(row)


def _as_written(row: Row) -> tuple[str, str, int, float | None] | None:
    """Read what ragstone itself writes, and rows of nothing but the four fields needed, at once: it is most of what is ever read."""
    get = row.get
    sample_id, metric, repeat, value = get("sample_id"), get("metric"), get("repeat", 0), get("value", "")
    if not (type(sample_id) is type(metric) is str and sample_id and metric and type(repeat) is int and repeat >= 0):
        return None
    if type(get("verdicts", _NO_LINES)) is not list:
        return None
    if type(value) is float:
        fine = 0 <= value <= 1 and get("status") == "ok"
    else:
        fine = value is None and get("status") in (FAILED, NOT_APPLICABLE)
    return (sample_id, metric, repeat, value) if fine else None


def _checked(row: Row) -> tuple[str, str, int, float | None]:
    for name in ("sample_id", "metric", "status"):
        if row.get(name) in (None, ""):
            raise RowProblem("field_missing", name)
        if isinstance(row[name], list | dict):
            raise RowProblem("field_not_text", name)
    if not isinstance(row.get("verdicts"), list | tuple | None):
        raise RowProblem("verdicts_invalid", row["verdicts"])
    status, value, repeat = row["status"], row.get("value"), row.get("repeat", 0)
    if status not in ("ok", FAILED, NOT_APPLICABLE):
        raise RowProblem("status_unknown", status)
    if (status == "ok") != (value is not None):
        raise RowProblem("value_and_status", f"{status}, {value}")
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1):
        raise RowProblem("value_out_of_range", value)
    if repeat is None:
        repeat = 0
    if isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 0:
        raise RowProblem("repeat_invalid", repeat)
    return str(row["sample_id"]), str(row["metric"]), repeat, None if value is None else float(value)
