"""Claims as several metrics and repeats see them, brought together: one record a claim, with the verdict on it from each side.

Faithfulness and context_recall check claims against the contexts, answer_correctness against the other text. The claim `a1` of
one metric is the claim `a1` of another in the same repeat and against the same reference. Elsewhere ids are no guide (another
repeat has split the answer another way, recall and correctness took another of several references): there a claim is the same
when id and text agree, else by its stable key, else by its text.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]

UNSURE = "unsure"
"""Stands for a verdict that fewer than two thirds of the repeats gave."""
CHECKED = frozenset({"supported", "contradicted", "not_found"})
"""Verdict words on a claim that is looked up in another text; any other word is no verdict."""
COVERAGE = frozenset({"covered", "missing"})
"""Verdict words on a claim of the reference that the answer has or lacks."""

_Place = tuple[str, str, int, str]
"""Where a claim stands: its kind, its id, the repeat, the number of the reference."""
_KINDS = {"a": "answer_claim", "r": "reference_claim", "c": "context", "q": "question", "k": "keyword"}
_DROPPED = re.compile("[\\s\"'`“”„‟‘’‚‛«»‹›「」『』《》〈〉〝〞〟]+")
_ENDS = "。.;!,"
_DASH = re.compile("[‐‑‒–—―−]|(?<=[0-9])[~〜](?=[0-9])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One claim of the answer or of the reference."""

    id: str
    """a1… or r1…, unique in its sample."""
    text: str
    told: str = ""
    """Its id in answer_correctness, where that is another: of several references recall and correctness may take unlike ones."""
    key: str | None = None
    """Stable id of a reference claim across runs."""
    behaviour: bool = False
    """True if it says how to behave (ask back, refuse, invent nothing)."""
    grounding: str | None = None
    """What the contexts say of it: supported, contradicted, not_found; unsure without a 2/3 majority of repeats; None = not judged."""
    chunks: tuple[str, ...] = ()
    """Contexts behind `grounding`."""
    matching: str | None = None
    """An answer claim: supported, contradicted or not_found in the reference. A reference claim: covered or missing in the answer.
    unsure and None as for `grounding`."""
    matches: tuple[str, ...] = ()
    """Claims of the other side behind `matching`."""
    confidence: float | None = None
    """The judge's confidence in [0, 1]: the lower one where both sides were judged, the mean over repeats; None = not told."""

    @property
    def unsure(self) -> bool:
        """True if the repeats do not agree on one of its verdicts."""
        return UNSURE in (self.grounding, self.matching)


def same_text(text: object) -> str:
    """Return a text as claims and answers are compared here.

    NFKC, case-folded, without white space, quotation marks and closing punctuation; every dash is a hyphen, and so is the ~ of a
    range. Dashes stay: 7-10 is not 710.

    >>> same_text(" “三 年”。") == same_text("三年")
    True
    """
    return _DASH.sub("-", _DROPPED.sub("", unicodedata.normalize("NFKC", str(text or "")).casefold())).rstrip(_ENDS)


def majority(words: Sequence[str]) -> str:
    """Return the word that at least two thirds of the repeats gave, else `unsure`."""
    word, count = Counter(words).most_common(1)[0]
    return word if 3 * count >= 2 * len(words) else UNSURE


def lines_of(row: Row, kind: str | None = None) -> Iterator[tuple[str, str, Row]]:
    """Yield (kind, id, line) of a score row's verdict lines; a missing kind or id is worked out from what is there.

    Args:
        row: a row of scores.jsonl.
        kind: what lines without a kind and without a telling id are.
    """
    counts = Counter[str]()
    for line in row.get("verdicts") or ():
        if not isinstance(line, dict):
            continue
        told = line.get("kind")
        found = told if isinstance(told, str) and told else _kind(line, kind)
        counts[found] += 1
        yield found, str(line.get("id") or f"{found[:1]}{counts[found]}"), line


def _kind(line: Row, usual: str | None) -> str:
    if line.get("verdict") in ("covered", "missing") and usual != "keyword":
        return "reference_claim"
    told = re.fullmatch(r"([arcqk])\d+", str(line.get("id") or ""))
    return _KINDS[told[1]] if told else usual or "answer_claim"


@dataclass(slots=True)
class _Vote:
    """What one row says of one claim."""

    word: str
    names: tuple[str, ...]
    confidence: float | None


