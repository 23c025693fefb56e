"""Replies written down in another notation than JSON itself: JSON inside a JSON string, or a dict as Python prints it."""

import json
import re

import orjson

LONGEST = 200_000
"""Characters of a Python dict that are read."""
_FENCED = re.compile(r"(?:```+\s*\w*\s*)?(.*?)\s*(?:```+)?", re.DOTALL)


def rewritten(raw: str) -> str | None:
    """Return the reply as JSON, None if it stands in neither notation."""
    found = _FENCED.fullmatch(raw.strip())
    text = found[1] if found else ""
    if text.startswith('"') and "{" in text:
        return _inside(text)
    return _printed(text) if text.startswith("{'") and len(text) <= LONGEST else None


def _inside(text: str) -> str | None:
    try:
        held = json.loads(text)
    except ValueError:
        return None
    return held if isinstance(held, str) else None


def _printed(text: str) -> str | None:
    import ast

    try:
        return orjson.dumps(ast.literal_eval(text)).decode()
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
