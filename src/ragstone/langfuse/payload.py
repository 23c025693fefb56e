"""Values made fit to be sent: nothing null, nothing that JSON or a database cannot hold, and never too large."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import orjson

DEEPEST = 100
"""Levels of lists and objects; what lies deeper is sent as text."""
SHORTEST = 200
"""Characters to which texts are cut before whole entries are."""
_LARGEST = 2**53 - 1
_STRICT = orjson.OPT_STRICT_INTEGER | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS


def clean(value: Any, depth: int = 0) -> Any:
    """Return a value without None (as fields of objects), lone surrogates, NUL, NaN, infinities and integers that JSON readers round."""
    if isinstance(value, str):
        return text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, int):
        return value if abs(value) <= _LARGEST else str(value)
    if depth >= DEEPEST:
        return text(str(value))
    if isinstance(value, Mapping):
        return {text(str(name)): clean(one, depth + 1) for name, one in value.items() if one is not None}
    if isinstance(value, list | tuple):
        return [clean(one, depth + 1) for one in value]
    return text(str(value))


def text(value: str) -> str:
    """Return a text that UTF-8 and a database can hold: lone surrogates as `?`, NUL as U+FFFD."""
    whole = value if value.isascii() else value.encode("utf-8", "replace").decode()
    return whole.replace("\0", "�")


def dumped(value: Any, limit: int) -> tuple[str, bool]:
    """Return a value as a JSON string of at most `limit` bytes, and whether something had to be cut: long texts, then last entries."""
    if (raw := _as_it_is(value)) is not None and len(raw) <= limit:
        return raw.decode(), False
    fit, cut = fitted(value, limit)
    return orjson.dumps(fit).decode(), cut


def fitted(value: Any, limit: int) -> tuple[Any, bool]:
    """Return a clean value whose JSON takes at most `limit` bytes (of 1,000 or more), and whether something had to be cut."""
    if (raw := _as_it_is(value)) is not None and len(raw) <= limit:
        return value, False
    made = clean(value)
    if _size(made) <= limit:
        return made, False
    longest = limit
    while longest > SHORTEST:
        longest //= 2
        shorter = _shortened(made, longest)
        if _size(shorter) <= limit:
            return shorter, True
    return _first(_shortened(made, SHORTEST), limit), True


def shortened(value: str, longest: int) -> str:
    """Return a text of at most `longest` characters, with a mark where it was cut that says how long it was."""
    if len(value) <= longest:
        return value
    mark = f"… [{len(value)}]"
    return value[: max(longest - len(mark), 0)] + mark


def _as_it_is(value: Any) -> bytes | None:
    """Return the JSON of a value that needs no change, which most do; None if `clean` has to look at it."""
    try:
        raw = orjson.dumps(value, option=_STRICT)
    except TypeError:
        return None
    return None if b"null" in raw or b"\\u0000" in raw else raw


def _shortened(value: Any, longest: int) -> Any:
    if isinstance(value, str):
        return shortened(value, longest)
    if isinstance(value, dict):
        return {shortened(name, longest): _shortened(one, longest) for name, one in value.items()}
    return [_shortened(one, longest) for one in value] if isinstance(value, list) else value


def _first(value: Any, limit: int) -> Any:
    """Return as many entries of a list or object as fit, the rest told by a mark; anything else as text."""
    if not isinstance(value, list | dict):
        return shortened(str(value), SHORTEST)
    room, taken = limit - 100, 0
    kept: list[Any] = []
    for one in value.items() if isinstance(value, dict) else value:
        fit = (one[0], one[1]) if isinstance(value, dict) else one
        size = _size(list(fit) if isinstance(value, dict) else fit) + 1
        if taken + size > room:
            break
        taken += size
        kept.append(fit)
    mark = f"… [{len(value)}]"
    return {**dict(kept), "…": mark} if isinstance(value, dict) else [*kept, mark]


def _size(value: Any) -> int:
    return len(orjson.dumps(value))