@dataclass(slots=True)
class _Gathered:
    """A claim while rows are still coming in."""

    id: str
    text: str
    folded: str
    key: str | None
    behaviour: bool
    told: str = ""
    grounding: list[_Vote] = field(default_factory=list)
    matching: list[_Vote] = field(default_factory=list)

    def claim(self) -> Claim:
        grounding, chunks, sure = _settled(self.grounding)
        matching, matches, surer = _settled(self.matching)
        told = [c for c in (sure, surer) if c is not None]
        return Claim(
            id=self.id,
            text=self.text,
            told=self.told or self.id,
            key=self.key,
            behaviour=self.behaviour,
            grounding=grounding,
            chunks=chunks,
            matching=matching,
            matches=matches,
            confidence=min(told) if told else None,
        )


def _settled(votes: list[_Vote]) -> tuple[str | None, tuple[str, ...], float | None]:
    if not votes:
        return None, (), None
    word = votes[0].word if len(votes) == 1 else majority([vote.word for vote in votes])
    backing = [vote for vote in votes if vote.word == word] or votes
    told = [vote.confidence for vote in votes if vote.confidence is not None]
    return word, tuple(dict.fromkeys(name for vote in backing for name in vote.names)), sum(told) / len(told) if told else None


class Gathering:
    """Takes in score rows of one sample and gives back its claims."""

    def __init__(self) -> None:
        self._sides: dict[str, list[_Gathered]] = {"answer_claim": [], "reference_claim": []}
        self._places: dict[_Place, _Gathered] = {}

    def check(self, row: Row, kind: str) -> None:
        """Take in a row that checks claims of one kind against the contexts."""
        for found, line, _, _ in self._placed(row, kind):
            names = tuple(str(name) for name in listed(line.get("evidence")))
            found.grounding.append(_Vote(_word(line, CHECKED), names, _confidence(line)))

    def match(self, row: Row) -> None:
        """Take in a row that matches the claims of both sides."""
        placed = list(self._placed(row, "answer_claim"))
        names = {id: found.id for found, _, _, id in placed}
        for found, line, kind, id in placed:
            found.told = found.told or id
            words = CHECKED if kind == "answer_claim" else COVERAGE
            named = tuple(names[str(name)] for name in listed(line.get("evidence")) if str(name) in names)
            found.matching.append(_Vote(_word(line, words), named, _confidence(line)))

    def claims(self, kind: str) -> tuple[Claim, ...]:
        """Return the claims of one kind in the order they were met."""
        return tuple(found.claim() for found in self._sides[kind])

    def _placed(self, row: Row, usual: str) -> Iterator[tuple[_Gathered, Row, str, str]]:
        """Yield (claim, line, its kind, its id in this row) of every line about a claim."""
        taken: set[str] = set()
        detail = row.get("detail")
        best = detail.get("best") if isinstance(detail, dict) else 0
        for kind, id, line in lines_of(row, usual):
            if kind in self._sides:
                place = (kind, id, row.get("repeat") or 0, str(best or 0) if kind == "reference_claim" else "")
                found = self._places[place] = self._found(place, line, taken)
                taken.add(found.id)
                yield found, line, kind, id

    def _found(self, place: _Place, line: Row, taken: set[str]) -> _Gathered:
        id, held = place[1], self._sides[place[0]]
        text, key = str(line.get("text") or ""), line.get("key")
        folded = same_text(text)
        free = [g for g in held if g.id not in taken]
        for same in _rules(id, folded, key):
            if found := next((g for g in free if same(g)), None):
                return found
        known = self._places.get(place)
        if known is not None and known.id not in taken and (not key or not known.key or key == known.key):
            return known
        held.append(_Gathered(_unused(id, held), text, folded, key, bool(line.get("behaviour"))))
        return held[-1]


def _rules(id: str, folded: str, key: object) -> Iterable[Any]:
    """Yield, strongest first, what makes a claim of another row the same claim."""
    yield lambda g: g.id == id and (g.folded == folded or not folded or not g.folded)
    if key:
        yield lambda g: g.key == key
    if folded:
        yield lambda g: g.folded == folded


def _unused(id: str, held: list[_Gathered]) -> str:
    used = {g.id for g in held}
    return id if id not in used else next(f"{id}.{n}" for n in range(2, len(used) + 3) if f"{id}.{n}" not in used)


def _word(line: Row, known: frozenset[str]) -> str:
    word = line.get("verdict")
    return word if isinstance(word, str) and word in known else UNSURE


def _confidence(line: Row) -> float | None:
    told = line.get("confidence")
    return float(told) if isinstance(told, int | float) and not isinstance(told, bool) and 0 <= told <= 1 else None


def listed(value: object) -> Sequence[object]:
    """Return the names a line lists as evidence; a name that stands there without a list is a list of one."""
    return value if isinstance(value, list | tuple) else (value,) if isinstance(value, str) and value else ()
