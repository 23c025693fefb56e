"""The records of ragstone: frozen, validated, the same in memory and on disk."""

import math
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Language = Literal["zh", "en"]
Status = Literal["ok", "not_applicable", "failed"]
Behavior = Literal["answer", "refuse", "clarify"]


class Record(BaseModel):
    """A frozen record. Unknown fields are refused; `read` is the tolerant door for files ragstone did not write."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @classmethod
    def read(cls, row: Any) -> Self:
        """Build the record from a stored row, leaving out fields this version does not know."""
        return cls.model_validate(row, extra="ignore")


class Context(Record):
    """One retrieved chunk."""

    text: str
    """What the chunk says, as the model saw it."""
    id: str | None = None
    """The chunk's id in its store."""
    score: float | None = None
    """The retriever's score, of any scale."""
    source: str | None = None
    """Where the chunk comes from (file, URL, collection)."""

    @model_validator(mode="before")
    @classmethod
    def _bare_text(cls, given: Any) -> Any:
        return {"text": given} if isinstance(given, str) else given

    @property
    def blank(self) -> bool:
        """True if the chunk holds nothing to judge."""
        return not self.text.strip()


class Citation(Record):
    """A citation mark taken out of an answer."""

    at: int
    """Character offset in the cleaned `answer` where the mark stood."""
    context: str | int | None = None
    """What the mark pointed to: a chunk id or a 1-based rank."""


class Sample(Record):
    """One row: a question, what the application retrieved and answered, and what was expected."""

    id: str
    question: str | None = None
    answer: str | None = None
    """None = missing, "" or blanks = the application answered nothing."""
    contexts: tuple[Context, ...] | None = None
    """In rank order. None = not exposed by the application, () = nothing retrieved."""
    reference: str | None = None
    """The expected answer, or a description of it."""
    reference_points: tuple[str, ...] | None = None
    """The reference as claims written by people; never split by a judge."""
    reference_alternatives: tuple[str, ...] | None = None
    """Other acceptable answers."""
    reference_contexts: tuple[str, ...] | None = None
    """Gold passages or keywords that retrieval should hit."""
    context_ids: tuple[str, ...] | None = None
    reference_context_ids: tuple[str, ...] | None = None
    context_scores: tuple[float | None, ...] | None = None
    context_sources: tuple[str | None, ...] | None = None
    expected_behavior: Behavior = "answer"
    history: tuple[Any, ...] | None = None
    """Earlier turns of the conversation, as given."""
    error: str | None = None
    """Why collecting this row failed; such a row is never judged."""
    answer_raw: str | None = None
    """The answer with its citation marks."""
    citations: tuple[Citation, ...] | None = None
    latency_s: float | None = None
    usage: dict[str, Any] | None = None
    language: Language = "en"
    """Language the judge is asked in; found from the question, else reference, else answer."""
    meta: dict[str, Any] = Field(default_factory=dict)
    """Every other column; its keys slice results."""

    def to_dict(self) -> dict[str, Any]:
        """The row as `samples.jsonl` holds it: absent fields left out, bare chunks as strings."""
        row = {name: value for name, value in vars(self).items() if value is not None}
        if self.contexts is not None:
            row["contexts"] = [_stored(context) for context in self.contexts]
        if not self.meta:
            row.pop("meta", None)
        if nested := row.keys() & _NESTED:
            row |= self.model_dump(include=nested, exclude_none=True)
        return row


_NESTED = {"history", "citations", "usage", "meta"}
"""Fields of a sample that hold more than texts and numbers."""


def _stored(context: Context) -> str | dict[str, Any]:
    row = {name: value for name, value in vars(context).items() if value is not None}
    return row if len(row) > 1 else context.text


class Verdict(Record):
    """One line of evidence under a score."""

    kind: str
    """answer_claim, reference_claim, context, question or keyword."""
    id: str
    """a1… answer claims, r1… reference claims, c1… contexts by rank, q1… reverse questions."""
    text: str
    verdict: str
    evidence: tuple[str, ...] = ()
    reason: str | None = None
    key: str | None = None
    """Stable id of a reference claim across runs."""
    confidence: float | None = Field(default=None, ge=0, le=1)
    anchor: str | None = None
    """Verbatim piece of the text the claim comes from."""
    quote: str | None = None
    """Verbatim piece of the evidence."""
    unverified: bool = False
    """True if the quote does not occur in the evidence."""
    behaviour: bool = False
    """True if the claim says how to behave (ask back, refuse, name the source)."""
    cosine: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The line as `scores.jsonl` holds it: the six constant keys, and the optional ones that apply."""
        held = self.__dict__  # getattr takes its time on a model, and this is written of every verdict
        row: dict[str, Any] = {
            "kind": held["kind"],
            "id": held["id"],
            "text": held["text"],
            "verdict": held["verdict"],
            "evidence": list(held["evidence"]),
            "reason": held["reason"],
        }
        for name in ("key", "confidence", "anchor", "quote", "cosine"):
            if held[name] is not None:
                row[name] = held[name]
        for name in ("unverified", "behaviour"):
            if held[name]:
                row[name] = True
        return row


class Score(Record):
    """One metric on one sample: a value in [0, 1], or not applicable, or failed, with the reason."""

    sample_id: str
    metric: str
    repeat: int = 0
    value: float | None = Field(default=None, ge=0, le=1)
    status: Status
    reason: str | None = None
    verdicts: tuple[Verdict, ...] = ()
    questions: tuple[str, ...] = ()
    """Keys of the replies this score rests on."""
    detail: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _value_goes_with_status(self) -> Self:
        status, value = self.status, self.value
        if (status == "ok") != (value is not None):
            raise ValueError(f"status {status} with value {value}")
        if value is not None and math.isnan(value):
            raise ValueError("value is NaN")
        if status != "ok" and not self.reason:
            raise ValueError(f"status {status} without a reason")
        return self

    def to_dict(self) -> dict[str, Any]:
        """The cell as `scores.jsonl` holds it."""
        row = dict(self.__dict__)
        return row | {"verdicts": [v.to_dict() for v in self.verdicts], "questions": list(self.questions)}
