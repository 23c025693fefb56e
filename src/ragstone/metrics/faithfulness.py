"""Faithfulness: is what the answer says found in what was retrieved?"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from ragstone.metrics.base import Metric, Steps, claim_lines, claim_notes, empty_answer, no_context
from ragstone.metrics.needs import Checked, CheckedClaims
from ragstone.types import Sample


@dataclass(frozen=True, kw_only=True)
class Faithfulness(Metric):
    """Share of the answer's claims that the contexts support: supported / claims, in [0, 1].

    Source: Es et al., "RAGAS: Automated Evaluation of Retrieval Augmented Generation", arXiv:2309.15217, section 3.
    """

    name: ClassVar[str] = "faithfulness"
    side: ClassVar[Literal["retrieval", "generation"]] = "generation"
    needs: ClassVar[tuple[str, ...]] = ("answer", "contexts")

    def steps(self, sample: Sample) -> Steps:
        """Split the answer, check every claim against all contexts."""
        if empty_answer(sample):
            return self.not_applicable(sample, "no_claims")
        checked: CheckedClaims
        (checked,) = yield [Checked("answer")]
        notes = claim_notes(checked.list, checked.duplicates)
        if not checked.list.claims:
            return self.not_applicable(sample, "no_claims", notes)
        supported = sum(f.verdict == "supported" for f in checked.findings)
        reason = "no_context" if no_context(sample) else None
        lines = claim_lines(checked.list, checked.findings, "answer_claim")
        return self.ok(sample, supported / len(checked.findings), lines, notes, reason)
