"""A run as exporters see it: one line a sample, in run order, with one cell a metric; read anew on each pass, never held whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from ragstone.analysis.cells import Cells, Notice
from ragstone.analysis.slices import SampleFacts
from ragstone.analysis.summary import RunFacts
from ragstone.results import Run
from ragstone.shown.summary import ShownSummary
from ragstone.types import Status

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Cell:
    """One metric on one sample."""

    metric: str
    value: float | None
    """Mean of the ok repeats, in [0, 1]; None unless `status` is ok."""
    status: Status
    reason: str | None
    """Always there if not ok; of an ok cell `no_context`, `empty_answer` or None."""
    row: Row
    """The stored line that shows the cell best: its first ok repeat, else the one its reason is from; {} if there is none."""

    @property
    def verdicts(self) -> list[Row]:
        """The verdict lines as stored."""
        return [line for line in self.row.get("verdicts") or () if isinstance(line, dict)]


@dataclass(frozen=True, slots=True)
class Line:
    """One sample with its cells."""

    id: str
    sample: Row
    """As `samples.jsonl` holds it; only `id` where the run holds no samples."""
    cells: tuple[Cell | None, ...]
    """In the order of `Content.metrics`; None where the run has no such cell."""


class Content:
    """What a run holds for an export."""

    def __init__(self, run: Run) -> None:
        """Nothing is read yet."""
        self.run = run
        self.notices: list[Notice] = []
        """What had to be left out of the files."""

    @cached_property
    def summary(self) -> ShownSummary:
        """The run in numbers, with n/total, intervals and coverage; without slices and lowest scores."""
        return self.run.summary(by="", worst=0)

    @property
    def facts(self) -> RunFacts:
        """Path, id, signature, date, gold fingerprint and smoke-test notice; None = not known."""
        return self.run.facts()

    @property
    def metrics(self) -> tuple[str, ...]:
        """Every metric, in the order of the summary."""
        return tuple(self._cells.columns)

    @cached_property
    def meta_keys(self) -> tuple[str, ...]:
        """Every key of the samples' `meta`: the user's own columns, in the order they are met."""
        rows = (row.get("meta") for row in self.run.sample_rows([]))
        return tuple(dict.fromkeys(key for meta in rows if isinstance(meta, dict) for key in meta))

    @cached_property
    def has_samples(self) -> bool:
        """True if the run holds the texts of its samples."""
        return next(iter(self.run.sample_rows([])), None) is not None

    def lines(self) -> Iterator[Line]:
        """Yield every sample in run order, those the run holds first."""
        with self.run.fetching() as fetch:
            at = 0
            for sample in self.run.sample_rows([]):
                if self._cells.ids.find(str(sample["id"])) == at:
                    yield Line(str(sample["id"]), sample, self._cells_of(at, fetch))
                    at += 1
            for rest in islice(range(len(self._cells)), at, None):
                cells = self._cells_of(rest, fetch)
                name = next(str(cell.row["sample_id"]) for cell in cells if cell is not None and cell.row)
                yield Line(name, {"id": name}, cells)

    def scores(self) -> Iterator[Row]:
        """Yield the stored score lines in run order, then metric, then repeat; of a doubled cell the last."""
        with self.run.fetching() as fetch:
            for at in range(len(self._cells)):
                for column in self._cells.columns.values():
                    for lane in column.lanes.values():
                        if at < len(lane.values) and lane.values[at] != -1.0:
                            yield fetch(lane.places[at])

    @cached_property
    def _cells(self) -> Cells:
        return self.run.cells(SampleFacts(), self.notices)

    def _cells_of(self, at: int, fetch: Any) -> tuple[Cell | None, ...]:
        return tuple(self._cell(column, at, fetch) for column in self._cells.columns.values())

    def _cell(self, column: Any, at: int, fetch: Any) -> Cell | None:
        found = self._cells.outcome(column, at)
        if found is None:
            return None
        place = self._cells.place(column, at)
        row = fetch(place) if place >= 0 else {}
        if found >= 0:
            return Cell(column.metric, found, "ok", row.get("reason"), row)
        status, reason = self._cells.reason(found)
        return Cell(column.metric, None, "failed" if status == "failed" else "not_applicable", reason, row)
