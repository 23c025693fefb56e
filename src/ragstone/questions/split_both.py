"""Kind `split_both`: the claims of an answer and of its reference, from one request."""

from typing import Any, NamedTuple

from ragstone.questions.base import Failed, Kind, Reading
from ragstone.questions.exchange import Asker, Talk, listen
from ragstone.questions.reading import Shape, find_reply
from ragstone.questions.schemas import record
from ragstone.questions.split_claims import LINES, SplitClaim, claims_of, read_claims, usable
from ragstone.types import Language


class BothClaims(NamedTuple):
    """The claims of both texts, each in the order of its text."""

    answer: list[SplitClaim]
    reference: list[SplitClaim]


_SIDES = ("answer_claims", "reference_claims")
_SHAPE = Shape(dict.fromkeys(_SIDES, usable), every=True)


def _read(input: dict[str, Any], raw: str) -> Reading:
    found, problem = find_reply(input, raw, _SHAPE)
    if found is None:
        return Reading(problem=problem)
    return Reading({side: [line for item in found[side] if (line := read_claims(item)) is not None] for side in _SIDES})


KIND = Kind("split_both", 1, record(answer_claims=LINES, reference_claims=LINES), _read)


def ask(question: str | None, answer: str, reference: str, *, language: Language, repeat: int) -> Talk[BothClaims | Failed]:
    """Split both texts. A reply cut by length is Failed("truncated"): the halves of this request are two of `split_claims`."""
    asking = {"question": question or "", "answer": answer, "reference": reference}
    heard = yield from listen(Asker(KIND, language, repeat), asking)
    if isinstance(heard, Failed):
        return heard
    said = heard.reading.parsed
    return BothClaims(claims_of(said["answer_claims"], answer, language), claims_of(said["reference_claims"], reference, language))
