"""Which rows of a gold set ask the same: by nearness of embeddings, and what wording says against it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ragstone.checks.base import Gold, Row
from ragstone.checks.texts import references_of
from ragstone.checks.wording import LEAST, Wording, same
from ragstone.language import fold
from ragstone.numerals import numbers

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BLOCK = 512
"""Questions compared with all others at once: 20,000 questions take 40 MB."""
NEAREST = 20
"""Most neighbours of a question that are looked at."""
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


def asked(rows: Sequence[Row]) -> list[Asked]:
    """Return the questions of the rows, each once, in the order of the file; a row without one is left out."""
    held: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if text := fold(row.sample.question or ""):
            held[text, fold(str(row.sample.history)) if row.sample.history else ""].append(row)
    return [Asked(tuple(same), Wording.of(same[0].sample), before) for (_, before), same in held.items()]


def pairs(questions: Sequence[Asked], gold: Gold) -> Iterator[tuple[int, int, bool]]:
    """Yield every two questions that ask the same: their places, and True if their wording alone says so."""
    if len(questions) < 2:
        return
    vectors = _vectors([question.wording.text for question in questions], gold)
    for i, j in sorted({*_neighbours(vectors), *_equal_words(questions)}):
        one, other = questions[i], questions[j]
        if one.before != other.before:
            continue
        cosine = float(vectors[i] @ vectors[j])
        if same(one.wording, other.wording, cosine):
            yield i, j, True
        elif _agree(one, other) and same(one.wording, other.wording, cosine, agree=True):
            yield i, j, False


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


def _vectors(texts: Sequence[str], gold: Gold) -> NDArray[np.float32]:
    import numpy as np

    vectors = gold.embed(texts)
    size = next((len(vector) for vector in vectors if vector is not None), 1)
    return np.stack([np.zeros(size, np.float32) if vector is None else np.asarray(vector, np.float32) for vector in vectors])


def _neighbours(vectors: NDArray[np.float32]) -> Iterator[tuple[int, int]]:
    """The nearest of each question, block by block, so that memory stays bounded."""
    import numpy as np

    count = len(vectors)
    for start in range(0, count, BLOCK):
        near = vectors[start : start + BLOCK] @ vectors.T
        near[np.arange(len(near)), np.arange(start, start + len(near))] = -1.0
        for i in np.flatnonzero(near.max(axis=1) >= LEAST):
            row = near[i]
            found = np.flatnonzero(row >= LEAST)
            if len(found) > NEAREST:
                found = found[np.argsort(-row[found], kind="stable")[:NEAREST]]
            yield from ((min(start + int(i), int(j)), max(start + int(i), int(j))) for j in found)


def _equal_words(questions: Sequence[Asked]) -> Iterator[tuple[int, int]]:
    """Questions of the same words, which need not be among the nearest where many are alike."""
    held: dict[object, int] = {}
    for place, question in enumerate(questions):
        if (first := held.setdefault((question.before, question.wording.key), place)) != place:
            yield first, place


def _agree(one: Asked, other: Asked) -> bool:
    """True if they share an answer long enough not to be shared by chance."""
    return any(len(text) >= TELLING and not (numbers(text) and len(text) < 2 * TELLING) for text in one.answers & other.answers)
