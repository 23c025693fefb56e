"""Holm's correction: p values of a family of tests that may be read together."""

from collections.abc import Sequence


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Return the p values adjusted by Holm's step-down method (1979), in the order given.

    The chance that any test whose adjusted p is <= alpha is a false alarm is at most alpha, whatever ties the tests together.
    None (no test was possible) stays None and does not count as a test.
    """
    order = sorted((p, at) for at, p in enumerate(ps) if p is not None)
    adjusted: list[float | None] = [None] * len(ps)
    highest = 0.0
    for rank, (p, at) in enumerate(order):
        highest = max(highest, min(1.0, p * (len(order) - rank)))
        adjusted[at] = highest
    return adjusted
