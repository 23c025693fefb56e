"""Kind `invert_answer`: questions generated back from an answer."""

from typing import Any, NamedTuple

from ragstone.questions.base import Failed, Kind, Reading
from ragstone.questions.exchange import Asker, Talk, failure, listen
from ragstone.questions.reading import Shape, clean, find_reply
from ragstone.questions.schemas import FLAG, TEXT, record, records
from ragstone.questions.verdicts import read_verdict
from ragstone.types import Language


class InvertedQuestion(NamedTuple):
    """A question the answer would answer."""

    text: str
    noncommittal: bool
    """True if the answer commits itself to nothing (evades, refuses, only asks back)."""
    confidence: float | None = None
    """Probability of the flag in [0, 1] where the judge tells it."""


def _usable(item: Any) -> bool:
    return isinstance(item, dict) and "question" in item and "noncommittal" in item


_SHAPE = Shape({"questions": _usable})


def _read(input: dict[str, Any], raw: str) -> Reading:
    found, problem = find_reply(input, raw, _SHAPE)
    count: int = input["count"]
    if found is None:
        return Reading(problem=problem, asked=count)
    lines = [_line(item) for item in found["questions"][:count]]
    missing = [("questions", place) for place in range(1, count + 1) if place > len(lines) or lines[place - 1] is None]
    extra = len(found["questions"]) - count
    notes = (f"questions: {extra} more than asked",) if extra > 0 else ()
    return Reading({"questions": [line for line in lines if line is not None]}, None, tuple(missing), notes, count)


def _line(item: Any) -> dict[str, Any] | None:
    if not _usable(item):
        return None
    question, flag = clean(item["question"]), read_verdict(item["noncommittal"], "flag")
    return None if question is None or flag is None else {"question": question, "noncommittal": flag}


KIND = Kind("invert_answer", 1, record(questions=records(question=TEXT, noncommittal=FLAG)), _read)


def ask(answer: str, count: int, *, language: Language, repeat: int) -> Talk[list[InvertedQuestion] | Failed]:
    """Generate `count` questions back from an answer, likeliest first.

    Too many: the first `count`. Blank or too few: asked once more, and the fuller of both replies is taken as it is,
    so there may be fewer than `count`, even none.
    """
    asker = Asker(KIND, language, repeat)
    asking = {"answer": answer, "count": count}
    heard = yield from listen(asker, asking)
    if isinstance(heard, Failed):
        return heard
    lines = heard.reading.parsed["questions"]
    if heard.reading.missing:
        number = heard.asks + 1
        (reply,) = yield [asker.question(asking | {"problem": asker.problem("too_few", number, count=count)})]
        if (word := failure(reply)) is not None:
            return Failed(word)
        again = (reply.reading.parsed or {}).get("questions", [])
        lines = again if len(again) >= len(lines) else lines
    return [InvertedQuestion(line["question"], line["noncommittal"], line.get("confidence")) for line in lines]
