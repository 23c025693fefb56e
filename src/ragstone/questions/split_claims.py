"""Kind `split_claims`: the claims of an answer or a reference."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from ragstone.language import Folded, halved, holds
from ragstone.questions.base import Failed, Kind, Reading
from ragstone.questions.exchange import Asker, Cutting, Talk, in_parts, listen, long
from ragstone.questions.reading import Shape, clean, find_reply
from ragstone.questions.schemas import TEXT, record, records
from ragstone.questions.verdicts import read_verdict
from ragstone.tokens import estimate
from ragstone.types import Language

LINES = records(text=TEXT, anchor=TEXT)
"""Schema of the claims."""

MARKERS: dict[Language, str] = {"zh": "【行为】", "en": "[behaviour] "}
"""What a claim about behaviour begins with."""

_MARKER = re.compile(r"\s*[\[【［]\s*(?:行为|行為|behaviou?r)\s*[\]】］]\s*[:：]?\s*", re.IGNORECASE)


class SplitClaim(NamedTuple):
    """One claim of a text."""

    text: str
    anchor: str | None = None
    """Verbatim piece of the text the claim comes from."""
    behaviour: bool = False
    """True if it says how to behave (ask back, refuse, name the source, not invent)."""


def is_behaviour(text: str) -> bool:
    """True if a claim begins with a behaviour marker, in whatever spelling."""
    return _MARKER.match(text) is not None


def read_claims(item: Any) -> dict[str, Any] | None:
    """Return a claim of a reply in wire shape, None if it is blank; a plain string is a claim."""
    given = item if isinstance(item, dict) else {"text": item}
    if (text := clean(given["text"])) is None:
        return None
    line = {"text": text, "anchor": clean(given.get("anchor"))}
    return line | {"meta": True} if "meta" in given and read_verdict(given["meta"], "flag") is True else line


def usable(item: Any) -> bool:
    """True if an item can be a claim: a string, or an object with a text."""
    return isinstance(item, str) or (isinstance(item, dict) and isinstance(item.get("text"), str))


def claims_of(lines: Sequence[dict[str, Any]], source: str, language: Language) -> list[SplitClaim]:
    """Turn claims in wire shape into records; what only speaks about the material (`meta`) is none."""
    folded = Folded()
    claims = [_claim(line, source, language, folded) for line in lines if not line.get("meta")]
    return [claim for claim in claims if claim is not None]


def _claim(line: dict[str, Any], source: str, language: Language, folded: Folded) -> SplitClaim | None:
    text: str = line["text"]
    marker = _MARKER.match(text)
    body = text[marker.end() :] if marker else text
    if not body.strip():
        return None
    anchor: str | None = line["anchor"]
    found = anchor is not None and holds(source, anchor, folded)
    return SplitClaim(MARKERS[language] + body if marker else body, anchor if found else None, marker is not None)


_SHAPE = Shape({"claims": usable}, every=True)


def _read(input: dict[str, Any], raw: str) -> Reading:
    found, problem = find_reply(input, raw, _SHAPE)
    if found is None:
        return Reading(problem=problem)
    if not found["claims"] and "{" not in raw and "previous_reply" not in input:
        return Reading(problem="wrong_shape")  # a bare list of nothing may be a reply that went wrong: believed when it comes again
    return Reading({"claims": [line for item in found["claims"] if (line := read_claims(item)) is not None]})


KIND = Kind("split_claims", 1, record(claims=LINES), _read)


def ask(
    of: Literal["answer", "reference"], question: str | None, text: str, *, language: Language, repeat: int
) -> Talk[list[SplitClaim] | Failed]:
    """Split a text into claims. What does not fit is asked for in parts, the text cut at sentence ends, then at clause marks.

    A part is read without the text around it: a pronoun whose noun stands before the cut is left as it is.
    """
    asker = Asker(KIND, language, repeat)

    def part(piece: str) -> Talk[list[dict[str, Any]] | Failed]:
        heard = yield from listen(asker, {"of": of, "question": question or "", "text": piece})
        return heard if isinstance(heard, Failed) else heard.reading.parsed["claims"]

    if not text.strip():
        return []
    parts = yield from in_parts([text], part, Cutting(_halves, lambda piece, _: estimate(piece)))
    return parts if isinstance(parts, Failed) else claims_of([line for _, lines in parts for line in lines], text, language)


def _halves(text: str, why: str) -> tuple[str, str] | None:
    return halved(text) if why == "truncated" or long(text) else None
