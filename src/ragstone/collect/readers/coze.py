"""stub."""

from __future__ import annotations

from typing import Any


def read(body: Any) -> Any:
    """Return the body with `chunks`."""
    return body
