"""The grammar of slots in templates. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import orjson

from ragstone.errors import ConfigError
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.types import Language

PLAIN = ("question", "id", "row", "app", "history", "uuid")
"""Slots that stand alone; `row` may be followed by a column."""
DOTTED = ("row", "env", "response", "before", "chunk")
SLOT = re.compile(
    r"\$(?:(?P<dollar>\$)|\{(?P<braced>[^{}]*)\}"
    rf"|(?P<dotted>(?:{'|'.join(DOTTED)})(?![A-Za-z0-9_])(?:\.[\w-]*\w|\[\d+\])*)"
    r"|(?P<plain>[A-Za-z_][A-Za-z0-9_]*))"
)
"""`$name`, `$row.column`, `$response.data[0].id`, `${…}` where letters follow, `$$` for a dollar sign."""
_TEXT = r'"(?:[^"\\]|\\.)*"'
_BARE = re.compile(rf"(?P<text>{_TEXT})|(?P<slot>{SLOT.pattern})", re.DOTALL)


def slot_name(match: re.Match[str]) -> str | None:
    """Return the name of a matched slot, None for `$$`."""
    if match["dollar"]:
        return None
    return match["braced"].strip() if match["braced"] is not None else match["dotted"] or match["plain"]


def slots_in(template: Any) -> Iterator[str]:
    """Yield the name of every slot in the texts of a template."""
    if isinstance(template, str):
        yield from (name for match in SLOT.finditer(template) if (name := slot_name(match)) is not None)
    elif isinstance(template, Mapping):
        for value in template.values():
            yield from slots_in(value)
    elif isinstance(template, list | tuple):
        for value in template:
            yield from slots_in(value)


def body_template(body: Any, lang: Language) -> Any:
    """Return a body as JSON with slots; a body given as a text is JSON in which slots may stand without quotes.

    Raises:
        ConfigError: the text is no JSON.
    """
    if not isinstance(body, str) or SLOT.fullmatch(body):
        return body
    text = _BARE.sub(lambda match: match[0] if match["text"] else f'"{match[0]}"', body)
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise ConfigError(say("mapping.body_not_json", lang, reason=str(error), body=body[:200])) from None
