"""Answer correctness: does the answer say what the reference says?"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ragstone.errors import ConfigError
from ragstone.metrics.base import Metric, Steps, alternatives, best, claim_lines, claim_notes, empty_answer, reference_text
from ragstone.metrics.needs import ClaimList, Claims, Cosine, Cosines, Finding, Matched, MatchedClaims, Need
from ragstone.text import say, screen_language
from ragstone.types import Sample, Score


def f_beta(precision: float, recall: float, beta: float = 1.0) -> float:
    """Return (1 + beta^2) * P * R / (beta^2 * P + R), 0.0 where both are 0. beta > 1 weighs recall more.

    Source: van Rijsbergen, "Information Retrieval", 2nd ed., chapter 7.
    """
    weighted = beta * beta * precision + recall
    return (1 + beta * beta) * precision * recall / weighted if weighted else 0.0


@dataclass(frozen=True, kw_only=True)
class AnswerCorrectness(Metric):
    """weights[0] * F_beta over claims + weights[1] * cosine of the two texts clamped to [0, 1]; in [0, 1].

    precision = supported answer claims / answer claims, recall = covered reference claims / reference claims.
    `weights` are brought to a sum of 1; with weights[1] = 0 no embedding is asked.

    Source: the ragas documentation (answer correctness); F_beta counts each side in its own claims.
    """

    name: ClassVar[str] = "answer_correctness"
    side: ClassVar[Literal["retrieval", "generation"]] = "generation"
    needs: ClassVar[tuple[str, ...]] = ("answer", "reference")

    beta: float = 1.0
    weights: tuple[float, ...] = (0.75, 0.25)

    def __post_init__(self) -> None:
        """Refuse weights and beta that give no value in [0, 1]."""
        object.__setattr__(self, "weights", tuple(self.weights) if isinstance(self.weights, list | tuple) else self.weights)
        if not _positive(self.beta):
            raise ConfigError(say("metrics.bad_beta", screen_language(), value=self.beta))
        if not _weights(self.weights):
            raise ConfigError(say("metrics.bad_weights", screen_language(), value=self.weights))
        super().__post_init__()

    @property
    def shares(self) -> tuple[float, float]:
        """The weights brought to a sum of 1."""
        first, second = self.weights
        return (first, second) if first + second == 1 else (first / (first + second), second / (first + second))

    def steps(self, sample: Sample) -> Steps:
        """Split both texts, match their claims, take the cosine; of several references the best counts."""
        if empty_answer(sample):
            return self.ok(sample, 0.0, reason="empty_answer")
        indices = alternatives(sample)
        answer, *references = yield [Claims("answer"), *(Claims("reference", i) for i in indices)]
        usable = {i: claims for i, claims in zip(indices, references, strict=True) if claims.claims}
        if not usable:
            return self.not_applicable(sample, "no_reference_claims")
        results = {}
        for i, found in (yield from self._compared(sample, answer, usable)).items():
            results[i] = self._score(sample, *found)
        return best(results)

    def _compared(self, sample: Sample, answer: ClaimList, usable: dict[int, ClaimList]) -> Steps:
        """Ask for matches and cosines of all references at once."""
        asked: list[Need] = [Matched(i) for i in usable] if answer.claims else []
        if self.shares[1]:
            asked += [Cosine(sample.answer or "", (reference_text(sample, i),)) for i in usable]
        answers = (yield asked) if asked else []
        matched = answers[: len(usable)] if answer.claims else [_unanswered(answer, claims) for claims in usable.values()]
        cosines = answers[-len(usable) :] if self.shares[1] else [None] * len(usable)
        return {i: (m, c) for i, m, c in zip(usable, matched, cosines, strict=True)}

    def _score(self, sample: Sample, matched: MatchedClaims, cosines: Cosines | None) -> Score:
        tp = sum(f.verdict == "supported" for f in matched.answer)
        covered = sum(f.verdict == "covered" for f in matched.reference)
        fp, fn = len(matched.answer) - tp, len(matched.reference) - covered
        f1 = f_beta(tp / len(matched.answer) if matched.answer else 0.0, covered / len(matched.reference), self.beta)
        cosine = cosines.values[0] if cosines else None
        value = self.shares[0] * f1 + self.shares[1] * min(1.0, max(0.0, cosine or 0.0))
        detail = {"tp": tp, "fp": fp, "fn": fn, "f1": f1, "cosine": cosine, "weights": list(self.shares), **_notes(matched)}
        lines = claim_lines(matched.answer_claims, matched.answer, "answer_claim")
        lines += claim_lines(matched.reference_claims, matched.reference, "reference_claim")
        return self.ok(sample, min(1.0, value), lines, detail)


def _unanswered(answer: ClaimList, reference: ClaimList) -> MatchedClaims:
    return MatchedClaims(answer, reference, (), tuple(Finding(c.id, "missing") for c in reference.claims))


def _notes(matched: MatchedClaims) -> dict[str, Any]:
    sides = [claim_notes(matched.answer_claims), claim_notes(matched.reference_claims)]
    merged = sum(s.pop("merged", 0) for s in sides)
    return {
        **sides[0],
        **sides[1],
        **({"merged": merged} if merged else {}),
        **({"inconsistent": list(matched.inconsistent)} if matched.inconsistent else {}),
    }


def _number(x: Any) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x)


def _positive(x: Any) -> bool:
    return _number(x) and x > 0


def _weights(weights: Any) -> bool:
    if not isinstance(weights, tuple) or len(weights) != 2 or not all(map(_number, weights)):
        return False
    return min(weights) >= 0 and sum(weights) > 0
