"""Reads the body of a chat completion: its text, why it ended, what it cost. What the text says is read elsewhere."""

from dataclasses import dataclass
from typing import Any

_CUT = frozenset(
    {"length", "max_tokens", "max_output_tokens", "max_completion_tokens", "model_length", "max_length", "token_limit"}
    | {"model_context_window_exceeded", "context_length_exceeded"}
)
_BLOCKED = frozenset(
    {"content_filter", "content_filtered", "sensitive", "safety", "prohibited_content", "recitation", "blocklist", "spii", "refusal"}
    | {"guardrail_intervened", "moderation", "content_moderation"}
)
_BROKEN = frozenset({"network_error", "insufficient_system_resource", "error", "abort", "aborted", "internal_error", "timeout"})
_THOUGHT = frozenset({"reasoning", "thinking", "redacted_thinking"})
_PROMPT, _COMPLETION = ("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens")
_UNTOLD = {"prompt_tokens": None, "completion_tokens": None, "cached_tokens": None}
_CACHED = ("prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens")
_THOUGHTS = ("reasoning_content", "reasoning", "thinking", "reasoning_details")
"""Where a message keeps what the model thought; the first that holds something is taken, the same may stand in several."""
_SAID = ("text", "thinking", "summary", "reasoning", "content", "reasoning_content")

LONGEST = 400
"""Characters of an endpoint's words about an ending that are kept."""
MOST_PARTS = 1000
"""Parts of a thought that are kept."""


@dataclass(frozen=True, slots=True)
class Completion:
    """A chat completion. `text` is None when `word` says why there is none to read."""

    text: str | None = None
    word: str | None = None
    """truncated, blocked, empty_reply, server_error (the model broke off) or bad_reply (no chat completion)."""
    usage: dict[str, Any] | None = None
    reasoning: str | None = None
    """What the model thought, where the endpoint keeps that apart from the reply."""
    ending: str | None = None
    """What the endpoint said of the ending, where the reply cannot be used: the finish word, or the words of a refusal."""


def read_completion(data: dict[str, Any]) -> Completion:
    """Read the first choice. A reply cut by length is `truncated` whatever it holds; reasoning is never taken as the reply."""
    usage = read_usage(data.get("usage"))
    choices = data.get("choices")
    if not isinstance(choices, list):
        return Completion(word="empty_reply" if "choices" in data else "bad_reply", usage=usage)
    choice = choices[0] if choices and isinstance(choices[0], dict) else {}
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    text = _text(message.get("content"))
    word = _ending(choice.get("finish_reason"), message, text)
    ending = _said_of(choice.get("finish_reason"), message) if word in ("blocked", "server_error") else None
    return Completion(None if word else text, word, usage, _thoughts(message) or None, ending)


def _said_of(finish: Any, message: dict[str, Any]) -> str | None:
    refusal = message.get("refusal")
    if refusal and isinstance(refusal, str):
        return _text(refusal)[:LONGEST]
    return f"finish_reason {_text(finish)[:LONGEST]}" if finish and isinstance(finish, str) else None


def _thoughts(message: dict[str, Any]) -> str:
    for name in _THOUGHTS:
        if (held := message.get(name)) and (thought := _thought(held)):
            return thought
    parts = message.get("content")
    if not isinstance(parts, list):
        return ""
    return _thought([part for part in parts if isinstance(part, dict) and part.get("type") in _THOUGHT])


def _thought(held: Any) -> str:
    """The words of a thought: a text, an object that holds one, or a list of such."""
    if isinstance(held, list):
        return "\n".join(filter(None, map(_thought, held[:MOST_PARTS])))
    if isinstance(held, dict):
        return next((words for name in _SAID if isinstance(held.get(name), str | list) and (words := _thought(held[name]))), "")
    return _text(held).strip()


def _ending(finish: Any, message: dict[str, Any], text: str) -> str | None:
    said = bool(text.strip())
    if finish == "stop" and said:
        return None
    reason = finish.lower() if isinstance(finish, str) else ""
    if reason in _CUT:
        return "truncated"
    if reason in _BLOCKED or (message.get("refusal") and not said):
        return "blocked"
    if reason in _BROKEN:
        return "server_error"
    return None if said else "empty_reply"


def _text(content: Any) -> str:
    """The text of a reply given as a string or as a list of parts; broken surrogates, which no file can hold, replaced."""
    if isinstance(content, list):
        content = "".join(_part(part) for part in content)
    if not isinstance(content, str):
        return ""
    try:
        content.encode()
    except UnicodeEncodeError:
        return content.encode("utf-8", "replace").decode()
    return content


def _part(part: Any) -> str:
    if isinstance(part, dict):
        part = "" if part.get("type") in _THOUGHT else part.get("text")
    return part if isinstance(part, str) else ""


def read_usage(usage: Any) -> dict[str, Any] | None:
    """Return prompt, completion and cached tokens under our names, each None where unknown; None if nothing is told."""
    if not isinstance(usage, dict):
        return None
    details = usage.get("prompt_tokens_details")
    cached = _count(details, ("cached_tokens",)) if isinstance(details, dict) else None
    told = {
        "prompt_tokens": _count(usage, _PROMPT),
        "completion_tokens": _count(usage, _COMPLETION),
        "cached_tokens": _count(usage, _CACHED) if cached is None else cached,
    }
    return None if told == _UNTOLD else told


def add_usage(one: dict[str, Any] | None, other: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the tokens of two tries of one question together: a cut or empty reply is paid for as well."""
    if one is None or other is None:
        return one or other
    return {name: _sum(one[name], other[name]) for name in one}


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is None and b is None else (a or 0) + (b or 0)


def _count(usage: dict[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        value = usage.get(name)
        if (type(value) is int or type(value) is float) and 0 <= value < 2**53:  # no booleans, which are integers too
            return int(value)
    return None
