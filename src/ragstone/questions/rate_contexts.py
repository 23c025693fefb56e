"""Kind `rate_contexts`: is each context useful for answering the question as the yardstick does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ragstone.questions.base import MAX_CONTEXTS, Failed, Kind, Reading, Slot
from ragstone.questions.exchange import (
    Asker,
    Cutting,
    Items,
    Talk,
    Text,
    as_items,
    complete,
    halves_of_texts,
    ids_of,
    in_parts,
    said_of,
    settle,
    split_at,
    weight,
    whole,
)
from ragstone.questions.reading import VerdictList, clean, read_verdicts
from ragstone.questions.schemas import INTEGER, TEXT, record, records
from ragstone.questions.verdicts import Verdict
from ragstone.types import Language

LINES = records(id=INTEGER, reason=TEXT, verdict={"type": "integer", "enum": [1, 0]})
"""Schema of the verdicts."""


class ContextVerdict(NamedTuple):
    """Whether one context is useful."""

    useful: bool
    reason: str | None = None
    confidence: float | None = None
    """Probability of the verdict in [0, 1] where the judge tells it."""


def rate_lines(input: dict[str, Any], name: str) -> VerdictList:
    """What a reply must hold for the contexts of the user JSON; `name` is the reply's list."""
    return VerdictList(name, ids_of(input, "contexts"), "useful", _line)


def _line(id: int, item: dict[str, Any], verdict: Verdict) -> dict[str, Any]:
    return {"id": id, "reason": clean(item.get("reason")), "verdict": verdict}


def _read(input: dict[str, Any], raw: str) -> Reading:
    return read_verdicts(input, raw, rate_lines(input, "verdicts"))


KIND = Kind("rate_contexts", 1, record(verdicts=LINES), _read)


def ask(
    contexts: Sequence[tuple[int, str]],
    question: str | None,
    reference: str | None,
    *,
    language: Language,
    repeat: int,
    at_once: int = MAX_CONTEXTS,
) -> Talk[dict[int, ContextVerdict] | Failed]:
    """Rate contexts, given as (id, text) in the order they shall be listed; more than `at_once` are asked in groups.

    What does not fit is halved; of a context too long by itself the pieces are rated: it is useful if one of them is.
    """
    lines = yield from verdict_lines(contexts, question, reference, language=language, repeat=repeat, at_once=at_once)
    if isinstance(lines, Failed):
        return lines
    return complete(len(lines), len(contexts)) or {id: rating(lines["verdicts", id]) for id, _ in contexts}


def verdict_lines(
    contexts: Sequence[tuple[int, str]],
    question: str | None,
    reference: str | None,
    *,
    language: Language,
    repeat: int,
    at_once: int = MAX_CONTEXTS,
) -> Talk[Items | Failed]:
    """Do what `ask` does, and return the verdicts in wire shape; a context without one is left out."""
    asker = Asker(KIND, language, repeat)

    def part(some: Sequence[Text]) -> Talk[Items | Failed]:
        def asking(listed: Sequence[Text]) -> dict[str, Any]:
            return {"contexts": as_items(listed), "question": question or "", "reference": reference or ""}

        def narrow(missing: Sequence[Slot]) -> dict[str, Any]:
            wanted = {id for _, id in missing}
            return asking([context for context in some if context[0] in wanted])

        return settle(asker, asking(some), narrow)

    parts = yield from in_parts(split_at(contexts, at_once), part, Cutting(halves_of_texts, _weight))
    if isinstance(parts, Failed):
        return parts
    if len(parts) == 1:
        return parts[0][1]
    said = said_of(([("verdicts", id) for id, _ in some], items) for some, items in parts)
    return {slot: max(lines, key=lambda line: line["verdict"]) for slot, lines in whole(said).items()}


def _weight(contexts: Sequence[Text], why: str) -> int:
    return len(contexts) if why == "truncated" else weight(contexts)


def rating(line: Mapping[str, Any]) -> ContextVerdict:
    """Turn a verdict in wire shape into a record."""
    return ContextVerdict(line["verdict"] == 1, line["reason"], line.get("confidence"))
