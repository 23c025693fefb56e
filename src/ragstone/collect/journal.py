"""The raw file beside the samples: what came back for every row, as it came. It only grows; the last line of a row counts.

The first line is the head, which says what was asked and how it was read; a later head line takes its place.
"""

from __future__ import annotations

import hashlib
import os
from array import array
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import IO, Any

import orjson

from ragstone.analysis.ids import Ids
from ragstone.collect.base import Kept, Received, Row, Trouble
from ragstone.collect.values import plain
from ragstone.errors import ConfigError, reason_of
from ragstone.folder import hold
from ragstone.store import Appender, load_row, read_lines
from ragstone.text import say, screen_language

_NOWHERE = -1
_RECEIVED = tuple(field.name for field in fields(Received))


def raw_of(samples: Path) -> Path:
    """Return where the raw responses of a file of samples stand."""
    return samples.with_name(samples.name + ".raw.jsonl")


class WriterLock:
    """Keeps a second process from writing the same file of samples; the system lets go of it when the process ends, however it ends."""

    def __init__(self, samples: Path) -> None:
        """Take the lock; raises ConfigError if another process holds it, or the folder cannot be written."""
        self._path = samples.with_name(f".{samples.name}.lock")
        while True:
            self._file = self._opened()
            try:
                hold(self._file)
            except OSError as held:
                self._file.close()
                raise ConfigError(say("collecting.locked", screen_language(), path=samples)) from held
            if self._stands():
                return
            self._file.close()

    def _opened(self) -> IO[bytes]:
        try:
            return self._path.open("a+b")
        except OSError as bad:
            lang = screen_language()
            raise ConfigError(say("collecting.no_rights", lang, path=self._path.parent, problem=reason_of(bad, lang))) from bad

    def _stands(self) -> bool:
        """False if the file was removed by the one who held it, between our opening and locking it."""
        try:
            return os.path.samestat(os.fstat(self._file.fileno()), self._path.stat())
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Let go, and leave no file behind."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
        self._file.close()


@dataclass(frozen=True, slots=True)
class Held:
    """The line of one row."""

    kept: Kept
    question: str | None
    history: Any
    uses: str | None
    """Short name of what else of the row its request depended on."""
    good: bool
    """True if it was a usable answer as it was read then."""
    again: bool
    """True if the call stopped over what this row met, so that it says nothing about the row."""

    def asks(self, row: Row, uses: Any = None) -> bool:
        """True if the row asks today what it asked then; `uses`: what its request depends on besides question and history."""
        history = None if row.gold.history is None else list(row.gold.history)
        return (self.question, self.history, self.uses) == (row.gold.question, plain(history), _name_of(uses))


