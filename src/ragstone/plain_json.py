"""JSON of whatever a run may hold: what strict JSON has no word for is written as the nearest thing that it has."""

from __future__ import annotations

import json
import math
from typing import Any

import orjson

_DEEPEST = 200
_USUAL = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY


def dumped(value: Any, sort: bool = False) -> bytes:
    """Return a value as one line of JSON in UTF-8.

    NaN and infinity become null, a lone surrogate a question mark, an object JSON does not know its text, and what lies
    more than 200 levels deep null.
    """
    try:
        return orjson.dumps(value, str, _USUAL | (orjson.OPT_SORT_KEYS if sort else 0))
    except TypeError:  # lone surrogates, numbers beyond 64 bits, great depth
        plain = json.dumps(_plain(value, _DEEPEST), ensure_ascii=False, separators=(",", ":"), sort_keys=sort, allow_nan=False)
        return plain.encode("utf-8", "replace")


def _plain(value: Any, left: int) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(held, left - 1) for key, held in value.items()} if left else None
    if isinstance(value, list | tuple):
        return [_plain(held, left - 1) for held in value] if left else None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)
