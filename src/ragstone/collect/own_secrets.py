"""Secrets of this process that a Python function may tell: in an exception, in what it returns. Pure but for the environment given."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ragstone.transport.key import Key

_NAME = re.compile(r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD)$", re.IGNORECASE)
"""Names of variables that hold a secret."""
_VALUE = re.compile(r"(?!/)(?=[^\d]*\d)\S{12,}")
"""Values that may be one: no path, no word."""


def own_keys(environ: Mapping[str, str]) -> tuple[Key, ...]:
    """Return the values of variables that by name and look hold a secret."""
    found = ((name, value.strip()) for name, value in environ.items() if _NAME.search(name))
    return tuple(Key(value, name) for name, value in found if _VALUE.fullmatch(value))


def masked(value: Any, keys: Iterable[Key]) -> Any:
    """Return a JSON value in which no text holds one of the keys."""
    match value:
        case str():
            for key in keys:
                value = key.scrub(value)
            return value
        case dict():
            return {masked(name, keys): masked(inner, keys) for name, inner in value.items()}
        case list():
            return [masked(inner, keys) for inner in value]
        case _:
            return value