class Journal:
    """One writer on one raw file. Knows where each row's line stands by a few bytes, never holds a response."""

    def __init__(self, path: Path) -> None:
        """Open or create the file, for its owner only; a torn last line is cut off.

        Raises RunFolderError for a file that cannot be used, naming the byte of a line that is none of ours.
        """
        self.path = path
        self.head: dict[str, Any] = {}
        """The head that counts, {} for a new file."""
        self._ids, self._offsets, self._again = Ids(), array("q"), array("b")
        self._appender = Appender(path)
        try:
            for offset, line in read_lines(path):
                self._take(offset, load_row(path, offset, line, _problem))
        except BaseException:
            self._appender.close()
            raise

    def __len__(self) -> int:
        """Rows that have a line."""
        return len(self._offsets) - self._offsets.count(_NOWHERE)

    def knows(self, name: str) -> bool:
        """True if a row of this id, or the one whose answer it takes, was asked."""
        numbers = (self._ids.find(one) for one in (name, f"{name}#0", name.removesuffix("#0")))
        return any(number is not None and self._offsets[number] != _NOWHERE for number in numbers)

    def find(self, name: str) -> Held | None:
        """Return what is held of a row by its id, None if it was never asked."""
        number = self._ids.find(name)
        if number is None or self._offsets[number] == _NOWHERE:
            return None
        line = self._appender.row_at(self._offsets[number])
        asked = line.get("question"), line.get("history"), line.get("uses")
        return Held(_kept_of(line), *asked, line.get("good") is True, bool(self._again[number]))

    def answer_to(self, row: Row) -> Held | None:
        """Return what is held of a row; the answer that was collected once is the first of several, and the other way round."""
        other = {None: f"{row.gold.id}#0", 0: row.gold.id}.get(row.repeat)
        held = self.find(row.id)
        return held if held is not None or other is None else self.find(other)

    def begin(self, head: Mapping[str, Any]) -> None:
        """Write a head. Where it asks otherwise than the head before it, the lines above it count no more."""
        stored = plain(dict(head))
        self._take(self._appender.append(stored), stored)

    def keep(self, row: Row, kept: Kept, *, uses: Any = None, good: bool = False, stopped: tuple[str, ...] = ()) -> None:
        """Write what came back for a row.

        `uses`: what its request depended on besides question and history. `good`: it is a usable answer. `stopped`: ids of the rows that
        met what the call stops over.

        Raises StoppedError when the disk does not take it.
        """
        line: dict[str, Any] = {"id": row.id, "question": row.gold.question}
        if row.gold.history is not None:
            line["history"] = row.gold.history
        if uses is not None:
            line["uses"] = _name_of(uses)
        line |= {"latency_s": kept.latency_s, "attempts": kept.attempts, "requests": kept.requests}
        line |= {"trouble": kept.trouble and asdict(kept.trouble), "good": good}
        line |= {"received": [{name: getattr(received, name) for name in _RECEIVED} for received in kept.received]}
        line |= {"stopped": list(stopped)} if stopped else {}
        self._take(self._write(line), line)

    def close(self) -> None:
        """Close the file."""
        self._appender.close()

    def _write(self, line: dict[str, Any]) -> int:
        try:
            return self._appender.append(line)
        except TypeError:  # what no file can hold; nothing was written
            return self._appender.append(plain(line))

    def _take(self, offset: int, line: dict[str, Any]) -> None:
        """Take note of a line that stands at an offset."""
        if "id" not in line:
            if self.head and self.head["collect"] != line["collect"]:
                self._offsets = array("q", [_NOWHERE]) * len(self._ids)
            self.head = line
            return
        self._set(line["id"], offset, again=False)
        for name in line.get("stopped") or ():
            if (number := self._ids.find(name)) is not None:
                self._again[number] = True

    def _set(self, name: str, offset: int, *, again: bool) -> None:
        number = self._ids.number(name)
        if number == len(self._offsets):
            self._offsets.append(offset)
            self._again.append(again)
        self._offsets[number], self._again[number] = offset, again


def _name_of(uses: Any) -> str | None:
    """A short name for values: they may be long, and stand in the gold set anyway."""
    return None if uses is None else hashlib.sha256(orjson.dumps(plain(uses), option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]


_STORED: dict[str, Callable[[Any], bool]] = {
    "received": lambda value: isinstance(value, list) and all(isinstance(r, dict) and isinstance(r.get("step"), str) for r in value),
    "latency_s": lambda value: value is None or isinstance(value, int | float),
    "attempts": lambda value: isinstance(value, int),
    "requests": lambda value: value is None or isinstance(value, int),
    "trouble": lambda value: value is None or (isinstance(value, dict) and all(isinstance(value.get(n), str) for n in ("word", "message"))),
    "stopped": lambda value: isinstance(value, list) and all(isinstance(name, str) for name in value),
}
"""What the fields of a row's line hold."""


def _problem(line: dict[str, Any]) -> str | None:
    """Say what is wrong with a stored line, None if nothing is."""
    if "id" not in line:
        return None if isinstance(line.get("collect"), dict) else say("collecting.no_head", screen_language())
    if not isinstance(line["id"], str):
        return say("store.field_wrong", screen_language(), field="id", found=repr(line["id"])[:60])
    wrong = next((name for name, right in _STORED.items() if name in line and not right(line[name])), None)
    return wrong and say("store.field_wrong", screen_language(), field=wrong, found=repr(line[wrong])[:60])


def _kept_of(line: Mapping[str, Any]) -> Kept:
    trouble = line.get("trouble")
    return Kept(
        line["id"],
        tuple(_received_of(received) for received in line.get("received") or ()),
        line.get("latency_s"),
        line.get("attempts") or 0,
        trouble and Trouble(trouble["word"], trouble["message"]),
        line.get("requests"),
    )


def _received_of(line: Mapping[str, Any]) -> Received:
    known = ("status", "method", "url", "chunk")
    return Received(line["step"], line.get("body"), **{name: line[name] for name in known if line.get(name) is not None})
