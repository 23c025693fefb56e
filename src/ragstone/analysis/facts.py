"""What a whole run shows, as codes and numbers: the ground on which the readings stand."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragstone.analysis.evidence import Evidence
from ragstone.analysis.levels import Level, Levels
from ragstone.analysis.signs import CORRECT, FAITHFUL, PRECISE, RECALLED, SIGNS, ranking
from ragstone.analysis.slices import SMALL

QUADRANTS = ("good_good", "good_bad", "bad_good", "bad_bad", "unknown")
"""Retrieval first, generation second."""
BEHIND = 0.1
"""A group so far below the run's mean is weak."""
MOST = 0.95
"""Share of samples whose useful chunks must all be kept."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How many of how many samples."""

    count: int
    of: int

    @property
    def share(self) -> float:
        """count / of, in [0, 1]; 0 where no sample could show it."""
        return self.count / self.of if self.of else 0.0


@dataclass(frozen=True, slots=True)
class MetricFacts:
    """One metric over the run."""

    mean: float | None
    standing: Level | None
    """Where the mean lies among the limits. For answer_relevancy a hint only, since its scale depends on the embedder."""
    n: int
    """Samples with a value."""
    zeros: int
    """Of these, the ones with 0."""
    reasons: Mapping[str, int] = field(default_factory=dict)
    """Failed and not applicable cells by reason."""


@dataclass(frozen=True, slots=True)
class Weak:
    """A group of samples whose retrieval lies clearly below the run's."""

    key: str
    value: Any
    mean: float
    """Mean of its context_precision and context_recall."""
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The record every rule reads."""

    samples: int
    metrics: Mapping[str, MetricFacts]
    """By name without parameters."""
    signs: Mapping[str, Tally] = field(default_factory=dict)
    """By the name of the sign: see `ragstone.analysis.signs`."""
    quadrants: Mapping[str, int] = field(default_factory=dict)
    """Samples by retrieval_generation: good_good, good_bad, bad_good, bad_bad, unknown."""
    weak: tuple[Weak, ...] = ()
    """Weakest first, groups of fewer than 5 samples last."""
    enough: int | None = None
    """So many chunks hold all useful ones in 95 % of the samples that have one; None without any."""
    chunks: int | None = None
    """Most chunks a sample was rated on; None where none was."""
    smallest_group: int | None = None
    """Samples in the smallest category; None without categories."""
    causes: Mapping[str, int] = field(default_factory=dict)
    """Lost claims by cause, where the run was diagnosed."""

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


def facts_of(samples: Iterable[Evidence], *, levels: Levels | None = None, causes: Mapping[str, int] | None = None) -> Facts:
    """Return what a run shows.

    Args:
        samples: the evidence of every sample, in run order.
        levels: where a mean is high, and where it is middle; unset = 0.8 and 0.5.
        causes: lost claims by cause, as the diagnosis counts them.
    """
    found, limits = list(samples), levels or Levels()
    useful = [rank for sample in found if (rank := _last_useful(sample))]
    return Facts(
        samples=len(found),
        metrics=_metrics(found, limits),
        signs={name: _tally(sign(sample) for sample in found) for name, sign in SIGNS.items()},
        quadrants=dict.fromkeys(QUADRANTS, 0) | Counter(quadrant(sample, limits.high) for sample in found),
        weak=tuple(_weak(found)),
        enough=sorted(useful)[math.ceil(MOST * len(useful)) - 1] if useful else None,
        chunks=max((len(sample.chunks) for sample in found), default=0) or None,
        smallest_group=min((len(group) for group in _categories(found).values()), default=None),
        causes=dict(causes or {}),
    )


def standing(mean: float | None, levels: Levels) -> Level | None:
    """Return where a mean lies among the limits, whatever the metric; None without a mean."""
    return levels.of("", mean)


def quadrant(sample: Evidence, high: float = 0.8) -> str:
    """Return the quadrant of a sample: retrieval, then generation, each good if the mean of its ok scores reaches `high`."""
    sides = [_good(sample, names, high) for names in ((PRECISE, RECALLED), (FAITHFUL, CORRECT))]
    return "unknown" if None in sides else "_".join("good" if good else "bad" for good in sides)


def _good(sample: Evidence, names: tuple[str, str], high: float) -> bool | None:
    mean = _mean([sample.values[name] for name in names if name in sample.values])
    return None if mean is None else standing(mean, Levels(high, min(high, 0.5))) == "high"


def _last_useful(sample: Evidence) -> int:
    return max((rank for rank, useful in enumerate(ranking(sample), 1) if useful), default=0)


def _metrics(samples: Sequence[Evidence], levels: Levels) -> dict[str, MetricFacts]:
    found = dict[str, MetricFacts]()
    for name in dict.fromkeys(name for sample in samples for name in sample.states):
        values = [sample.values[name] for sample in samples if name in sample.values]
        states = [sample.states[name] for sample in samples if name in sample.states]
        reasons = Counter(str(reason) for status, reason in states if status != "ok")
        mean = _mean(values)
        found[name] = MetricFacts(mean, standing(mean, levels), len(values), values.count(0.0), dict(reasons))
    return found


def _tally(answers: Iterable[bool | None]) -> Tally:
    said = [answer for answer in answers if answer is not None]
    return Tally(sum(said), len(said))


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


# ------------------------------------------------------------------ groups
def _categories(samples: Iterable[Evidence]) -> dict[str, list[Evidence]]:
    found: dict[str, list[Evidence]] = {}
    for sample in samples:
        if sample.about is not None and sample.about.category is not None:
            found.setdefault(str(sample.about.category), []).append(sample)
    return found


def _weak(samples: Sequence[Evidence]) -> Iterator[Weak]:
    """The groups whose retrieval lies clearly below the run's: categories, and the samples that should be asked back."""
    usual = _retrieval(samples)
    groups: list[tuple[str, str, list[Evidence]]] = [("category", value, group) for value, group in _categories(samples).items()]
    groups.append(("expected_behavior", "clarify", [sample for sample in samples if sample.expected_behavior == "clarify"]))
    found = [Weak(key, value, mean, len(group)) for key, value, group in groups if (mean := _retrieval(group)) is not None]
    behind = [weak for weak in found if usual is not None and weak.mean <= usual - BEHIND and weak.n < len(samples)]
    yield from sorted(behind, key=lambda weak: (weak.n < SMALL, weak.mean))


def _retrieval(samples: Iterable[Evidence]) -> float | None:
    return _mean([sample.values[name] for sample in samples for name in (PRECISE, RECALLED) if name in sample.values])
