"""What a whole run shows, as codes and numbers: the ground on which the readings stand."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragstone.analysis.cells import FAILED
from ragstone.analysis.evidence import Evidence
from ragstone.analysis.levels import Level, Levels
from ragstone.analysis.quadrants import QUADRANTS, RETRIEVAL, quadrant
from ragstone.analysis.signs import CORRECT, FAITHFUL, PRECISE, RECALLED, RELEVANT, due, ranking, signs_at
from ragstone.analysis.slices import SMALL

BEHIND = 0.1
"""A group so far below the run's mean is weak."""
MOST = 0.95
"""Share of samples whose useful chunks must all be kept."""


PAIRS = ((FAITHFUL, RELEVANT), (FAITHFUL, CORRECT), (RECALLED, FAITHFUL), (RELEVANT, CORRECT), (PRECISE, RECALLED))
"""Metrics that are read together, in the order in which a pair names them."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How many of how many samples."""

    count: int
    of: int

    @property
    def share(self) -> float:
        """Count over of, in [0, 1]; 0 where no sample could show it."""
        return self.count / self.of if self.of else 0.0


@dataclass(frozen=True, slots=True)
class MetricFacts:
    """One metric over the run."""

    mean: float | None
    standing: Level | None
    """Where the mean lies among the limits. For answer_relevancy a hint only, since its scale depends on the embedder."""
    n: int
    """Samples with a value."""
    failed: int = 0
    """Samples without one since something went wrong."""
    reasons: Mapping[str, int] = field(default_factory=dict)
    """Failed and not applicable cells by reason."""


@dataclass(frozen=True, slots=True)
class Together:
    """Two metrics over the samples that have both: means of different samples say nothing of each other."""

    means: tuple[float, float]
    standings: tuple[Level, Level]
    n: int
    """Samples that have both."""
    all: bool
    """True if no sample has only one of the two."""


@dataclass(frozen=True, slots=True)
class Weak:
    """A group of samples whose retrieval lies clearly below the run's."""

    key: str
    value: Any
    mean: float
    """Mean of its context_precision and context_recall."""
    n: int
    """Samples that have one of the two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The record every rule reads."""

    samples: int
    metrics: Mapping[str, MetricFacts]
    """By name without parameters."""
    together: Mapping[tuple[str, str], Together] = field(default_factory=dict)
    """The pairs of PAIRS that some sample has both metrics of."""
    signs: Mapping[str, Tally] = field(default_factory=dict)
    """By the name of the sign: see `ragstone.analysis.signs`."""
    quadrants: Mapping[str, int] = field(default_factory=dict)
    """Samples by retrieval_generation: good_good, good_bad, bad_good, bad_bad, unknown. Without refusals that are due."""
    weak: tuple[Weak, ...] = ()
    """Weakest first; groups in which 5 samples or more have a retrieval score."""
    enough: int | None = None
    """So many chunks hold all useful ones in 95 % of the samples that have one; None without any."""
    chunks: int | None = None
    """Most chunks a sample was rated on; None where none was."""
    smallest_group: int | None = None
    """Samples in the smallest category; None without categories."""

    def sign(self, name: str) -> Tally:
        """Return how many samples show a sign; 0 of 0 for one never met."""
        return self.signs.get(name, Tally(0, 0))

    def mean(self, metric: str) -> float | None:
        """Return a metric's mean; None where the run has none."""
        found = self.metrics.get(metric)
        return found.mean if found else None

    def standing(self, metric: str) -> Level | None:
        """Return where a metric's mean lies: high, middle or low; None where the run has none."""
        found = self.metrics.get(metric)
        return found.standing if found else None


