"""How many samples a difference needs, and how large a difference so many samples can show.

Both come from the normal approximation of a two-sided test of the mean of n paired differences (see Cohen, Statistical
Power Analysis, 2nd ed., chapter 2): with standard deviation sd of the differences, level alpha and power,

    n = ceil(((z(1 - alpha / 2) + z(power)) * sd / gap) ** 2)        gap = (z(1 - alpha / 2) + z(power)) * sd / sqrt(n)

Where most differences are 0 that approximation is poor; `ragstone.analysis.tied` simulates the test instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

ALPHA, POWER = 0.05, 0.8
MOST_N = 2**53 - 1
"""Largest sample size that is told: what lies above is beyond anybody, and beyond the integers of JSON readers."""
CORRELATION = 0.5
"""Correlation assumed between the scores of two versions on the same questions when only one run is there.

With 0.5 the differences scatter exactly as much as the scores. Two versions of one application mostly agree on what is
hard, so real pairs tend to lie higher and need fewer samples: the plan errs on the side of too many.
"""
SIZES = (20, 30, 50, 75, 100, 150, 200, 300, 500, 1000)
"""Sample sizes of the table."""
TIED = 0.7
"""Share of zero differences above which the test is simulated."""
UNKNOWN_SD = 2
"""Pairs added because the test estimates sd itself: z(1 - alpha / 2) ** 2 / 2, rounded up (Guenther 1981).

Without them 50 pairs find the gap they are planned for in 76 % of simulated comparisons instead of 80 % (benches/simulate.py).
"""
SMALLEST_TAIL = 5e-324
ZERO = 1e-9
"""A difference this small is none."""
ROUNDING = 1e-13
"""Share by which floating point may overshoot: what n pairs detect needs n pairs, not one more."""
REPEATS = 3
"""Repeat counts are compared up to this one, unless told otherwise."""

Source = Literal["given", "two_runs", "one_run_assumed_correlation"]


def needed_n(sd: float, gap: float, alpha: float = ALPHA, power: float = POWER) -> int:
    """Return the number of pairs that show a mean difference of `gap` with probability `power`; at least 1.

    Args:
        sd: standard deviation of the paired differences, >= 0.
        gap: size of the true mean difference, not 0; its sign does not matter.
        alpha: level of the two-sided test, in (0, 1).
        power: probability of finding the difference, in (0, 1).
    """
    root = max(0.0, _reach(alpha, power)) * sd / abs(gap)
    return max(1, MOST_N if root * root >= MOST_N else math.ceil(root * root * (1 - ROUNDING)))


def detectable(sd: float, n: int, alpha: float = ALPHA, power: float = POWER) -> float:
    """Return the mean difference that `n` pairs (>= 1) show with probability `power`, in the unit of `sd`."""
    return max(0.0, _reach(alpha, power)) * sd / math.sqrt(n)


def paired_sd(sd: float, correlation: float = CORRELATION) -> float:
    """Return the standard deviation of paired differences, sd * sqrt(2 * (1 - correlation)), from that of the scores of one run."""
    return sd * math.sqrt(2 * (1 - correlation))


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How much the paired differences of a metric scatter, and how that is known."""

    sd: float
    """Standard deviation of the differences (n - 1), > 0."""
    source: Source = "given"
    metric: str | None = None
    n: int | None = None
    """Pairs, or scores of the one run, it is known from."""
    scores: float | None = None
    """Standard deviation of the scores of the one run; None where nothing is assumed."""
    correlation: float | None = None
    """Correlation assumed between two runs; None unless only one is there."""
    judge: float | None = None
    """Variance of a difference that comes from the judge when every sample is judged once; None = not known."""
    judge_held: float | None = None
    """The part of sd ** 2 that comes from the judge, at the repeats the runs were made with."""
    judged: tuple[int, int] | None = None
    """How often the answers were judged in the runs, at least and at most; None without runs."""
    differences: tuple[float, ...] = ()
    """The differences themselves, where two runs are there."""

    @property
    def tied(self) -> bool:
        """True if so many differences are 0 that only a simulation tells the power of the test."""
        zeros = sum(abs(d) <= ZERO for d in self.differences)
        return zeros > TIED * len(self.differences)

    def shrunk(self, repeats: int) -> float:
        """Return the variance of a difference if every sample is judged `repeats` times, as a share of sd ** 2."""
        once, held = self.judge or 0.0, self.judge_held or 0.0
        # both variances are estimates: the judge cannot bring in more than there is
        whole = max(self.sd**2, held)
        return (whole - held + once / repeats) / whole


