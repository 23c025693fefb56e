"""Switches that turn a model's thinking off: which hosts have one, which a refusal names, what a person has set. No I/O."""

import re
from collections.abc import Mapping
from typing import Any

from ragstone.resources import read_toml
from ragstone.transport.error_body import ApiError

_SWITCHES = frozenset({"enable_thinking", "thinking", "thinking_type", "reasoning_effort", "reasoning", "thinking_budget", "think"})
_OFF = (False, None, 0, "none", "disabled", "off", "false", "minimal")


def thinking_off(host: str, model: str, port: int | None = None) -> dict[str, Any]:
    """Return what turns thinking off for a model of a known host; {} for all others."""
    for row in read_toml("judge", "thinking.toml")["hosts"]:
        if row.get("port") in (None, port) and re.search(row["host"], host) and re.search(row.get("models", ""), model):
            return dict(row["body"])
    return {}


def thinking_switch(error: ApiError) -> dict[str, Any]:
    """Return the switch for thinking that a refusal demands to be off; {} if it names none."""
    switches: list[dict[str, Any]] = read_toml("judge", "thinking.toml")["switches"]
    return next((dict(row["body"]) for row in switches if error.mentions(row["demand"])), {})


def wants_thinking(extra: Mapping[str, Any]) -> bool:
    """True if a person's own keys, at any depth, turn thinking on."""
    return any(_on(value) if name in _SWITCHES else isinstance(value, Mapping) and wants_thinking(value) for name, value in extra.items())


def _on(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(_on(told) for name, told in value.items() if name in ("type", "enabled", "effort", "max_tokens"))
    return value not in _OFF


def is_switch(name: str) -> bool:
    """True if a top-level key turns thinking on or off."""
    return name in _SWITCHES or name == "chat_template_kwargs"


def merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return both, object by object; where they disagree `over` wins."""
    both = {**under, **over}
    for name in under.keys() & over.keys():
        if isinstance(under[name], Mapping) and isinstance(over[name], Mapping):
            both[name] = merged(under[name], over[name])
    return both
