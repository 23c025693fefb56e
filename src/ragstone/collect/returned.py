"""What a Python function or object returned, as JSON: for the raw file, so that it can be read anew. Libraries are known by their shape."""

from __future__ import annotations

import dataclasses
import math
import numbers
from collections.abc import Iterable, Mapping
from datetime import date, time
from decimal import Decimal
from pathlib import PurePath
from typing import Any
from uuid import UUID

from ragstone.collect.result import ANSWER, CONTEXTS, COUNTED
from ragstone.types import Context, Record, Sample

_DEPTH = 60
_WIDEST = 2**63
_LOOSE = ("metadata", "extra_info", "usage", "usage_metadata")
"""Where what JSON cannot hold is left out instead of making the row useless."""
_ATTRIBUTES = (*sorted(COUNTED), "text", "id", "score", "source", "metadata")
"""What is taken of an object that is of no known shape."""


class Unheld(Exception):
    """JSON cannot hold a value: `place` is where it stands, `kind` its type."""

    def __init__(self, place: str, value: object) -> None:
        super().__init__(place)
        self.place, self.kind = place, kind_of(value)


def kind_of(value: object) -> str:
    """Return the name of a value's type, with its module where that is no part of Python."""
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def as_json(returned: object, left_out: set[str]) -> Any:
    """Return the JSON value of what an application returned: None, a text, or an object of results.

    A list of retrieved chunks becomes an object as well. What JSON cannot hold is named in `left_out` where it does not count.

    Raises:
        Unheld: it is of a type that holds no result, or holds a value that counts and that JSON cannot hold.
    """
    if returned is None or isinstance(returned, str):
        return None if returned is None else _whole(returned)
    if isinstance(returned, list | tuple):
        if not all(_is_chunk(item) for item in returned):
            raise Unheld("", returned)
        return {"contexts": _value(returned, "contexts", left_out, 0)}
    if isinstance(returned, Sample):
        return sample_result(returned)
    fields = _fields(returned)
    if fields is None:
        raise Unheld("", returned)
    return _result(fields, left_out)


def sample_result(sample: Sample) -> dict[str, Any]:
    """Return what of a sample is a result."""
    held = {name: value for name, value in sample.to_dict().items() if name in COUNTED}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in held.items()}


def _result(fields: Mapping[Any, Any], left_out: set[str]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in fields.items():
        name = _whole(str(key))
        if name.casefold() in COUNTED:
            result[name] = _value(value, name, left_out, 0)
        else:
            result |= _loosely(name, value, name, left_out, 0)
    return result


def _loosely(name: str, value: object, place: str, left_out: set[str], depth: int) -> dict[str, Any]:
    try:
        return {name: _value(value, place, left_out, depth)}
    except Unheld as error:
        left_out.add(f"{error.place} ({error.kind})")
        return {}


def _value(value: Any, place: str, left_out: set[str], depth: int) -> Any:
    if depth > _DEPTH:
        raise Unheld(place, value)
    if value is None or isinstance(value, bool | str):
        return _whole(value) if isinstance(value, str) else value
    if isinstance(value, numbers.Real | Decimal):
        return _number(value)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, UUID | PurePath):
        return str(value)
    if hasattr(value, "dtype") and hasattr(value, "tolist"):  # numpy, torch
        return _value(value.tolist(), place, left_out, depth + 1)
    if isinstance(value, list | tuple):
        return [_value(item, f"{place}[{at}]", left_out, depth + 1) for at, item in enumerate(value)]
    fields = _fields(value)
    if fields is None:
        raise Unheld(place, value)
    return _object(fields, place, left_out, depth)


def _object(fields: Mapping[Any, Any], place: str, left_out: set[str], depth: int) -> dict[str, Any]:
    held: dict[str, Any] = {}
    for key, value in fields.items():
        name, within = _whole(str(key)), f"{place}.{key}"
        if name in _LOOSE and (inner := _fields(value)) is not None:
            held[name] = {
                k: v
                for key, item in inner.items()
                for k, v in _loosely(_whole(str(key)), item, f"{within}.{key}", left_out, depth + 1).items()
            }
        else:
            held[name] = _value(value, within, left_out, depth + 1)
    return held


