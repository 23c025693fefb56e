"""How scores are spread: mean, standard deviation, median, histogram, and what perfect scores leave open."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Sequence


def mean_of(values: array[float], total: float) -> float | None:
    """Return the mean of values that add up to `total`; None of none."""
    return mean_within(values, total) if values else None


def mean_within(values: Sequence[float], total: float | None = None) -> float:
    """Return the mean of one value or more, never outside of their range; `total` is their sum, where it is known."""
    mean = (math.fsum(values) if total is None else total) / len(values)
    # the quotient may leave the range of equal values by one rounding, which would give them a spread
    return min(max(mean, min(values)), max(values))


def sd_of(values: Sequence[float], mean: float | None = None) -> float | None:
    """Return the standard deviation with n - 1, around their mean if it is known already; None below two values."""
    if len(values) < 2:
        return None
    mean = mean_within(values) if mean is None else mean
    return math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))


def median_of(values: array[float]) -> float | None:
    """Return the median of values in [0, 1]; None of none."""
    if not values:
        return None
    bins, middle = Counter(int(v * 1000) for v in values), ((len(values) - 1) // 2, len(values) // 2)
    return sum(_ranked(values, bins, rank) for rank in sorted(set(middle))) / len(set(middle))


def _ranked(values: array[float], bins: Counter[int], rank: int) -> float:
    """Return the value at a rank; only those near it are sorted, since a sorted copy would be the largest thing in memory."""
    for bin in sorted(bins):
        if rank < bins[bin]:
            near = Counter(v for v in values if int(v * 1000) == bin)
            break
        rank -= bins[bin]
    for value in sorted(near):
        if rank < near[value]:
            break
        rank -= near[value]
    return value


def histogram_of(values: array[float]) -> tuple[int, ...]:
    """Return how many values lie in each of ten bins of 0.1; 1.0 is in the last."""
    bins = [0] * 10
    for v in values:
        bins[min(9, int(v * 10))] += 1
    return tuple(bins)


def unseen_share(values: array[float], independent: int, confidence: float) -> float | None:
    """Return how large the share of scores below 1 may still be where every score is 1; None where one is not.

    The largest share under which `independent` perfect scores in a row still have a chance of 1 - confidence:
    1 - (1 - confidence)^(1/n). At 95 % this is close to 3 / n, the rule of three (Hanley and Lippman-Hand, JAMA 249, 1983).
    """
    if not values or not independent or min(values) < 1:
        return None
    return float(1 - (1 - confidence) ** (1 / independent))
