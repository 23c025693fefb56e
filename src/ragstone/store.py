"""The run folder: append-only while running, every line self-contained, rewritten in sample order at the end.

manifest.json   samples.jsonl   prompts/   replies.jsonl   scores.jsonl
"""

import contextlib
import os
import re
import time
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, product
from pathlib import Path
from typing import IO, Any

import orjson

from ragstone.analysis.ids import Ids
from ragstone.bytelines import lines_of
from ragstone.compact import ABSENT, Cell
from ragstone.errors import RunFolderError, StoppedError, reason_of
from ragstone.stored import Check, manifest_problem, score_problem
from ragstone.text import say, screen_language

LOOK = 0.05
"""Seconds for which it is believed that a file still stands in its folder."""
SCORES, REPLIES, SAMPLES, MANIFEST, LOCK = "scores.jsonl", "replies.jsonl", "samples.jsonl", "manifest.json", ".lock"

_NAME = rb'"([ !#-\[\]-~]+)"'
_SAMPLE = re.compile(rb'\{"id":%b[,}]' % _NAME)
_CELL = re.compile(rb'\{"sample_id":%b,"metric":%b,"repeat":(\d+),"value":' % (_NAME, _NAME))
"""How lines begin that ragstone wrote, names in ASCII without escapes: most of them need not be read further to be told apart."""


# ------------------------------------------------------------------ reading
def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield (byte offset, line) of a file, blank lines and a torn last line left out; nothing if there is no file.

    Raises RunFolderError for a file that cannot be opened.
    """
    if not path.exists():
        return
    offset = 0
    with opened(path) as file:
        for line in lines_of(file):
            if line.endswith(b"\n") and not line.isspace():
                yield offset, line
            offset += len(line)


def read_rows(path: Path, check: Check | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (byte offset, row) of a file; raises RunFolderError naming file and byte for a line that `check` finds wrong."""
    return ((offset, load_row(path, offset, line, check)) for offset, line in read_lines(path))


def opened(path: Path) -> IO[bytes]:
    """Return a file of a run opened to be read; raises RunFolderError if the system refuses."""
    try:
        return path.open("rb")
    except OSError as bad:
        raise unusable(path, bad) from bad


def unusable(path: Path, bad: OSError) -> RunFolderError:
    """Return the error that says why a file or folder cannot be used."""
    return RunFolderError(say("store.cannot_use", screen_language(), path=path, problem=reason_of(bad, screen_language())))


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a run folder, {} if it has none. Raises RunFolderError for one that cannot be built on."""
    path = folder / MANIFEST
    if not path.exists():
        return {}
    with opened(path) as file:
        raw = file.read()
    try:
        found = orjson.loads(raw)
        problem: object = manifest_problem(found) if isinstance(found, dict) else type(found).__name__
    except orjson.JSONDecodeError as bad:
        problem = bad
    if problem:
        raise RunFolderError(say("store.manifest_unreadable", screen_language(), path=path, problem=problem))
    return dict(found)


def load_row(path: Path, offset: int, line: bytes, check: Check | None = None) -> dict[str, Any]:
    """Return one stored line as a dict; raises RunFolderError naming file and byte for one that is none, or that `check` finds wrong."""
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError as bad:
        raise RunFolderError(say("store.line_unreadable", screen_language(), path=path, offset=offset, problem=bad)) from bad
    if not isinstance(row, dict):
        raise RunFolderError(say("store.line_unreadable", screen_language(), path=path, offset=offset, problem=type(row).__name__))
    if check is not None and (problem := check(row)):
        raise RunFolderError(say("store.line_wrong", screen_language(), path=path, offset=offset, problem=problem.rstrip(".。")))
    return row


# ------------------------------------------------------------------ writing
class Appender:
    """A file that only grows by whole lines, each handed to the system at once; a torn end is cut off on opening."""

    _reader: IO[bytes] | None = None
    _looked = 0.0

    def __init__(self, path: Path) -> None:
        """Open for appending; what a killed process left behind the last line break is removed."""
        self.path = path
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
        except OSError as bad:
            raise unusable(path, bad) from bad
        self.size = _cut_torn_end(self._fd)

    def append(self, row: dict[str, Any]) -> int:
        """Write one row as a line and return its offset. Raises StoppedError when the disk does not take it."""
        line = orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
        offset, written = self.size, 0
        if (now := time.monotonic()) - self._looked > LOOK:
            self._looked = now
            self.check()
        try:
            while written < len(line):
                written += os.write(self._fd, line[written:])
        except OSError as bad:
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, offset)
            raise StoppedError(say("store.cannot_write", screen_language(), path=self.path, problem=bad.strerror)) from bad
        self.size += written
        return offset

    def check(self) -> None:
        """Raise StoppedError if the file was removed: writing goes on without an error then, to a file nobody can find again."""
        if self._fd >= 0 and not os.fstat(self._fd).st_nlink:
            raise StoppedError(say("store.file_gone", screen_language(), path=self.path))

    def row_at(self, offset: int) -> dict[str, Any]:
        """Return the row that starts at `offset`."""
        if self._reader is None:  # of its own, since appending moves the place where the other one reads
            self._reader = opened(self.path)
        self._reader.seek(offset)
        return load_row(self.path, offset, self._reader.readline())

    def close(self) -> None:
        """Close the file; closing it again does nothing."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)
        if self._reader is not None:
            self._reader.close()


