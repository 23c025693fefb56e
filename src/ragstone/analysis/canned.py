"""Canned answers: one answer, word for word, to three or more questions that are not alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ragstone.analysis.claims import same_text
from ragstone.analysis.evidence import digest
from ragstone.analysis.slices import expected_behavior

Row = dict[str, Any]

UNLIKE = 3
"""So many questions that are not alike make an answer canned."""
ALIKE = 0.5
"""From this share of common letter pairs on (Jaccard index) two questions are taken as one, asked twice."""


@dataclass(slots=True)
class Canned:
    """One answer given to unlike questions."""

    answer: str
    sample_ids: list[str] = field(default_factory=list)
    _questions: list[frozenset[str]] = field(default_factory=list)

    @property
    def unlike(self) -> bool:
        """True once there are enough questions that are not alike."""
        return len(self._questions) >= UNLIKE

    def add(self, sample_id: str, question: str) -> None:
        """Take in a sample with this answer."""
        self.sample_ids.append(sample_id)
        pairs = _pairs(question)
        if not self.unlike and not any(_alike(pairs, other) for other in self._questions):
            self._questions.append(pairs)


def canned_answers(samples: Callable[[], Iterable[Row]]) -> list[Canned]:
    """Return the canned answers among samples, in the order they are met.

    Samples that should refuse or ask back are left out: one wording for all of them is as it should be. So are rows without a
    question. The samples are gone through twice, so that only answers met often enough are held.

    Args:
        samples: gives the rows of samples.jsonl, from the first on at each call.
    """
    counts = Counter(key for _, key, _ in _answered(samples()))
    often = {key for key, count in counts.items() if count >= UNLIKE}
    found: dict[bytes, Canned] = {}
    for sample_id, key, row in _answered(samples()) if often else ():
        if key in often:
            found.setdefault(key, Canned(str(row["answer"]))).add(sample_id, str(row["question"]))
    return [one for one in found.values() if one.unlike]


def _answered(rows: Iterable[Row]) -> Iterator[tuple[str, bytes, Row]]:
    for row in rows:
        key, question = digest(row.get("answer")), row.get("question")
        if key is not None and isinstance(question, str) and question.strip() and expected_behavior(row) == "answer":
            yield str(row["id"]), key, row


def _pairs(question: str) -> frozenset[str]:
    text = same_text(question)
    return frozenset(text[i : i + 2] for i in range(max(1, len(text) - 1)))


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= ALIKE * len(one | other)
