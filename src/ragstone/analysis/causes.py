"""Why a sample lost points: every lost claim gets one cause, read off the verdicts that are there. No judge is asked again.

A claim is lost where it costs points: an answer claim that the contexts or the reference do not support, a reference claim the
answer does not cover. The first condition that holds decides. A condition needs its metric: without one it is left out, and the
conditions after it decide. Without context_precision no chunk counts as useless, so a claim that the contexts support and the
reference contradicts makes the reference doubtful; the same claim on useless chunks alone has misled.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ragstone.analysis.claims import Claim
from ragstone.analysis.evidence import Evidence

CAUSES = (
    "refused",
    "should_not_answer",
    "judge_unsure",
    "contradicts_contexts",
    "ungrounded_correct",
    "made_up",
    "reference_doubtful",
    "misled",
    "off_topic",
    "beyond_reference",
    "not_retrieved",
    "ranked_low",
    "not_used",
)
"""Every cause, in the order that decides between causes of equal points."""

SURE = 0.6
"""A verdict of less confidence is not relied on."""
ON_TOPIC = 0.5
"""Below this answer_relevancy an answer is taken to answer another question."""
_EPSILON = 1e-9

Expected = Literal["yes", "no", "unknown"]


@dataclass(frozen=True, slots=True)
class Points:
    """What was lost, in points of each metric (1 = a whole sample at 0)."""

    faithfulness: float = 0.0
    answer_correctness: float = 0.0

    @property
    def total(self) -> float:
        """Both together."""
        return self.faithfulness + self.answer_correctness

    def to_dict(self) -> dict[str, float]:
        """The `points` object of `diagnose --json`."""
        return {"faithfulness": self.faithfulness, "answer_correctness": self.answer_correctness, "total": self.total}


@dataclass(frozen=True, slots=True)
class LostClaim:
    """One lost claim and its cause."""

    cause: str
    claim: str
    """a1… or r1…"""
    text: str
    evidence: tuple[str, ...]
    """Contexts the judge named for it."""
    expected: Expected | None
    """Whether a refusal is what the sample asks for; None for other causes."""
    points: Points


@dataclass(frozen=True, slots=True)
class SampleCauses:
    """What one sample lost, and why."""

    lost: Points
    """1 - value of each metric that is ok."""
    claims: tuple[LostClaim, ...]

    @property
    def unattributed(self) -> Points:
        """What is lost and no claim's doing: the cosine part of answer_correctness; all of it where no claim counts as lost."""
        return Points(
            _rest(self.lost.faithfulness, [claim.points.faithfulness for claim in self.claims]),
            _rest(self.lost.answer_correctness, [claim.points.answer_correctness for claim in self.claims]),
        )

    @property
    def cause(self) -> str | None:
        """The cause of most points, of equal ones the first of CAUSES; None where no claim was lost."""
        totals: dict[str, float] = {}
        for claim in self.claims:
            totals[claim.cause] = totals.get(claim.cause, 0.0) + claim.points.total
        most = max(totals.values(), default=0.0)
        return next((cause for cause in CAUSES if cause in totals and totals[cause] >= most - _EPSILON), None)


def causes_of(found: Evidence) -> SampleCauses:
    """Return the lost claims of a sample with their causes; answer claims first.

    Points: 1 - faithfulness is split evenly over the answer claims the contexts do not support; weights[0] * (1 - F) of
    answer_correctness evenly over answer claims the reference does not support and reference claims the answer lacks.
    """
    lost = Points(*(1.0 - found.values.get(name, 1.0) for name in ("faithfulness", "answer_correctness")))
    ungrounded = {c.id for c in found.answer_claims if _not(c.grounding, "supported")}
    unmatched = {c.id for c in found.answer_claims if _not(c.matching, "supported")}
    unmatched |= {c.id for c in found.reference_claims if _not(c.matching, "covered")}
    shares = (
        lost.faithfulness / len(ungrounded) if ungrounded else 0.0,
        _claim_part(found, lost.answer_correctness) / len(unmatched) if unmatched else 0.0,
    )
    claims = []
    for claim, cause in _named(found, ungrounded | unmatched):
        points = Points(shares[0] if claim.id in ungrounded else 0.0, shares[1] if claim.id in unmatched else 0.0)
        name = claim.told if claim.id in unmatched else claim.id
        claims.append(LostClaim(cause, name, claim.text, claim.chunks, _expected(found) if cause == "refused" else None, points))
    return SampleCauses(lost, tuple(claims))


