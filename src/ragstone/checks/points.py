"""Points of a reference that no gold passage supports, by the evidence of the local judge: a smoke test, not a measurement.

Thresholds are set so that false alarms are rare, not so that every gap is found.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ragstone.checks.base import Finding, Gold, Row, Said, Value
from ragstone.checks.directives import directive
from ragstone.checks.measures import apart, measures
from ragstone.checks.passages import form_of
from ragstone.judge.local_claims import split, unmarked
from ragstone.judge.local_evidence import Piece, likenesses, pieces
from ragstone.language import detect, fold

if TYPE_CHECKING:
    from ragstone.types import Language, Sample

LITTLE: dict[Language, tuple[float, float]] = {"zh": (0.4, 0.5), "en": (0.2, 0.4)}
"""Share of words in the passages, and likeness of the nearest sentence, below which a point is held to be unsupported."""
NAMED = (0.5, 0.5)
"""The same for a point with a name that no passage holds."""
NUMBERED = 0.8
"""Share of words in the passages below which a number that none holds counts: a figure may be summed up from others."""
CHARACTERS = 0.5
"""Share of Chinese characters in the passages from which a point is not held to be unsupported for want of words."""
LEAST_WORDS = 4
"""Words a point must have to be looked at."""
LEAST_WORDS_NUMBERED = 2
"""The same for a point with a number and without a word of the passages."""

MOST_EMBEDDED = 2_000
"""Points of a set that are embedded, each with at most three sentences: half a minute at most."""

MOST_NAMED = 3
"""Points of a row that its finding shows; the rest are counted."""

_EXAMPLE = re.compile(r"例如|比如|譬如|\be\.g\.|\bfor (?:example|instance)\b", re.IGNORECASE)
_NEXT_YEAR = re.compile(r"[次翌明]年|下一?年|[后後]一年|\b(?:next|following|subsequent) (?:calendar )?year\b")
_YEAR = re.compile(r"(?:19|20)\d\d")
_HAN = re.compile("[\u3400-\u9fff]")


def points(gold: Gold) -> Iterator[Finding]:
    """Yield unsupported_point, and points_not_compared if there were more points to embed than are embedded."""
    sight = _Sight(gold)
    for row in gold.rows:
        texts = _passages(row.sample)
        if not texts or row.sample.expected_behavior != "answer":
            continue
        column = "reference_points" if row.sample.reference_points else "reference"
        passages = _Passages(texts, sight)
        lacking = ((point, passages.lacking(point)) for point in _points(row.sample))
        if said := tuple(Said("check.one_point", {"point": point, "why": Said(why)}) for point, why in lacking if why):
            yield row.found("unsupported_point", "warning", column, points=_few(said))
        sight.at(row)
    if sight.beyond:
        values: dict[str, Value] = {"count": sight.beyond, "most": MOST_EMBEDDED}
        yield Finding("points_not_compared", "note", sight.first, column="reference", values=values)


def _few(said: tuple[Said, ...]) -> Value:
    return said if len(said) <= MOST_NAMED else Said("check.points_and_more", {"named": said[:MOST_NAMED], "more": len(said) - MOST_NAMED})


def _passages(sample: Sample) -> list[str]:
    """The gold passages; none if they are keywords, if some are, or if they are in another language than the reference."""
    texts = [text for text in sample.reference_contexts or () if fold(text)]
    said = " ".join(sample.reference_points or ()) or sample.reference
    if any(form_of(text) != "passages" for text in texts) or {detect(text) for text in texts} - {detect(said)}:
        return []
    return texts


def _points(sample: Sample) -> list[str]:
    """What is stated; points of conduct have no passage."""
    if sample.reference_points:
        return [point for point in sample.reference_points if unmarked(point) == point]
    if sample.reference is None or directive(sample):
        return []
    # as of an answer: a rule of conduct in a handbook ("须由经理确认") is a fact here, and its sentence stays whole
    return [claim["text"] for claim in split(sample.reference, "answer", detect(sample.reference))]


class _Sight:
    """The embedder, for so many points of a set; those beyond are counted."""

    def __init__(self, gold: Gold) -> None:
        self._embed = gold.embed
        self._left = MOST_EMBEDDED
        self.beyond = 0
        self.first = 0

    def takes(self) -> bool:
        """True if one more point may be embedded."""
        self._left -= 1
        self.beyond += self._left < 0
        return self._left >= 0

    def at(self, row: Row) -> None:
        """Keep the first row with a point beyond."""
        self.first = self.first or (row.number if self.beyond else 0)

    def vectors(self, texts: Sequence[str]) -> Sequence[object]:
        """Embed, as the local judge wants it."""
        return ["embedding_zero" if vector is None else vector for vector in self._embed(texts)]


class _Passages:
    """The passages of one row, cut into sentences once."""

    def __init__(self, texts: Sequence[str], sight: _Sight) -> None:
        self._held = pieces([{"id": place, "text": text} for place, text in enumerate(texts)])
        self._words = frozenset[str]().union(*(piece.words for piece in self._held))
        self._numbers = frozenset[str]().union(*(piece.numbers for piece in self._held))
        self._text = " ".join(texts).casefold()
        self._next_year = _NEXT_YEAR.search(self._text)
        self._sight = sight

    @cached_property
    def _measures(self) -> frozenset[tuple[str, str]]:
        return frozenset(pair for piece in self._held for pair in measures(piece.text))

    def lacking(self, text: str) -> str | None:
        """Return what no passage holds of a point, as a key of the catalogue; None if it may well be supported."""
        point = Piece(text)
        covered = point.within(self._words)
        least = LEAST_WORDS_NUMBERED if point.numbers and not covered else LEAST_WORDS
        if len(point.words) < least or (text.startswith("|") and not point.numbers):  # the head of a table
            return None
        if any(self._lacks(number) for number in Piece(_EXAMPLE.split(text)[0]).numbers) and (
            covered < NUMBERED or self._counts_other(text)
        ):
            return "check.point_number"
        if covered >= NAMED[0]:
            return None
        least_covered, least_like = LITTLE[detect(text)]
        known = point.numbers & self._numbers or self._characters(text) >= CHARACTERS
        named = any(name not in self._text for name in point.names)
        little = not known and covered < least_covered
        if not (named or little) or not self._sight.takes():
            return None
        if named and not self._like(point, NAMED[1]):
            return "check.point_name"
        return "check.point_little" if little and not self._like(point, least_like) else None

    def _counts_other(self, text: str) -> bool:
        """True if point and passages count one thing in a unit each, and not as many; more figures may be summed up."""
        told, held = measures(text), self._measures
        units = Counter(unit for _, unit in told), Counter(unit for _, unit in held)
        alone = {unit for unit, count in units[0].items() if count == 1 == units[1][unit]}
        return apart(frozenset(pair for pair in told if pair[1] in alone), held) is not None

    def _like(self, point: Piece, least: float) -> bool:
        """True if one of the nearest sentences is as like; embedded one by one, since the first mostly tells."""
        return any(likeness >= least for likeness in likenesses(point, self._held, self._sight.vectors))

    def _characters(self, text: str) -> float:
        """Share of its Chinese characters that stand in the passages: two short sentences may share few pairs of them."""
        characters = _HAN.findall(text)
        return sum(char in self._text for char in characters) / len(characters) if characters else 0.0

    def _lacks(self, number: str) -> bool:
        """True of a number that stands nowhere, in no spelling; single digits may count the items of a list."""
        digits = [run for run in re.findall(r"\d+", number) if not (self._next_year and _YEAR.fullmatch(run))]
        return len("".join(digits)) > 1 and number not in self._numbers and not all(run.lstrip("0") in self._text for run in digits)