def _cut_torn_end(fd: int) -> int:
    size = end = os.lseek(fd, 0, os.SEEK_END)
    while end:
        start = max(0, end - 65536)
        os.lseek(fd, start, os.SEEK_SET)
        at = os.read(fd, end - start).rfind(b"\n")
        if at >= 0:
            end = start + at + 1
            break
        end = start
    if end < size:
        os.ftruncate(fd, end)
    return end


def write_atomically(path: Path, lines: Iterable[bytes]) -> None:
    """Write a file whole or not at all. Raises StoppedError when the disk does not take it."""
    draft = path.with_name(path.name + ".part")
    try:
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600)
        with os.fdopen(fd, "wb") as file:
            for line in lines:
                file.write(line)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException as bad:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
        if not isinstance(bad, OSError):
            raise
        raise StoppedError(say("store.cannot_write", screen_language(), path=path, problem=bad.strerror)) from bad


def stored_ids(folder: Path) -> Iterator[str]:
    """Yield the ids of `samples.jsonl`, whose lines were written or checked by this process."""
    path = folder / SAMPLES
    for offset, line in read_lines(path):
        found = _SAMPLE.match(line)
        yield found[1].decode() if found else load_row(path, offset, line)["id"]


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Replace the manifest atomically."""
    write_atomically(folder / MANIFEST, [orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)])


def rewrite_scores(folder: Path, sample_ids: Iterable[str], metrics: Sequence[str], repeats: int) -> None:
    """Rewrite `scores.jsonl` in sample order, then metric, then repeat; the last line of a cell wins, other cells go.

    Its lines were written or checked by this process.
    """
    path, ids = folder / SCORES, Ids()
    for sample_id in sample_ids:
        ids.number(sample_id)
    lanes = {column: array("q", [ABSENT]) * len(ids) for column in product(metrics, range(repeats))}
    for offset, line in read_lines(path):
        found = _CELL.match(line)
        cell = (found[1].decode(), found[2].decode(), int(found[3])) if found else cell_of(load_row(path, offset, line, score_problem))
        lane, number = lanes.get(cell[1:]), ids.find(cell[0])
        if lane is not None and number is not None:
            lane[number] = offset
    with opened(path) as file:
        write_atomically(path, _picked(file, lanes.values()))


def _picked(file: IO[bytes], lanes: Iterable[Sequence[int]]) -> Iterator[bytes]:
    for offset in chain.from_iterable(zip(*lanes, strict=True)):
        if offset != ABSENT:
            file.seek(offset)
            yield file.readline()


def cell_of(row: dict[str, Any]) -> Cell:
    """Return the cell that a row of `scores.jsonl` is about."""
    return str(row["sample_id"]), str(row["metric"]), row.get("repeat") or 0
