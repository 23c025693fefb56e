"""What is known of the samples themselves: which behaviour each should show, and the groups that slice a run."""

from array import array
from collections.abc import Iterator
from typing import Any

import orjson

Row = dict[str, Any]

BEHAVIOURS = ("answer", "refuse", "clarify")
_PLAIN = ("language", "expected_behavior")
"""Columns of a sample that slice a run besides the keys of `meta`."""
_KNOWN = frozenset(
    (
        "id",
        "question",
        "answer",
        "contexts",
        "reference",
        "reference_points",
        "reference_alternatives",
        "reference_contexts",
        "context_ids",
        "reference_context_ids",
        "context_scores",
        "context_sources",
        "history",
        "error",
        "answer_raw",
        "citations",
        "latency_s",
        "usage",
        "meta",
    )
)
SMALL = 5
"""A slice of fewer samples is marked small."""


class SampleFacts:
    """Expected behaviour of every sample, and its value under one key; samples are numbered as in `Cells`."""

    def __init__(self, key: str | None = None) -> None:
        self.key = key
        self.keys: dict[str, None] = {}
        """Keys met that can slice the run, in order."""
        self.expected = bytearray()
        self._labels: dict[bytes, tuple[int, Any]] = {b"null": (0, None)}
        self._groups = array("i")

    def add(self, at: int, row: Row) -> None:
        """Take in a row of samples.jsonl; a second row of a sample replaces the first."""
        _set(self.expected, at, BEHAVIOURS.index(expected_behavior(row)))
        if self.key is not None:
            self.keys.update(dict.fromkeys(_keys(row)))
            _set(self._groups, at, self._group(label(row, self.key)))

    def _group(self, value: Any) -> int:
        return self._labels.setdefault(orjson.dumps(value), (len(self._labels), value))[0]

    def expecting(self, behaviour: str, samples: int) -> list[int]:
        """Return the numbers of the samples that should show `behaviour`."""
        wanted = BEHAVIOURS.index(behaviour)
        return [at for at in range(min(samples, len(self.expected))) if self.expected[at] == wanted]

    def groups(self, samples: int) -> Iterator[tuple[Any, list[int]]]:
        """Yield (value, sample numbers) in the order the values are met; samples without the key come last, under None."""
        numbers: dict[int, list[int]] = {}
        for at in range(samples):
            numbers.setdefault(self._groups[at] if at < len(self._groups) else 0, []).append(at)
        values = [value for _, value in self._labels.values()]
        without = numbers.pop(0, None)
        for group, rows in numbers.items():
            yield values[group], rows
        if without:
            yield None, without


def expected_behavior(row: Row) -> str:
    """Return what the application should do with this sample: answer, refuse or clarify; the column, else `meta`."""
    for holder in (row, row.get("meta")):
        said = holder.get("expected_behavior") if isinstance(holder, dict) else None
        if said in BEHAVIOURS[1:]:
            return str(said)
    return "answer"


def label(row: Row, key: str) -> Any:
    """Return a sample's value under a key of `meta`, else under a column of that name; a list or table as its JSON text."""
    meta = row.get("meta")
    value = meta[key] if isinstance(meta, dict) and key in meta else None if key in _KNOWN else row.get(key)
    if key == "expected_behavior":
        value = expected_behavior(row)
    return orjson.dumps(value).decode() if isinstance(value, list | dict) else value


def _keys(row: Row) -> list[str]:
    meta = row.get("meta")
    return [*(meta if isinstance(meta, dict) else ()), *(name for name in row if name in _PLAIN or name not in _KNOWN)]


def _set(column: Any, at: int, value: int) -> None:
    if at >= len(column):
        column.extend([0] * (at + 1 - len(column)))
    column[at] = value
