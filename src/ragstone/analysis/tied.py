"""Power of the sign-flip test where most paired differences are 0, by simulation.

A gap is thought of as the runs at hand would show it: as large a share of the samples changes, by amounts like those
seen, and so many of the changes go the better way that the mean moves by the gap. Only where all of them going that way
would not suffice, more samples change; and where all samples changing would not, they change by more.

Only what changes is drawn. How often the test then finds the gap is worked out for each draw, so that no sample size is
asked for because its draws happened to be lucky.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from ragstone.analysis.contrast import FEWEST
from ragstone.analysis.planning import detectable, far_out

DRAWS = 400
"""Simulated comparisons behind one number; the power is known to about half a point."""
FEW = 40
"""With more changed samples than this the sum of the changes is taken as normal, on its steps."""
FINEST = 16
"""Steps into which the largest change is cut; changes in thirds, halves and quarters fall on them, others are rounded."""
MOST_N = 10**9
"""Above a billion nobody asks."""
SMALLEST = 1e-9
"""A difference below this is none."""
CLOSE = 1.001
"""A sample size or gap is searched to a tenth of a percent."""


@dataclass(frozen=True, slots=True)
class Simulation:
    """Sample sizes and gaps from simulated sign-flip tests; same differences and seed, same numbers."""

    differences: Sequence[float]
    alpha: float
    power: float
    seed: int = 0
    name: Literal["simulation"] = "simulation"

    def needed(self, gap: float, shrunk: float = 1.0) -> int | None:
        """Return the pairs that show a gap, within a tenth of a percent, times `shrunk`; None above a billion."""
        shrunk *= 1 + self._unsure()
        low, high = FEWEST, FEWEST
        while self.found(high, gap) < self.power:
            low, high = high, 2 * high
            if high > MOST_N:
                return None
        while high > low * CLOSE and high - low > 1:
            middle = max(low + 1, math.isqrt(low * high))
            low, high = (low, middle) if self.found(middle, gap) >= self.power else (middle, high)
        return max(FEWEST, math.ceil(high * shrunk - 1e-9))

    def detectable(self, n: int) -> float | None:
        """Return the gap that n pairs show, within a tenth of a percent; None where even a gap of 1 is not found."""
        if n < FEWEST:
            return None
        n = max(FEWEST, math.floor(n / (1 + self._unsure()) + 1e-9))
        found = self._at(n)
        if found(1.0) < self.power:
            return None
        low = high = min(1.0, detectable(self._root_mean_square(), n, self.alpha, self.power))
        while high < 1 and found(high) < self.power:
            low, high = high, min(1.0, 1.25 * high)
        while low > SMALLEST and found(low) >= self.power:
            low, high = low / 1.25, low
        while high > low * CLOSE:
            middle = math.sqrt(low * high)
            low, high = (low, middle) if found(middle) >= self.power else (middle, high)
        return high

    def found(self, n: int, gap: float) -> float:
        """Return how often n pairs show a gap: the share of comparisons with p <= alpha and a mean above 0."""
        return self._at(n)(gap)

    def _at(self, n: int) -> Callable[[float], float]:
        """Return the power of n pairs as a function of the gap; where a gap needs no more changes, all use the same draws."""
        grid = _grid(tuple(self.differences))
        reach = float(grid.shares @ grid.steps) * grid.step
        usual: list[_Drawn] = []

        def found(gap: float) -> float:
            if gap > reach:
                return _drawn(grid, min(1.0, gap / reach * grid.changed), n, self.alpha, self.seed).power(1.0)
            usual[:] = usual or [_drawn(grid, grid.changed, n, self.alpha, self.seed)]
            return usual[0].power(gap / reach)

        return found

    def _unsure(self) -> float:
        """Return the share of pairs to add because the differences at hand are a sample themselves.

        Few changes tell the scatter badly: its square has the relative variance v = sum d^4 / (sum d^2)^2 - 1 / N. A scatter taken
        too small costs more power than one taken too large brings, and the typical one is too small. To the second order the
        mean power over such samples is as asked for if v * (1 + z(power) * (z(1 - alpha / 2) + z(power))) / 4 of the pairs are added.
        """
        from statistics import NormalDist

        squares = [d * d for d in self.differences]
        relative = math.fsum(x * x for x in squares) / math.fsum(squares) ** 2 - 1 / len(squares)
        power = NormalDist().inv_cdf(self.power)
        return max(0.0, relative * (1 + power * (far_out(self.alpha) + power)) / 4)

    def _root_mean_square(self) -> float:
        return math.sqrt(math.fsum(d * d for d in self.differences) / len(self.differences))


@dataclass(frozen=True, slots=True)
class _Grid:
    """The sizes of change as whole numbers of steps."""

    steps: Any
    shares: Any
    """Share of all samples that changed by so many steps."""
    step: float
    exact: bool
    """True if the sizes are multiples of a step, so that the sum of the changes moves in steps too."""

    @property
    def changed(self) -> float:
        return float(self.shares.sum())


@lru_cache(maxsize=8)
def _grid(differences: tuple[float, ...]) -> _Grid:
    import numpy as np

    sizes = np.abs(np.asarray([d for d in differences if abs(d) > SMALLEST], dtype=float))
    parts = sizes / sizes.max()
    count = next((k for k in range(1, FINEST + 1) if np.all(np.abs(parts * k - np.round(parts * k)) < 1e-6)), None)
    steps, times = np.unique(np.maximum(1, np.round(parts * (count or FINEST))), return_counts=True)
    # rounded sizes scatter as much as the true ones
    step = math.sqrt(float(sizes @ sizes) / float(times @ steps**2))
    return _Grid(steps, times / len(differences), step, count is not None)


@dataclass(frozen=True, slots=True)
class _Drawn:
    """Comparisons of which it is drawn how many samples change by how much; the signs are left open.

    `few` and `many` hold how often each size occurs, one row a comparison; `fails` and `least` tell where the test says p <= alpha:
    up to so many steps for the worse, or from so many steps in sum.
    """

    grid: _Grid
    few: Any
    many: Any
    fails: Any
    least: Any

    def power(self, tilt: float) -> float:
        """Return the chance that the test finds a gain if each change is one with chance (1 + tilt) / 2."""
        import numpy as np

        chances = 0.0
        if tilt >= 1:
            chances += float((self.fails >= 0).sum())
        elif len(self.few):
            worse = _worse(self.few, self.grid.steps, (1 - tilt) / 2)
            reached = worse[np.arange(len(worse)), np.maximum(self.fails, 0)]
            chances += float(reached[self.fails >= 0].sum())
        if len(self.many):
            scatter = np.sqrt(self.many @ self.grid.steps**2 * max(1 - tilt**2, 1e-12))
            away = (tilt * (self.many @ self.grid.steps) - self.least) / scatter
            chances += math.fsum(math.erfc(-x / math.sqrt(2)) / 2 for x in away.tolist())
        return chances / (len(self.few) + len(self.many))


def _drawn(grid: _Grid, changed: float, n: int, alpha: float, seed: int) -> _Drawn:
    import numpy as np

    draw = np.random.default_rng([seed, n])
    counts = draw.multinomial(_totals(n, min(1.0, changed)), grid.shares / grid.changed).astype(float)
    scarce = counts.sum(axis=1) <= FEW
    few, many = counts[scarce], counts[~scarce]
    fails = (_worse(few, grid.steps, 0.5) <= alpha / 2 * (1 + 1e-9)).sum(axis=1) - 1 if len(few) else np.zeros(0)
    return _Drawn(grid, few, many, fails, _least(many, grid, alpha))


def _totals(n: int, share: float) -> Any:
    """Return how many of n samples change, one number a draw: evenly spaced quantiles of the binomial distribution.

    They are not left to chance, so that one sample size is not luckier than the next.
    """
    import numpy as np

    if share >= 1:
        return np.full(DRAWS, n)
    mean, reach = n * share, 10 + 8 * math.sqrt(n * share * (1 - share))
    numbers = np.arange(max(0, math.floor(mean - reach)), min(n, math.ceil(mean + reach)) + 1)
    below = numbers[:-1]
    logs = np.append(0.0, np.cumsum(np.log((n - below) / (below + 1) * (share / (1 - share)))))
    chances = np.exp(logs - logs.max()).cumsum()
    return numbers[np.searchsorted(chances / chances[-1], (np.arange(DRAWS) + 0.5) / DRAWS)]


def _worse(counts: Any, steps: Any, chance: float) -> Any:
    """Return, for 0, 1, ... steps, the chance that changes for the worse add up to so many or fewer.

    Each change is one for the worse with the same chance. The distribution of the sum is the product of those of the
    single changes in the frequency domain.
    """
    import numpy as np

    length = 1 << int((counts @ steps).max()).bit_length()
    turns = np.exp(-2j * np.pi / length * np.outer(steps, np.arange(length // 2 + 1)))
    single = (1 - chance) + chance * turns
    logs = np.log(np.where(abs(single) < 1e-100, 1e-100, single))
    return np.fft.irfft(np.exp(counts @ logs), length, axis=1).cumsum(axis=1)


def _least(counts: Any, grid: _Grid, alpha: float) -> Any:
    """Return the sum from which on the test says p <= alpha, in steps; on steps it lies half way to the sum below."""
    import numpy as np

    far = far_out(alpha) * np.sqrt(counts @ grid.steps**2)
    if not grid.exact:
        return far
    total = counts @ grid.steps  # sums lie two steps apart: one change of sign moves them by twice its size
    return total - 2 * np.floor((total - far - 1) / 2) - 1