class Watch:
    """Sees the evidence of every sample once, in run order, and keeps what the facts need of it: numbers, no texts."""

    def __init__(self, levels: Levels | None = None) -> None:
        self._levels = levels or Levels()
        self._samples = 0
        self._values: dict[str, array[float]] = {}
        self._reasons: dict[str, Counter[str]] = {}
        self._failed = Counter[str]()
        self._pairs = {pair: (array("d"), array("d")) for pair in PAIRS}
        self._signs = signs_at(self._levels)
        self._seen = {name: [0, 0] for name in self._signs}
        self._quadrants = dict.fromkeys(QUADRANTS, 0)
        self._last_useful: Counter[int] = Counter()
        self._chunks = 0
        self._everyone = _Group()
        self._groups: dict[tuple[str, str], _Group] = {}

    def add(self, sample: Evidence) -> None:
        """Take in one sample."""
        self._samples += 1
        for metric, (status, reason) in sample.states.items():
            self._values.setdefault(metric, array("d"))
            if status != "ok":
                self._reasons.setdefault(metric, Counter())[str(reason)] += 1
                self._failed[metric] += status == FAILED
        for metric, value in sample.values.items():
            self._values[metric].append(value)
        for names, columns in self._pairs.items():
            if all(name in sample.values for name in names):
                for name, column in zip(names, columns, strict=True):
                    column.append(sample.values[name])
        for name, sign in self._signs.items():
            if (said := sign(sample)) is not None:
                self._seen[name][0] += said
                self._seen[name][1] += 1
        if not due(sample):
            self._quadrants[quadrant(sample.values, self._levels.high)] += 1
        self._rank(ranking(sample))
        self._group(sample)

    def _rank(self, useful: Sequence[bool]) -> None:
        self._chunks = max(self._chunks, len(useful))
        if any(useful):
            self._last_useful[max(rank for rank, good in enumerate(useful, 1) if good)] += 1

    def _group(self, sample: Evidence) -> None:
        self._everyone.add(sample)
        if sample.about is not None and sample.about.category is not None:
            self._groups.setdefault(("category", str(sample.about.category)), _Group()).add(sample)
        if sample.expected_behavior == "clarify":
            self._groups.setdefault(("expected_behavior", "clarify"), _Group()).add(sample)

    def facts(self) -> Facts:
        """Return what the samples seen so far show."""
        return Facts(
            samples=self._samples,
            metrics={name: self._metric(name, values) for name, values in self._values.items()},
            together={pair: self._together(pair) for pair, (first, _) in self._pairs.items() if first},
            signs={name: Tally(count, of) for name, (count, of) in self._seen.items()},
            quadrants=dict(self._quadrants),
            weak=tuple(self._weak()),
            enough=_covering(self._last_useful, MOST),
            chunks=self._chunks or None,
            smallest_group=min((group.samples for (key, _), group in self._groups.items() if key == "category"), default=None),
        )

    def _metric(self, name: str, values: Sequence[float]) -> MetricFacts:
        mean = math.fsum(values) / len(values) if values else None
        reasons = dict(self._reasons.get(name, {}))
        return MetricFacts(mean, standing(mean, self._levels), len(values), self._failed[name], reasons)

    def _together(self, pair: tuple[str, str]) -> Together:
        first, second = (math.fsum(column) / len(column) for column in self._pairs[pair])
        n = len(self._pairs[pair][0])
        levels = self._levels.of("", first), self._levels.of("", second)
        assert levels[0] is not None
        assert levels[1] is not None
        return Together((first, second), (levels[0], levels[1]), n, all(len(self._values[name]) == n for name in pair))

    def _weak(self) -> Iterator[Weak]:
        """The groups whose retrieval lies clearly below the run's: categories, and the samples that should be asked back."""
        usual = self._everyone.mean
        found = [Weak(key, value, group.mean, group.scored) for (key, value), group in self._groups.items() if group.mean is not None]
        behind = [weak for weak in found if usual is not None and weak.n >= SMALL and weak.mean <= usual - BEHIND]
        yield from sorted(behind, key=lambda weak: weak.mean)


class _Group:
    """Retrieval scores of some samples."""

    def __init__(self) -> None:
        self.samples = self.scored = 0
        self._total, self._scores = 0.0, 0

    def add(self, sample: Evidence) -> None:
        scores = [sample.values[name] for name in RETRIEVAL if name in sample.values]
        self.samples += 1
        self.scored += bool(scores)
        self._total += sum(scores)
        self._scores += len(scores)

    @property
    def mean(self) -> float | None:
        return self._total / self._scores if self._scores else None


def standing(mean: float | None, levels: Levels) -> Level | None:
    """Return where a mean lies among the limits, whatever the metric; None without a mean."""
    return levels.of("", mean)


def _covering(ranks: Mapping[int, int], share: float) -> int | None:
    """Return the smallest rank that as many samples as `share` do not exceed; None without samples."""
    wanted, held = math.ceil(share * sum(ranks.values())), 0
    for rank in sorted(ranks):
        held += ranks[rank]
        if held >= wanted:
            return rank
    return None
