"""What the body of a chat completion gives away about the model and its server. No I/O."""

import re
from typing import Any

import orjson

_FIELDS = ("reasoning_content", "reasoning", "reasoning_details")
_TAGS = ("<think>", "</think>", "<thinking>", "<seed:think>")
_CUT = ("length", "max_tokens", "max_output_tokens", "model_length", "max_length")


def choice_of(data: dict[str, Any]) -> dict[str, Any]:
    """Return the first choice, {} if there is none."""
    choices = data.get("choices")
    return choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}


def message_of(data: dict[str, Any]) -> dict[str, Any]:
    """Return the message of the first choice, {} if there is none."""
    message = choice_of(data).get("message")
    return message if isinstance(message, dict) else {}


def content_of(data: dict[str, Any]) -> str:
    """Return the text of the first choice, "" if it is no text."""
    content = message_of(data).get("content")
    return content if isinstance(content, str) else ""


def thought(data: dict[str, Any]) -> str | None:
    """Return where a thought of the model shows: a field of the message, a tag in its text, or its count of tokens."""
    message = message_of(data)
    if field := next((name for name in _FIELDS if message.get(name)), None):
        return field
    if tag := next((tag for tag in _TAGS if tag in content_of(data)), None):
        return tag
    details = _dict(_dict(data.get("usage")).get("completion_tokens_details"))
    count = details.get("reasoning_tokens")
    return "reasoning_tokens" if isinstance(count, int) and count > 0 else None


def object_in(text: str) -> tuple[dict[str, Any] | None, bool]:
    """Return the JSON object a text holds, and whether it holds nothing else."""
    bare = re.sub(r"<think>.*?</think>", "", text, flags=re.DOTALL).strip()
    piece = bare[bare.find("{") : bare.rfind("}") + 1]
    try:
        found = orjson.loads(piece)
    except orjson.JSONDecodeError:
        return None, False
    return (found, piece == text.strip()) if isinstance(found, dict) else (None, False)


def has_logprobs(data: dict[str, Any]) -> bool:
    """True if log probabilities of tokens came back."""
    content = _dict(choice_of(data).get("logprobs")).get("content")
    first = content[0] if isinstance(content, list) and content else None
    return isinstance(first, dict) and isinstance(first.get("logprob"), int | float)


def was_cut(data: dict[str, Any]) -> bool:
    """True if the reply ended at its length limit."""
    return str(choice_of(data).get("finish_reason")).lower() in _CUT


def tokens_of(data: dict[str, Any]) -> int | None:
    """Return the tokens written, None if not told."""
    count = _dict(data.get("usage")).get("completion_tokens")
    return count if isinstance(count, int) else None


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
