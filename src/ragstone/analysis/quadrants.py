"""Retrieval against generation: which of the two is weak, in one word a sample."""

from __future__ import annotations

from collections.abc import Mapping

from ragstone.analysis.levels import USUAL, reaches

QUADRANTS = ("good_good", "good_bad", "bad_good", "bad_bad", "unknown")
"""Retrieval first, then generation; unknown = a side without an ok cell."""

RETRIEVAL = ("context_precision", "context_recall")
GENERATION = ("faithfulness", "answer_correctness")


def quadrant(values: Mapping[str, float], high: float = USUAL.high) -> str:
    """Return a sample's quadrant.

    Args:
        values: its ok cells, by metric name without parameters.
        high: limit in [0, 1]; a side is good where the mean of its ok cells reaches it.
    """
    sides = [_side(values, names, high) for names in (RETRIEVAL, GENERATION)]
    return "unknown" if None in sides else "_".join(map(str, sides))


def _side(values: Mapping[str, float], names: tuple[str, ...], high: float) -> str | None:
    known = [values[name] for name in names if name in values]
    if not known:
        return None
    return "good" if reaches(sum(known) / len(known), high) else "bad"
