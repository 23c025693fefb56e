"""The file of samples while it is collected: rows are appended as they end, and rewritten in gold order when all is over."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any

import orjson

from ragstone.analysis.ids import Ids
from ragstone.store import Appender, opened, read_lines, read_rows, write_atomically

EXAMPLES = 5
"""Ids of failed rows that are told by word."""
_NOWHERE = -1
_UNSEEN, _OK = -1, 0
_HIDDEN, _EMPTY, _FILLED = range(3)


@dataclass(frozen=True, slots=True)
class Failures:
    """Rows that failed for one reason."""

    count: int
    examples: tuple[str, ...]
    """Ids of the first ones in gold order."""
    message: str
    """What the very first one was told: its `error` without the word."""

    def to_dict(self) -> dict[str, Any]:
        """The object that stands under the word in `--json`."""
        return {"count": self.count, "examples": list(self.examples), "message": self.message}


class SamplesFile:
    """Rows by their place in gold order; holds a few bytes of each."""

    def __init__(self, path: Path, total: int) -> None:
        """`total`: how many rows the gold set asks for, repeats included."""
        self.path, self.total = path, total
        self._words: list[str] = []
        self._states = array("h", [_UNSEEN]) * total
        self._contexts = array("b", [_HIDDEN]) * total
        self._offsets = array("q", [_NOWHERE]) * total
        self._more: list[int] = []
        """Where rows stand that are kept though they are not among those asked for."""
        self._appender: Appender | None = None

    # -------------------------------------------------------------- writing
    def begin(self, known: Iterable[tuple[int, dict[str, Any]]], more: Iterable[dict[str, Any]] = ()) -> None:
        """Write the rows that earlier calls have collected, as (place, row) in gold order, and those kept besides."""
        write_atomically(self.path, self._placed(known, more))
        self._appender = Appender(self.path)

    def _placed(self, known: Iterable[tuple[int, dict[str, Any]]], more: Iterable[dict[str, Any]]) -> Iterator[bytes]:
        offset = 0
        for place, row in chain(known, ((_NOWHERE, row) for row in more)):
            line = orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
            if place == _NOWHERE:
                self._more.append(offset)
            else:
                self._note(place, row, offset)
            yield line
            offset += len(line)

    def put(self, place: int, row: dict[str, Any]) -> None:
        """Append the row of a place; it takes the place of an earlier one. Raises StoppedError when the disk does not take it."""
        assert self._appender is not None
        self._note(place, row, self._appender.append(row))

    def finish(self) -> None:
        """Rewrite the file in gold order, whole or not at all."""
        self.close()
        offsets = array("q", [_NOWHERE]) * self.total
        with opened(self.path) as file:
            write_atomically(self.path, self._in_order(file, offsets))
        self._offsets = offsets

    def _in_order(self, file: IO[bytes], offsets: array[int]) -> Iterator[bytes]:
        """Yield the lines of all rows; `offsets` takes in where each will stand."""
        at = 0
        for place, offset in enumerate(self._offsets):
            if offset != _NOWHERE:
                offsets[place] = at
                line = _line(file, offset)
                at += len(line)
                yield line
        yield from (_line(file, offset) for offset in self._more)

    def close(self) -> None:
        """Close the file; closing it again does nothing."""
        if self._appender is not None:
            self._appender.close()

    def _note(self, place: int, row: Mapping[str, Any], offset: int) -> None:
        self._offsets[place] = offset
        contexts, error = row.get("contexts"), row.get("error")
        self._contexts[place] = _HIDDEN if contexts is None else _FILLED if contexts else _EMPTY
        self._states[place] = _OK if error is None else self._word(str(error).partition(":")[0])

    def _word(self, word: str) -> int:
        if word not in self._words:
            self._words.append(word)
        return self._words.index(word) + 1

    # -------------------------------------------------------------- counting
    @property
    def done(self) -> int:
        """Rows that were collected, failed ones included."""
        return self.total - self._states.count(_UNSEEN)

    @property
    def ok(self) -> int:
        """Rows that have an answer."""
        return self._states.count(_OK)

    def contexts(self) -> tuple[int, int, int]:
        """Return how many good rows expose no contexts, retrieved nothing, and hold chunks."""
        found = [self._contexts[place] for place, state in enumerate(self._states) if state == _OK]
        return found.count(_HIDDEN), found.count(_EMPTY), found.count(_FILLED)

    def failures(self, ids: Iterable[str]) -> dict[str, Failures]:
        """Return the failed rows by word, the most frequent first, once the file is finished; `ids` are those of all rows in gold order."""
        first: dict[int, list[tuple[int, str]]] = {}
        for place, name in enumerate(ids):
            if (state := self._states[place]) > _OK and len(found := first.setdefault(state, [])) < EXAMPLES:
                found.append((place, name))
        with opened(self.path) as file:
            told = [self._failures(file, state, found) for state, found in sorted(first.items())]
        return dict(sorted(told, key=lambda one: -one[1].count))

    def _failures(self, file: IO[bytes], state: int, first: list[tuple[int, str]]) -> tuple[str, Failures]:
        row = orjson.loads(_line(file, self._offsets[first[0][0]]))
        word, _, message = str(row["error"]).partition(": ")
        return word, Failures(self._states.count(state), tuple(name for _, name in first), message)


def besides(path: Path, ids: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of an earlier file of samples that are not among `ids`, in its order; of several with one id the last."""
    known, last = Ids(), dict[int, int]()
    for name in ids:
        known.number(name)
    asked = len(known)
    for offset, row in read_rows(path):
        if isinstance(row.get("id"), str) and (number := known.number(row["id"])) >= asked:
            last[number] = offset
    wanted = set(last.values())
    for offset, line in read_lines(path) if wanted else ():
        if offset in wanted:
            yield orjson.loads(line)


def _line(file: IO[bytes], offset: int) -> bytes:
    file.seek(offset)
    return file.readline()