class Method(Protocol):
    """A way to tell sample sizes and gaps."""

    @property
    def name(self) -> Literal["formula", "simulation"]:
        """Which way it is."""

    def needed(self, gap: float, shrunk: float = 1.0) -> int | None:
        """Return the pairs that show a gap if the variance is `shrunk` times as large; None where no number does."""

    def detectable(self, n: int) -> float | None:
        """Return the gap that n pairs show; None where they show none."""


@dataclass(frozen=True, slots=True)
class Formula:
    """The normal approximation."""

    sd: float
    alpha: float = ALPHA
    power: float = POWER
    name: Literal["formula"] = "formula"

    def needed(self, gap: float, shrunk: float = 1.0) -> int:
        """Return the pairs that show a gap if the variance is `shrunk` times as large, with two more for the unknown sd."""
        return min(MOST_N, needed_n(self.sd * math.sqrt(shrunk), gap, self.alpha, self.power) + UNKNOWN_SD)

    def detectable(self, n: int) -> float:
        """Return the gap that n pairs show."""
        return detectable(self.sd, n, self.alpha, self.power)


@dataclass(frozen=True, slots=True)
class Repeats:
    """What judging every sample `repeats` times would need; `requests` are those of one run."""

    repeats: int
    n_needed: int | None
    requests: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A plan in numbers; None = cannot be computed, or not asked for."""

    spread: Spread
    alpha: float
    power: float
    gap: float | None
    n: int | None
    n_needed: int | None
    detectable: float | None
    table: tuple[tuple[int, float | None], ...]
    repeats: tuple[Repeats, ...] | None
    method: Literal["formula", "simulation"]


def planned(
    spread: Spread,
    *,
    gap: float | None = None,
    n: int | None = None,
    alpha: float = ALPHA,
    power: float = POWER,
    repeats: int = REPEATS,
    requests: int = 7,
    seed: int = 0,
) -> Planned:
    """Return the plan for a gap, a sample size, or both; without `n` that of the run stands for it.

    Args:
        spread: how much the differences scatter.
        gap: the difference that should be found, > 0.
        n: samples that are there, >= 2.
        alpha: level of the two-sided test.
        power: probability of finding the gap.
        repeats: largest repeat count of the table of repeats, which is there if the judge's noise is known.
        requests: chat requests one sample takes when judged once.
        seed: seed of the simulation.
    """
    how = _method(spread, alpha, power, seed)
    size, needed = n or spread.n, None if gap is None else how.needed(gap)
    return Planned(
        spread=spread,
        alpha=alpha,
        power=power,
        gap=gap,
        n=size,
        n_needed=needed,
        detectable=None if size is None else how.detectable(size),
        table=tuple((s, how.detectable(s)) for s in sorted({*SIZES, *([size] if size else [])})),
        repeats=None if gap is None or spread.judge is None else tuple(_repeats(how, spread, gap, range(1, repeats + 1), requests)),
        method=how.name,
    )


def _method(spread: Spread, alpha: float, power: float, seed: int) -> Method:
    if not spread.tied:
        return Formula(spread.sd, alpha, power)
    from ragstone.analysis.tied import Simulation

    return Simulation(spread.differences, alpha, power, seed)


def _repeats(how: Method, spread: Spread, gap: float, counts: Iterable[int], requests: int) -> Iterator[Repeats]:
    for k in counts:
        n = how.needed(gap, spread.shrunk(k))
        yield Repeats(k, n, None if n is None else n * k * requests)


def far_out(alpha: float) -> float:
    """Return z(1 - alpha / 2): how many standard errors from 0 a mean is called different at level `alpha`, in (0, 1)."""
    from statistics import NormalDist

    # the lower tail: near 1 a tiny alpha would be rounded away
    return -NormalDist().inv_cdf(max(alpha / 2, SMALLEST_TAIL))


def _reach(alpha: float, power: float) -> float:
    """How many standard errors away from 0 a difference must be; below 0 where chance alone has that power."""
    from statistics import NormalDist

    return far_out(alpha) + NormalDist().inv_cdf(power)
