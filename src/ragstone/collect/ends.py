"""Whether a stream came to its end, as far as its shape tells. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ragstone.collect.events import DONE, Event

_DIFY_TEXT = ("message", "agent_message")
_FLAGS = ("is_end", "close", "done")
"""Keys of events that turn true at the end (MaxKB, AnythingLLM, Ollama)."""


def is_cut(events: Sequence[Event]) -> bool:
    """Return whether a stream broke off: its last event is torn, or the end that streams of its shape have is missing."""
    objects = [event.data for event in events if isinstance(event.data, dict)]
    last = events[-1]
    if last.torn and (objects or str(last.data).lstrip().startswith("{")):
        return True
    if objects and any(event.torn and event.data.lstrip().startswith("{") for event in events):
        return True
    if any(event.data == DONE for event in events):
        return False
    return any(has_shape(events, objects) and not ended(events, objects) for has_shape, ended in _SHAPES)


Test = Callable[[Sequence[Event], list[dict[str, Any]]], bool]


def _any_kind(*kinds: str) -> Test:
    return lambda events, _: any(event.kind in kinds for event in events)


def _has_deltas(_: Sequence[Event], objects: list[dict[str, Any]]) -> bool:
    return any("delta" in choice for choice in _choices(objects))


def _finished(events: Sequence[Event], objects: list[dict[str, Any]]) -> bool:
    """Where events have names, more than the answer is sent, and only `[DONE]` ends it."""
    return any(choice.get("finish_reason") for choice in _choices(objects)) and not any(event.name for event in events)


def _choices(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    lists = [choices for data in objects if isinstance(choices := data.get("choices"), list)]
    return [choice for choices in lists for choice in choices if isinstance(choice, dict)]


def _is_ragflow(_: Sequence[Event], objects: list[dict[str, Any]]) -> bool:
    return any("code" in data and isinstance(inner := data.get("data"), dict) and "answer" in inner for data in objects)


def _ragflow_ended(_: Sequence[Event], objects: list[dict[str, Any]]) -> bool:
    return any(inner is True or (isinstance(inner, dict) and inner.get("final") is True) for data in objects if (inner := data.get("data")))


def _has_flag(_: Sequence[Event], objects: list[dict[str, Any]]) -> bool:
    return any(isinstance(data.get(flag), bool) for data in objects for flag in _FLAGS)


def _flag_up(_: Sequence[Event], objects: list[dict[str, Any]]) -> bool:
    return any(data.get(flag) is True for data in objects for flag in _FLAGS)


def _is_responses(events: Sequence[Event], _: list[dict[str, Any]]) -> bool:
    return any(event.kind.startswith("response.") for event in events)


def _is_coze(events: Sequence[Event], _: list[dict[str, Any]]) -> bool:
    return any(event.kind.startswith("conversation.") for event in events)


def _is_workflow(events: Sequence[Event], objects: list[dict[str, Any]]) -> bool:
    return any(event.kind == "workflow_started" for event in events) and not _is_dify_chat(events, objects)


def _is_dify_chat(_: Sequence[Event], objects: list[dict[str, Any]]) -> bool:
    return any(data.get("event") in _DIFY_TEXT and "answer" in data for data in objects)


_SHAPES: tuple[tuple[Test, Test], ...] = (
    (_has_deltas, _finished),
    (_is_ragflow, _ragflow_ended),
    (_has_flag, _flag_up),
    (_is_responses, _any_kind("response.completed", "response.incomplete")),
    (_is_coze, _any_kind("done", "conversation.chat.completed", "conversation.chat.requires_action")),
    (_is_workflow, _any_kind("workflow_finished", "workflow_paused")),
    (_is_dify_chat, _any_kind("message_end")),
)
"""How streams of a shape are known, and how they end. A stream of none of these shapes cannot be told to be cut."""
