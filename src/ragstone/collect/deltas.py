"""Deltas of OpenAI's chat streams put together into the choice a whole response would hold. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ragstone.collect.values import text_of

_JOINED = ("reasoning_content", "reasoning")


def message_of(chunks: Iterable[Any]) -> dict[str, Any] | None:
    """Return `choices[0]` of the whole response, or None if no chunk has deltas.

    Texts under `content` are joined, `final_content` takes the place of all before it; of other keys the last filled one is kept.
    """
    pieces: list[str] = []
    message: dict[str, Any] = {"role": "assistant", "content": None}
    finish, seen = None, False
    for choice in _first_choices(chunks):
        finish = choice.get("finish_reason") or finish
        delta, whole = choice.get("delta"), choice.get("message")
        if isinstance(delta, dict):
            text, final = _text(delta.get("content")), delta.get("final_content")
            pieces = [final] if isinstance(final, str) and final else pieces if text is None else _added(pieces, text)
            _keep(message, delta)
        elif isinstance(whole, dict) and isinstance(whole.get("content"), str):
            pieces = [whole["content"]]
        seen = seen or isinstance(delta, dict) or bool(pieces)
    if pieces:
        message["content"] = "".join(pieces)
    return {"index": 0, "message": message, "finish_reason": finish} if seen else None


def _added(pieces: list[str], text: str) -> list[str]:
    pieces.append(text)
    return pieces


def _first_choices(chunks: Iterable[Any]) -> Iterable[dict[str, Any]]:
    for chunk in chunks:
        choices = chunk.get("choices") if isinstance(chunk, dict) else None
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and choice.get("index") in (0, None):
                yield choice


def _text(content: Any) -> str | None:
    """A text as it is, for a character may be cut between two deltas; of a list of parts their text."""
    return content if isinstance(content, str) else text_of(content)


def _keep(message: dict[str, Any], delta: dict[str, Any]) -> None:
    for key, value in delta.items():
        held = message.get(key)
        if key in ("content", "final_content") or value is None or (held and value in ("", [], {})):
            continue
        joined = key in _JOINED and isinstance(held, str) and isinstance(value, str)
        message[key] = held + value if joined else value
