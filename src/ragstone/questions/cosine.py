"""Kind `cosine`: cosines of one text with others; answered by an embedder, not by a judge."""

import math
from collections.abc import Sequence
from typing import Any

import orjson

from ragstone.questions.base import Failed, Kind, Reading, Reply
from ragstone.questions.base import ask as question
from ragstone.questions.exchange import Talk
from ragstone.types import Language


def _read(input: dict[str, Any], raw: str) -> Reading:
    asked = len(input["others"])
    try:
        values = orjson.loads(raw)["cosines"]
        cosines = [round(float(value), 6) for value in values]
    except (ValueError, TypeError, KeyError):
        return Reading(problem="no_json", asked=asked)
    if len(cosines) != asked or not all(math.isfinite(value) and abs(value) <= 1 for value in cosines):
        return Reading(problem="wrong_shape", asked=asked)
    return Reading({"cosines": cosines}, asked=asked)


KIND = Kind("cosine", 1, None, _read, prompted=False)


def ask(text: str, others: Sequence[str], *, language: Language = "en", repeat: int = 0) -> Talk[tuple[float, ...] | Failed]:
    """Return the cosine of `text` with each of `others`, raw, in [-1, 1], rounded to 6 decimals.

    Language and repeat change nothing but the key of the question.
    """
    replies: list[Reply] = yield [question(KIND, language, repeat, "", {"text": text, "others": list(others)})]
    (reply,) = replies
    if reply.error is not None:
        return Failed(reply.error)
    return Failed("bad_reply") if reply.reading.problem else tuple(reply.reading.parsed["cosines"])
