"""Where in Langfuse a sample was read from: its scores go back onto that trace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

KEY = "langfuse"
"""Key of a sample's `meta`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """One production trace, as `meta.langfuse` of its sample names it."""

    trace_id: str
    host: str
    """Address of the server, without a slash at its end."""
    project_id: str
    observation_id: str | None = None
    """The root observation; None where the server does not tell one."""
    timestamp: str | None = None
    """When the trace began, ISO 8601 in UTC, as the server says it."""
    environment: str = "default"

    def to_dict(self) -> dict[str, str]:
        """Return what stands in `meta.langfuse`; nothing that is not known."""
        found = {name: getattr(self, name) for name in Origin.__slots__}
        return {name: value for name, value in found.items() if value is not None}


def origin_of(row: Mapping[str, Any]) -> Origin | None:
    """Return the trace that a row of `samples.jsonl` was read from; None if it was not read from Langfuse, or names no trace."""
    meta = row.get("meta")
    held = meta.get(KEY) if isinstance(meta, Mapping) else None
    if not isinstance(held, Mapping):
        return None
    trace_id, host, project = (_text(held, name) for name in ("trace_id", "host", "project_id"))
    if trace_id is None or host is None or project is None:
        return None
    return Origin(
        trace_id=trace_id,
        host=host.rstrip("/"),
        project_id=project,
        observation_id=_text(held, "observation_id"),
        timestamp=_text(held, "timestamp"),
        environment=_text(held, "environment") or "default",
    )


def _text(held: Mapping[str, Any], name: str) -> str | None:
    value = held.get(name)
    return value if isinstance(value, str) and value.strip() else None
