"""Context recall: did retrieval find what the right answer needs?"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from ragstone.metrics.base import Metric, Steps, alternatives, best, claim_lines, claim_notes, no_context
from ragstone.metrics.needs import Checked, CheckedClaims
from ragstone.types import Sample, Score


@dataclass(frozen=True, kw_only=True)
class ContextRecall(Metric):
    """Share of the reference's claims that the contexts support: attributed / claims, in [0, 1].

    `points` = "facts" leaves behaviour points (ask back, refuse, do not invent) out of the count.

    Source: Es et al., arXiv:2309.15217, as extended by the ragas documentation (context recall).
    """

    name: ClassVar[str] = "context_recall"
    side: ClassVar[Literal["retrieval", "generation"]] = "retrieval"
    needs: ClassVar[tuple[str, ...]] = ("contexts", "reference")
    run_level: ClassVar[tuple[str, ...]] = ("points",)

    points: Literal["all", "facts"] = "all"

    def steps(self, sample: Sample) -> Steps:
        """Split the reference, check every claim against all contexts; of several references the best counts."""
        indices = alternatives(sample)
        checked = yield [Checked("reference", i) for i in indices]
        counted = {i: self._counted(c) for i, c in zip(indices, checked, strict=True)}
        results = {i: self._score(sample, c) for i, c in counted.items() if c.list.claims}
        return best(results) if results else self.not_applicable(sample, "no_reference_claims")

    def _counted(self, checked: CheckedClaims) -> CheckedClaims:
        if self.points == "all":
            return checked
        facts = tuple(c for c in checked.list.claims if not c.behaviour)
        kept = {c.id for c in facts}
        return checked._replace(list=checked.list._replace(claims=facts), findings=tuple(f for f in checked.findings if f.id in kept))

    def _score(self, sample: Sample, checked: CheckedClaims) -> Score:
        attributed = sum(f.verdict == "supported" for f in checked.findings)
        lines = claim_lines(checked.list, checked.findings, "reference_claim")
        notes = claim_notes(checked.list, checked.duplicates)
        return self.ok(sample, attributed / len(checked.findings), lines, notes, "no_context" if no_context(sample) else None)
