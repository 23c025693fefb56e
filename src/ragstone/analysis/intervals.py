"""How far off may a mean be? Intervals for the mean of scores or of differences.

Which interval: `t` for most; `bounded` where too few values differ from the usual one for the spread to be trusted (50
scores of 1.0 have no spread and are no proof of perfection); `cluster_t` where samples come in clusters; `bca` and
`bootstrap_t` by resampling, on request.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from ragstone.analysis.quantiles import beta_quantile, normal_cdf, normal_quantile, t_quantile
from ragstone.analysis.signflip import cluster_sums
from ragstone.analysis.spread import mean_within
from ragstone.analysis.ties import NOISE, tied

if TYPE_CHECKING:
    import numpy as np

Method = Literal["t", "bounded", "bca", "bootstrap_t", "cluster_t"]
METHODS: tuple[Method, ...] = ("t", "bounded", "bca", "bootstrap_t", "cluster_t")

DRAWS = 10_000
"""Resamples, or draws of weights."""
_CELLS = 1 << 21
"""Numbers of draws held at a time (16 MB), however many values there are."""
_BINS, _MANY = 2_000, 8_000
"""More distinct values than `_MANY` are drawn as `_BINS` groups of neighbours."""
_NO_SPREAD = 1e-9
"""A resample whose standard error is this small beside the sample's has none."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A range that holds the true mean in `level` of all cases."""

    low: float
    high: float
    level: float
    """In (0, 1)."""
    method: Method

    def to_dict(self) -> dict[str, Any]:
        """The `ci` object of the JSON documents."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Scale:
    """What is known of a kind of value beforehand."""

    low: float
    """Worst value there can be."""
    high: float
    """Best value there can be."""
    few: int
    """Fewer values than this that differ from the usual one call for `bounded`."""
    usual: float | None
    """The value most have; None: the most frequent one."""


SCORES = Scale(0.0, 1.0, 10, None)
DIFFERENCES = Scale(-1.0, 1.0, 6, 0.0)


def interval(
    values: Sequence[float],
    scale: Scale,
    *,
    level: float = 0.95,
    method: Method | None = None,
    clusters: Sequence[int] | None = None,
    seed: int = 0,
) -> Interval | None:
    """Return an interval for the mean of which `values` are a sample.

    Args:
        values: One value a sample.
        scale: `SCORES` or `DIFFERENCES`.
        level: Share of cases in which such an interval holds the true mean, in (0, 1).
        method: One of `METHODS`; None: `cluster_t` with clusters, `bounded` where few values differ, else `t`.
        clusters: A cluster number a value; only `cluster_t` looks at it.
        seed: Of the draws of `bounded`, `bca` and `bootstrap_t`.

    Returns:
        None below two values, and for `cluster_t` with fewer than two clusters. For equal values every method but `bounded`
        gives an interval without width.

    Raises:
        ValueError: `method` is not one of `METHODS`, or is `cluster_t` without clusters, or `level` is not in (0, 1).
    """
    chosen = method or _usual_method(values, scale, clusters)
    if chosen not in METHODS or not 0 < level < 1 or (chosen == "cluster_t" and clusters is None):
        raise ValueError(f"no interval of method {chosen!r} and level {level}" + (" without clusters" if clusters is None else ""))
    if len(values) < 2:
        return None
    tail = (1 - level) / 2
    ends: tuple[float, float] | None
    if chosen == "t":
        ends = _t(values, tail)
    elif clusters is not None and chosen == "cluster_t":
        ends = _cluster_t(values, clusters, tail)
    elif chosen == "bounded":
        ends = _bounded(values, scale, tail, seed)
    else:
        ends = _resampled(values, scale, tail, seed, _bca if chosen == "bca" else _bootstrap_t)
    return None if ends is None else Interval(*ends, level, chosen)


def _usual_method(values: Sequence[float], scale: Scale, clusters: Sequence[int] | None) -> Method:
    if clusters is not None:
        return "cluster_t"
    return "bounded" if _unusual(values, scale) < scale.few else "t"


def _unusual(values: Sequence[float], scale: Scale) -> int:
    """Count the values that differ from the usual one; half of them or more where there is none that most have."""
    usual = scale.usual
    if usual is None:
        if len(values) < 2 * scale.few:
            return len(values) - max((count for _, count in tied(values)), default=0)
        usual = _majority(values)
    return sum(abs(v - usual) > NOISE for v in values)


def _majority(values: Sequence[float]) -> float:
    """Return the value more than half of them have, if there is one (Boyer and Moore's vote).

    To count every distinct value would be the largest thing in memory, and one that fewer have is not needed.
    """
    leader, votes = math.inf, 0
    for v in values:
        if votes == 0:
            leader = v
        votes += 1 if abs(v - leader) <= NOISE else -1
    return leader


def _t(values: Sequence[float], tail: float) -> tuple[float, float]:
    """Return mean +- t(n - 1) sd / sqrt(n)."""
    n, mean = len(values), mean_within(values)
    se = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n - 1) / n)
    reach = t_quantile(1 - tail, n - 1) * se
    return mean - reach, mean + reach


def _cluster_t(values: Sequence[float], clusters: Sequence[int], tail: float) -> tuple[float, float] | None:
    """Mean of all values +- t(G - 1) se, se = sqrt(G / (G - 1) * sum of squared cluster sums of (x - mean)) / n."""
    n, mean = len(values), mean_within(values)
    sums = cluster_sums([v - mean for v in values], clusters)
    count = len(sums)
    if count < 2:
        return None
    se = math.sqrt(count / (count - 1) * math.fsum(s * s for s in sums)) / n
    reach = t_quantile(1 - tail, count - 1) * se
    return mean - reach, mean + reach


def _bounded(values: Sequence[float], scale: Scale, tail: float, seed: int) -> tuple[float, float]:
    """Quantiles of the mean under random weights, each time with one more value at the worst end (Phan and others, 2021).

    n + 1 standard exponential weights, here one Gamma(count) weight for all values that are equal. With one or two distinct
    values the weighted mean is a beta variable, and the quantile is exact (for zeros and ones: Clopper and Pearson's).
    """
    groups = _thinned(tied(values))
    worst, best = min(scale.low, groups[0][0]), max(scale.high, groups[-1][0])
    low = _beta_end(_with_one_more(groups, worst), tail)
    high = _beta_end(_with_one_more(groups, best), 1 - tail)
    if low is None or high is None:
        drawn = _drawn_ends(groups, [(worst, tail), (best, 1 - tail)], seed)
        low, high = drawn[0] if low is None else low, drawn[1] if high is None else high
    return low, high


def _with_one_more(groups: list[tuple[float, int]], end: float) -> list[tuple[float, int]]:
    for at, (value, count) in enumerate(groups):
        if abs(value - end) <= NOISE:
            return [*groups[:at], (value, count + 1), *groups[at + 1 :]]
    return sorted([*groups, (end, 1)])


def _beta_end(groups: list[tuple[float, int]], p: float) -> float | None:
    """Return the quantile of the weighted mean where there is a closed form."""
    (low, below), (high, above) = groups[0], groups[-1]
    if len(groups) == 1:
        return low
    return low + (high - low) * beta_quantile(p, above, below) if len(groups) == 2 else None


def _drawn_ends(groups: list[tuple[float, int]], ends: list[tuple[float, float]], seed: int) -> list[float]:
    """Return the quantile p of the weighted mean for each (one more value, p), all from the same weights."""
    import numpy as np

    rng = np.random.default_rng(seed)
    each, counts = np.array([v for v, _ in groups]), np.array([c for _, c in groups], dtype=float)
    sums, weights = [], []
    for rows in _portions(len(groups)):
        drawn = rng.standard_gamma(counts, (rows, len(groups)))
        sums.append(drawn @ each)
        weights.append(drawn.sum(axis=1))
    total, weight, more = np.concatenate(sums), np.concatenate(weights), rng.standard_exponential(DRAWS)
    return [float(np.quantile((total + more * value) / (weight + more), p)) for value, p in ends]


def _thinned(groups: list[tuple[float, int]]) -> list[tuple[float, int]]:
    """Take neighbours together, at their mean, where drawing every value apart would take half a minute.

    What is lost is the spread inside 1/2,000 of the range: far less than 10,000 draws can tell.
    """
    if len(groups) <= _MANY:
        return groups
    low, width = groups[0][0], (groups[-1][0] - groups[0][0]) / _BINS
    bins: dict[int, tuple[float, int]] = {}
    for value, count in groups:
        total, held = bins.get(at := int((value - low) / width), (0.0, 0))
        bins[at] = (total + value * count, held + count)
    return [(total / held, held) for total, held in bins.values()]


def _portions(width: int) -> Iterator[int]:
    """Share out the draws so that few enough numbers are held at a time."""
    rows = max(1, _CELLS // width)
    for start in range(0, DRAWS, rows):
        yield min(rows, DRAWS - start)


def _resampled(values: Sequence[float], scale: Scale, tail: float, seed: int, method: Any) -> tuple[float, float]:
    import numpy as np

    mean = mean_within(values)
    groups = _thinned(tied(v - mean for v in values))
    if len(groups) == 1:
        return mean, mean
    off, counts = np.array([v for v, _ in groups]), np.array([c for _, c in groups])
    low, high = method(np.random.default_rng(seed), off, counts, tail)
    return max(mean + low, min(scale.low, min(values))), min(mean + high, max(scale.high, max(values)))


def _resamples(rng: np.random.Generator, off: Any, counts: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the means of resamples of the deviations `off`, and the means of their squares, some at a time."""
    import numpy as np

    n = int(counts.sum())
    if len(off) < n / 4:
        for rows in _portions(len(off)):
            taken = rng.multinomial(n, counts / n, rows) / n
            yield taken @ off, taken @ off**2
        return
    each = np.repeat(off, counts)
    for rows in _portions(n):
        drawn = each[rng.integers(0, n, (rows, n), dtype=np.int32)]
        yield drawn.mean(axis=1), np.einsum("ij,ij->i", drawn, drawn) / n


def _bca(rng: np.random.Generator, off: Any, counts: Any, tail: float) -> tuple[float, float]:
    """Efron's bias-corrected and accelerated percentiles (1987); z0 from (below + at or below) / 2, so ties do not shift it."""
    import numpy as np

    means = np.concatenate([m for m, _ in _resamples(rng, off, counts)])
    below, at_or_below = np.count_nonzero(means < -NOISE), np.count_nonzero(means <= NOISE)
    z0 = normal_quantile(min(max((below + at_or_below) / 2 / DRAWS, 0.5 / DRAWS), 1 - 0.5 / DRAWS))
    acceleration = float(counts @ off**3 / (6 * (counts @ off**2) ** 1.5))
    shares = [_bca_share(z0, acceleration, normal_quantile(p)) for p in (tail, 1 - tail)]
    low, high = np.quantile(means, shares)
    return float(low), float(high)


def _bca_share(z0: float, acceleration: float, z: float) -> float:
    room = 1 - acceleration * (z0 + z)
    return normal_cdf(z0 + (z0 + z) / room) if room > 0 else float(z > 0)


def _bootstrap_t(rng: np.random.Generator, off: Any, counts: Any, tail: float) -> tuple[float, float]:
    """Studentised by each resample's own sd; one without spread lies as far off as can be, and the scale's ends stop it."""
    import numpy as np

    n = int(counts.sum())
    se = math.sqrt(float(counts @ off**2) / (n - 1) / n)
    parts = []
    for means, squares in _resamples(rng, off, counts):
        own = np.sqrt(np.maximum(squares - means**2, 0) / (n - 1))
        parts.append(means / np.maximum(own, _NO_SPREAD * se))
    low, high = np.quantile(np.concatenate(parts), [tail, 1 - tail])
    return -float(high) * se, -float(low) * se
