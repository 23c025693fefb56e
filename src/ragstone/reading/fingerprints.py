"""Short names for what a set of samples asks and holds: equal data, equal fingerprint, in any row order. Pure."""

import hashlib
from typing import Any

import orjson

from ragstone.types import Sample

_MODULUS = 1 << 256


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


def gold_row(sample: Sample) -> list[Any]:
    """Return what the gold fingerprint covers: id, question, reference, reference_points, reference_contexts."""
    return [sample.id, sample.question, sample.reference, sample.reference_points, sample.reference_contexts]


def judged_row(sample: Sample) -> list[Any]:
    """Return what the samples fingerprint covers: every column that can change a score."""
    contexts = None if sample.contexts is None else [c.text for c in sample.contexts]
    gold = [*gold_row(sample), sample.reference_alternatives, sample.reference_context_ids, sample.expected_behavior]
    return [*gold, sample.answer, contexts, sample.context_ids, sample.error]
