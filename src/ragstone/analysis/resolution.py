"""How fine a metric is: what one verdict more or less moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ragstone.analysis.pooled import base_name

Kind = Literal["ratio", "both_sides", "ranked"]

_KINDS: dict[str, Kind] = {
    "faithfulness": "ratio",
    "context_recall": "ratio",
    "keyword_recall": "ratio",
    "answer_correctness": "both_sides",
    "context_precision": "ranked",
}
"""Metrics made of verdicts; cosines are continuous, and of other metrics the formula is not known."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """What one claim, keyword or context more or less moves, where samples have as many as on average here."""

    kind: Kind
    """ratio: good / lines. both_sides: a statement counts in the answer and in the reference. ranked: the top ranks weigh most."""
    lines: float
    """Verdict lines of a sample (of one repeat), on average over those that have some."""
    score: float
    """Change of a sample's score. ratio: 1 / lines; both_sides: weight of the claims * 2 / lines; ranked: 1, the most it can be."""
    mean: float
    """Change of the mean: score / n."""

    def to_dict(self) -> dict[str, Any]:
        """The object `resolution` of `show --json`."""
        return asdict(self)


def resolution_of(metric: str, counts: Sequence[int], cells: int, weight: float, n: int) -> Resolution | None:
    """Return how fine a metric is; None where it is not made of verdicts, or none are known.

    Args:
        metric: its name, parameters included.
        counts: what its cells leave for the mean over claims, summed up (see `ragstone.analysis.pooled`).
        cells: how many cells left something.
        weight: of the claims in a score.
        n: samples with a value.
    """
    kind = _KINDS.get(base_name(metric))
    lines = sum(counts[1::2])  # every second count is how many there are, the one before how many are good
    if kind is None or not cells or not lines or not n:
        return None
    each = lines / cells
    score = {"ratio": 1 / each, "both_sides": min(weight, 2 * weight / each), "ranked": 1.0}[kind]
    return Resolution(kind, each, score, score / n)
