"""Short names for what a set of samples asks and holds: equal data, equal fingerprint, in any row order. Pure."""

import hashlib
import re
from typing import Any

import orjson

from ragstone.types import Sample

_MODULUS = 1 << 256
_REPEAT = re.compile("0|[1-9][0-9]{0,8}")


class Fingerprint:
    """A hash over rows that are added one after another.

    It is the sum of the rows' SHA-256 modulo 2**256, so neither the order of the rows nor their number in memory
    matters, and doubled rows do not cancel out.
    """

    def __init__(self) -> None:
        self._sum = 0

    def add(self, row: Any) -> None:
        """Add one row, any JSON value."""
        self._sum = (self._sum + int.from_bytes(hashlib.sha256(orjson.dumps(row)).digest())) % _MODULUS

    def hex(self) -> str:
        """Return the first 16 hex digits of the hash of everything added so far."""
        return hashlib.sha256(self._sum.to_bytes(32)).hexdigest()[:16]


def gold_row(sample: Sample) -> list[Any] | None:
    """Return what the gold fingerprint covers: id, question, reference, reference_points, reference_contexts.

    Answers collected for one question several times, `q1#0`, `q1#1` …, are one row of the gold set, `q1`: None for all but the first.
    """
    question, repeat = repeat_of(sample)
    return None if repeat else _gold_row(question, sample)


def repeat_of(sample: Sample) -> tuple[str, int]:
    """Return the id of the gold row that a sample was collected for, and which of its repeats it is (0 where it has none)."""
    return repeat_in(sample.id, sample.meta.get("question_id"))


def repeat_in(name: str, question: object) -> tuple[str, int]:
    """Return the same for a sample called `name`, collected for `question` as far as it says so."""
    if isinstance(question, str) and name.startswith(f"{question}#") and _REPEAT.fullmatch(number := name[len(question) + 1 :]):
        return question, int(number)
    return name, 0


def _gold_row(name: str, sample: Sample) -> list[Any]:
    return [name, sample.question, sample.reference, sample.reference_points, sample.reference_contexts]


def judged_row(sample: Sample) -> list[Any]:
    """Return what the samples fingerprint covers: every column that can change a score."""
    contexts = None if sample.contexts is None else [c.text for c in sample.contexts]
    gold = [*_gold_row(sample.id, sample), sample.reference_alternatives, sample.reference_context_ids, sample.expected_behavior]
    return [*gold, sample.answer, contexts, sample.context_ids, sample.error]
