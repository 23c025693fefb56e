"""Values as a settings file writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml(value: Any) -> str:
    """Return a value on one line of TOML; JSON's texts, numbers and lists are TOML's, null is nothing there."""
    if isinstance(value, Mapping):
        inner = ", ".join(f"{key if _BARE.fullmatch(key) else toml(key)} = {toml(item)}" for key, item in value.items() if item is not None)
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml(item) for item in value if item is not None) + "]"
    if isinstance(value, str) and ("\\" in value or '"' in value) and "'" not in value and value.isprintable():
        return f"'{value}'"  # as it is: patterns stay readable
    return orjson.dumps(value).decode().replace("\x7f", "\\u007f")
