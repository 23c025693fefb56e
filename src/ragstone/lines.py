"""Rows of a run, in files or in memory, read tolerantly: what cannot be read is left out and named."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

import orjson

from ragstone.analysis.cells import Notice
from ragstone.bytelines import lines_of

Row = dict[str, Any]


class Lines(Protocol):
    """Rows that can be gone through any number of times; a row's place gets it back."""

    name: str
    where: str
    """As a mistake in them is told: two runs have files of the same name."""

    def read(self, notices: list[Notice]) -> Iterator[tuple[int, int, Row]]:
        """Yield (place, line number, row); what had to be left out goes to `notices`."""
        ...

    def at(self, place: int) -> Row:
        """Return the row at a place."""
        ...

    def fetching(self) -> AbstractContextManager[Callable[[int], Row]]:
        """Return what gets back the rows at many places, faster than `at`."""
        ...


class ListLines:
    """Rows held in memory; a place is an index."""

    def __init__(self, name: str, rows: Iterable[Any]) -> None:
        self.name = self.where = name
        self.rows: list[Row] = [row if isinstance(row, dict) else row.to_dict() for row in rows]

    def read(self, notices: list[Notice]) -> Iterator[tuple[int, int, Row]]:
        """Yield (place, row number, row)."""
        yield from ((place, place + 1, row) for place, row in enumerate(self.rows))

    def at(self, place: int) -> Row:
        """Return the row at a place."""
        return self.rows[place]

    @contextmanager
    def fetching(self) -> Iterator[Callable[[int], Row]]:
        """Give what gets back the row at a place."""
        yield self.at


class FileLines:
    """Rows of a JSONL file; a place is a byte offset."""

    def __init__(self, path: Path) -> None:
        self.path, self.name, self.where = path, path.name, str(path)

    def read(self, notices: list[Notice]) -> Iterator[tuple[int, int, Row]]:
        """Yield (byte offset, line number, row); a line that is no JSON object is left out, told by its number."""
        unread = place = 0
        with self.path.open("rb") as file:
            for number, line in enumerate(lines_of(file), 1):
                row = parsed(line)
                if row is not None and not unread:
                    yield place, number, row
                elif row is not None or line.strip():
                    if unread:
                        notices.append(Notice("line_skipped", (("file", self.name), ("line", unread))))
                    unread = 0 if row is not None else number
                    if row is not None:
                        yield place, number, row
                place += len(line)
        if unread:
            notices.append(Notice("line_torn", (("file", self.name), ("line", unread))))

    def row_of(self, line: bytes) -> Row:
        """Return the row of a line that `read` has yielded."""
        return parsed(line) or {}

    def at(self, place: int) -> Row:
        """Return the row that starts at a byte offset."""
        with self.fetching() as fetch:
            return fetch(place)

    @contextmanager
    def fetching(self) -> Iterator[Callable[[int], Row]]:
        """Give what gets back the row at a byte offset; the file is opened once."""
        with self.path.open("rb") as file:

            def fetch(place: int) -> Row:
                file.seek(place)
                return self.row_of(file.readline())

            yield fetch


def parsed(line: bytes) -> Row | None:
    """Return a JSON object, read tolerantly; None for what is none."""
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        row = _mended(line)
    return row if isinstance(row, dict) else None


def _mended(line: bytes) -> Any:
    """Read what other writers take for JSON: NaN (refused later, with its line) and lone surrogates."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return json.loads(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace"))
