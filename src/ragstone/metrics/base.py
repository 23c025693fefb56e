"""What a metric is: a plain generator over one sample that yields needs, receives their answers, returns a Score.

A metric does no I/O and knows neither judge nor event loop. `needs` are turned into requests by a plan.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal, TypeVar

from ragstone.metrics.needs import Claim, ClaimList, Finding, Need
from ragstone.questions.base import Failed
from ragstone.types import Sample, Score, Verdict

Steps = Generator[Sequence[Need], list[Any], Any]

Asked = TypeVar("Asked")


# ------------------------------------------------------------------ the metric
@dataclass(frozen=True, kw_only=True)
class Metric(ABC):
    """A metric with its parameters. Frozen, comparable; its text names it in files and prints its parameters.

    A new metric is a subclass with `name`, `side` and `needs`, and a `steps` generator.
    """

    name: ClassVar[str]
    """Stable id, snake_case."""
    version: ClassVar[int] = 1
    """Raised whenever a change can move a score."""
    side: ClassVar[Literal["retrieval", "generation"]]
    needs: ClassVar[tuple[str, ...]]
    """Columns without which a sample is not applicable."""
    run_level: ClassVar[tuple[str, ...]] = ()
    """Parameters a run sets for the metric; they never show in its text."""
    judged: ClassVar[bool] = True
    """False for a metric that yields no needs: a run of such metrics takes neither judge nor embedder."""

    text: str = field(default="", compare=False, repr=False)
    """The name under which scores are stored: the name, with the parameters that were given."""

    def __post_init__(self) -> None:
        """Give the metric its text, from the parameters that differ from their defaults."""
        if not self.text:
            object.__setattr__(self, "text", self._given())

    def _given(self) -> str:
        own = [f for f in fields(self) if f.name != "text" and f.name not in self.run_level]
        given = [f"{f.name}={_plain(getattr(self, f.name))}" for f in own if getattr(self, f.name) != f.default]
        return self.name + (f"({','.join(given)})" if given else "")

    @property
    def parameters(self) -> dict[str, Any]:
        """Every parameter that can change a score, for the manifest."""
        return {f.name: _listed(getattr(self, f.name)) for f in fields(self) if f.name != "text"}

    @abstractmethod
    def steps(self, sample: Sample) -> Steps:
        """Yield lists of needs, receive their answers, return a Score. Columns of `needs` are present."""

    def evaluate(self, sample: Sample) -> Steps:
        """Run `steps` under the policies every metric shares: failed rows, missing columns, failed needs."""
        if sample.error:
            return self.failed(sample, f"collect:{_word(sample.error)}")
        if lacking := self.lacking(sample):
            return self.not_applicable(sample, lacking)
        result = yield from until_failed(self.steps(sample))
        return self.failed(sample, result.reason) if isinstance(result, Failed) else result

    def lacking(self, sample: Sample) -> str | None:
        """Return the reason word if the sample lacks a column this metric cannot do without."""
        if "contexts" in self.needs and sample.contexts is None:
            return "contexts_missing"
        for column in self.needs:
            if not has(sample, column):
                return f"missing:{column}"
        return None

    def ok(
        self,
        sample: Sample,
        value: float,
        verdicts: Iterable[Verdict] = (),
        detail: dict[str, Any] | None = None,
        reason: str | None = None,
    ) -> Score:
        """Return a measured score."""
        return Score(
            sample_id=sample.id, metric=self.text, value=value, status="ok", reason=reason, verdicts=tuple(verdicts), detail=detail or {}
        )

    def not_applicable(self, sample: Sample, reason: str, detail: dict[str, Any] | None = None) -> Score:
        """Return a score that does not apply to this sample."""
        return Score(sample_id=sample.id, metric=self.text, status="not_applicable", reason=reason, detail=detail or {})

    def failed(self, sample: Sample, reason: str) -> Score:
        """Return a score that could not be measured."""
        return Score(sample_id=sample.id, metric=self.text, status="failed", reason=reason)


def until_failed(steps: Generator[Asked, list[Any], Any]) -> Generator[Asked, list[Any], Any]:
    """Run `steps`; at the first answer that is a Failed, close them and return it."""
    try:
        asked = next(steps)
        while True:
            answers = yield asked
            for answer in answers:
                if isinstance(answer, Failed):
                    steps.close()
                    return answer
            asked = steps.send(answers)
    except StopIteration as done:
        return done.value


# ------------------------------------------------------------------ what metrics and plans ask of a sample
def has(sample: Sample, column: str) -> bool:
    """True if the sample holds the column; an empty answer is held, a blank question or reference is not."""
    match column:
        case "reference":
            return bool(alternatives(sample))
        case "answer":
            return sample.answer is not None
        case "question":
            return bool(sample.question and sample.question.strip())
        case _:
            return getattr(sample, column) is not None


def alternatives(sample: Sample) -> tuple[int, ...]:
    """Return the indices of the acceptable references: 0 = the reference or its points, i = alternative i."""
    own = (0,) if (sample.reference and sample.reference.strip()) or sample.reference_points else ()
    return own + tuple(range(1, len(sample.reference_alternatives or ()) + 1))


def reference_text(sample: Sample, alternative: int) -> str:
    """Return the text of a reference; of points without a text, the points joined by line breaks."""
    if alternative:
        return (sample.reference_alternatives or ())[alternative - 1]
    return sample.reference or "\n".join(sample.reference_points or ())


def no_context(sample: Sample) -> bool:
    """True if retrieval gave nothing to read: no chunk, or only blank ones."""
    return all(c.blank for c in sample.contexts or ())


def empty_answer(sample: Sample) -> bool:
    """True if the application answered nothing."""
    return not (sample.answer or "").strip()


def claim_lines(claims: ClaimList, findings: Iterable[Finding], kind: str) -> tuple[Verdict, ...]:
    """Return one verdict line a claim, in claim order."""
    said = {f.id: f for f in findings}
    return tuple(_line(kind, claim, said[claim.id]) for claim in claims.claims)


def _line(kind: str, claim: Claim, finding: Finding) -> Verdict:
    return Verdict(
        kind=kind,
        id=claim.id,
        text=claim.text,
        verdict=finding.verdict,
        evidence=finding.evidence,
        reason=finding.reason,
        key=claim.key,
        confidence=finding.confidence,
        anchor=claim.anchor,
        quote=finding.quote,
        unverified=finding.unverified,
        behaviour=claim.behaviour,
    )


def claim_notes(claims: ClaimList, duplicates: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return what `detail` says about a list of claims: merged, unsplit, behaviour, duplicates where they apply."""
    behaviour = sum(c.behaviour for c in claims.claims)
    found = {"merged": claims.merged, "unsplit": claims.unsplit, "behaviour": behaviour, "duplicates": list(duplicates)}
    return {name: value for name, value in found.items() if value}


def best(results: dict[int, Score]) -> Score:
    """Return the score of the best alternative; `detail.best` names it when there was a choice."""
    index = max(results, key=lambda i: (results[i].value or 0.0, -i))
    score = results[index]
    return score if len(results) == 1 and index == 0 else score.model_copy(update={"detail": {**score.detail, "best": index}})


def _word(error: str) -> str:
    found = re.match(r"\s*([A-Za-z0-9_]+)", error)
    return found.group(1).lower() if found else "error"


def _plain(value: Any) -> str:
    if isinstance(value, tuple | list):
        return "[" + ",".join(map(_plain, value)) + "]"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
