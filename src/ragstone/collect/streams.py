"""Streams put together: server-sent events and JSON lines become one object that the mapping of a whole response fits. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ragstone.collect.base import Trouble
from ragstone.collect.deltas import message_of
from ragstone.collect.ends import is_cut
from ragstone.collect.events import DONE, Event, events_of, is_events, is_lines
from ragstone.collect.pieces import error_in, text_in
from ragstone.collect.told import message_in, shown, told_error
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.collect.spec import Spec
    from ragstone.types import Language

_INNER = re.compile(r"(?:node|iteration|loop|parallel_branch)_|agent_(?:log|thought)$|flowNode|tts_message|ping$", re.IGNORECASE)
"""Events about a step on the way: kept under `events`, but no part of the whole response."""
_FAILED = re.compile(r"(?:.*[._])?(?:error|failed)$|abort$", re.IGNORECASE)
_PLAIN_PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_DEEPEST = 6


class Assembled(dict[str, Any]):
    """A stream as one object: the merged keys of its events, and `events`, the list of `{"event", "data"}`."""

    text: str | None = None
    """The answer joined of the pieces in the events, where the mapping's `answer` finds pieces."""
    trouble: Trouble | None = None
    """An error event, or an end that never came."""

    def with_keys(self, keys: dict[str, Any]) -> Assembled:
        """Return an object with other keys that is the same stream."""
        other = Assembled(keys)
        other.text, other.trouble = self.text, self.trouble
        return other


def is_stream(text: str, spec: Spec) -> bool:
    """Return whether a body that is no JSON value is a stream, by its shape."""
    return is_events(text) or is_lines(text) or (spec.stream == "jsonl" and text.lstrip("\ufeff \t\r\n").startswith("{"))


def events_in(body: Any) -> tuple[Event, ...] | None:
    """Return the events of a stream that was put together and then kept as an object, None of anything else."""
    events = body.get("events") if isinstance(body, dict) else None
    if not isinstance(events, list) or not events or not all(isinstance(e, dict) and e.keys() == {"event", "data"} for e in events):
        return None
    return tuple(Event(event["event"] if isinstance(event["event"], str) else None, event["data"]) for event in events)


def assemble(text: str, spec: Spec, lang: Language = "en") -> Assembled:
    """Return the object a stream comes to.

    Top-level keys of all events are merged (a later value wins, but null, true, false and empty ones do not take the place of
    more); data that is no object stands under its event's name; deltas of OpenAI's shape become `choices[0].message`. The joined
    text of the answer stands where the mapping's `answer` points, if that is a plain path, and under `text` of the object in any case.
    """
    return assembled(events_of(text), spec, lang)


def assembled(events: tuple[Event, ...], spec: Spec, lang: Language = "en") -> Assembled:
    """Return the object that events come to, as `assemble` does."""
    outer = [event for event in events if not _INNER.match(event.kind)]
    whole = Assembled(_merged(outer))
    if (message := message_of(event.data for event in outer)) is not None:
        whole["choices"] = [message]
    whole["events"] = [{"event": event.name, "data": event.data} for event in events]
    whole.text = text_in(outer, spec)
    if whole.text is not None and spec.answer and _PLAIN_PATH.fullmatch(spec.answer):
        _put(whole, spec.answer.split("."), whole.text)
    whole.trouble = _trouble(events, outer, spec, lang)
    return whole


def _merged(events: Iterable[Event]) -> dict[str, Any]:
    whole: dict[str, Any] = {}
    texts: dict[str, list[str]] = {}
    for event in events:
        if isinstance(event.data, dict):
            merge(whole, event.data)
            if event.kind.startswith("response.") and isinstance(event.data.get("response"), dict):
                merge(whole, event.data["response"])
        elif event.name and isinstance(event.data, str):
            texts.setdefault(event.name, []).extend([] if event.data == DONE else [event.data])
        elif event.name:
            merge(whole, {event.name: event.data})
    merge(whole, {name: "".join(pieces) for name, pieces in texts.items() if pieces and name not in whole})
    return whole


def merge(into: dict[str, Any], given: dict[str, Any], depth: int = 0) -> None:
    """Put the values of `given` into `into`; nothing of `given` is changed later."""
    for key, value in given.items():
        held = into.get(key)
        if value is None or (held and value in ("", [], {})) or (isinstance(held, dict) and isinstance(value, bool)):
            into.setdefault(key, value)
        elif isinstance(value, dict) and depth < _DEEPEST:
            fresh = held if isinstance(held, dict) else {}
            merge(fresh, value, depth + 1)
            into[key] = fresh
        else:
            into[key] = value


def _put(whole: dict[str, Any], path: list[str], text: str) -> None:
    for step in path[:-1]:
        inner = whole.setdefault(step, {})
        if not isinstance(inner, dict):
            return
        whole = inner
    whole[path[-1]] = text


def _trouble(events: tuple[Event, ...], outer: list[Event], spec: Spec, lang: Language) -> Trouble | None:
    if message := next(_errors(outer, spec, lang), None):
        return Trouble("platform_error", message)
    if (found := error_in(outer, spec)) and (found[1] or is_cut(events)):
        return Trouble("error_answer", shown(found[0]))
    if not events or is_cut(events):
        return Trouble("broken_stream", say("mapping.broken_stream" if events else "mapping.no_events", lang))
    return None


def _errors(events: list[Event], spec: Spec, lang: Language) -> Iterator[str]:
    for event in events:
        if _FAILED.match(event.kind):
            inner = event.data.get("response") if isinstance(event.data, dict) else None
            yield message_in(event.data) or message_in(inner) or say("mapping.error_untold", lang)
        elif isinstance(event.data, dict):
            if told := told_error(spec.error, event.data, lang):
                yield told
            elif not event.data.get("choices") and isinstance(event.data.get("error"), str | dict) and event.data["error"]:
                yield message_in(event.data["error"]) or say("mapping.error_untold", lang)
