"""Context precision: are the useful chunks at the top?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from ragstone.metrics.base import Metric, Steps, alternatives, best, empty_answer, has, no_context
from ragstone.metrics.needs import Rated, RatedContexts, Side
from ragstone.types import Sample, Score, Verdict


def average_precision(useful: Sequence[bool]) -> float:
    """Return the sum of precision@k over the useful ranks k, divided by the number of useful ones; 0.0 if none is.

    Exact: a list with all useful ones first gives 1.0.

    >>> average_precision([True, False, True, False, False])
    0.8333333333333333
    """
    ranks = [k for k, hit in enumerate(useful, 1) if hit]
    return math.fsum(found / k for found, k in enumerate(ranks, 1)) / len(ranks) if ranks else 0.0


@dataclass(frozen=True, kw_only=True)
class ContextPrecision(Metric):
    """Average precision of the retrieved ranking: sum(precision@k over useful k) / useful, in [0, 1].

    `against` is the yardstick a context must help with: the reference, or the answer where a run has no reference.

    Source: Es et al., arXiv:2309.15217; average precision as in Manning et al., "Introduction to Information Retrieval", 8.4.
    """

    name: ClassVar[str] = "context_precision"
    side: ClassVar[Literal["retrieval", "generation"]] = "retrieval"
    needs: ClassVar[tuple[str, ...]] = ("question", "contexts")
    run_level: ClassVar[tuple[str, ...]] = ("against",)

    against: Side = "reference"

    def lacking(self, sample: Sample) -> str | None:
        """The yardstick is needed too; an empty answer is none."""
        if reason := super().lacking(sample):
            return reason
        held = has(sample, self.against) and not (self.against == "answer" and empty_answer(sample))
        return None if held else f"missing:{self.against}"

    def steps(self, sample: Sample) -> Steps:
        """Rate all contexts, take the average precision of the ranking."""
        if no_context(sample):
            lines = [Verdict(kind="context", id=f"c{i}", text=c.text, verdict="not_useful") for i, c in enumerate(sample.contexts or (), 1)]
            return self.ok(sample, 0.0, lines, {"against": self.against}, "no_context")
        indices = alternatives(sample) if self.against == "reference" else (0,)
        rated = yield [Rated(self.against, i) for i in indices]
        return best({i: self._score(sample, r) for i, r in zip(indices, rated, strict=True)})

    def _score(self, sample: Sample, rated: RatedContexts) -> Score:
        lines = [
            Verdict(kind="context", id=f.id, text=c.text, verdict=f.verdict, reason=f.reason, confidence=f.confidence)
            for f, c in zip(rated.findings, sample.contexts or (), strict=True)
        ]
        detail = {"against": self.against, **({"duplicates": list(rated.duplicates)} if rated.duplicates else {})}
        return self.ok(sample, average_precision([f.verdict == "useful" for f in rated.findings]), lines, detail)
