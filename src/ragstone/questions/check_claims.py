"""Kind `check_claims`: each claim checked against all contexts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from ragstone.language import Folded, fold, holds
from ragstone.questions.base import MAX_CLAIMS, MAX_CONTEXTS, Failed, Kind, Reading, Slot
from ragstone.questions.exchange import (
    Asker,
    Cutting,
    Items,
    Talk,
    Text,
    as_items,
    complete,
    halves,
    halves_of_texts,
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

_ELLIPSIS = re.compile(r"…|\.{3,}")

WORDS = ("supported", "contradicted", "not_found")
"""Verdicts, the one that wins over the others first."""

LINES = records(id=INTEGER, evidence=IDS, quote=TEXT, reason=TEXT, verdict=words(*WORDS))
"""Schema of the verdicts."""

_Work = tuple[Sequence[Text], Sequence[Text]]
"""Contexts, and claims to be checked against all of them."""


class ClaimVerdict(NamedTuple):
    """What the contexts say of one claim."""

    verdict: str
    """supported | contradicted | not_found."""
    evidence: tuple[int, ...] = ()
    """Ids of the contexts it rests on."""
    quote: str | None = None
    """Piece of the evidence, as the judge wrote it down."""
    reason: str | None = None
    unverified: bool = False
    """True if the quote does not stand in the evidence."""
    confidence: float | None = None
    """Probability of the verdict in [0, 1] where the judge tells it."""


def check_lines(input: dict[str, Any], name: str) -> VerdictList:
    """What a reply must hold for the claims of the user JSON; `name` is the reply's list."""
    return VerdictList(name, ids_of(input, "claims"), "check", partial(_line, set(ids_of(input, "contexts"))))


def _line(contexts: set[int], id: int, item: dict[str, Any], verdict: Verdict) -> dict[str, Any]:
    evidence = read_ids(item.get("evidence"), contexts)
    return {"id": id, "evidence": evidence, "quote": clean(item.get("quote")), "reason": clean(item.get("reason")), "verdict": verdict}


def _read(input: dict[str, Any], raw: str) -> Reading:
    return read_verdicts(input, raw, check_lines(input, "verdicts"))


KIND = Kind("check_claims", 1, record(verdicts=LINES), _read)


def ask(
    contexts: Sequence[tuple[int, str]], claims: Sequence[tuple[int, str]], *, language: Language, repeat: int
) -> Talk[dict[int, ClaimVerdict] | Failed]:
    """Check claims against contexts, given as (id, text).

    More than MAX_CLAIMS claims or MAX_CONTEXTS contexts are asked in groups, all at once; what does not fit is halved: the
    claims, the contexts, then a context too long by itself, whose pieces keep its id. Over groups and pieces of contexts
    supported anywhere wins over contradicted anywhere, that over not_found: what only two of them together would support
    is not found. Without contexts nothing is asked.
    """
    if not contexts:
        return {id: ClaimVerdict("not_found") for id, _ in claims}
    lines = yield from verdict_lines(contexts, claims, language=language, repeat=repeat)
    if isinstance(lines, Failed):
        return lines
    folded = Folded()
    return complete(len(lines), len(claims)) or {id: verified(lines["verdicts", id], contexts, folded) for id, _ in claims}


def verdict_lines(
    contexts: Sequence[tuple[int, str]], claims: Sequence[tuple[int, str]], *, language: Language, repeat: int
) -> Talk[Items | Failed]:
    """Do what `ask` does, and return the verdicts in wire shape; a claim without one is left out."""
    works = [(some, group) for some in split_at(contexts, MAX_CONTEXTS) for group in split_at(claims, MAX_CLAIMS)]
    parts = yield from in_parts(works, partial(_request, Asker(KIND, language, repeat)), Cutting(_halves, _weight))
    if isinstance(parts, Failed):
        return parts
    if len(parts) == 1:
        return parts[0][1]
    said = said_of(([("verdicts", id) for id, _ in claims], items) for (_, claims), items in parts)
    return {slot: strongest(lines) for slot, lines in whole(said).items()}


def _request(asker: Asker, work: _Work) -> Talk[Items | Failed]:
    contexts, claims = work

    def asking(some: Iterable[Text]) -> dict[str, Any]:
        return {"contexts": as_items(contexts), "claims": as_items(list(some))}

    def narrow(missing: Sequence[Slot]) -> dict[str, Any]:
        wanted = {id for _, id in missing}
        return asking(claim for claim in claims if claim[0] in wanted)

    return settle(asker, asking(claims), narrow)


def _halves(work: _Work, why: str) -> list[_Work] | None:
    """A reply is as long as there are claims; of a prompt the heavier half of the matter is cut first."""
    contexts, claims = work
    fewer_claims = [(contexts, some) for some in halves(claims) or ()]
    fewer_contexts = [(some, claims) for some in halves_of_texts(contexts, why) or ()]
    claims_first = why == "truncated" or weight(contexts) <= weight(claims)
    return ((fewer_claims or fewer_contexts) if claims_first else (fewer_contexts or fewer_claims)) or None


def _weight(work: _Work, why: str) -> int:
    contexts, claims = work
    return len(claims) if why == "truncated" else weight(contexts) + weight(claims)


def merged(parts: Sequence[Items]) -> Items:
    """Join verdicts on the same claims by groups of contexts; a claim that a group left without one stays without."""
    if len(parts) == 1:
        return parts[0]
    common = [slot for slot in parts[0] if all(slot in part for part in parts)]
    return {slot: strongest([part[slot] for part in parts]) for slot in common}


def strongest(lines: Sequence[dict[str, Any]], ids: str = "evidence") -> dict[str, Any]:
    """Return the verdict on one claim over parts: the first line of the word that wins, with the `ids` of all that agree."""
    best = min((line["verdict"] for line in lines), key=WORDS.index)
    agreeing = [line for line in lines if line["verdict"] == best]
    return {**agreeing[0], ids: sorted({id for line in agreeing for id in line[ids]})}


def verified(line: Mapping[str, Any], contexts: Sequence[tuple[int, str]], folded: Folded | None = None) -> ClaimVerdict:
    """Turn a verdict in wire shape into a record; its quote is looked for in its evidence, in all contexts if it names none.

    `folded` remembers what was folded where several claims are looked for in the same contexts.
    """
    quote, evidence = line["quote"], line["evidence"]
    pieces = [part for part in _ELLIPSIS.split(quote) if any(map(str.isalnum, part)) or fold(part)] if quote else []
    texts = [text for id, text in contexts if not evidence or id in evidence] if pieces else []
    found = all(any(holds(text, piece, folded) for text in texts) for piece in pieces)
    return ClaimVerdict(line["verdict"], tuple(evidence), quote if pieces else None, line["reason"], not found, line.get("confidence"))
