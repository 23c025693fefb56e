"""Kind `check_all`: each claim checked against all contexts, and each context rated, from one request."""

from collections.abc import Sequence
from typing import Any

from ragstone.questions.base import Failed, Kind, Reading
from ragstone.questions.check_claims import LINES as CLAIM_LINES
from ragstone.questions.check_claims import check_lines
from ragstone.questions.exchange import Asker, Gathered, Talk, as_items, gather
from ragstone.questions.rate_contexts import LINES as CONTEXT_LINES
from ragstone.questions.rate_contexts import rate_lines
from ragstone.questions.reading import read_verdicts
from ragstone.questions.schemas import record
from ragstone.types import Language


def _read(input: dict[str, Any], raw: str) -> Reading:
    return read_verdicts(input, raw, check_lines(input, "claims"), rate_lines(input, "contexts"))


KIND = Kind("check_all", 1, record(claims=CLAIM_LINES, contexts=CONTEXT_LINES), _read)


def ask(
    contexts: Sequence[tuple[int, str]],
    claims: Sequence[tuple[int, str]],
    question: str | None,
    reference: str | None,
    *,
    language: Language,
    repeat: int,
) -> Talk[Gathered | Failed]:
    """Check claims and rate contexts, given as (id, text) in the order they shall be listed, all in one request.

    Returns the verdicts in wire shape, under ("claims", id) and ("contexts", id). Missing ones are asked for again with
    the whole request; those that never came are left out. How much fits into one request is the caller's to know.
    """
    # the reference stands last: a claim must be judged by the contexts, not by the expected answer
    asking = {"contexts": as_items(contexts), "claims": as_items(claims), "question": question or "", "reference": reference or ""}
    return gather(Asker(KIND, language, repeat), asking, lambda _: asking)
