"""Answer relevancy: does the answer answer this question?"""

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ragstone.errors import ConfigError
from ragstone.language import asks_back
from ragstone.metrics.base import Metric, Steps, empty_answer
from ragstone.metrics.needs import Claims, Cosine, Cosines, Inverted, Need, ReverseQuestion, ReverseQuestions
from ragstone.text import say, screen_language
from ragstone.types import Sample, Score, Verdict


@dataclass(frozen=True, kw_only=True)
class AnswerRelevancy(Metric):
    """Mean cosine, each clamped to [0, 1], of the question with questions generated back from the answer.

    0 if all generated questions are noncommittal. It sees whether an answer is on topic, never whether it is right.
    `strictness` is how many questions are generated (1 to 20).

    Source: Es et al., arXiv:2309.15217, section 3; one request for all questions instead of `n` completions.
    """

    name: ClassVar[str] = "answer_relevancy"
    side: ClassVar[Literal["retrieval", "generation"]] = "generation"
    needs: ClassVar[tuple[str, ...]] = ("question", "answer")

    strictness: int = 3

    def __post_init__(self) -> None:
        """Refuse a strictness that is no whole number from 1 to 20."""
        if not isinstance(self.strictness, int) or isinstance(self.strictness, bool) or not 1 <= self.strictness <= 20:
            raise ConfigError(say("metrics.bad_strictness", screen_language(), value=self.strictness))
        super().__post_init__()

    def steps(self, sample: Sample) -> Steps:
        """Generate questions back from the answer, compare each with the real one."""
        if empty_answer(sample):
            return self.ok(sample, 0.0, reason="empty_answer")
        refused = yield from self._expected(sample)
        if refused is not None:
            return refused
        reverse: ReverseQuestions
        (reverse,) = yield [Inverted(self.strictness)]
        if not reverse.questions:
            return self.failed(sample, "no_questions")
        if all(q.noncommittal for q in reverse.questions):
            return self.ok(sample, 0.0, _lines(reverse.questions), {**_detail(reverse.questions), "flags": ["refusal"]})
        cosines: Cosines
        (cosines,) = yield [Cosine(sample.question or "", tuple(q.text for q in reverse.questions))]
        value = math.fsum(min(1.0, max(0.0, c)) for c in cosines.values) / len(cosines.values)
        return self.ok(sample, value, _lines(reverse.questions, cosines.values), _detail(reverse.questions, cosines.values))

    def _expected(self, sample: Sample) -> Generator[list[Need], list[Any], Score | None]:
        """Not applicable where the row expects a refusal or a question back, and the answer does just that."""
        if sample.expected_behavior == "answer":
            return None
        wanted: list[Need] = [Claims("answer")]
        wanted += [Inverted(self.strictness)] if sample.expected_behavior == "refuse" else []
        claims, *reverse = yield wanted
        if claims.claims:
            return None
        if sample.expected_behavior == "clarify":
            return self.not_applicable(sample, "expected_clarification") if asks_back(sample.answer or "") else None
        if all(q.noncommittal for q in reverse[0].questions):
            detail = {**_detail(reverse[0].questions), "flags": ["refusal"]}
            return self.not_applicable(sample, "expected_refusal", detail)
        return None


def _lines(questions: tuple[ReverseQuestion, ...], cosines: tuple[float, ...] = ()) -> list[Verdict]:
    known = cosines or (None,) * len(questions)
    words = {True: "noncommittal", False: "committal"}
    return [
        Verdict(kind="question", id=f"q{i}", text=q.text, verdict=words[q.noncommittal], confidence=q.confidence, cosine=c)
        for i, (q, c) in enumerate(zip(questions, known, strict=True), 1)
    ]


def _detail(questions: tuple[ReverseQuestion, ...], cosines: tuple[float, ...] = ()) -> dict[str, Any]:
    return {"cosines": list(cosines), "noncommittal": [q.noncommittal for q in questions]}
