"""Causes summed over the samples of a run or slice, with the law they keep: causes and what is nobody's add up to what is lost."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ragstone.analysis.causes import CAUSES, LostClaim, Points, SampleCauses


@dataclass(frozen=True, slots=True)
class CauseSum:
    """One cause over some samples."""

    cause: str
    sample_ids: tuple[str, ...]
    """Samples with a claim of this cause, in run order."""
    claims: int
    points: Points
    expected: bool = False
    """True for refusals that the samples ask for: lost points all the same, but no fault."""

    @property
    def samples(self) -> int:
        """How many samples it concerns."""
        return len(self.sample_ids)


@dataclass(frozen=True, slots=True)
class Sums:
    """What some samples lost, and to which causes. Points are sums over samples; a repeated cell counts once, with its mean."""

    samples: int
    lost: Points
    unattributed: Points
    causes: tuple[CauseSum, ...]
    """Most points first; expected refusals apart from other ones."""
    merged: tuple[CauseSum, ...]
    """The same with expected and other refusals as one."""
    refusals: Mapping[str, int]
    """Samples that refused or asked back, by whether they were to: yes, no, unknown."""

    @property
    def faults(self) -> tuple[CauseSum, ...]:
        """The causes without expected refusals."""
        return tuple(one for one in self.causes if not one.expected)

    @property
    def expected(self) -> CauseSum | None:
        """The expected refusals; None where there are none."""
        return next((one for one in self.causes if one.expected), None)

    @property
    def counted(self) -> float:
        """Points lost, without those of expected refusals."""
        return self.lost.total - (self.expected.points.total if self.expected else 0.0)


class Pile:
    """Takes in samples one by one and sums them."""

    def __init__(self) -> None:
        self._samples = 0
        self._lost = (array("d"), array("d"))
        self._rest = (array("d"), array("d"))
        self._causes: dict[tuple[str, bool], _Heap] = {}
        self._refusals = Counter[str]()

    def add(self, sample_id: str, found: SampleCauses) -> None:
        """Take in a sample."""
        self._samples += 1
        _put(self._lost, found.lost)
        _put(self._rest, found.unattributed)
        self._refusals.update({claim.expected for claim in found.claims if claim.expected})
        for claim in found.claims:
            key = (claim.cause, claim.expected == "yes")
            if key not in self._causes:
                self._causes[key] = _Heap()
            self._causes[key].add(self._samples, sample_id, claim)

    def sums(self) -> Sums:
        """Return the sums so far."""
        apart = [heap.sum(cause, expected=expected) for (cause, expected), heap in self._causes.items()]
        merged: dict[str, _Heap] = {}
        for (cause, _), heap in self._causes.items():
            merged[cause] = merged[cause].with_other(heap) if cause in merged else heap
        together = [heap.sum(cause) for cause, heap in merged.items()]
        causes, all_causes = (tuple(sorted(found, key=_order)) for found in (apart, together))
        return Sums(self._samples, _sum(self._lost), _sum(self._rest), causes, all_causes, dict(self._refusals))


class _Heap:
    """The claims of one cause."""

    def __init__(self) -> None:
        self.ids: dict[int, str] = {}
        """By the number of the sample."""
        self.points = (array("d"), array("d"))

    def add(self, number: int, sample_id: str, claim: LostClaim) -> None:
        self.ids[number] = sample_id
        _put(self.points, claim.points)

    def with_other(self, other: _Heap) -> _Heap:
        found = _Heap()
        found.ids = dict(sorted((self.ids | other.ids).items()))
        found.points = (self.points[0] + other.points[0], self.points[1] + other.points[1])
        return found

    def sum(self, cause: str, *, expected: bool = False) -> CauseSum:
        return CauseSum(cause, tuple(self.ids.values()), len(self.points[0]), _sum(self.points), expected)


def _put(columns: tuple[array[float], array[float]], points: Points) -> None:
    columns[0].append(points.faithfulness)
    columns[1].append(points.answer_correctness)


def _sum(columns: Iterable[array[float]]) -> Points:
    return Points(*map(math.fsum, columns))


def _order(one: CauseSum) -> tuple[float, int, bool]:
    """Most points first; sums that differ by rounding alone are equal."""
    return -round(one.points.total, 9), CAUSES.index(one.cause), one.expected
