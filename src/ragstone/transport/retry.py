"""How long to wait before asking again."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST_DEMAND = 120.0
"""Seconds: a server that demands a longer wait is asked again after this one."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """Exponential waits with jitter: `base` seconds before the first repeat, doubled each time, `cap` at most."""

    base: float = 0.5
    cap: float = 30.0
    draw: Callable[[], float] = random.random
    """Returns a number in [0, 1)."""

    def delay(self, repeat: int, demanded: float | None = None) -> float:
        """Return seconds to wait before repeat 1, 2, …: half to all of the exponential wait, at least what was demanded.

        A demand is lengthened by up to a tenth, so that requests refused together do not come back together.
        """
        own = min(self.cap, self.base * 2.0 ** min(repeat - 1, 30)) * (0.5 + 0.5 * self.draw())
        if demanded is None:
            return own
        return max(own, min(demanded, LONGEST_DEMAND) * (1 + 0.1 * self.draw()))


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the wait a server demands, in seconds: `retry-after-ms`, or `Retry-After` as seconds or as an HTTP date."""
    millis = _number(headers.get("retry-after-ms"))
    if millis is not None:
        return millis / 1000
    given = headers.get("Retry-After")
    seconds = _number(given)
    return seconds if seconds is not None or given is None else _until(given, now or datetime.now(UTC))


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def _until(date: str, now: datetime) -> float | None:
    try:
        when = parsedate_to_datetime(date)
    except (ValueError, TypeError):
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (when - now).total_seconds())