def only_not_useful(claim: Claim, found: Evidence) -> bool:
    """True if chunks carry the claim, and all of those that were rated are of no use."""
    useful = {chunk.id: chunk.useful for chunk in found.chunks}
    known = [useful[id] for id in claim.chunks if id in useful]
    return bool(known) and all(word is False for word in known)


def off_topic(found: Evidence) -> bool:
    """True if answer_relevancy says that the answer answers another question."""
    return found.values.get("answer_relevancy", 1.0) < ON_TOPIC


def stands_low(claim: Claim, found: Evidence) -> bool:
    """True if the best chunk of a claim is in the lower half of three or more, with one of no use above it."""
    ranks = {chunk.id: chunk.rank for chunk in found.chunks}
    best = min((ranks[id] for id in claim.chunks if id in ranks), default=0)
    count = max(ranks.values(), default=0)
    above = any(chunk.useful is False and chunk.rank < best for chunk in found.chunks)
    return count >= 3 and best > math.ceil(count / 2) and above


def _not(word: str | None, good: str) -> bool:
    return word is not None and word != good


def _rest(lost: float, points: list[float]) -> float:
    """Return what is left; a remainder of rounding alone is nothing."""
    rest = math.fsum([lost, *(-p for p in points)])
    return 0.0 if abs(rest) < 1e-12 else rest


def _claim_part(found: Evidence, lost: float) -> float:
    """Return the points of answer_correctness that its claims cost; where F is only worked out, not more than were lost."""
    if found.f1 is None:
        return 0.0
    part = found.weights[0] * (1.0 - found.f1)
    return part if found.f1_told else min(part, lost)


def _expected(found: Evidence) -> Expected:
    known: dict[str | None, Expected] = {"refuse": "yes", "clarify": "yes", "answer": "no"}
    return known.get(found.expected_behavior, "unknown")


def _named(found: Evidence, lost: set[str]) -> Iterator[tuple[Claim, str]]:
    """Yield each lost claim with its cause; a reference claim that an answer claim contradicts is the same mistake, not a second one."""
    everywhere = _everywhere(found)
    causes: dict[str, str] = {}
    for claim in found.answer_claims:
        if claim.id in lost:
            causes[claim.id] = everywhere or _unsure(claim, found) or _of_answer(claim, found)
            yield claim, causes[claim.id]
    for claim in found.reference_claims:
        if claim.id in lost:
            wrong = next((c.id for c in found.answer_claims if c.matching == "contradicted" and claim.id in c.matches), None)
            yield claim, everywhere or _unsure(claim, found) or (causes[wrong] if wrong else _of_reference(claim, found))


def _everywhere(found: Evidence) -> str | None:
    """Return the cause of all lost claims at once, where there is one."""
    if not found.has_claims or "refusal" in found.flags:
        return "refused"
    return "should_not_answer" if found.expected_behavior in ("refuse", "clarify") else None


def _unsure(claim: Claim, found: Evidence) -> str | None:
    low = claim.confidence is not None and claim.confidence < SURE
    return "judge_unsure" if claim.unsure or low or _at_odds(claim, found) else None


def _at_odds(claim: Claim, found: Evidence) -> bool:
    """True if the two sides of a match contradict each other: an answer claim rests on a reference claim that counts as missing."""
    missing = {c.id for c in found.reference_claims if c.matching == "missing"}
    if claim.id in missing:
        return any(c.matching == "supported" and claim.id in c.matches for c in found.answer_claims)
    return claim.matching == "supported" and not missing.isdisjoint(claim.matches)


def _of_answer(claim: Claim, found: Evidence) -> str:
    if claim.grounding == "contradicted":
        return "contradicts_contexts"
    if claim.grounding == "not_found":
        return "ungrounded_correct" if claim.matching == "supported" else "made_up"
    if claim.matching == "contradicted":
        if claim.grounding is None:  # nobody has looked for it in the contexts; wrong it is all the same
            return "made_up"
        return "misled" if only_not_useful(claim, found) else "reference_doubtful"
    if off_topic(found):
        return "off_topic"
    return "misled" if only_not_useful(claim, found) else "beyond_reference"


def _of_reference(claim: Claim, found: Evidence) -> str:
    if claim.grounding == "contradicted":
        return "reference_doubtful"
    if claim.grounding == "not_found":
        return "not_retrieved"
    if off_topic(found):
        return "off_topic"
    return "ranked_low" if stands_low(claim, found) else "not_used"
