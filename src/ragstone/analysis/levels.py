"""From which mean on a metric is called high or middle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ragstone.analysis.pooled import base_name

Level = Literal["high", "middle", "low"]

ROUNDING = 1e-9
"""A mean this close below a limit reaches it: 2.4 / 3 is 0.8."""


def reaches(mean: float, limit: float) -> bool:
    """Return True if a mean or score lies at a limit or above it, or misses it by rounding alone."""
    return mean >= limit - ROUNDING


@dataclass(frozen=True, slots=True)
class Levels:
    """Limits of the levels, 0 <= middle <= high <= 1.

    Raises:
        ValueError: they are not in this order, or not in [0, 1].
    """

    high: float = 0.8
    """Least mean that is called high."""
    middle: float = 0.5
    """Least mean that is called middle; below it is low."""

    def __post_init__(self) -> None:
        if not 0 <= self.middle <= self.high <= 1:
            raise ValueError(f"levels: 0 <= middle <= high <= 1, not high={self.high}, middle={self.middle}")

    def of(self, metric: str, mean: float | None) -> Level | None:
        """Return the level of a mean; None without one, and for answer_relevancy, whose scale depends on the embedder."""
        if mean is None or base_name(metric) == "answer_relevancy":
            return None
        return "high" if reaches(mean, self.high) else "middle" if reaches(mean, self.middle) else "low"


USUAL = Levels()
"""The limits where nobody sets others."""
