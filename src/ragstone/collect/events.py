"""The events of a stream: server-sent events, or one JSON value a line. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

DONE = "[DONE]"
DEEPEST = 200
"""Lists and objects within one another; JSON that goes deeper is left as its text, for no answer stands there and walking it fails."""
_FIELD = re.compile(r"\s*(?::|(?:data|event|id|retry)\s*:)")
_LINE_ENDS = re.compile(r"\r\n?")


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its name (the SSE field, else None) and its data, JSON where it is JSON, else its text."""

    name: str | None
    data: Any

    @property
    def kind(self) -> str:
        """What the event is called: by its name, else by what its data says under `event` or `type`."""
        said = self.data if isinstance(self.data, dict) else {}
        names = (self.name, said.get("event"), said.get("type"))
        return next((name for name in names if isinstance(name, str) and name), "")

    @property
    def torn(self) -> bool:
        """True if the data begins like JSON, but is none."""
        return isinstance(self.data, str) and self.data.lstrip()[:1] in ("{", "[") and not self.data.startswith(DONE)


def is_events(text: str) -> bool:
    """Return whether a text has the shape of server-sent events."""
    return _FIELD.match(text.removeprefix("\ufeff")) is not None


def is_lines(text: str) -> bool:
    """Return whether a text is several JSON objects, one a line; the last one may be cut."""
    lines = text.removeprefix("\ufeff").strip().split("\n", 2)
    return len(lines) > 1 and lines[0].startswith("{") and isinstance(json_value(lines[0]), dict) and lines[1].lstrip()[:1] in ("{", "")


def events_of(text: str) -> tuple[Event, ...]:
    """Return the events of a stream in their order; those without data (`ping`) and comments are left out."""
    text = _LINE_ENDS.sub("\n", text.removeprefix("\ufeff"))
    if is_events(text):
        return tuple(_sent(text))
    return tuple(Event(None, json_value(line)) for line in text.split("\n") if line.strip())


def _sent(text: str) -> Iterator[Event]:
    name, data = None, list[str]()
    for line in [*text.split("\n"), ""]:
        if not line.strip():
            if data:
                yield Event(name, json_value("\n".join(data)))
            name, data = None, []
            continue
        field, _, value = line.lstrip().partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
        elif field == "event":
            name = value.strip() or None


def json_value(text: str) -> Any:
    """Return the JSON value of a text, else the text. Halves of a character, which streams may cut in two, are let through."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        try:
            value = json.loads(text, parse_constant=lambda _: None)
        except (ValueError, RecursionError):
            return text
    return text if text.count("[") + text.count("{") > DEEPEST and _too_deep(value) else value


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for held in level if isinstance(held, list | dict) for inner in (held.values() if isinstance(held, dict) else held)]
    return bool(level)
