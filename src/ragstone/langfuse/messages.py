"""Messages of a chat in the forms in which applications put them on their traces: who said what. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

USERS, BOTS = ("user", "human"), ("assistant", "ai", "model", "bot")
CONTENTS = ("content", "_content", "parts", "text", "contents")
"""Where a message holds what was said: as a text, or as blocks (`_content` is Haystack's, `parts` that of Gemini and of OpenTelemetry)."""
SAID = ("text", "input_text", "output_text")
"""Types of blocks that are said to the other one; thoughts, tool calls and images are not."""
OTHERS = ("system", "developer", "tool", "function")
ROLES = ("role", "messageType", "message_type", "type")
"""Where a message tells who has said it."""
_CLASSES = {"humanmessage": "user", "humanmessagechunk": "user", "aimessage": "assistant", "aimessagechunk": "assistant"}
"""Classes of LangChain whose objects are messages of a user or an assistant."""


def turns_in(messages: Any) -> Iterator[dict[str, str]]:
    """Yield the messages of user and assistant that say something as {"role", "content"}."""
    for one in messages if isinstance(messages, list) else ():
        if isinstance(one, list) and len(one) == 2 and all(isinstance(half, str) for half in one):  # LangChain's short form
            one = {"role": one[0], "content": one[1]}
        if isinstance(one, list):  # LangChain puts the messages of each prompt into a list of their own
            yield from turns_in(one)
            continue
        role = role_of(one)
        text = content_of(one) if role in ("user", "assistant") else None
        if role and text and text.strip():
            yield {"role": role, "content": text}


def pairs_in(history: list[Any]) -> Iterator[dict[str, str]]:
    """Yield the turns of a history that is written as pairs of a question and its answer."""
    for one in history:
        if isinstance(one, list) and len(one) == 2 and all(isinstance(half, str) and half.strip() for half in one):
            yield from ({"role": role, "content": half} for role, half in zip(("user", "assistant"), one, strict=True))


def role_of(message: Any) -> str | None:
    """Return "user", "assistant", or the role of somebody else as it is told; None if it is no message with a role.

    Messages of LangChain name their `type` in place of a role, serialised ones their class.
    """
    if not isinstance(message, Mapping):
        return None
    if (name := _class(message)) is not None:
        return _CLASSES.get(name, name)
    role = next((told.casefold() for name in ROLES if isinstance(told := message.get(name), str) and told), "")
    return "user" if role in USERS else "assistant" if role in BOTS else _CLASSES.get(role, role) or None


def of_another(message: Mapping[Any, Any], roles: Sequence[str]) -> bool:
    """True for a message that somebody else has said than one of the roles."""
    if (name := _class(message)) is not None and name.endswith(("message", "messagechunk")):
        return _CLASSES.get(name) not in roles
    return role_of(message) in OTHERS or (isinstance(role := message.get("role"), str) and role.casefold() not in roles)


def content_of(message: Mapping[Any, Any]) -> str | None:
    """Return what a message says; None if it says nothing (a tool call)."""
    places = [message, *(inner for name in ("kwargs", "data") if isinstance(inner := message.get(name), Mapping))]
    for held in (place.get(name) for place in places for name in CONTENTS):
        text = held if isinstance(held, str) else blocks_in(held, typed=False)
        if text is not None:
            return text
    return None


def blocks_in(content: Any, *, typed: bool = True) -> str | None:
    """Return the texts of a list of blocks, joined; None if it is no such list. `typed`: lists of blocks without a type are none."""
    if not isinstance(content, list) or not content or not all(isinstance(one, Mapping) for one in content):
        return None
    if typed and not all(isinstance(one.get("type"), str) for one in content):
        return None
    said = [text for one in content if str(one.get("type", "text")).casefold() in SAID and (text := _text(one)) is not None]
    return "".join(said) if said else None


def stream_in(given: Any) -> str | None:
    """Return what the pieces of a streamed reply say together; None if these are none."""
    if not isinstance(given, list) or not given:
        return None
    pieces = [_piece(one) for one in given]
    return "".join(piece for piece in pieces if piece is not None) if all(piece is not None for piece in pieces) else None


def _piece(one: Any) -> str | None:
    """What a piece adds, "" for one without text; None if it is no piece."""
    if not isinstance(one, Mapping):
        return None
    if "AIMessageChunk" in (one.get("type"), *(one["id"] if isinstance(one.get("id"), list) else ())):
        return content_of(one) or ""
    choices = one.get("choices")
    if not isinstance(choices, list):
        return None
    if not choices:  # the last one tells the tokens
        return ""
    delta = choices[0].get("delta") if isinstance(choices[0], Mapping) else None
    return (content_of(delta) or "") if isinstance(delta, Mapping) else None


def _class(message: Mapping[Any, Any]) -> str | None:
    """The class of an object that LangChain has serialised, in small letters."""
    path = message.get("id")
    held = isinstance(path, list) and path and isinstance(message.get("kwargs"), Mapping)
    return str(path[-1]).casefold() if held and isinstance(path, list) else None


def _text(block: Mapping[Any, Any]) -> str | None:
    return next((text for name in ("text", "content") if isinstance(text := block.get(name), str)), None)
