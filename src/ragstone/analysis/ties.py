"""Values that are the same number but for the rounding of floating point."""

from collections import Counter
from collections.abc import Iterable

NOISE = 1e-12
"""Values this close together count as equal: 0.9 - 0.6 and 0.3."""


def tied(values: Iterable[float]) -> list[tuple[float, int]]:
    """Return the distinct values, ascending, with how often each occurs; values within `NOISE` of the lowest of them are one."""
    groups: list[tuple[float, int]] = []
    for value, count in sorted(Counter(values).items()):
        if groups and value - groups[-1][0] <= NOISE:
            groups[-1] = (groups[-1][0], groups[-1][1] + count)
        else:
            groups.append((value, count))
    return groups
