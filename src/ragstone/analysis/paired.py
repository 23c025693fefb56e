"""The cells of one metric on samples that two runs share, as columns of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragstone.analysis.cells import FAILED

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragstone.analysis.pairs import Pairs, Side
    from ragstone.analysis.parts import ComparedCells

    Floats = NDArray[np.float64]
    States = NDArray[np.uint8]

OK, LOST, NONE, ABSENT = 0, 1, 2, 3
"""States of a cell: a value, failed, not applicable, no such cell."""


@dataclass(frozen=True, slots=True)
class Paired:
    """The cells of one metric on some pairs: values and states, base and new side by side."""

    base: Floats
    new: Floats
    base_states: States
    new_states: States

    def over(self, rows: Sequence[int]) -> Paired:
        """Return the cells of some pairs only."""
        import numpy as np

        index = np.asarray(rows, dtype=np.intp)
        return Paired(self.base[index], self.new[index], self.base_states[index], self.new_states[index])

    @property
    def both(self) -> NDArray[np.bool_]:
        """True where both cells have a value."""
        both: NDArray[np.bool_] = (self.base_states == OK) & (self.new_states == OK)
        return both


def paired(base: Side, new: Side, pairs: Pairs, metric: str) -> Paired:
    """Return the cells of a metric, or of a part of one, on the pairs of two runs."""
    old, old_states = column_of(base.cells, metric, pairs.base)
    now, new_states = column_of(new.cells, metric, pairs.new)
    return Paired(old, now, old_states, new_states)


def column_of(cells: ComparedCells, metric: str, rows: Sequence[int]) -> tuple[Floats, States]:
    """Return (values, states) of a metric on some samples; the value of a cell that has none is 0."""
    import numpy as np

    part = cells.parts.get(metric)
    column = cells.columns[part.metric if part else metric]
    found = np.fromiter((-1.0 if v is None else v for v in cells.outcomes(column, rows)), float, len(rows))
    absent = np.fromiter((v is None for v in cells.outcomes(column, rows)), bool, len(rows)) if (found < 0).any() else found < 0
    states = np.full(len(rows), OK, dtype=np.uint8)
    for code in np.unique(found[found < 0]).tolist():
        states[found == code] = LOST if cells.reason(code)[0] == FAILED else NONE
    states[absent] = ABSENT
    values = np.where(found < 0, 0.0, found)
    if part:
        inner = np.fromiter((part.value(at) for at in rows), float, len(rows))
        states[(states == OK) & np.isnan(inner)] = NONE
        values = np.where(np.isnan(inner), 0.0, inner)
    return values, states
