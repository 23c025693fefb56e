"""The raw file beside the samples: every trace as it was told, without secrets and without what names a person. It only grows.

The first line is the head, which says which traces were meant; a later head line takes its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

import ragstone
from ragstone.collect.values import plain
from ragstone.errors import ConfigError
from ragstone.langfuse.traces import Trace, moment_of, trace_of
from ragstone.store import Appender, read_rows
from ragstone.text import say, screen_language

if TYPE_CHECKING:
    from ragstone.langfuse.access import Host

STEP = "trace"
"""How a line names what was received."""


@dataclass(frozen=True, slots=True)
class _Place:
    moment: datetime
    id: str
    offset: int


class KeptTraces:
    """One writer on one raw file. Knows of each trace where its line stands and when it began, never holds one."""

    def __init__(self, path: Path, host: Host) -> None:
        """Open or create the file, for its owner only; a torn last line is cut off. Raises RunFolderError for one that cannot be used."""
        self.path, self._host = path, host
        self.head: dict[str, Any] = {}
        """The head that counts, {} for a new file."""
        self._places = dict[str, _Place]()
        self._appender = Appender(path)
        try:
            for offset, line in read_rows(path):
                self._take(offset, line)
        except BaseException:
            self._appender.close()
            raise

    def __len__(self) -> int:
        """Traces that are kept."""
        return len(self._places)

    def knows(self, trace_id: str) -> bool:
        """True if a trace is kept."""
        return trace_id in self._places

    def check(self, samples: Path, asked: Mapping[str, Any]) -> None:
        """Raise ConfigError if the file was begun for other traces than those asked for now; names what differs."""
        then = self.head.get("collect")
        if then is None or not self._places:
            return
        lang = screen_language()
        differing = [name for name, value in asked.items() if then.get(name) != value]
        if differing:
            lines = [
                say("monitored.differs", lang, path=samples, what=name, old=_shown(then.get(name)), new=_shown(asked[name]))
                for name in differing
            ]
            raise ConfigError("\n".join((*lines, say("monitored.differs_advice", lang))))

    def begin(self, asked: Mapping[str, Any], window: Mapping[str, str], **more: Any) -> None:
        """Write a head."""
        born = datetime.now(UTC).isoformat(timespec="seconds")
        self._add({"collect": {**asked}, "window": {**window}, "mapping": {}, "version": ragstone.__version__, "created_at": born, **more})

    def keep(self, trace_id: str, told: Mapping[str, Any]) -> None:
        """Write a trace. Raises StoppedError when the disk does not take it."""
        self._add({"id": trace_id, "received": [{"step": STEP, "body": told}]})

    def traces(self) -> Iterator[Trace]:
        """Yield every trace, the one that began first first."""
        for place in sorted(self._places.values(), key=lambda one: (one.moment, one.id)):
            yield _trace(self._appender.row_at(place.offset))

    def close(self) -> None:
        """Close the file."""
        self._appender.close()

    def _add(self, line: Mapping[str, Any]) -> None:
        try:
            text = orjson.dumps(line).decode()
        except TypeError:  # half a character, a number of a hundred digits: what no file can hold
            text = orjson.dumps(plain(dict(line))).decode()
        held = orjson.loads(self._masked(text))
        self._take(self._appender.append(held), held)

    def _masked(self, text: str) -> str:
        return self._host.public.scrub(self._host.key.scrub(text))

    def _take(self, offset: int, line: dict[str, Any]) -> None:
        if "id" not in line:
            self.head = line
        elif isinstance(line["id"], str):
            self._places[line["id"]] = _Place(moment_of(_trace(line).timestamp), line["id"], offset)


def _trace(line: Mapping[str, Any]) -> Trace:
    received = line.get("received")
    first = received[0] if isinstance(received, list) and received else {}
    body = first.get("body") if isinstance(first, Mapping) else None
    return trace_of(body if isinstance(body, Mapping) else {})


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else "–" if value in (None, []) else orjson.dumps(value).decode()
