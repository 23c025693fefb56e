"""A run in one JSON file, as `ragstone export --to json` writes it: found to be one, and read line by line where it is laid out so.

The exporter writes a line for each sample and each score. A file that keeps this layout is never held whole; one that another
program wrote again (indented, sorted) is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ragstone.analysis.cells import Notice
from ragstone.bytelines import CHUNK, lines_of
from ragstone.errors import RunFolderError
from ragstone.lines import FileLines, Lines, ListLines, Row, parsed
from ragstone.text import say, screen_language

FORMAT, VERSION = "ragstone-run", 1
SAMPLES_HEAD, SCORES_HEAD, TAIL = b'"samples":[', b'"scores":[', b"]}"
NO_SAMPLES, END = b'"samples":null,', b"],"
TOLD_ON = frozenset(
    ("manifest_missing", "manifest_unreadable", "line_skipped", "line_torn", "sample_without_id", "cells_doubled", "not_a_number")
)
"""Notices on the files of a run folder: nobody can find out from the document alone, so that it tells them on."""

_PARTS = ("scores.jsonl", "samples.jsonl", "manifest.json", "replies.jsonl")
_HEAD_LINES = 32
_BOM = b"\xef\xbb\xbf"
_START = b'{"format":"' + FORMAT.encode() + b'"'
_MARK = re.compile(rb'"format"\s*:\s*"' + FORMAT.encode() + b'"')
_SCORE = re.compile(rb'"sample_id"\s*:[^\n]*"metric"\s*:')
_SAMPLE = re.compile(rb'"(?:question|user_input|query|input|\xe9\x97\xae\xe9\xa2\x98)"\s*:')


@dataclass(frozen=True, slots=True)
class ExportFile:
    """What a JSON export holds."""

    manifest: Row
    notices: tuple[Notice, ...]
    samples: Lines | None
    scores: Lines


@dataclass(slots=True)
class _Part:
    """Where rows stand: the byte and the line of the first, and how many there are."""

    start: int
    line: int
    rows: int = 0


class PartLines(FileLines):
    """The rows of one part of a JSON export; a place is a byte offset."""

    def __init__(self, path: Path, part: _Part) -> None:
        super().__init__(path)
        self._part = part

    def read(self, notices: list[Notice]) -> Iterator[tuple[int, int, Row]]:
        """Yield (byte offset, line number, row).

        Raises:
            RunFolderError: a line is no JSON object; one document with a broken line is broken.
        """
        place, number = self._part.start, self._part.line
        with self.path.open("rb") as file:
            file.seek(place)
            for line in lines_of(file):
                if number == self._part.line + self._part.rows:
                    return
                yield place, number, self._row(line, number)
                place, number = place + len(line), number + 1

    def row_of(self, line: bytes) -> Row:
        """Return the row of a line that `read` has yielded."""
        return self._row(line, 0)

    def _row(self, line: bytes, number: int) -> Row:
        row = parsed(line.rstrip(b",\r\n "))
        if row is None:
            raise RunFolderError(say("exported.broken_line", screen_language(), path=self.path, line=number))
        return row


def read_export(path: Path) -> ExportFile:
    """Return what a JSON export holds.

    Raises:
        RunFolderError: the file is cut off, broken, of a later version, or something else; the text says what and where.
    """
    with path.open("rb") as file:
        head = file.read(CHUNK)
    if head.removeprefix(_BOM).startswith(_START):
        found = _by_line(path) or _whole(path)
    elif _marked(path):
        found = _whole(path)
    else:
        raise _something_else(path, head)
    if next(found.scores.read([]), None) is None and not (found.samples and found.manifest.get("metrics")):
        raise RunFolderError(say("results.no_scores", screen_language(), path=path))
    return found


# ------------------------------------------------------------------ line by line
class _Layout:
    """Follows the lines of a file as long as they are laid out as the exporter lays them out."""

    def __init__(self) -> None:
        self.head: list[bytes] = []
        self.samples: _Part | None = None
        self.scores: _Part | None = None
        self.ended = False
        self._take = self._in_head

    def take(self, line: bytes, number: int, after: int) -> bool:
        """Take in a line that ends at byte `after`; returns False for one that has no place there."""
        return self._take(line, _Part(after, number + 1))

    def _in_head(self, line: bytes, below: _Part) -> bool:
        if line == SAMPLES_HEAD:
            self.samples, self._take = below, self._in_samples
        elif line == NO_SAMPLES:
            self._take = self._between
        else:
            self.head.append(line)
        return len(self.head) <= _HEAD_LINES

    def _in_samples(self, line: bytes, below: _Part) -> bool:
        if line[:1] == b"{" and self.samples is not None:
            self.samples.rows += 1
            return True
        self._take = self._between
        return line == END

    def _between(self, line: bytes, below: _Part) -> bool:
        self.scores, self._take = below, self._in_scores
        return line == SCORES_HEAD

    def _in_scores(self, line: bytes, below: _Part) -> bool:
        if line[:1] == b"{" and self.scores is not None:
            self.scores.rows += 1
            return True
        self.ended, self._take = line == TAIL, self._behind
        return self.ended

    def _behind(self, line: bytes, below: _Part) -> bool:
        return not line


def _by_line(path: Path) -> ExportFile | None:
    """Find the parts of a file; None for one of another layout.

    Raises:
        RunFolderError: it has the layout and stops in the middle.
    """
    layout, place, number, fits = _Layout(), 0, 0, True
    with path.open("rb") as file:
        for number, line in enumerate(lines_of(file), 1):
            place += len(line)
            fits = layout.take(line.rstrip(), number, place)
            if not fits and line.endswith(b"\n"):
                return None
    if layout.samples is layout.scores is None:  # it ends in its head, which is short, or is laid out otherwise
        return None
    if not layout.ended or not fits or layout.scores is None:
        raise RunFolderError(say("exported.cut_off", screen_language(), path=path, line=number))
    document = _parsed(path, b"".join(layout.head).removeprefix(_BOM).rstrip(b",") + b"}")
    samples = None if layout.samples is None else PartLines(path, layout.samples)
    return ExportFile(*_known(path, document), samples, PartLines(path, layout.scores))


# ------------------------------------------------------------------ at once
def _whole(path: Path) -> ExportFile:
    document = _parsed(path, path.read_bytes().removeprefix(_BOM))
    known = _known(path, document)
    samples, scores = (_rows(path, document, name) for name in ("samples", "scores"))
    if scores is None:
        raise RunFolderError(say("exported.no_part", screen_language(), path=path, part="scores"))
    return ExportFile(*known, samples, scores)


def _rows(path: Path, document: Row, part: str) -> ListLines | None:
    held = document.get(part)
    if held is None:
        return None
    if not isinstance(held, list):
        raise RunFolderError(say("exported.no_part", screen_language(), path=path, part=part))
    bad = next((number for number, row in enumerate(held, 1) if not isinstance(row, dict)), None)
    if bad is not None:
        raise RunFolderError(say("exported.no_rows", screen_language(), path=path, part=part, row=bad))
    return ListLines(f"{path}, {part}", held)


def _parsed(path: Path, text: bytes) -> Row:
    """Return a document that is JSON, lone surrogates and NaN let through.

    Raises:
        RunFolderError: it is not, or no object.
    """
    lang = screen_language()
    found = parsed(text)
    if found is not None:
        return found
    try:
        json.loads(text)
    except json.JSONDecodeError as bad:
        raise RunFolderError(say("exported.broken", lang, path=path, line=bad.lineno, column=bad.colno, problem=bad.msg)) from None
    except UnicodeDecodeError as bad:
        raise RunFolderError(say("exported.no_utf8", lang, path=path, byte=bad.start)) from None
    except RecursionError:
        raise RunFolderError(say("exported.too_deep", lang, path=path)) from None
    raise RunFolderError(say("exported.other_json", lang, path=path, format=FORMAT))


def _known(path: Path, document: Row) -> tuple[Row, tuple[Notice, ...]]:
    """Return the manifest and the notices of a document.

    Raises:
        RunFolderError: it is no export, or one that only a later version can read.
    """
    lang, version, manifest = screen_language(), document.get("version"), document.get("manifest")
    if document.get("format") != FORMAT:
        raise RunFolderError(say("exported.other_json", lang, path=path, format=FORMAT))
    if version != VERSION:
        raise RunFolderError(say("exported.later_version", lang, path=path, version=version, known=VERSION))
    if not isinstance(manifest, dict | None):
        raise RunFolderError(say("exported.no_part", lang, path=path, part="manifest"))
    told = held if isinstance(held := document.get("notices"), list) else []
    return manifest or {}, tuple(_notice(one) for one in told if isinstance(one, dict) and one.get("code") in TOLD_ON)


def _notice(held: Row) -> Notice:
    values = held.get("values")
    return Notice(str(held["code"]), tuple(values.items()) if isinstance(values, dict) else ())


# ------------------------------------------------------------------ something else
def _marked(path: Path) -> bool:
    """True if a file says somewhere that it is an export; it is not held whole for that."""
    before = b""
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            if _MARK.search(before + chunk):
                return True
            before = chunk[-100:]
    return False


def _something_else(path: Path, head: bytes) -> RunFolderError:
    lang = screen_language()
    if path.name in _PARTS and (path.parent / _PARTS[0]).is_file():
        return RunFolderError(say("exported.part_of_run", lang, path=path, folder=path.parent))
    if not head.strip():
        return RunFolderError(say("exported.empty", lang, path=path))
    if _SCORE.search(head):
        return RunFolderError(say("exported.score_lines", lang, path=path))
    if _SAMPLE.search(head):
        return RunFolderError(say("exported.samples", lang, path=path))
    if head.removeprefix(_BOM).lstrip()[:1] in (b"{", b"["):
        return RunFolderError(say("exported.other_json", lang, path=path, format=FORMAT))
    return RunFolderError(say("exported.no_json", lang, path=path))
