"""Verdicts by rule, for the local judge. Thresholds were set once, roughly; they measure nothing (see `LocalJudge`)."""

from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.judge.local_claims import beginning
from ragstone.judge.local_evidence import Embed, Piece, clauses, cosine, nearest, pieces
from ragstone.text import say
from ragstone.types import Language

QUOTE = 30
"""Most characters of a quote."""
SUPPORT = 0.65
"""Least mean of word coverage and likeness for a claim to be supported."""
SAME = 0.7
"""Least share of words that two statements have of each other to be the same but for a number or a negation."""
NUMBERS = 0.2
"""What equal numbers add to the likeness of two texts."""
USEFUL = 0.45
"""Least coverage or likeness of a sentence of the yardstick for a context to be useful."""
MATCH = 0.6
"""Least likeness of an answer claim and a reference claim to match."""

Item = Mapping[str, Any]
"""{"id", "text"} as on the wire."""


# ------------------------------------------------------------------ claims against contexts
def check(contexts: Sequence[Item], claims: Sequence[Item], embed: Embed, lang: Language) -> list[dict[str, Any]]:
    """Return a verdict line for each claim."""
    held = pieces(contexts)
    return [{"id": claim["id"], **_check_one(Piece(claim["text"]), contexts, held, embed, lang)} for claim in claims]


def _check_one(claim: Piece, contexts: Sequence[Item], held: Sequence[Piece], embed: Embed, lang: Language) -> dict[str, Any]:
    near = nearest(claim, held, embed)
    if not near:
        return _line("not_found", "nothing", None, lang)
    likeness, best = max(near, key=lambda pair: pair[0] + _shared(claim, pair[1]))
    if conflict := _conflict(claim, near):
        return _line("contradicted", *conflict, lang)
    if claim.numbers - _all(piece.numbers for piece in held):
        return _line("not_found", "number", None, lang)
    everything = " ".join(context["text"] for context in contexts).casefold()
    if any(name not in everything for name in claim.names):
        return _line("not_found", "name", None, lang)
    supported = (claim.within(_all(piece.words for piece in held)) + likeness) / 2 + _shared(claim, best) >= SUPPORT
    return _line("supported", "overlap", best, lang) if supported else _line("not_found", "little", None, lang)


def _conflict(claim: Piece, near: Sequence[tuple[float, Piece]]) -> tuple[str, Piece] | None:
    """Tell whether a near sentence, or a clause of it, says the same of another number or denies it, and none agrees."""
    twins = [(clause, piece) for _, piece in near for clause in clauses(piece) if _same(claim, clause)]
    if any(claim.denials == clause.denials and not _numbers_apart(claim, clause) for clause, _ in twins):
        return None
    for clause, piece in twins:
        return ("negation" if claim.denials != clause.denials else "other_number"), piece
    return None


def _same(one: Piece, other: Piece) -> bool:
    return min(one.within(other), other.within(one)) >= SAME


def _shared(claim: Piece, piece: Piece) -> float:
    """What it adds that all numbers of the claim stand in one sentence."""
    return NUMBERS if claim.numbers and claim.numbers <= piece.numbers else 0.0


def _line(verdict: str, why: str, evidence: Piece | None, lang: Language) -> dict[str, Any]:
    found = [] if evidence is None else [evidence.source]
    quote = "" if evidence is None else beginning(evidence.text, QUOTE)
    return {"evidence": found, "quote": quote, "reason": say(f"judges.local_{why}", lang), "verdict": verdict}


def _all(sets: Any) -> frozenset[str]:
    return frozenset().union(*sets)


# ------------------------------------------------------------------ contexts
def rate(contexts: Sequence[Item], question: str, yardstick: str, embed: Embed, lang: Language) -> list[dict[str, Any]]:
    """Return a usefulness line for each context: does it hold a sentence's worth of the yardstick?"""
    wanted = pieces([{"id": 0, "text": yardstick or question}])
    rated = [(context["id"], _useful(pieces([context]), Piece(question), wanted, embed)) for context in contexts]
    return [{"id": id, "reason": say(f"judges.local_{'useful' if good else 'useless'}", lang), "verdict": int(good)} for id, good in rated]


def _useful(held: Sequence[Piece], question: Piece, wanted: Sequence[Piece], embed: Embed) -> bool:
    words = _all(piece.words for piece in held)
    for piece in wanted:
        near = nearest(piece, held, embed)
        if near and (piece.within(words) + near[0][0] + question.within(words)) / 3 + _shared(piece, near[0][1]) >= USEFUL:
            return True
    return False


# ------------------------------------------------------------------ claims against claims
def match(answer: Sequence[Item], reference: Sequence[Item], embed: Embed, lang: Language) -> dict[str, Any]:
    """Return the lines of both sides: what each answer claim matches or contradicts, and which reference claims are covered."""
    points = [Piece(claim["text"], claim["id"]) for claim in reference]
    lines = [{"id": claim["id"], **_match_one(Piece(claim["text"]), points, embed, lang)} for claim in answer]
    covered = {id for line in lines if line["verdict"] == "supported" for id in line["matches"]}
    return {"answer": lines, "reference": [{"id": p.source, "verdict": "covered" if p.source in covered else "missing"} for p in points]}


def _match_one(claim: Piece, points: Sequence[Piece], embed: Embed, lang: Language) -> dict[str, Any]:
    cosines = cosine(embed, claim.text, [point.text for point in points]) if points else []
    near = [p for p, number in zip(points, cosines, strict=True) if max(number, claim.within(p), _contained(p, claim)) >= MATCH]
    agreeing = [p for p in near if not _differ(claim, p)]
    matches, verdict = (agreeing, "supported") if agreeing else (near, "contradicted") if near else ([], "not_found")
    return {"matches": [p.source for p in matches], "reason": say(f"judges.local_match_{verdict}", lang), "verdict": verdict}


def _contained(point: Piece, claim: Piece) -> float:
    """Share of the point's words in the claim; a point of few words beside its numbers ("12 days") needs the numbers too."""
    return point.within(claim) if point.numbers <= claim.numbers or len(point.words) > 2 else 0.0


def _differ(claim: Piece, point: Piece) -> bool:
    # only whether they deny: claims are worded too freely to count denials
    return _numbers_apart(claim, point) or bool(claim.denials) != bool(point.denials)


def _numbers_apart(one: Piece, other: Piece) -> bool:
    """True if each has a number the other lacks."""
    return bool(one.numbers - other.numbers) and bool(other.numbers - one.numbers)