def _number(value: numbers.Real | Decimal) -> float | int | str | None:
    if isinstance(value, numbers.Integral):
        return int(value) if abs(int(value)) < _WIDEST else str(int(value))
    number = float(value)
    return number if math.isfinite(number) else None


def _whole(text: str) -> str:
    """A text that a file can hold: lone surrogates become U+FFFD."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


# ------------------------------------------------------------------ objects, by their shape
def _fields(value: Any) -> Mapping[Any, Any] | None:
    """Return what counts of an object, None if it has no known shape."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, type):
        return None
    for shape in (_document, _scored_node, _node, _response, _message):
        if (found := shape(value)) is not None:
            return found
    return _plain(value) if (found := _record(value)) is None else found


def _document(value: Any) -> dict[str, Any] | None:
    """A LangChain Document."""
    return _picked(value, ("page_content",), ("id", "metadata"))


def _scored_node(value: Any) -> dict[str, Any] | None:
    """A LlamaIndex NodeWithScore: the node's own fields and the score."""
    if not hasattr(value, "node") or not hasattr(value, "score"):
        return None
    node = _node(value.node)
    return None if node is None else {**node, "score": value.score}


def _node(value: Any) -> dict[str, Any] | None:
    """A LlamaIndex node."""
    if not hasattr(value, "get_content") and not (hasattr(value, "node_id") and hasattr(value, "text")):
        return None
    text = value.get_content() if callable(getattr(value, "get_content", None)) else value.text
    return {"text": text, "id": getattr(value, "node_id", None), "metadata": getattr(value, "metadata", None) or {}}


def _response(value: Any) -> dict[str, Any] | None:
    """A LlamaIndex Response, also of a chat engine or one that streams; its text is what `str` makes of it if it has no field for it."""
    if (found := _picked(value, ("response", "source_nodes"), ())) is not None or not hasattr(value, "source_nodes"):
        return found
    silent = hasattr(type(value), "model_fields") or all("__str__" not in vars(kind) for kind in type(value).__mro__[:-1])
    if silent or any(hasattr(value, name) for name in ANSWER):
        return None
    return {"response": str(value), "source_nodes": value.source_nodes}


def _message(value: Any) -> dict[str, Any] | None:
    """A LangChain message, whole or a piece of one."""
    if not isinstance(getattr(value, "content", None), str | list) or not hasattr(value, "additional_kwargs"):
        return None
    return _picked(value, ("content",), ("type", "usage_metadata"))


def _picked(value: Any, needed: Iterable[str], also: Iterable[str]) -> dict[str, Any] | None:
    if not all(hasattr(value, name) for name in needed):
        return None
    return {name: getattr(value, name) for name in (*needed, *also) if hasattr(value, name)}


def _record(value: Any) -> dict[str, Any] | None:
    """A data class, a named tuple, a pydantic model: its fields."""
    if isinstance(value, Sample | Context | Record):
        return value.model_dump(exclude_none=True)
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(names := getattr(type(value), "model_fields", None), Mapping):
        return {name: getattr(value, name) for name in names}
    return None


def _plain(value: Any) -> dict[str, Any] | None:
    """Any other object: its attributes that are named as what is read; None if neither a result nor a text is among them."""
    held = {name: found for name in _ATTRIBUTES if not callable(found := getattr(value, name, None)) and found is not None}
    return held if held.keys() & {"text", *ANSWER, *CONTEXTS} else None


def _is_chunk(item: object) -> bool:
    if isinstance(item, tuple | list):  # a document and its score
        return len(item) == 2 and _is_chunk(item[0]) and isinstance(item[1], numbers.Real)
    return not isinstance(item, str) and _fields(item) is not None
