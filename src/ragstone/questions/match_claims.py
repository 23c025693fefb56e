"""Kind `match_claims`: answer claims matched with reference claims, both ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from ragstone.questions.base import MAX_CLAIMS, Failed, Kind, Reading
from ragstone.questions.check_claims import WORDS, strongest
from ragstone.questions.exchange import (
    Asker,
    Cutting,
    Items,
    Talk,
    Text,
    as_items,
    complete,
    halves,
    ids_of,
    in_parts,
    said_of,
    settle,
    split_at,
    weight,
    whole,
)
from ragstone.questions.numbering import read_ids
from ragstone.questions.reading import VerdictList, clean, read_verdicts
from ragstone.questions.schemas import IDS, INTEGER, TEXT, record, records, words
from ragstone.questions.verdicts import Verdict
from ragstone.types import Language

REASONED = 5
"""So many times the length of a reference claim's verdict is that of an answer claim, which gives its matches and a reason."""

_Work = tuple[Sequence[Text], Sequence[Text]]
"""Answer claims, and reference claims to match them with."""


class AnswerMatch(NamedTuple):
    """What the reference claims say of one answer claim."""

    verdict: str
    """supported | contradicted | not_found."""
    matches: tuple[int, ...] = ()
    """Ids of the reference claims it matches or contradicts; none if not_found."""
    reason: str | None = None
    confidence: float | None = None
    """Probability of the verdict in [0, 1] where the judge tells it."""


@dataclass(frozen=True, slots=True)
class Matches:
    """Both sides of a match, by id."""

    answer: dict[int, AnswerMatch]
    reference: dict[int, bool]
    """True if the answer covers the reference claim, as the judge says."""
    confidence: dict[int, float] = field(default_factory=dict)
    """Probability in [0, 1] of what it says of the reference claims, where it tells it."""


def _answer_line(reference: set[int], id: int, item: dict[str, Any], verdict: Verdict) -> dict[str, Any]:
    matches = [] if verdict == "not_found" else read_ids(item.get("matches"), reference)
    return {"id": id, "matches": matches, "reason": clean(item.get("reason")), "verdict": verdict}


def _reference_line(id: int, _: dict[str, Any], verdict: Verdict) -> dict[str, Any]:
    return {"id": id, "verdict": verdict}


def _read(input: dict[str, Any], raw: str) -> Reading:
    reference = ids_of(input, "reference_claims")
    return read_verdicts(
        input,
        raw,
        VerdictList("answer", ids_of(input, "answer_claims"), "check", partial(_answer_line, set(reference))),
        VerdictList("reference", reference, "covered", _reference_line),
    )


KIND = Kind(
    "match_claims",
    1,
    record(
        answer=records(id=INTEGER, matches=IDS, reason=TEXT, verdict=words(*WORDS)),
        reference=records(id=INTEGER, verdict=words("covered", "missing")),
    ),
    _read,
)


def ask(
    question: str | None,
    answer_claims: Sequence[tuple[int, str]],
    reference_claims: Sequence[tuple[int, str]],
    *,
    language: Language,
    repeat: int,
) -> Talk[Matches | Failed]:
    """Match claims, given as (id, text).

    More than MAX_CLAIMS answer claims are asked in groups against all reference claims; what does not fit is halved, the
    answer claims first, and the reference claims where they make up most of it. A reference claim covered in any part is
    covered; for an answer claim supported in any part wins over contradicted, that over not_found. With one side empty
    nothing is asked: there is nothing to match.
    """
    if not answer_claims or not reference_claims:
        return Matches({id: AnswerMatch("not_found") for id, _ in answer_claims}, {id: False for id, _ in reference_claims})
    asker = Asker(KIND, language, repeat)

    def part(work: _Work) -> Talk[Items | Failed]:
        asking = {"question": question or "", "answer_claims": as_items(work[0]), "reference_claims": as_items(work[1])}
        return settle(asker, asking, lambda _: asking)

    works = [(some, reference_claims) for some in split_at(answer_claims, MAX_CLAIMS)]
    parts = yield from in_parts(works, part, Cutting(_halves, lambda work, why: sum(_sizes(work, why))))
    if isinstance(parts, Failed):
        return parts
    return _matches(parts, [id for id, _ in answer_claims], [id for id, _ in reference_claims])


def _halves(work: _Work, why: str) -> list[_Work] | None:
    answer, reference = work
    fewer_answer = [(some, reference) for some in halves(answer) or ()]
    fewer_reference = [(answer, some) for some in halves(reference) or ()]
    of_answer, of_reference = _sizes(work, why)
    return ((fewer_answer or fewer_reference) if of_answer >= of_reference else (fewer_reference or fewer_answer)) or None


def _sizes(work: _Work, why: str) -> tuple[int, int]:
    """How much of the reply, or of the prompt, each side takes."""
    answer, reference = work
    return (REASONED * len(answer), len(reference)) if why == "truncated" else (weight(answer), weight(reference))


def _matches(parts: Sequence[tuple[_Work, Items]], answer: Sequence[int], reference: Sequence[int]) -> Matches | Failed:
    lines = parts[0][1] if len(parts) == 1 else _joined(parts)
    if (failed := complete(len(lines), len(answer) + len(reference))) is not None:
        return failed
    of_reference = {id: lines["reference", id] for id in reference}
    covered = {id: line["verdict"] == "covered" for id, line in of_reference.items()}
    told = {id: line["confidence"] for id, line in of_reference.items() if "confidence" in line}
    return Matches({id: _match(lines["answer", id]) for id in answer}, covered, told)


def _joined(parts: Sequence[tuple[_Work, Items]]) -> Items:
    """What all parts come to; a claim of the answer needs a verdict of each, one of the reference is covered by any."""
    said = said_of(([*(("answer", id) for id, _ in some), *(("reference", id) for id, _ in of)], items) for (some, of), items in parts)
    covered = {slot: line for slot, lines in said.items() for line in reversed(lines) if line is not None and line["verdict"] == "covered"}
    return {slot: strongest(lines, "matches") if slot[0] == "answer" else lines[0] for slot, lines in whole(said).items()} | covered


def _match(line: dict[str, Any]) -> AnswerMatch:
    return AnswerMatch(line["verdict"], tuple(line["matches"]), line["reason"], line.get("confidence"))
