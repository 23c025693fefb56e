"""Cells lost to trouble that passes, in a run where it mostly passed: they get one more try when all else is done."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ragstone.metrics.base import Metric
from ragstone.plans.base import Case
from ragstone.types import Score

PASSING = frozenset({"timeout", "connection", "rate_limited", "bad_gateway", "server_error", "empty_reply", "bad_reply"})
"""Reasons that another try may cure: drawn by lot, as it were, and not the cell's own."""
MOST = 100
"""Cells lost beyond which the trouble has lasted: to meet it once more would help nobody."""
OTHERS = 12
"""Repeats and bad replies a lost cell there must have been: twice what one request uses up, so that others were cured."""

Work = tuple[Case, Sequence[Metric], dict[str, Any]]
"""A case, the metrics due on it, and what `detail.clipped` says of it."""


@dataclass(slots=True)
class Lost:
    """What was lost so far."""

    cells: list[tuple[Case, Metric, dict[str, Any]]] = field(default_factory=list)

    def note(self, case: Case, metric: Metric, clipped: dict[str, Any], score: Score) -> None:
        """Take in how a cell ended."""
        if score.status == "failed" and score.reason in PASSING and len(self.cells) <= MOST:
            self.cells.append((case, metric, clipped))

    def worth_another_try(self, troubles: int) -> list[Work]:
        """Return the lost cells by case, none if they are no matter of luck; `troubles` = repeats and bad replies in all."""
        lost = len(self.cells)
        if lost > MOST or troubles < OTHERS * lost:
            return []
        cases: dict[tuple[str, int], tuple[Case, list[Metric], dict[str, Any]]] = {}
        for case, metric, clipped in self.cells:
            cases.setdefault((case.sample.id, case.repeat), (case, [], clipped))[1].append(metric)
        return list(cases.values())
