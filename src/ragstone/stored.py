"""What the lines of a run folder must be before anything is built on them: each check returns what is wrong, or None.

Showing a run is tolerant (see `results`); resuming and replaying write on what they read, so they refuse what they cannot
understand, naming file and byte.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ragstone.analysis.cells import RowProblem, checked
from ragstone.config.model import LimitSettings
from ragstone.text import say, screen_language
from ragstone.types import Sample

Check = Callable[[dict[str, Any]], str | None]

_TEXT = (str,)
_TEXT_OR_NONE = (str, type(None))
_COUNT = (int, type(None))
_REPLY: Mapping[str, tuple[type, ...]] = {
    "key": _TEXT,
    "kind": _TEXT,
    "raw": _TEXT_OR_NONE,
    "error": _TEXT_OR_NONE,
    "usage": (dict, type(None)),
    "attempts": _COUNT,
    "rate_limits": _COUNT,
}


class _Stored(BaseModel):
    """A record of which only some fields matter here; fields this version does not know are fine."""

    model_config = ConfigDict(extra="allow", strict=True)


class _Metric(_Stored):
    name: str | None = None
    parameters: dict[str, Any] | None = None


class _Backend(_Stored):
    model: str | None = None
    endpoint: str | None = None
    parameters: dict[str, Any] | None = None
    requested: dict[str, Any] | None = None


class _Spent(_Stored):
    requests: int = 0
    prompt: int = 0
    completion: int = 0
    cached: int = 0


class _Tokens(_Stored):
    by_metric: dict[str, _Spent] | None = None


class _Manifest(_Stored):
    metrics: dict[str, _Metric] | None = None
    repeats: int = Field(default=1, ge=1, le=1000)
    plan: str = "separate"
    language: Literal["auto", "zh", "en"] = "auto"
    limits: LimitSettings | None = None
    judge: _Backend | None = None
    embedder: _Backend | None = None
    prompts: dict[str, str] | None = None
    counts: dict[str, int] | None = None
    tokens: _Tokens | None = None
    wall_s: float = 0.0


def manifest_problem(manifest: dict[str, Any]) -> str | None:
    """Return what keeps a manifest from being resumed or replayed; fields that are absent are unknown, which is fine."""
    return _first_problem(_Manifest, manifest)


def sample_problem(row: dict[str, Any]) -> str | None:
    """Return what keeps a row of `samples.jsonl` from being a sample."""
    try:
        Sample.read(row)
    except ValidationError as bad:
        return _first(bad)
    return None


def score_problem(row: dict[str, Any]) -> str | None:
    """Return what keeps a row of `scores.jsonl` from being the score of a cell."""
    try:
        checked(row)
    except RowProblem as bad:
        return say(f"results.row_{bad.code}", screen_language(), value=bad.value)
    return None


def reply_problem(row: dict[str, Any]) -> str | None:
    """Return what keeps a row of `replies.jsonl` from being a reply."""
    for name, kinds in _REPLY.items():
        if not isinstance(row.get(name), kinds):
            return say("store.field_wrong", screen_language(), field=name, found=type(row.get(name)).__name__)
    if not _is_hex(row["key"]):
        return say("store.field_wrong", screen_language(), field="key", found=row["key"][:40])
    for name, count in (row.get("usage") or {}).items():
        if not isinstance(count, _COUNT):
            return say("store.field_wrong", screen_language(), field=f"usage.{name}", found=type(count).__name__)
    return None


def _is_hex(key: str) -> bool:
    try:
        return bool(bytes.fromhex(key))
    except ValueError:
        return False


def _first_problem(model: type[BaseModel], row: dict[str, Any]) -> str | None:
    try:
        model.model_validate(row)
    except ValidationError as bad:
        return _first(bad)
    return None


def _first(bad: ValidationError) -> str:
    first = bad.errors(include_url=False)[0]
    return f"{'.'.join(str(step) for step in first['loc'])}: {first['msg']}"
