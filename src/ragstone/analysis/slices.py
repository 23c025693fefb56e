"""What is known of the samples themselves: which behaviour each should show, and the groups that slice a run."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from typing import Any

import orjson

from ragstone.analysis.cells import Notice

Row = dict[str, Any]

BEHAVIOURS = ("answer", "refuse", "clarify")
QUESTION = "question_id"
"""Key of `meta` under which answers to one question name it."""
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


AUTOMATIC = "category"
"""The key a run is sliced by where nobody names one."""
MOST_AUTOMATIC = 30
"""With more values than this a run is sliced only if somebody asks for it: a table of hundreds of lines says nothing."""


class Groups:
    """Which group each sample is in: the one of its value under a key. Samples are numbered as in `Cells`."""

    def __init__(self, key: str, most: int | None = None) -> None:
        self.key = key
        self.crowded = False
        """True once there are more than `most` values; then nothing is held any more."""
        self._most = most
        self._labels: dict[bytes, tuple[int, Any]] = {b"null": (0, None)}
        self._numbers = array("i")

    def __len__(self) -> int:
        return len(self._labels) - 1

    def add(self, at: int, row: Row) -> None:
        """Take in a row of samples.jsonl; a second row of a sample replaces the first."""
        if self.crowded:
            return
        value = label(row, self.key)
        _set(self._numbers, at, self._labels.setdefault(orjson.dumps(value), (len(self._labels), value))[0])
        if self._most is not None and len(self) > self._most:
            self.crowded, self._labels, self._numbers = True, {b"null": (0, None)}, array("i")

    def number(self, at: int) -> int:
        """Return the number of a sample's group; 0 for a sample without the key."""
        return self._numbers[at] if at < len(self._numbers) else 0

    def each(self, samples: int) -> Iterator[tuple[Any, list[int]]]:
        """Yield (value, sample numbers) in the order the values are met; samples without the key come last, under None."""
        numbers: dict[int, list[int]] = {}
        for at in range(samples):
            numbers.setdefault(self.number(at), []).append(at)
        values = [value for _, value in self._labels.values()]
        without = numbers.pop(0, None)
        for group, rows in numbers.items():
            yield values[group], rows
        if without:
            yield None, without

    def clusters(self, samples: int) -> tuple[array[int], int]:
        """Return a cluster number a sample, and how many samples lack the key; each of those is a cluster of its own.

        Taking them as one cluster would tie samples together that nobody says belong together.
        """
        numbers, without = array("q", map(self.number, range(samples))), 0
        for at, number in enumerate(numbers):
            if number == 0:
                without += 1
                numbers[at] = -without
        return numbers, without


class SampleFacts:
    """What is known of the samples: the expected behaviour of each, and its groups; samples are numbered as in `Cells`."""

    def __init__(self, key: str | None = None, cluster: str | None = None, *, automatic: bool = False) -> None:
        """Slice by `key`; else, if `automatic`, by category where samples have it. `cluster`: key of samples that belong together."""
        self.automatic = automatic and key is None
        """True if nobody has named the key."""
        self.key = AUTOMATIC if self.automatic else key
        self.keys: dict[str, None] = {}
        """Keys met that can slice the run, in order."""
        self.expected = bytearray()
        self.repeats = 0
        """Samples that answer a question another sample has answered: collected with `--repeat`."""
        self.slices = Groups(self.key, MOST_AUTOMATIC if self.automatic else None) if self.key is not None else None
        self.together = Groups(cluster) if cluster is not None else None
        """The groups of samples that belong together."""

    def add(self, at: int, row: Row) -> None:
        """Take in a row of samples.jsonl; a second row of a sample replaces the first."""
        _set(self.expected, at, BEHAVIOURS.index(expected_behavior(row)))
        self.repeats += _is_repeat(row)
        if (self.slices is not None and not self.automatic) or self.together is not None:
            self.keys.update(dict.fromkeys(_keys(row)))
        for groups in (self.slices, self.together):
            if groups is not None:
                groups.add(at, row)

    @property
    def unclustered(self) -> Iterator[Notice]:
        """What to tell if answers to one question are taken for samples of their own."""
        if self.repeats and self.together is None:
            yield Notice("repeats_unclustered", (("key", QUESTION), ("count", self.repeats)))

    @property
    def sliced(self) -> bool:
        """True if the run is to be sliced: by the key somebody named, or by a category that samples have."""
        return self.slices is not None and (not self.automatic or len(self.slices) > 0)

    def expecting(self, behaviour: str, samples: int) -> list[int]:
        """Return the numbers of the samples that should show `behaviour`."""
        wanted = BEHAVIOURS.index(behaviour)
        return [at for at in range(min(samples, len(self.expected))) if self.expected[at] == wanted]

    def groups(self, samples: int) -> Iterator[tuple[Any, list[int]]]:
        """Yield (value, sample numbers) in the order the values are met; samples without the key come last, under None."""
        return self.slices.each(samples) if self.slices is not None else iter(())


def _is_repeat(row: Row) -> bool:
    """True for `q1#1`, `q1#2` … of the question `q1`."""
    meta, name = row.get("meta"), str(row.get("id"))
    question = meta.get(QUESTION) if isinstance(meta, dict) else None
    return isinstance(question, str) and name.startswith(f"{question}#") and name != f"{question}#0"


def expected_behavior(row: Row) -> str:
    """Return what the application should do with this sample: answer, refuse or clarify; the column, else `meta`."""
    for holder in (row, row.get("meta")):
        said = holder.get("expected_behavior") if isinstance(holder, dict) else None
        if said in BEHAVIOURS[1:]:
            return str(said)
    return "answer"


def label(row: Row, key: str) -> Any:
    """Return a sample's value under a key of `meta`, else under a column of that name, as a document can hold it.

    A list or table is its JSON text, anything else that JSON has not (a date, a number of numpy) its text.
    """
    meta = row.get("meta")
    value = meta[key] if isinstance(meta, dict) and key in meta else None if key in _KNOWN else row.get(key)
    if key == "expected_behavior":
        value = expected_behavior(row)
    return _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return None if not math.isfinite(value) else value if abs(value) < 2**63 else str(value)
    try:
        text = orjson.dumps(value).decode()
    except TypeError:
        return _plain(str(value))
    return text if text[:1] in "[{" else orjson.loads(text)


def _keys(row: Row) -> list[str]:
    meta = row.get("meta")
    return [*(meta if isinstance(meta, dict) else ()), *(name for name in row if name in _PLAIN or name not in _KNOWN)]


def _set(column: Any, at: int, value: int) -> None:
    if at >= len(column):
        column.extend([0] * (at + 1 - len(column)))
    column[at] = value
