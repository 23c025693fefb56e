"""How many samples a difference needs, and how large a difference so many samples can show.

Both come from the normal approximation of a two-sided test of the mean of n paired differences (see Cohen, Statistical
Power Analysis, 2nd ed., chapter 2): with standard deviation sd of the differences, level alpha and power,

    n = ceil(((z(1 - alpha / 2) + z(power)) * sd / gap) ** 2)        gap = (z(1 - alpha / 2) + z(power)) * sd / sqrt(n)
"""

from __future__ import annotations

import math

ALPHA, POWER = 0.05, 0.8
MOST_N = 2**53 - 1
"""Largest sample size that is told: what lies above is beyond anybody, and beyond the integers of JSON readers."""


def needed_n(sd: float, gap: float, alpha: float = ALPHA, power: float = POWER) -> int:
    """Return the number of pairs that show a mean difference of `gap` with probability `power`; at least 1.

    Args:
        sd: standard deviation of the paired differences, >= 0.
        gap: size of the true mean difference, not 0; its sign does not matter.
        alpha: level of the two-sided test, in (0, 1).
        power: probability of finding the difference, in (0, 1).
    """
    root = max(0.0, _reach(alpha, power)) * sd / abs(gap)
    return max(1, MOST_N if root * root >= MOST_N else math.ceil(root * root))


def detectable(sd: float, n: int, alpha: float = ALPHA, power: float = POWER) -> float:
    """Return the mean difference that `n` pairs (>= 1) show with probability `power`, in the unit of `sd`."""
    return max(0.0, _reach(alpha, power)) * sd / math.sqrt(n)


def _reach(alpha: float, power: float) -> float:
    """How many standard errors away from 0 a difference must be; below 0 where chance alone has that power."""
    from statistics import NormalDist

    normal = NormalDist()
    return normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)
