"""Points of a reference that no gold passage supports, by the evidence of the local judge: a smoke test, not a measurement.

Thresholds are set so that false alarms are rare, not so that every gap is found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragstone.checks.base import Finding, Gold, Said
from ragstone.checks.directives import directive
from ragstone.checks.passages import form_of
from ragstone.judge.local_claims import split, unmarked
from ragstone.judge.local_evidence import Piece, nearest, pieces
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

_HAN = re.compile("[\u3400-\u9fff]")


def points(gold: Gold) -> Iterator[Finding]:
    """Yield unsupported_point."""
    for row in gold.rows:
        texts = _passages(row.sample)
        if not texts or row.sample.expected_behavior != "answer":
            continue
        column = "reference_points" if row.sample.reference_points else "reference"
        passages = _Passages(texts, gold)
        for point in _points(row.sample):
            if why := passages.lacking(point):
                yield row.found("unsupported_point", "warning", column, point=point, why=Said(why))


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


class _Passages:
    """The passages of one row, cut into sentences once."""

    def __init__(self, texts: Sequence[str], gold: Gold) -> None:
        self._held = pieces([{"id": place, "text": text} for place, text in enumerate(texts)])
        self._words = frozenset[str]().union(*(piece.words for piece in self._held))
        self._numbers = frozenset[str]().union(*(piece.numbers for piece in self._held))
        self._text = " ".join(texts).casefold()
        self._embed = gold.embed

    def lacking(self, text: str) -> str | None:
        """Return what no passage holds of a point, as a key of the catalogue; None if it may well be supported."""
        point = Piece(text)
        covered = point.within(self._words)
        if len(point.words) < LEAST_WORDS or (text.startswith("|") and not point.numbers):  # the head of a table
            return None
        if covered < NUMBERED and any(self._lacks(number) for number in point.numbers):
            return "check.point_number"
        if covered >= NAMED[0]:
            return None
        likeness = nearest(point, self._held, self._vectors)[0][0] if self._held else 0.0
        if likeness < NAMED[1] and any(name not in self._text for name in point.names):
            return "check.point_name"
        if point.numbers & self._numbers or self._characters(text) >= CHARACTERS:
            return None
        least_covered, least_like = LITTLE[detect(text)]
        return "check.point_little" if covered < least_covered and likeness < least_like else None

    def _characters(self, text: str) -> float:
        """Share of its Chinese characters that stand in the passages: two short sentences may share few pairs of them."""
        characters = _HAN.findall(text)
        return sum(char in self._text for char in characters) / len(characters) if characters else 0.0

    def _lacks(self, number: str) -> bool:
        """True of a number that stands nowhere, in no spelling; single digits may count the items of a list."""
        digits = re.findall(r"\d+", number)
        return len("".join(digits)) > 1 and number not in self._numbers and not all(run.lstrip("0") in self._text for run in digits)

    def _vectors(self, texts: Sequence[str]) -> Sequence[object]:
        return ["embedding_zero" if vector is None else vector for vector in self._embed(texts)]
