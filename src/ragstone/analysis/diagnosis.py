"""A run's diagnosis: the causes of all its samples summed, their quadrants, and what else a reader should know."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ragstone.analysis.canned import canned_answers
from ragstone.analysis.causes import LostClaim, causes_of
from ragstone.analysis.cells import ABSENT, INTERRUPTED, Cells, Notice
from ragstone.analysis.evidence import About, Evidence, about, evidence
from ragstone.analysis.facts import Facts, Watch
from ragstone.analysis.levels import USUAL, Levels
from ragstone.analysis.quadrants import QUADRANTS, quadrant
from ragstone.analysis.remarks import Note, Remarks
from ragstone.analysis.slices import SMALL, SampleFacts
from ragstone.analysis.summary import RunFacts
from ragstone.analysis.sums import Pile, Sums

Row = dict[str, Any]

EXAMPLES = 2
"""So many claims of a cause are kept as examples, of different samples."""


@dataclass(frozen=True, slots=True)
class DiagnosedSample:
    """One sample with an ok cell."""

    sample_id: str
    cause: str | None
    """The cause of most points; None where no claim was lost."""
    quadrant: str
    claims: tuple[LostClaim, ...]


@dataclass(frozen=True, slots=True)
class Example:
    """A lost claim that shows what a cause looks like."""

    sample_id: str
    claim: LostClaim
    chunk: tuple[str, str] | None
    """Id and text of the first context behind it; None where there is none, or its text is not known."""
    expected: bool = False


@dataclass(frozen=True, slots=True)
class DiagnosedSlice:
    """The samples that share a value; `small` = fewer than 5."""

    key: str
    value: Any
    sums: Sums

    @property
    def small(self) -> bool:
        """True if the slice holds too few samples to say much."""
        return self.sums.samples < SMALL


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosed:
    """What is wrong in a run, as codes and numbers."""

    run: RunFacts
    samples_total: int
    skipped: tuple[tuple[str, str], ...]
    """(sample id, reason) of samples without an ok cell."""
    sums: Sums
    quadrants: Mapping[str, int]
    """Samples by quadrant; skipped ones are unknown."""
    high: float
    """Limit from which on a side of a quadrant is good."""
    facts: Facts
    """What the readings of the numbers rest on."""
    slices: tuple[DiagnosedSlice, ...]
    samples: tuple[DiagnosedSample, ...]
    examples: Mapping[tuple[str, bool], tuple[Example, ...]]
    """(cause, expected) -> the dearest claims, most points first."""
    notes: tuple[Note, ...]
    notices: tuple[Notice, ...]
    """What had to be left out while reading."""

    measured: bool
    """True if faithfulness or answer_correctness is ok in some sample: causes are read off these two."""

    @property
    def diagnosed(self) -> int:
        """How many samples have an ok cell."""
        return self.samples_total - len(self.skipped)

    def claims_of(self, cause: str) -> dict[str, tuple[LostClaim, ...]]:
        """Return the claims lost to a cause by sample id, in run order; samples without one are left out."""
        found = {one.sample_id: tuple(claim for claim in one.claims if claim.cause == cause) for one in self.samples}
        return {sample_id: claims for sample_id, claims in found.items() if claims}


def diagnose(
    cells: Cells,
    facts: SampleFacts,
    fetch: Callable[[int], Row],
    samples: Callable[[], Iterable[Row]],
    *,
    run: RunFacts,
    levels: Levels = USUAL,
    top_k: int | None = None,
    notices: Iterable[Notice] = (),
) -> Diagnosed:
    """Return the diagnosis of a run.

    Args:
        cells: its cells, for the places of the rows.
        facts: the groups of its samples.
        fetch: gives back the score row found at a place.
        samples: gives the rows of samples.jsonl, from the first on at each call.
        run: which run it is.
        levels: limits of the levels; from `high` on a side of a quadrant is good.
        top_k: so many contexts of a sample were judged, where the run limits them.
        notices: what had to be left out while reading.
    """
    slices = list(facts.groups(len(cells))) if facts.key is not None else []
    count = _Count(slices, levels, top_k)
    for at, found in each_sample(cells, fetch, samples):
        count.add(at, found)
    return Diagnosed(
        run=run,
        samples_total=len(cells),
        skipped=tuple(count.skipped),
        sums=count.all.sums(),
        quadrants=count.quadrants,
        high=levels.high,
        facts=count.watch.facts(),
        slices=tuple(DiagnosedSlice(facts.key or "", value, pile.sums()) for (value, _), pile in zip(slices, count.piles, strict=True)),
        samples=tuple(count.samples),
        examples={key: tuple(found) for key, found in count.examples.items()},
        notes=tuple(count.remarks.notes(canned_answers(samples))),
        notices=tuple(notices),
        measured=count.measured,
    )


def each_sample(cells: Cells, fetch: Callable[[int], Row], samples: Callable[[], Iterable[Row]]) -> Iterator[tuple[int, Evidence]]:
    """Yield (number, evidence) of every sample of a run, in run order; one sample is held at a time."""
    known: dict[int, tuple[str, About]] = {}
    for row in samples():
        known[cells.ids.number(str(row["id"]))] = str(row["id"]), about(row)
    for at in range(len(cells)):
        rows = list(_rows(cells, at, fetch))
        name, told = known.pop(at, (None, None))
        if name is None:
            name = next(str(row["sample_id"]) for row in rows)
        yield at, evidence(name, rows, told)


def _rows(cells: Cells, at: int, fetch: Callable[[int], Row]) -> Iterator[Row]:
    for column in cells.columns.values():
        lanes = [lane for lane in column.lanes.values() if lane.value(at) != ABSENT]
        for lane in lanes:
            yield fetch(lane.places[at])
        if not lanes and cells.outcome(column, at) is not None:
            yield {"metric": column.metric, "status": INTERRUPTED[0], "reason": INTERRUPTED[1]}


class _Count:
    """Everything that is summed while the samples go by."""

    def __init__(self, slices: list[tuple[Any, list[int]]], levels: Levels, top_k: int | None) -> None:
        self.high = levels.high
        self.watch = Watch(levels)
        self.all = Pile()
        self.piles = [Pile() for _ in slices]
        self._slice_of = {at: pile for pile, (_, rows) in zip(self.piles, slices, strict=True) for at in rows}
        self.quadrants = dict.fromkeys(QUADRANTS, 0)
        self.skipped: list[tuple[str, str]] = []
        self.samples: list[DiagnosedSample] = []
        self.examples: dict[tuple[str, bool], list[Example]] = {}
        self.remarks = Remarks(top_k)
        self.measured = False

    def add(self, at: int, found: Evidence) -> None:
        causes, word = causes_of(found), quadrant(found.values, self.high)
        self.quadrants[word] += 1
        self.remarks.add(found, causes)
        self.watch.add(found)
        self.measured |= not found.values.keys().isdisjoint(("faithfulness", "answer_correctness"))
        if not found.ok:
            self.skipped.append((found.sample_id, _why(found)))
        else:
            self.samples.append(DiagnosedSample(found.sample_id, causes.cause, word, causes.claims))
        for pile in (self.all, self._slice_of.get(at)):
            if pile is not None:
                pile.add(found.sample_id, causes)
        for claim in causes.claims:
            self._exemplify(found, claim)

    def _exemplify(self, found: Evidence, claim: LostClaim) -> None:
        """Keep a claim if it cost more than those that are kept, one a sample."""
        expected = claim.expected == "yes"
        held = self.examples.setdefault((claim.cause, expected), [])
        same = next((one for one in held if one.sample_id == found.sample_id), None)
        if same is not None and same.claim.points.total >= claim.points.total - 1e-9:
            return
        if same is None and len(held) == EXAMPLES and held[-1].claim.points.total >= claim.points.total - 1e-9:
            return
        if same is not None:
            held.remove(same)
        held.append(Example(found.sample_id, claim, _chunk(found, claim), expected))
        held.sort(key=lambda one: -round(one.claim.points.total, 9))
        del held[EXAMPLES:]


def _why(found: Evidence) -> str:
    """Return the reason of a sample without an ok cell: of a failed cell, else of one that does not apply."""
    states = sorted(found.states.values(), key=lambda state: state[0] != "failed")
    return states[0][1] or "unknown" if states else "no_scores"


def _chunk(found: Evidence, claim: LostClaim) -> tuple[str, str] | None:
    texts = {chunk.id: chunk.text for chunk in found.chunks if chunk.text}
    return next(((id, texts[id]) for id in claim.evidence if id in texts), None)
