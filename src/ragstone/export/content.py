"""A run as exporters see it: one line a sample, in run order, with one cell a metric; read anew on each pass, never held whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from ragstone.analysis.cells import ABSENT, INTERRUPTED, Cells, Column, Lane, Notice, checked
from ragstone.analysis.slices import SampleFacts
from ragstone.analysis.summary import RunFacts
from ragstone.export.measured import Measured
from ragstone.results import Run
from ragstone.shown.summary import ShownSummary
from ragstone.terms import terms_of
from ragstone.types import Status

Row = dict[str, Any]
Fetch = Callable[[int], Row]


class Cell(NamedTuple):
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


class Line(NamedTuple):
    """One sample with its cells."""

    id: str
    sample: Row
    """As `samples.jsonl` holds it; only `id` where the run holds no samples."""
    cells: tuple[Cell | None, ...]
    """In the order of `Content.metrics`; None where the run has no such cell."""


@dataclass(frozen=True, slots=True)
class _Survey:
    """What the samples hold, from one pass over them."""

    fields: dict[str, None]
    """Names of fields with a value in some sample, but `id` and `meta`."""
    meta: dict[str, None]
    again: dict[str, Row]
    """The last row of each sample that is there more than once."""
    any: bool


class Content:
    """What a run holds for an export."""

    def __init__(self, run: Run) -> None:
        """Nothing is read yet."""
        self.run = run.read_through(Measured)
        """The run; a value in it that is no number (NaN, infinity) is a failed cell, `not_a_number`."""

    @property
    def notices(self) -> list[Notice]:
        """What had to be left out of the files, or mended; reads the run."""
        return self._read[2]

    @cached_property
    def summary(self) -> ShownSummary:
        """The run in numbers, with n/total, intervals and coverage; without slices and lowest scores."""
        cells, facts, notices = self._read
        return self.run.summary_of(cells, facts, notices, worst=0)

    def shown(self) -> ShownSummary:
        """The run in numbers as `Run.summary` tells it, with slices and lowest scores; the scores are not read for it again."""
        cells, _, notices = self._read
        facts = SampleFacts(automatic=True)
        for row in self.run.sample_rows([]):
            facts.add(cells.ids.number(str(row["id"])), row)
        return self.run.summary_of(cells, facts, notices, worst=10, terms=terms_of(levels=self.run.levels))

    @property
    def unmeasured(self) -> dict[str, int]:
        """Cells without a value, by their reason, the most frequent first."""
        found = Counter[str]()
        for metric in self.summary.metrics:
            found.update(metric.reasons)
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    @property
    def facts(self) -> RunFacts:
        """Path, id, signature, date, gold fingerprint and smoke-test notice; None = not known."""
        return self.run.facts()

    @property
    def metrics(self) -> tuple[str, ...]:
        """Every metric, in the order of the summary."""
        return tuple(self._cells.columns)

    @property
    def fields(self) -> tuple[str, ...]:
        """Fields that some sample has a value of, in the order they are met; neither `id` nor `meta`."""
        return tuple(self._survey.fields)

    @property
    def meta_keys(self) -> tuple[str, ...]:
        """Every key of the samples' `meta`: the user's own columns, in the order they are met."""
        return tuple(self._survey.meta)

    @property
    def has_samples(self) -> bool:
        """True if the run holds the texts of its samples."""
        return self._survey.any

    def lines(self) -> Iterator[Line]:
        """Yield every sample in run order, those the run holds first."""
        with self.run.fetching() as fetch:
            readers = [self._reader(column, fetch) for column in self._cells.columns.values()]
            for at, name, sample in self._numbered(fetch):
                yield Line(name, sample, tuple([read(at) for read in readers]))

    def bare_lines(self) -> Iterator[Line]:
        """Yield what `lines` yields, but without cells: the scores are not read."""
        with self.run.fetching() as fetch:
            for _, name, sample in self._numbered(fetch):
                yield Line(name, sample, ())

    def scores(self) -> Iterator[Row]:
        """Yield the stored score lines in run order, then metric, then repeat; of a doubled cell the last."""
        with self.run.fetching() as fetch:
            for at in range(len(self._cells)):
                for column in self._cells.columns.values():
                    yield from _stored(column, at, fetch)

    def stored(self) -> Iterator[Row]:
        """Yield the rows of `scores` in the order of `Run.scores`: as in the file, a doubled cell where its first row stood."""
        if not self._cells.doubled:
            yield from (row for _, row in self.run.placed_rows())
            return
        moved = set[int]()
        with self.run.fetching() as fetch:
            for place, row in self.run.placed_rows():
                name, metric, repeat, _ = checked(row)
                last = self._cells.columns[metric].lanes[repeat].places[self._cells.ids.number(name)]
                if last not in moved:
                    yield row if last == place else fetch(last)
                if last != place:
                    moved.add(last)

    def rows(self) -> Iterator[Row]:
        """Yield what `scores` yields, and in place of a promised cell that has no line one that is failed, `interrupted`."""
        bare = {"repeat": 0, "value": None, "status": INTERRUPTED[0], "reason": INTERRUPTED[1]}
        with self.run.fetching() as fetch:
            names = self._numbered(fetch)  # the samples are not read unless a name is missing
            for at in range(len(self._cells)):
                missing = None
                for column in self._cells.columns.values():
                    if rows := list(_stored(column, at, fetch)):
                        yield from rows
                    elif self._cells.outcome(column, at) is not None:
                        missing = missing or next(name for number, name, _ in names if number == at)
                        yield {"sample_id": missing, "metric": column.metric, **bare}

    @property
    def _cells(self) -> Cells:
        return self._read[0]

    @cached_property
    def _read(self) -> tuple[Cells, SampleFacts, list[Notice]]:
        facts, notices = SampleFacts(), list[Notice]()
        return self.run.cells(facts, notices), facts, notices

    @cached_property
    def _survey(self) -> _Survey:
        fields, meta, again, count = dict[str, None](), dict[str, None](), dict[str, Row](), 0
        numbers = self._cells.ids
        for row in self.run.sample_rows([]):
            name = str(row["id"])
            if numbers.find(name) != count:
                again[name] = row
            else:
                count += 1
            fields.update(dict.fromkeys(key for key, value in row.items() if value is not None))
            if isinstance(held := row.get("meta"), dict):
                meta.update(dict.fromkeys(held))
        for name in ("id", "meta"):
            fields.pop(name, None)
        return _Survey(fields, meta, again, bool(count))

    def _numbered(self, fetch: Fetch) -> Iterator[tuple[int, str, Row]]:
        """Yield (number, id, sample row) of every sample; of one that is there more than once the last row."""
        again, numbers, at = self._survey.again, self._cells.ids, 0
        for sample in self.run.sample_rows([]):
            name = str(sample["id"])
            if numbers.find(name) == at:
                yield at, name, again.get(name, sample)
                at += 1
        for rest in range(at, len(self._cells)):
            places = (lane.places[rest] for c in self._cells.columns.values() for lane in c.lanes.values() if lane.value(rest) != ABSENT)
            name = str(fetch(next(places))["sample_id"])
            yield rest, name, {"id": name}

    def _reader(self, column: Column, fetch: Fetch) -> Callable[[int], Cell | None]:
        """Return what gives the cell of a sample by its number."""
        first, *more = column.lanes.values() or (Lane(column.pool),)
        metric, values, places = column.metric, first.values, first.places

        def read(at: int) -> Cell | None:
            if more or at >= len(values) or values[at] < 0:
                return self._cell(column, at, fetch)
            row = fetch(places[at])  # one repeat, and ok: nearly every cell
            return Cell(metric, values[at], "ok", row.get("reason"), row)

        return read

    def _cell(self, column: Column, at: int, fetch: Fetch) -> Cell | None:
        found = self._cells.outcome(column, at)
        if found is None:
            return None
        place = self._cells.place(column, at)
        row = fetch(place) if place >= 0 else {}
        if found >= 0:
            return Cell(column.metric, found, "ok", row.get("reason"), row)
        status, reason = self._cells.reason(found)
        return Cell(column.metric, None, "failed" if status == "failed" else "not_applicable", reason, row)


def _stored(column: Column, at: int, fetch: Fetch) -> Iterator[Row]:
    for lane in column.lanes.values():
        if lane.value(at) != ABSENT:
            yield fetch(lane.places[at])
