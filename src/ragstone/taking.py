"""The rows a run held before, beside those it is given now."""

import hashlib
from array import array
from collections.abc import Iterable
from typing import Any

import orjson

from ragstone.analysis.ids import Ids

_JUDGED = (
    "question",
    "answer",
    "contexts",
    "reference",
    "reference_points",
    "reference_alternatives",
    "reference_contexts",
    "expected_behavior",
    "error",
    "language",
)
_GONE, _HERE, _CHANGED = range(3)


class Comparison:
    """Which rows are gone, which changed in what is judged; about 35 bytes a row. `id in comparison`: the row is there now."""

    def __init__(self, rows: Iterable[dict[str, Any]]) -> None:
        """`rows` are those held before."""
        self._ids, self._digests = Ids(), array("Q")
        for row in rows:
            number, digest = self._ids.number(row["id"]), judged_digest(row)
            if number < len(self._digests):  # a folder edited by hand may hold a row twice: the last counts
                self._digests[number] = digest
            else:
                self._digests.append(digest)
        self.before = len(self._ids)
        self.now = 0
        self._states = bytearray(self.before)

    def compare(self, rows: Iterable[dict[str, Any]]) -> None:
        """Go through the rows of now; their ids differ."""
        for row in rows:
            number = self._ids.number(row["id"])
            if number < self.before:
                self._states[number] = _HERE if judged_digest(row) == self._digests[number] else _CHANGED
            else:
                self._states.append(_HERE)
            self.now += 1

    def __contains__(self, sample_id: object) -> bool:
        number = self._ids.find(str(sample_id))
        return number is not None and self._states[number] != _GONE

    @property
    def gone(self) -> int:
        """How many rows of before are no longer there."""
        return self._states.count(_GONE)

    @property
    def changed(self) -> int:
        """How many rows are still there with another judged text."""
        return self._states.count(_CHANGED)

    def is_gone(self, sample_id: str) -> bool:
        """True for a row of before that is no longer there."""
        return self._state(sample_id) == _GONE

    def is_changed(self, sample_id: str) -> bool:
        """True for a row whose judged text changed."""
        return self._state(sample_id) == _CHANGED

    def _state(self, sample_id: str) -> int | None:
        number = self._ids.find(sample_id)
        return None if number is None else self._states[number]


def judged_digest(row: dict[str, Any]) -> int:
    """Return a 64-bit digest of everything of a row that can change a score."""
    judged = {name: row.get(name) for name in _JUDGED}
    judged["contexts"] = None if judged["contexts"] is None else [c if isinstance(c, str) else c["text"] for c in judged["contexts"]]
    return int.from_bytes(hashlib.sha256(orjson.dumps(judged)).digest()[:8])
