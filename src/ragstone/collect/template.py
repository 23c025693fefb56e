"""Templates of requests: slots such as `$question` filled with the values of a row. Values are data and are never scanned again. Pure."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Mapping
from copy import copy
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import orjson

from ragstone.collect.expressions import search
from ragstone.collect.slots import SLOT, body_template, slot_name

if TYPE_CHECKING:
    from ragstone.collect.base import Row

CHUNK_ID = "id || chunk_id || segment_id || node_id || metadata.id || metadata.chunk_id || metadata.segment_id"
"""Where a chunk's id stands if the mapping does not say."""
_PRINTABLE = "".join(map(chr, range(0x20, 0x7F)))
_HEADER_SAFE = _PRINTABLE.replace("%", "")


class Values:
    """What the slots of one request stand for."""

    def __init__(
        self,
        row: Row,
        *,
        app: str | None,
        environ: Mapping[str, str],
        response: Any = None,
        before: Any = None,
        chunk: Any = None,
        chunk_id: str | None = None,
    ) -> None:
        self._row, self._environ = row, environ
        self._bodies = {"response": response, "before": before, "chunk": chunk}
        own = chunk_id if chunk_id is not None else None if chunk is None else search(CHUNK_ID, chunk)
        self._plain: dict[str, Any] = {
            "question": row.gold.question,
            "id": row.id if chunk is None and chunk_id is None else own,
            "row": row.id,
            "app": app,
            "history": None if row.gold.history is None else list(row.gold.history),
        }

    def without_secrets(self) -> Values:
        """Return the same values with none from the environment."""
        bare = copy(self)
        bare._environ = {}
        return bare

    def lookup(self, name: str) -> Any:
        """Return the value of a slot, named without its dollar sign; None where the row or the response has none."""
        if name == "uuid":
            return str(uuid.uuid4())
        if name in self._plain:
            return self._plain[name]
        root, _, rest = name.partition(".")
        if root == "env":
            return self._environ.get(rest)
        if root == "row":
            return self._column(rest)
        root = re.split(r"[.\[]", name, maxsplit=1)[0]
        if root not in self._bodies:
            return None
        rest = name[len(root) :].removeprefix(".")
        return search(rest or "@", self._bodies[root])

    def _column(self, name: str) -> Any:
        columns = {**self._row.gold.to_dict(), "id": self._row.id}
        for held in (columns, self._row.gold.meta):
            if name in held:
                return _plain(held[name])
        value: Any = {**self._row.gold.meta, **columns}
        for step in name.split("."):
            value = value.get(step) if isinstance(value, dict) else None
        return _plain(value)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def filled(template: Any, values: Values) -> Any:
    """Return the JSON value of a body: a text that is one slot takes the value with its type, a slot within a text its text.

    Raises:
        ConfigError: the body is a text that is no JSON.
    """
    return _filled(body_template(template, "en"), values)


def _filled(template: Any, values: Values) -> Any:
    if isinstance(template, str):
        whole = SLOT.fullmatch(template)
        name = slot_name(whole) if whole else None
        return values.lookup(name) if name is not None else _text(template, values, _in_text)
    if isinstance(template, Mapping):
        return {key: _filled(value, values) for key, value in template.items()}
    if isinstance(template, list | tuple):
        return [_filled(value, values) for value in template]
    return template


def filled_path(path: str, values: Values) -> str:
    """Return a path with every value URL-encoded, also in the query; secrets are left out."""
    return _text(path, values, _in_path)


def filled_query(template: Any, values: Values) -> str:
    """Return the query of a request without a body: the top-level keys of what would be one, those without a value left out.

    Texts stand as they are, lists and objects as JSON, all URL-encoded; secrets are left out.
    """
    body = filled(template, values.without_secrets())
    pairs = body.items() if isinstance(body, Mapping) else ()
    return "&".join(f"{_quoted(str(name))}={_quoted(as_text(value))}" for name, value in pairs if value is not None)


def filled_headers(headers: Mapping[str, str], values: Values) -> dict[str, str]:
    """Return headers; of values everything but printable ASCII is percent-encoded, so that no line break gets through.

    So is `%` itself, so that they can be read back, but not in what comes from the environment: a cookie is sent as it was given.
    """
    return {name: _text(value, values, _in_header) for name, value in headers.items()}


def _in_text(_: str, value: Any) -> str:
    return as_text(value)


def _in_path(name: str, value: Any) -> str:
    return "" if _is_secret(name) else _quoted(as_text(value))


def _quoted(text: str) -> str:
    return quote(text.encode("utf-8", "replace"), safe="")


def _in_header(name: str, value: Any) -> str:
    return quote(as_text(value).encode("utf-8", "replace"), safe=_PRINTABLE if _is_secret(name) else _HEADER_SAFE)


def _is_secret(name: str) -> bool:
    return name.startswith("env.")


def _text(template: str, values: Values, spelt: Callable[[str, Any], str]) -> str:
    def value_of(match: re.Match[str]) -> str:
        name = slot_name(match)
        if name is None:
            return "$"
        return spelt(name, values.lookup(name))

    return SLOT.sub(value_of, template)


def as_text(value: Any) -> str:
    """Return a value as it stands inside a text: nothing for null, JSON for lists, objects, numbers and truth values."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    try:
        return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    except (TypeError, ValueError, RecursionError):  # numbers over 64 bits, lone surrogates, deep nesting
        return str(value)
