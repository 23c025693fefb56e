"""Retrieval against generation: which of the two is weak, in one word a sample."""

from __future__ import annotations

from collections.abc import Mapping

QUADRANTS = ("good_good", "good_bad", "bad_good", "bad_bad", "unknown")
"""Retrieval first, then generation; unknown = a side without an ok cell."""

RETRIEVAL = ("context_precision", "context_recall")
GENERATION = ("faithfulness", "answer_correctness")

HIGH = 0.8
"""From this mean on a side is good."""
ROUNDING = 1e-9
"""A mean this close below a limit reaches it."""


def quadrant(values: Mapping[str, float], high: float = HIGH) -> str:
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
    return "good" if sum(known) / len(known) >= high - ROUNDING else "bad"
