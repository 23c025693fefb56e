"""One metric on paired samples of two runs: the difference, what chance makes of it, and a verdict."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from ragstone.analysis.intervals import DIFFERENCES, Interval, Method, interval
from ragstone.analysis.paired import ABSENT, LOST, NONE, OK, Paired
from ragstone.analysis.planning import detectable, needed_n
from ragstone.analysis.signflip import Chance, sign_flip
from ragstone.analysis.spread import mean_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Why = Literal["failed_base", "failed_new", "failed_both", "not_applicable"]
Verdict = Literal["better", "worse", "equivalent", "identical", "cannot_tell", "too_few"]

FEWEST = 6
"""Pairs below which no verdict is given: no sign pattern of 5 pairs can reach p <= 0.05."""
SAME = 1e-9
"""Two scores this close together are the same: 0.1 + 0.2 and 0.3."""
_WHY: dict[tuple[int, int], Why] = {(LOST, OK): "failed_base", (OK, LOST): "failed_new", (LOST, LOST): "failed_both"}


@dataclass(frozen=True, slots=True)
class Rules:
    """How differences are judged."""

    alpha: float = 0.05
    """Chance of calling a difference real that is none, over all metrics together; the level of intervals is 1 - alpha."""
    margin: float | None = None
    """Largest difference that counts as none; None = no such limit."""
    method: Method | None = None
    """How intervals are made; None = by the data."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class JudgeNoise:
    """What the judge itself adds to the differences, from the repeats of both runs."""

    judge: float
    """Variance of a difference that comes from asking the judge: sum over both runs of its variance / repeats."""
    judge_share: float | None
    """`judge` as a share of the variance of the differences, at most 1; None where they do not vary."""
    se_judge: float
    """Standard error of the mean difference that comes from the judge: sqrt(judge / n)."""

    def to_dict(self) -> dict[str, Any]:
        """The object `judge_noise` of `compare --json`."""
        return {name: getattr(self, name) for name in ("judge", "judge_share", "se_judge")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """One metric compared over the n pairs in which both cells have a value; None = cannot be computed."""

    metric: str
    n: int
    left_out: tuple[tuple[str, Why], ...]
    """(sample id, why) of every common sample that is no pair of this metric, in the order of the base run.

    A sample of which neither run has a cell is not among them: it was never asked for this metric.
    """
    base_mean: float | None
    new_mean: float | None
    difference: float | None
    """new_mean - base_mean."""
    sd: float | None
    """Standard deviation of the differences with n - 1."""
    ci: Interval | None
    chance: Chance
    """How often pure chance makes a difference this large (two-sided sign-flip test of the mean)."""
    p_adjusted: float | None
    """p after Holm's correction over the family; None where there is no p, or no family."""
    effect_size: float | None
    """difference / sd (d_z)."""
    wins: int
    ties: int
    losses: int
    bounds: tuple[float | None, float | None]
    """The difference if every failed cell were as bad for NEW as can be, and as good."""
    detectable: float | None
    """True difference that would be found with 80 % power at this n and sd."""
    needed_n: int | None
    """Pairs that find the observed difference (with a margin: a difference of that size) with 80 % power; None where there is none."""
    margin: float | None
    judge_noise: JudgeNoise | None = None
    verdict: Verdict | None = None

    def to_dict(self) -> dict[str, Any]:
        """The metric object of `compare --json`, but for its `text`."""
        plain = ("n", "base_mean", "new_mean", "difference", "sd")
        after = ("p_adjusted", "effect_size", "wins", "ties", "losses")
        return {
            "metric": self.metric,
            "left_out": [{"sample_id": name, "why": why} for name, why in self.left_out],
            **{name: getattr(self, name) for name in plain},
            "ci": self.ci.to_dict() if self.ci else None,
            "p": self.chance.p,
            "p_method": self.chance.method,
            **{name: getattr(self, name) for name in after},
            "bounds": {"low": self.bounds[0], "high": self.bounds[1]},
            **{name: getattr(self, name) for name in ("detectable", "needed_n", "margin")},
            "judge_noise": self.judge_noise.to_dict() if self.judge_noise else None,
            "verdict": self.verdict,
        }


def contrast(metric: str, cells: Paired, ids: Sequence[str], rules: Rules, clusters: Sequence[int] | None = None) -> Contrast:
    """Compare one metric; p is not yet adjusted and there is no verdict yet (see `judged`).

    Args:
        metric: its name.
        cells: the cells of the common samples.
        ids: the ids of these samples.
        rules: how differences are judged.
        clusters: a cluster number a common sample: samples that belong together.
    """
    import numpy as np

    both = cells.both
    differences = cells.new[both] - cells.base[both]
    differences[np.abs(differences) <= SAME] = 0.0
    groups = None if clusters is None else np.asarray(clusters)[both].tolist()
    each = differences.tolist()
    n = len(each)
    mean, sd = _mean(differences), _sd(differences)
    if mean is not None and abs(mean) <= SAME:
        mean = 0.0
    gap = (rules.margin or abs(mean)) if mean else None
    return Contrast(
        metric=metric,
        n=n,
        left_out=_left_out(cells, ids),
        base_mean=_mean(cells.base[both]),
        new_mean=_mean(cells.new[both]),
        difference=mean,
        sd=sd,
        ci=interval(each, DIFFERENCES, level=1 - rules.alpha, method=rules.method, clusters=groups, seed=rules.seed),
        chance=sign_flip(each, groups, seed=rules.seed),
        p_adjusted=None,
        effect_size=mean / sd if sd and mean is not None else None,
        wins=int((differences > 0).sum()),
        ties=int((differences == 0).sum()),
        losses=int((differences < 0).sum()),
        bounds=_bounds(cells),
        detectable=detectable(sd, n, rules.alpha) if sd is not None else None,
        needed_n=needed_n(sd, gap, rules.alpha) if sd is not None and gap else None,
        margin=rules.margin,
    )


def judged(found: Contrast, p_adjusted: float | None, rules: Rules) -> Contrast:
    """Return a contrast with its adjusted p and its verdict."""
    return replace(found, p_adjusted=p_adjusted, verdict=_verdict(found, p_adjusted, rules))


def _verdict(found: Contrast, p: float | None, rules: Rules) -> Verdict:
    ci, difference = found.ci, found.difference
    if found.n < FEWEST or difference is None:
        return "too_few"
    if found.ties == found.n:
        return "identical"
    if p is not None and p <= rules.alpha and ci is not None and (ci.low > 0 or ci.high < 0):
        return "better" if difference > 0 else "worse"
    if rules.margin is not None and ci is not None and -rules.margin <= ci.low and ci.high <= rules.margin:
        return "equivalent"
    return "cannot_tell"


def _left_out(cells: Paired, ids: Sequence[str]) -> tuple[tuple[str, Why], ...]:
    """A sample of which neither run has a cell is not left out: it was never asked for this metric."""
    import numpy as np

    missing = ~cells.both & ~((cells.base_states == ABSENT) & (cells.new_states == ABSENT))
    states = zip(cells.base_states[missing].tolist(), cells.new_states[missing].tolist(), strict=True)
    return tuple((ids[at], _why(*pair)) for at, pair in zip(np.flatnonzero(missing).tolist(), states, strict=True))


def _why(base: int, new: int) -> Why:
    """A cell that only the other run has counts as failed: leaving it out quietly would flatter whichever run lacks it."""
    if NONE in (base, new):
        return "not_applicable"
    return _WHY[LOST if base == ABSENT else base, LOST if new == ABSENT else new]


def _bounds(cells: Paired) -> tuple[float | None, float | None]:
    """The difference over all common pairs, those not applicable left out, with failed cells at their worst and best for NEW."""
    import numpy as np

    either = (cells.base_states != NONE) & (cells.new_states != NONE)
    asked = either & ~((cells.base_states == ABSENT) & (cells.new_states == ABSENT))
    if not asked.any():
        return None, None
    base, new = (np.where(states == OK, values, np.nan)[asked] for values, states in _sides(cells))
    low = np.nan_to_num(new, nan=0.0) - np.nan_to_num(base, nan=1.0)
    high = np.nan_to_num(new, nan=1.0) - np.nan_to_num(base, nan=0.0)
    return float(low.mean()), float(high.mean())


def _sides(cells: Paired) -> tuple[tuple[Floats, NDArray[np.uint8]], ...]:
    return (cells.base, cells.base_states), (cells.new, cells.new_states)


def _mean(values: Floats) -> float | None:
    """The mean that `show` gives of the same scores, to the last bit, in whatever order they stand."""
    each = array("d", values.tobytes())
    return mean_of(each, math.fsum(each))


def _sd(values: Floats) -> float | None:
    """Differences that are equal but for rounding do not vary."""
    if len(values) < 2:
        return None
    sd = float(values.std(ddof=1))
    return sd if sd > SAME else 0.0
