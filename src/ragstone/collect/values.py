"""What stands at the places of a response, brought to texts, numbers and ids. Nothing in a response is trusted. Pure."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import orjson

_PART_TEXTS = ("text", "content", "value", "output_text")
_THINKING = ("think", "thinking", "seed:think")
_DETAILS = "<details"
_THOUGHT = re.compile(
    r"""<details\b[^>]*\btype="reasoning"[^>]*>.*?(?:</details>|\Z)|<details\b[^>]*>\s*<summary>\s*Thinking\.\.\.\s*</summary>.*?(?:</details>|\Z)""",
    re.DOTALL,
)
"""Thinking as Dify and Open WebUI show it."""
_DEEPEST = 20


def clean(text: str) -> str:
    """Return a text that any file can hold: halves of characters that belong together joined, lone ones and NULs replaced."""
    if text.isascii():
        return text.replace("\0", "")
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\0", "")


def text_of(value: Any, depth: int = 0) -> str | None:
    """Return a value as a text: texts, numbers, lists of texts or of parts (`{"type": "text", "text": …}`); None for all else."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value) if isinstance(value, int) or math.isfinite(value) else None
    if isinstance(value, list) and value and depth < _DEEPEST:
        texts = [_part_text(part, depth + 1) for part in value]
        return "".join(text for text in texts if text is not None) if any(text is not None for text in texts) else None
    return None


def _part_text(part: Any, depth: int) -> str | None:
    """The text of one part of a message; thinking, tool calls and forms have none."""
    if not isinstance(part, dict):
        return text_of(part, depth)
    if part.get("type") in ("reasoning", "thinking", "tool", "tool_use", "interactive"):
        return None
    for name in _PART_TEXTS:
        inner = part.get(name)
        inner = inner.get("content", inner.get("value")) if isinstance(inner, dict) else inner
        if isinstance(inner, str):
            return clean(inner)
    return None


def without_thinking(text: str) -> str:
    """Return an answer without what the model thought aloud in `<think>…</think>`, also where the opening or the closing tag is missing."""
    if _DETAILS in text:
        text = _THOUGHT.sub("", text).lstrip()
    if "think" not in text:
        return text
    for tag in _THINKING:
        text = _without(text, f"<{tag}>", f"</{tag}>")
    return text.lstrip()


def _without(text: str, opening: str, closing: str) -> str:
    kept: list[str] = []
    *thoughts, rest = text.split(closing)
    for piece in thoughts:
        before, opened, _ = piece.partition(opening)
        if opened:
            kept.append(before)
        else:
            kept.clear()  # all before a lone closing tag is thinking
    if rest.lstrip().startswith(opening):
        rest = ""
    return "".join([*kept, rest])


def number_of(value: Any) -> float | None:
    """Return a score: a number, a numeric text, or the first value of a list of `{"type", "value"}`."""
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, dict):
        value = value.get("value")
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def label_of(value: Any) -> str | None:
    """Return an id or a source as a text; None for blanks and for what is neither text nor number."""
    text = text_of(value) if isinstance(value, str | int | float) else None
    return text if text and text.strip() else None


def plain(value: Any) -> Any:
    """Return a value as JSON gives it back; what JSON cannot hold (a Python function may return it) is kept as its text."""
    try:
        return orjson.loads(orjson.dumps(value))
    except (TypeError, ValueError):
        text = json.dumps(value, ensure_ascii=False, default=str, skipkeys=True)
        return orjson.loads(_finite(text).encode("utf-8", "replace"))


def _finite(text: str) -> str:
    return json.dumps(json.loads(text, parse_constant=lambda _: None), ensure_ascii=False)
