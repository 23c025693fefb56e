"""What must be known of every cell and of every reply of a run, in a few bytes each: no dict grows with the number of samples."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from typing import Any, Literal

from ragstone.analysis.ids import Ids

Cell = tuple[str, str, int]
"""(sample id, metric, repeat)"""

ABSENT = -1

_BUCKETS = 4096
_MARK, _OFFSET = 3, 4
_ENTRY = _MARK + _OFFSET
_SEGMENT = 1 << (8 * _OFFSET)


class PerCell:
    """A number >= 0 for each cell: one byte a cell for `b`, eight for `q`. A cell that was never set has -1."""

    def __init__(self, typecode: Literal["b", "q"], ids: Ids | None = None) -> None:
        """`ids` lets several of them share one numbering."""
        self.ids = Ids() if ids is None else ids
        """Numbers of the samples, in the order they were met."""
        self._typecode = typecode
        self._lanes: dict[tuple[str, int], array[int]] = {}

    def __setitem__(self, cell: Cell, value: int) -> None:
        sample_id, metric, repeat = cell
        lane = self._lanes.get((metric, repeat))
        if lane is None:
            lane = self._lanes[metric, repeat] = array(self._typecode)
        at = self.ids.number(sample_id)
        if at >= len(lane):
            lane.extend(array(self._typecode, [ABSENT]) * (at + 1 - len(lane)))
        lane[at] = value

    def __getitem__(self, cell: Cell) -> int:
        sample_id, metric, repeat = cell
        at = self.ids.find(sample_id)
        return ABSENT if at is None else self.at(at, metric, repeat)

    def __len__(self) -> int:
        return sum(len(lane) - lane.count(ABSENT) for lane in self._lanes.values())

    def at(self, number: int, metric: str, repeat: int) -> int:
        """Return the number of a cell whose sample has this number."""
        lane = self._lanes.get((metric, repeat), ())
        return lane[number] if number < len(lane) else ABSENT

    def lanes(self) -> Iterator[tuple[str, int, array[int]]]:
        """Yield (metric, repeat, the numbers of its cells)."""
        return ((metric, repeat, lane) for (metric, repeat), lane in self._lanes.items())


class LastLines:
    """Where the last line of every key stands in a file, 7 bytes a line. Keys are hex digests.

    Only 36 bits of a key are held, so a line that is found is read and its `key` compared. Earlier lines of a key are left in
    place and never met.
    """

    def __init__(self, row_at: Callable[[int], dict[str, Any]]) -> None:
        """`row_at` returns the row that starts at an offset."""
        self._row_at = row_at
        self._segments: dict[int, list[bytearray | None]] = {}
        """Buckets of the lines of each 4 GiB of the file."""

    def add(self, key: str, offset: int) -> None:
        """Say that a line of a key starts at `offset`; lines come in the order they stand in the file."""
        segment, within = divmod(offset, _SEGMENT)
        if segment not in self._segments:
            self._segments[segment] = [None] * _BUCKETS
        buckets, (number, mark) = self._segments[segment], _place(key)
        bucket = buckets[number]
        if bucket is None:
            bucket = buckets[number] = bytearray()
        bucket += mark + within.to_bytes(_OFFSET)

    def find(self, key: str) -> tuple[int, dict[str, Any]] | None:
        """Return (offset, row) of the last line of a key, None if it has none."""
        for offset in self._likely(*_place(key)):
            row = self._row_at(offset)
            if row["key"].lower() == key.lower():
                return offset, row
        return None

    def _likely(self, number: int, mark: bytes) -> Iterator[int]:
        """Yield where lines stand whose key has this place and mark, the last one first."""
        for segment, buckets in reversed(self._segments.items()):
            bucket = buckets[number] or bytearray()
            end = len(bucket)
            while (at := bucket.rfind(mark, 0, end)) >= 0:
                if at % _ENTRY == 0:
                    yield segment * _SEGMENT + int.from_bytes(bucket[at + _MARK : at + _ENTRY])
                end = at + _MARK - 1


def _place(key: str) -> tuple[int, bytes]:
    digest = bytes.fromhex(key).ljust(8, b"\0")
    return int.from_bytes(digest[:2]) % _BUCKETS, digest[2 : 2 + _MARK]
