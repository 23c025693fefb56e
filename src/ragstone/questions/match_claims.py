"""Kind `match_claims`: answer claims matched with reference claims, both ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ragstone.questions.base import MAX_CLAIMS, Failed, Kind, Reading
from ragstone.questions.check_claims import WORDS
from ragstone.questions.exchange import Asker, Items, Talk, as_items, complete, ids_of, in_groups, settle
from ragstone.questions.reading import VerdictList, clean, read_ids, read_verdicts
from ragstone.questions.schemas import IDS, INTEGER, TEXT, record, records, words
from ragstone.questions.verdicts import Verdict
from ragstone.types import Language


@dataclass(frozen=True, slots=True)
class AnswerMatch:
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


def _answer_line(reference: set[int], item: dict[str, Any], verdict: Verdict) -> dict[str, Any]:
    matches = [] if verdict == "not_found" else read_ids(item.get("matches"), reference)
    return {"matches": matches, "reason": clean(item.get("reason")), "verdict": verdict}


def _reference_line(_: dict[str, Any], verdict: Verdict) -> dict[str, Any]:
    return {"verdict": verdict}


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

    More than MAX_CLAIMS answer claims are asked in groups against all reference claims; a reference claim covered in
    any group is covered. With one side empty nothing is asked: there is nothing to match.
    """
    if not answer_claims or not reference_claims:
        return Matches({id: AnswerMatch("not_found") for id, _ in answer_claims}, {id: False for id, _ in reference_claims})
    asker = Asker(KIND, language, repeat)

    def part(some: Sequence[tuple[int, str]]) -> Talk[Items | Failed]:
        asking = {"question": question or "", "answer_claims": as_items(some), "reference_claims": as_items(reference_claims)}
        return settle(asker, asking, lambda _: asking)

    parts = yield from in_groups(answer_claims, MAX_CLAIMS, part)
    if isinstance(parts, Failed):
        return parts
    return _matches(parts, [id for id, _ in answer_claims], [id for id, _ in reference_claims])


def _matches(parts: Sequence[Items], answer: Sequence[int], reference: Sequence[int]) -> Matches | Failed:
    lines = {id: line for items in parts for (name, id), line in items.items() if name == "answer"}
    said = {id: [items.get(("reference", id)) for items in parts] for id in reference}
    covered = {id: any(line is not None and line["verdict"] == "covered" for line in said[id]) for id in reference}
    settled = [id for id in reference if covered[id] or None not in said[id]]
    told = {id: sure for id in reference if (sure := _sure(said[id], covered[id])) is not None}
    return complete(len(lines) + len(settled), len(answer) + len(reference)) or Matches(
        {id: _match(lines[id]) for id in answer}, covered, told
    )


def _match(line: dict[str, Any]) -> AnswerMatch:
    return AnswerMatch(line["verdict"], tuple(line["matches"]), line["reason"], line.get("confidence"))


def _sure(lines: Sequence[dict[str, Any] | None], covered: bool) -> float | None:
    """The confidence of the first line that says what all come to."""
    word = "covered" if covered else "missing"
    return next((line.get("confidence") for line in lines if line is not None and line["verdict"] == word), None)
