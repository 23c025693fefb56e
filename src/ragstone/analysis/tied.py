"""Power of the sign-flip test where most paired differences are 0, by simulation.

A gap is thought of as the runs at hand would show it: as large a share of the samples changes, by amounts like those
seen, and so many of the changes go the better way that the mean moves by the gap. Only where all of them going that way
would not suffice, more samples change; and where all samples changing would not, they change by more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ragstone.analysis.planning import detectable

if TYPE_CHECKING:
    import numpy as np

DRAWS = 1000
"""Simulated comparisons behind one number; the power is known to about 1.3 points."""
FLIPS = 399
"""Sign patterns of a simulated test, more where alpha is small."""
MOST_FLIPS = 4999
FEW = 40
"""With more changed samples than this the null distribution of the mean is taken as normal."""
LEVELS = 6
"""Sizes of change that are told apart."""
LEAST_N, MOST_N = 6, 10**9
"""No sign pattern of five pairs reaches p <= 0.05; above a billion nobody asks."""
SMALLEST = 1e-9
"""A difference below this is none."""
CLOSE = 1.01
"""A sample size or gap is searched to 1 %."""


@dataclass(frozen=True, slots=True)
class Simulation:
    """Sample sizes and gaps from simulated sign-flip tests; same differences and seed, same numbers."""

    differences: Sequence[float]
    alpha: float
    power: float
    seed: int = 0
    name: Literal["simulation"] = "simulation"

    def needed(self, gap: float, shrunk: float = 1.0) -> int | None:
        """Return the pairs that show a gap, within 1 %, times `shrunk`; None above a billion."""
        low, high = LEAST_N, LEAST_N
        while self.found(high, gap) < self.power:
            low, high = high, 2 * high
            if high > MOST_N:
                return None
        while high > low * CLOSE and high - low > 1:
            middle = max(low + 1, math.isqrt(low * high))
            low, high = (low, middle) if self.found(middle, gap) >= self.power else (middle, high)
        return max(1, math.ceil(high * shrunk - 1e-9))

    def detectable(self, n: int) -> float | None:
        """Return the gap that n pairs show, within 1 %; None where even a gap of 1 is not found."""
        if n < LEAST_N or self.found(n, 1.0) < self.power:
            return None
        low = high = min(1.0, detectable(self._sd(), n, self.alpha, self.power))
        while high < 1 and self.found(n, high) < self.power:
            low, high = high, min(1.0, 1.25 * high)
        while low > SMALLEST and self.found(n, low) >= self.power:
            low, high = low / 1.25, low
        while high > low * CLOSE:
            middle = math.sqrt(low * high)
            low, high = (low, middle) if self.found(n, middle) >= self.power else (middle, high)
        return high

    def found(self, n: int, gap: float) -> float:
        """Return how often n pairs show a gap: the share of simulated comparisons with p <= alpha and a mean above 0."""
        import numpy as np

        draw = np.random.default_rng([self.seed, n])  # the same for every gap: then more gap is more power
        sizes, shares = _levels(self.differences)
        better, worse, sizes = _moved(sizes, shares, gap)
        chances = np.concatenate([better, worse, [max(0.0, 1 - better.sum() - worse.sum())]])
        counts = draw.multinomial(n, chances / chances.sum(), size=DRAWS)
        plus, minus = counts[:, : len(sizes)], counts[:, len(sizes) : 2 * len(sizes)]
        sums, changed = (plus - minus) @ sizes, plus + minus
        few = changed.sum(axis=1) <= FEW
        hits = int(self._normal(sums[~few], changed[~few], sizes).sum()) + int(self._flipped(sums[few], changed[few], sizes, draw).sum())
        return hits / DRAWS

    def _sd(self) -> float:
        return math.sqrt(math.fsum(d * d for d in self.differences) / len(self.differences))

    def _normal(self, sums: Any, changed: Any, sizes: Any) -> Any:
        from statistics import NormalDist

        return sums >= NormalDist().inv_cdf(1 - self.alpha / 2) * (changed @ sizes**2) ** 0.5

    def _flipped(self, sums: Any, changed: Any, sizes: Any, draw: np.random.Generator) -> Any:
        """Flip each comparison's changes at random; the same sign patterns serve all of them, as one product of matrices."""
        import numpy as np

        flips = min(MOST_FLIPS, max(FLIPS, math.ceil(20 / self.alpha) - 1))
        level = (np.arange(FEW)[None, :, None] >= changed.cumsum(axis=1)[:, None, :]).sum(axis=2)
        flipped = draw.choice([-1.0, 1.0], size=(flips, FEW)) @ np.append(sizes, 0.0)[level].T
        as_far = (abs(flipped) >= abs(sums) - 1e-9).sum(axis=0)
        return (sums > 0) & ((as_far + 1) / (flips + 1) <= self.alpha)


def _levels(differences: Sequence[float]) -> tuple[Any, Any]:
    """Return a few sizes of change, and the share of all samples that changed by each."""
    import numpy as np

    sizes = np.sort(np.abs(np.asarray([d for d in differences if abs(d) > SMALLEST], dtype=float)))
    values = np.unique(sizes)
    groups = [sizes[sizes == v] for v in values] if len(values) <= LEVELS else np.array_split(sizes, LEVELS)
    held = [group for group in groups if len(group)]
    return np.array([group.mean() for group in held]), np.array([len(group) for group in held]) / len(differences)


def _moved(sizes: Any, shares: Any, gap: float) -> tuple[Any, Any, Any]:
    """Return the chances of each change for the better and for the worse that move the mean by `gap`, and the sizes."""
    reach = float(shares @ sizes)
    if gap <= reach:
        return shares * (1 + gap / reach) / 2, shares * (1 - gap / reach) / 2, sizes
    all_changed = shares / shares.sum()
    mean = float(all_changed @ sizes)
    return all_changed * min(1.0, gap / mean), 0 * shares, sizes * max(1.0, gap / mean)
