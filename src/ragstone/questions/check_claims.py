"""Kind `check_claims`: each claim checked against all contexts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from ragstone.language import fold, holds
from ragstone.questions.base import MAX_CLAIMS, MAX_CONTEXTS, Failed, Kind, Reading, Slot
from ragstone.questions.exchange import Asker, Items, Talk, as_items, by_halves, complete, ids_of, in_groups, settle, together
from ragstone.questions.reading import VerdictList, clean, read_ids, read_verdicts
from ragstone.questions.schemas import IDS, INTEGER, TEXT, record, records, words
from ragstone.questions.verdicts import Verdict
from ragstone.types import Language

_ELLIPSIS = re.compile(r"…|\.{3,}")

WORDS = ("supported", "contradicted", "not_found")
"""Verdicts, the one that wins over the others first."""

LINES = records(id=INTEGER, evidence=IDS, quote=TEXT, reason=TEXT, verdict=words(*WORDS))
"""Schema of the verdicts."""


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
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


def _line(contexts: set[int], item: dict[str, Any], verdict: Verdict) -> dict[str, Any]:
    evidence = read_ids(item.get("evidence"), contexts)
    return {"evidence": evidence, "quote": clean(item.get("quote")), "reason": clean(item.get("reason")), "verdict": verdict}


def _read(input: dict[str, Any], raw: str) -> Reading:
    return read_verdicts(input, raw, check_lines(input, "verdicts"))


KIND = Kind("check_claims", 1, record(verdicts=LINES), _read)


def ask(
    contexts: Sequence[tuple[int, str]], claims: Sequence[tuple[int, str]], *, language: Language, repeat: int
) -> Talk[dict[int, ClaimVerdict] | Failed]:
    """Check claims against contexts, given as (id, text).

    More than MAX_CLAIMS claims or MAX_CONTEXTS contexts are asked in groups, all at once. Over groups of contexts
    supported anywhere wins over contradicted anywhere, that over not_found. Without contexts nothing is asked.
    """
    if not contexts:
        return {id: ClaimVerdict("not_found") for id, _ in claims}
    lines = yield from verdict_lines(contexts, claims, language=language, repeat=repeat)
    if isinstance(lines, Failed):
        return lines
    folding = cache(fold)
    return complete(len(lines), len(claims)) or {id: verified(lines["verdicts", id], contexts, folding) for id, _ in claims}


def verdict_lines(
    contexts: Sequence[tuple[int, str]], claims: Sequence[tuple[int, str]], *, language: Language, repeat: int
) -> Talk[Items | Failed]:
    """Do what `ask` does, and return the verdicts in wire shape; a claim without one is left out."""
    asker = Asker(KIND, language, repeat)
    groups = [contexts[i : i + MAX_CONTEXTS] for i in range(0, len(contexts), MAX_CONTEXTS)]
    parts = yield from together([in_groups(claims, MAX_CLAIMS, partial(_part, asker, group)) for group in groups])
    if isinstance(parts, Failed):
        return parts
    return merged([{slot: line for items in part for slot, line in items.items()} for part in parts])


def _part(asker: Asker, contexts: Sequence[tuple[int, str]], claims: Sequence[tuple[int, str]]) -> Talk[Items | Failed]:
    """One group of claims; a single claim whose reply is truncated is checked against halves of the contexts."""
    if len(claims) > 1:
        return (yield from _request(asker, contexts, claims))
    parts = yield from by_halves(contexts, lambda some: _request(asker, some, claims))
    return parts if isinstance(parts, Failed) else merged(parts)


def _request(asker: Asker, contexts: Sequence[tuple[int, str]], claims: Sequence[tuple[int, str]]) -> Talk[Items | Failed]:
    def asking(some: Iterable[tuple[int, str]]) -> dict[str, Any]:
        return {"contexts": as_items(contexts), "claims": as_items(list(some))}

    def narrow(missing: Sequence[Slot]) -> dict[str, Any]:
        wanted = {id for _, id in missing}
        return asking(claim for claim in claims if claim[0] in wanted)

    return settle(asker, asking(claims), narrow)


def merged(parts: Sequence[Items]) -> Items:
    """Join verdicts on the same claims by groups of contexts; a claim that a group left without one stays without."""
    if len(parts) == 1:
        return parts[0]
    common = [slot for slot in parts[0] if all(slot in part for part in parts)]
    return {slot: _strongest([part[slot] for part in parts]) for slot in common}


def _strongest(lines: Sequence[dict[str, Any]]) -> dict[str, Any]:
    best = min((line["verdict"] for line in lines), key=WORDS.index)
    agreeing = [line for line in lines if line["verdict"] == best]
    return {**agreeing[0], "evidence": sorted({id for line in agreeing for id in line["evidence"]})}


def verified(line: Mapping[str, Any], contexts: Sequence[tuple[int, str]], folding: Callable[[str], str] = fold) -> ClaimVerdict:
    """Turn a verdict in wire shape into a record; its quote is looked for in its evidence, in all contexts if it names none.

    `folding` is `fold`, remembering what it folded where several claims are looked for in the same contexts.
    """
    pieces = [part for part in _ELLIPSIS.split(line["quote"] or "") if any(map(str.isalnum, part)) or fold(part)]
    evidence = line["evidence"] or [id for id, _ in contexts]
    texts = [text for id, text in contexts if id in evidence] if pieces else []
    found = all(any(holds(text, piece, folding) for text in texts) for piece in pieces)
    quote, sure = line["quote"] if pieces else None, line.get("confidence")
    return ClaimVerdict(line["verdict"], tuple(line["evidence"]), quote, line["reason"], not found, sure)
