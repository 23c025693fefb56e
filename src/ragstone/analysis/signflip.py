"""Could the mean difference of two runs be luck? The two-sided sign-flip (paired permutation) test of the mean.

If nothing had changed, each pair's difference would have had either sign with the same chance. p is the share of all
patterns of signs whose mean is at least as far from 0 as the one observed. Only the sizes |d| matter, so pairs with equal
|d| are taken together: c of them contribute |d| * (2 B - c), B ~ Binomial(c, 1/2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ragstone.analysis.ties import NOISE, tied

if TYPE_CHECKING:
    import numpy as np

Method = Literal["exact", "monte_carlo", "normal"]
Sizes = list[tuple[float, int]]
"""(|d|, how many differences are that large), |d| > 0."""

RESAMPLES = 9_999
"""Random patterns where not all are counted."""
ALL_SIGNS = 20
"""Non-zero differences up to which every pattern is counted, however unlike they are."""
MANY = 5_000
"""Non-zero differences above which the normal distribution may stand in."""
_STATES = 1 << ALL_SIGNS
_STEPS = 50_000_000
_CELLS = 1 << 21


@dataclass(frozen=True, slots=True)
class Chance:
    """The p value of a sign-flip test and how it was found."""

    p: float | None
    """In [0, 1], and 0 only where it is too small for a number; None below two differences."""
    method: Method | None
    """exact: all patterns counted; monte_carlo: random patterns, p = (b + 1) / (resamples + 1); normal: by the central limit theorem."""
    resamples: int
    """Random patterns drawn; 0 unless monte_carlo."""


def sign_flip(differences: Sequence[float], clusters: Sequence[int] | None = None, *, seed: int = 0) -> Chance:
    """Return the chance of a mean difference at least this far from 0 if every sign were a coin toss.

    Args:
        differences: One difference a pair.
        clusters: A cluster number a pair: pairs of one cluster keep their signs together.
        seed: Of the random patterns; exact results do not depend on it.
    """
    if len(differences) < 2:
        return Chance(None, None, 0)
    flipped = differences if clusters is None else cluster_sums(differences, clusters)
    sizes = [(size, count) for size, count in tied(abs(d) for d in flipped) if size > NOISE]
    reach = abs(math.fsum(differences)) - NOISE * len(differences)
    if reach <= 0:
        return Chance(1.0, "exact", 0)
    return _exact(sizes, reach) or _approximate(sizes, reach, seed)


def cluster_sums(values: Sequence[float], clusters: Sequence[int]) -> list[float]:
    """Return the sum of the values of each cluster, clusters in the order they first occur."""
    members: dict[int, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        members.setdefault(cluster, []).append(value)
    return [math.fsum(inside) for inside in members.values()]


def _exact(sizes: Sizes, reach: float) -> Chance | None:
    count = sum(c for _, c in sizes)
    if count <= MANY and math.prod(c + 1 for _, c in sizes) <= _STATES:
        return Chance(_by_groups(sizes, reach), "exact", 0)
    step = _step(sizes)
    if step is not None and count * sum(round(size / step) * c for size, c in sizes) <= _STEPS:
        return Chance(_on_lattice(sizes, step, reach), "exact", 0)
    return None


def _by_groups(sizes: Sizes, reach: float) -> float:
    """Go through every number of plus signs in every group."""
    import numpy as np

    sums, weights = np.zeros(1), np.ones(1)
    for size, count in sizes:
        plus = np.arange(count + 1)
        sums = np.add.outer(sums, size * (2 * plus - count)).ravel()
        weights = np.multiply.outer(weights, np.array(_coin(count))).ravel()
    return min(1.0, math.fsum(weights[np.abs(sums) >= reach]))


def _coin(count: int) -> list[float]:
    """Return the chance of 0, 1, ... heads in `count` tosses."""
    ways, chances = 1, []
    for heads in range(count + 1):
        chances.append(ways / 2**count)
        ways = ways * (count - heads) // (heads + 1)
    return chances


def _step(sizes: Sizes) -> float | None:
    """Return the number of which all sizes are multiples (1/6 for halves and thirds); None where there is no such number."""
    step = 0.0
    for size, _ in sizes:
        rest = size
        while rest > 1e-9:
            step, rest = rest, abs(step - round(step / rest) * rest)
        if step < 1e-5:
            return None
    largest = sizes[-1][0]
    step = largest / round(largest / step)
    return step if all(abs(size - round(size / step) * step) <= 10 * NOISE for size, _ in sizes) else None


def _on_lattice(sizes: Sizes, step: float, reach: float) -> float:
    """Toss the coins one after the other; `chances[w]` = chance that the differences with a plus sign add up to w steps."""
    import numpy as np

    total = sum(round(size / step) * count for size, count in sizes)
    chances = np.zeros(total + 1)
    chances[0], top = 1.0, 0
    for size, count in sizes:
        width = round(size / step)
        for _ in range(count):
            stay = chances[: top + 1] / 2
            chances[: top + 1] = stay
            chances[width : width + top + 1] += stay
            top += width
    away = np.abs(2 * np.arange(total + 1) - total)
    return min(1.0, math.fsum(chances[away >= round(reach / step)]))


def _approximate(sizes: Sizes, reach: float, seed: int) -> Chance:
    count = sum(c for _, c in sizes)
    grouped = count >= 20 * len(sizes)
    if count > MANY and not grouped:
        return Chance(math.erfc(reach / math.sqrt(2 * math.fsum(c * size * size for size, c in sizes))), "normal", 0)
    import numpy as np

    rng = np.random.default_rng(seed)
    draw = _binomial_sums if grouped else _sign_sums
    beyond = int(np.count_nonzero(np.abs(draw(rng, sizes)) >= reach))
    return Chance((beyond + 1) / (RESAMPLES + 1), "monte_carlo", RESAMPLES)


def _binomial_sums(rng: np.random.Generator, sizes: Sizes) -> Any:
    import numpy as np

    sums = np.zeros(RESAMPLES)
    for size, count in sizes:
        sums += size * (2 * rng.binomial(count, 0.5, RESAMPLES) - count)
    return sums


def _sign_sums(rng: np.random.Generator, sizes: Sizes) -> Any:
    import numpy as np

    each = np.repeat([size for size, _ in sizes], [count for _, count in sizes])
    rows = max(1, _CELLS // len(each))
    parts = []
    for start in range(0, RESAMPLES, rows):
        some = min(rows, RESAMPLES - start)
        bits = np.frombuffer(rng.bytes(some * (-(-len(each) // 8))), dtype=np.uint8).reshape(some, -1)
        plus = np.unpackbits(bits, axis=1, count=len(each))
        parts.append(2 * (plus @ each) - each.sum())
    return np.concatenate(parts)
