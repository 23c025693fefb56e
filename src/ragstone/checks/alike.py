"""Which rows of a gold set ask the same: by nearness of embeddings, and what wording says against it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from ragstone.checks.base import Gold, Row
from ragstone.checks.texts import references_of
from ragstone.checks.wording import Wording, nearness
from ragstone.language import fold
from ragstone.numerals import numbers

if TYPE_CHECKING:
    from ragstone.embed.base import Vector

MOST_SHARING = 40
"""Questions of one answer, the next in the order of their words, with which a question is compared; as many that hold its words."""
MOST_HOLDING = 2_000
"""Questions that hold the rarest word of another one, of which those are looked for that hold all its words."""
WORDIER = 3
"""At most so many times the words of a question may another one hold that asks the same."""
TELLING = 6
"""Least folded characters of a reference for its being the same elsewhere to say something: "2 hours" answers many questions."""


@dataclass(frozen=True)
class Asked:
    """A question after the same earlier turns, with the rows that ask it word for word."""

    rows: tuple[Row, ...]
    wording: Wording
    before: str
    """Earlier turns of the conversation, folded."""

    @cached_property
    def answers(self) -> frozenset[str]:
        """The references of its rows, folded."""
        return frozenset(fold(text) for row in self.rows for text in references_of(row.sample))

    @cached_property
    def telling(self) -> frozenset[str]:
        """Those long enough not to be shared by chance."""
        return frozenset(text for text in self.answers if len(text) >= (2 * TELLING if numbers(text) else TELLING))


def asked(rows: Sequence[Row]) -> list[Asked]:
    """Return the questions of the rows, each once, in the order of the file; a row without one is left out."""
    held: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if text := fold(row.sample.question or ""):
            held[text, fold(str(row.sample.history)) if row.sample.history else ""].append(row)
    return [Asked(tuple(same), Wording.of(same[0].sample), before) for (_, before), same in held.items()]


def pairs(questions: Sequence[Asked], gold: Gold, beyond: set[int]) -> Iterator[tuple[int, int, bool]]:
    """Yield every two questions that ask the same: their places, and True if their wording alone says so.

    Wording is looked at first: it rules out nearly all pairs, and only questions of the others are embedded. Places of questions
    that were not compared with all that they are like are added to `beyond`.
    """
    found = _candidates(questions, beyond)
    likely = [(i, j, sure, least) for i, j in found for sure, least in _as_worded(questions[i], questions[j])]
    vectors = _vectors({place for i, j, *_ in likely for place in (i, j)}, questions, gold)
    told: set[tuple[int, int]] = set()
    for i, j, sure, least in likely:
        one, other = vectors[i], vectors[j]
        cosine = 0.0 if one is None or other is None else float(one @ other)
        if (i, j) not in told and cosine >= least:
            told.add((i, j))
            yield i, j, sure


def groups(count: int, linked: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Return what hangs together of `count` things, by their places; a thing that hangs on nothing is left out."""
    head = list(range(count))

    def find(i: int) -> int:
        while head[i] != i:
            head[i] = head[head[i]]
            i = head[i]
        return i

    for i, j in linked:
        a, b = find(i), find(j)
        head[max(a, b)] = min(a, b)
    held: dict[int, list[int]] = defaultdict(list)
    for i in range(count):
        held[find(i)].append(i)
    return [group for group in held.values() if len(group) > 1]


def _as_worded(one: Asked, other: Asked) -> Iterator[tuple[bool, float]]:
    """Yield the least cosine from which two questions ask the same, with True; with False the one if their answers agree."""
    if (least := nearness(one.wording, other.wording)) is not None:
        yield True, least
    elif one.telling & other.telling and (least := nearness(one.wording, other.wording, agree=True)) is not None:
        yield False, least


def _vectors(places: Collection[int], questions: Sequence[Asked], gold: Gold) -> dict[int, Vector | None]:
    ordered = sorted(places)
    vectors = gold.embed([questions[place].wording.text for place in ordered]) if ordered else []
    return dict(zip(ordered, vectors, strict=True))


def _candidates(questions: Sequence[Asked], beyond: set[int]) -> list[tuple[int, int]]:
    """Every two questions of equal numbers whose words are the same, or hold those of the other, or whose answers agree."""
    buckets: dict[object, list[int]] = defaultdict(list)
    for place, question in enumerate(questions):
        wording = question.wording
        buckets[question.before, wording.language, wording.numbers, wording.denies].append(place)
    held = (bucket for bucket in buckets.values() if len(bucket) > 1)
    return sorted({pair for bucket in held for pair in (*_holding(bucket, questions, beyond), *_sharing(bucket, questions, beyond))})


def _holding(places: Sequence[int], questions: Sequence[Asked], beyond: set[int]) -> Iterator[tuple[int, int]]:
    """Two questions of which one holds every word of the other: looked up by its rarest word."""
    words = {place: frozenset(questions[place].wording.words) for place in places}
    by_words: dict[frozenset[str], list[int]] = defaultdict(list)
    by_word: dict[str, list[int]] = defaultdict(list)
    for place, held in words.items():
        by_words[held].append(place)
        for word in held:
            by_word[word].append(place)
    for alike in by_words.values():
        yield from _each_with_next(alike, beyond)
    for place, held in words.items():
        rarest = min((by_word[word] for word in held), key=len, default=())
        holding = (o for o in rarest[:MOST_HOLDING] if held < words[o] and len(words[o]) <= WORDIER * len(held))
        first = list(islice(holding, MOST_SHARING + 1))
        if len(first) > MOST_SHARING or len(rarest) > MOST_HOLDING:
            beyond.add(place)
        yield from ((min(place, other), max(place, other)) for other in first[:MOST_SHARING])


def _sharing(places: Sequence[int], questions: Sequence[Asked], beyond: set[int]) -> Iterator[tuple[int, int]]:
    """Two questions of the same answer."""
    by_answer: dict[str, list[int]] = defaultdict(list)
    for place in places:
        for answer in questions[place].telling:
            by_answer[answer].append(place)
    for alike in by_answer.values():
        yield from _each_with_next(sorted(alike, key=lambda place: sorted(questions[place].wording.words)), beyond)


def _each_with_next(places: Sequence[int], beyond: set[int]) -> Iterator[tuple[int, int]]:
    beyond.update(places[: -MOST_SHARING - 1])
    for at, place in enumerate(places):
        yield from ((min(place, other), max(place, other)) for other in places[at + 1 : at + 1 + MOST_SHARING])
