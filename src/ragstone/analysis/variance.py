"""How much of the spread of scores comes from the samples, and how much from a judge that answers differently each time."""

import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.analysis.spread import mean_within
from ragstone.analysis.ties import NOISE


@dataclass(frozen=True, slots=True)
class Variance:
    """Two parts of the variance of single scores, from samples that were judged more than once."""

    repeats_min: int
    """Values of the sample that has fewest; >= 1."""
    repeats_max: int
    samples: float | None
    """Variance between samples, >= 0; None with one sample."""
    judge: float
    """Variance between repeats of one sample, >= 0."""
    judge_share: float | None
    """judge / (samples + judge), in [0, 1]; None where both are 0."""
    se_judge: float
    """The part of the standard error of the mean over samples that the judge alone causes."""

    def to_dict(self) -> dict[str, Any]:
        """The `variance` object of `show --json`."""
        return {
            "repeats": {"min": self.repeats_min, "max": self.repeats_max},
            "samples": self.samples,
            "judge": self.judge,
            "judge_share": self.judge_share,
            "se_judge": self.se_judge,
        }


def random_effects(groups: Iterable[Sequence[float]]) -> Variance | None:
    """Split the variance of scores by the ANOVA estimator of the one-way random effects model, repeats unequal or not.

    With n samples of k_i values each, N values in all:
    judge = MS within; samples = max(0, (MS between - MS within) / n0), n0 = (N - sum k_i^2 / N) / (n - 1);
    MS between = sum k_i (mean_i - grand mean)^2 / (n - 1), grand mean over all values; se_judge = sqrt(judge * sum 1/k_i) / n.
    (Searle, Casella, McCulloch: Variance Components, 3.6.)

    Args:
        groups: The ok values of each sample; a sample without any is left out.

    Returns:
        None unless some sample has two values or more.
    """
    counts, means, squares = array("q"), array("d"), array("d")
    for values in groups:
        if values:
            mean = mean_within(values)
            counts.append(len(values))
            means.append(mean)
            squares.append(math.fsum((v - mean) ** 2 for v in values))
    n, lines = len(counts), sum(counts)
    if lines == n:
        return None
    judge = _cleared(math.fsum(squares) / (lines - n))
    samples = _between(counts, means, judge)
    both = None if samples is None else samples + judge
    share = judge / both if both else None
    return Variance(min(counts), max(counts), samples, judge, share, math.sqrt(judge * math.fsum(1 / k for k in counts)) / n)


def _between(counts: Sequence[int], means: Sequence[float], judge: float) -> float | None:
    n, lines = len(counts), sum(counts)
    if n < 2:
        return None
    grand = math.fsum(k * m for k, m in zip(counts, means, strict=True)) / lines
    between = _cleared(math.fsum(k * (m - grand) ** 2 for k, m in zip(counts, means, strict=True)) / (n - 1))
    return max(0.0, (between - judge) / ((lines - sum(k * k for k in counts) / lines) / (n - 1)))


def _cleared(variance: float) -> float:
    # equal scores whose mean is off by a rounding would else share out a variance of 1e-33
    return variance if variance > NOISE**2 else 0.0
