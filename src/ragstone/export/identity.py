"""What tells a run from others wherever it is exported to, and when it was: both depend on the run alone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragstone.export.content import Content

MILLISECOND = 1_000_000
"""In nanoseconds."""
_FIRST_YEAR = 1980
"""Times before it are no times of a run."""
_PAST_YEAR = 2262
"""In it end the nanoseconds since 1970 that a number of 64 bits can count."""


def seed_of(content: Content) -> str:
    """Return what tells the run from others: its id, else its folder and signature."""
    facts = content.facts
    return facts.run_id or f"{facts.path}|{facts.signature}"


def began(content: Content) -> int:
    """Return the moment of the run in nanoseconds since 1970: what its manifest says, else the time of its scores, else 0."""
    if (moment := moment_of(content.facts.created_at)) is not None:
        return int(moment.timestamp() * 1000) * MILLISECOND
    folder = content.run.path
    scores = folder / "scores.jsonl" if folder is not None and folder.is_dir() else folder
    return scores.stat().st_mtime_ns if scores is not None and scores.exists() else 0


def moment_of(created_at: str | None) -> datetime | None:
    """Return when a run began, in UTC; a text without an offset is UTC. None for what is no time of a run."""
    try:
        moment = datetime.fromisoformat(created_at or "")
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return moment if _FIRST_YEAR <= moment.year < _PAST_YEAR else None
