"""Which traces are meant: a span of time, tags, and a sample of them that is the same whatever else there is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from ragstone.errors import ConfigError
from ragstone.text import say
from ragstone.types import Language

USUAL = "24h"
"""How far back traces are read if nobody says."""
_SPAN = re.compile(r"(\d{1,6})\s*(m|min|h|d|w)", re.IGNORECASE)
_UNITS = {"m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}
_ZULU = "%Y-%m-%dT%H:%M:%S.%f"
OWN = "ragstone"
"""Environment and tag of traces that ragstone has exported."""
_EXPERIMENTS = ("sdk-experiment", "langfuse-")
"""Environments of experiments, and how those begin in which Langfuse's own evaluators run."""


@dataclass(frozen=True, slots=True)
class Window:
    """A span of time, in UTC: from `since` on, before `until`."""

    since: datetime
    until: datetime

    def holds(self, moment: datetime) -> bool:
        """True for a moment within."""
        return self.since <= moment < self.until

    def to_dict(self) -> dict[str, str]:
        """Both ends as texts that `window_of` reads."""
        return {"since": zulu(self.since), "until": zulu(self.until)}


def zulu(moment: datetime) -> str:
    """Return a moment as ISO text in UTC, to the millisecond where it has any."""
    return (moment.astimezone(UTC).strftime(_ZULU)[:-3] + "Z").replace(".000Z", "Z")


def window_of(since: str | None, until: str | None, now: datetime, lang: Language) -> Window:
    """Return the span that the texts mean.

    Raises:
        ConfigError: one of them is no date, time or span (the text shows what is), or the span is empty.
    """
    now = _in_milliseconds(now)
    first = _moment("since", since or USUAL, now, lang)
    last = now if until is None else _moment("until", until, now, lang)
    if first >= last:
        raise ConfigError(say("monitored.empty_window", lang, since=zulu(first), until=zulu(last)))
    return Window(first, last)


def _moment(name: str, text: str, now: datetime, lang: Language) -> datetime:
    try:
        if found := _SPAN.fullmatch(text.strip()):
            return now - timedelta(seconds=int(found[1]) * _UNITS[found[2].lower()])
        moment = datetime.fromisoformat(text.strip())
        return _in_milliseconds((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC))
    except (ValueError, OverflowError):
        raise ConfigError(say("monitored.no_moment", lang, name=name, found=repr(text)[:60])) from None


def is_fixed(since: str | None, until: str | None) -> bool:
    """True if the texts mean the same whenever they are read: neither is unset, or counted from now."""
    return all(text is not None and not _SPAN.fullmatch(text.strip()) for text in (since, until))


def _in_milliseconds(moment: datetime) -> datetime:
    """A window is stored in milliseconds, and must be the same when it is read again."""
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def share(seed: int, trace_id: str) -> float:
    """Return where in [0, 1) a trace stands: the same for a seed whatever other traces there are."""
    return (int.from_bytes(sha256(f"{seed}|{trace_id}".encode("utf-8", "surrogatepass")).digest()[:8], "big") >> 11) / 2**53


def is_own(environment: object, tags: Iterable[object], own: Iterable[str]) -> bool:
    """True for traces that no user of the application has caused: exported by ragstone (`own`), of experiments, of evaluators."""
    name = environment if isinstance(environment, str) else ""
    return name in {OWN, *own} or name.startswith(_EXPERIMENTS) or OWN in tags
