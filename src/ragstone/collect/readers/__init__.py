"""Readers of responses whose shape no expression can follow: one small module a platform, each with `read(body) -> body`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

NAMES = ("coze", "fastgpt", "openwebui")


def read(name: str, body: Any) -> Any:
    """Return a response in the shape its mapping expects: the body with `chunks` (and, where needed, `answer`) added.

    `chunks` is null where the application does not tell what it retrieved. What the reader does not know comes back as it is.
    """
    return import_module(f"ragstone.collect.readers.{name}").read(body)
