"""Error messages that responses hold. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragstone.collect.expressions import search
from ragstone.collect.values import text_of
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.types import Language

MESSAGES = ("message", "msg", "detail", "error", "error_msg", "errorMessage", "last_error", "statusText", "reason")
"""Keys under which applications tell what went wrong, the likeliest first."""
_SHOWN = 300
_DEEPEST = 4


def shown(text: str, most: int = _SHOWN) -> str:
    """Return a text of a response as it stands in a message: on one line, cut."""
    text = " ".join(text[: most * 4].split())
    return text if len(text) <= most else text[: most - 1] + "…"


def message_in(value: Any, depth: int = 0) -> str | None:
    """Return the error message that a value holds: a text, or the message of an object of one of the usual shapes."""
    if isinstance(value, str):
        return shown(text_of(value) or "") or None
    if isinstance(value, list) and value and depth < _DEEPEST:
        return message_in(value[0], depth + 1)
    if isinstance(value, dict) and depth < _DEEPEST:
        return next((text for name in MESSAGES if (text := message_in(value.get(name), depth + 1))), None)
    return None


def told_error(path: str | None, body: Any, lang: Language) -> str | None:
    """Return the error message that stands at `path` of a response, or None; false, 0 and blanks are no errors."""
    value = search(path, body) if path is not None else None
    if not value or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, int | float):
        return message_in(body) or say("mapping.error_code", lang, code=str(value)[:_SHOWN])
    return message_in(value) or say("mapping.error_untold", lang)
