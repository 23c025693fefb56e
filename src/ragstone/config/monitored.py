"""Settings of `[collect.langfuse]`: which production traces become samples."""

from datetime import date
from typing import Annotated

from pydantic import BeforeValidator, Field

from ragstone.config.base import Many, Settings


def _dated(given: object) -> object:
    """A date or time of TOML stands for its text."""
    return given.isoformat() if isinstance(given, date) else given


Moment = Annotated[str | None, BeforeValidator(_dated)]
"""A date, a time, or how long ago."""


class TraceSettings(Settings):
    """`[collect.langfuse]`: which production traces become samples; address and keys come from the environment alone."""

    since: Moment = None
    """Traces that began then or later: a date, a time (UTC unless a zone is given), or how long ago (`24h`, `7d`); unset = 24h."""
    until: Moment = None
    """Traces that began before; unset = now."""
    tags: Many = ()
    """Traces that have every one of these tags; unset = any."""
    rate: float = Field(default=1.0, gt=0, le=1)
    """Share of the traces that become samples."""
