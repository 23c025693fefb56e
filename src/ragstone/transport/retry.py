"""Whether to ask again, and how long to wait before."""

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Protocol, runtime_checkable

LONGEST_DEMAND = 120.0
"""Seconds: a server that demands a longer wait is asked again after this one."""
MOST_DEMANDED = 5 * LONGEST_DEMAND
"""Seconds one request waits because a server demands it, all its repeats together."""
DEMANDED_REPEATS = 3
"""Repeats of one request that a server demanded, and all others, for each of `retries`: as many as it takes where a third is refused."""
EPOCH = 1e9
"""A number from here on is no wait but a moment: as seconds it would be 30 years."""
LEAST_ALLOWANCE, ALLOWANCE_SHARE = 100, 0.2
LEAST_SECONDS, TRIES_LONG = 60.0, 3
"""One request may take so many seconds, or so many times the longest try, whichever is more."""


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


@runtime_checkable
class Sender(Protocol):
    """A backend that sends requests and repeats some."""

    def expect(self, requests: int, tell: Callable[[str], None]) -> None:
        """Allow the repeats that fit so many requests; `tell` is called once when they are used up."""
        ...


class Allowance:
    """Repeats that the requests of a run share: a fifth of what is planned, 100 at least. Spent, a request has one of its own left."""

    def __init__(self) -> None:
        self.left = LEAST_ALLOWANCE
        self.refused = 0
        """Repeats that were wanted when nothing was left."""

    def expect(self, requests: int) -> None:
        """Allow for so many requests."""
        self.left = max(LEAST_ALLOWANCE, int(ALLOWANCE_SHARE * requests))

    def take(self) -> bool:
        """Take one repeat; False if none is left."""
        if self.left > 0:
            self.left -= 1
            return True
        self.refused += 1
        return False


class Repeats:
    """The repeats of one request. What a server demands to be waited is no waste: it costs neither allowance nor time."""

    __slots__ = ("_allowance", "_demanded", "_most", "_own", "_seconds", "_waited")

    def __init__(self, most: int, timeout: float, allowance: Allowance) -> None:
        """Allow `most` repeats, and thrice as many where a server demands waits; `timeout` is the longest try in seconds."""
        self._most, self._allowance = most, allowance
        self._own = self._demanded = 0
        self._seconds, self._waited = max(TRIES_LONG * timeout, LEAST_SECONDS), 0.0

    @property
    def tries(self) -> int:
        """Tries so far, if `wait` was asked after each."""
        return self._own + self._demanded

    def wait(self, backoff: Backoff, took: float, after: float | None, busy: bool) -> float | None:
        """Return the seconds to wait before the next try, None if there is to be none.

        `took` is what the last try took, `after` what the server demands, `busy` whether it was asked too much.
        """
        self._seconds -= took
        if busy and after:
            return self._as_demanded(backoff, after)
        self._own += 1
        delay = backoff.delay(self._own, after)
        self._seconds -= delay
        if self._own > self._most or self.tries > DEMANDED_REPEATS * self._most or self._seconds <= 0:
            return None
        return delay if self._own == 1 or self._allowance.take() else None

    def _as_demanded(self, backoff: Backoff, after: float) -> float | None:
        self._demanded += 1
        delay = backoff.delay(1, after)
        self._waited += delay
        return None if self.tries > DEMANDED_REPEATS * self._most or self._waited > MOST_DEMANDED * 1.1 else delay


_AMOUNT = r"(?:\d+(?:\.\d+)?\s*(?:milliseconds?|ms|minutes?|mins?|hours?|seconds?|secs?|[smh])(?![a-z])\s*)+"
_PASSED = rf"(?:try|retry|come back|wait)[^.\n]{{0,40}}?\b(?:in|after|for)\s+({_AMOUNT})"
_TOLD = re.compile(_PASSED + r"|(\d+(?:\.\d+)?\s*(?:毫秒|秒钟?|分钟))\s*(?:之?后|以后)", re.IGNORECASE)
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z毫秒分]+)", re.IGNORECASE)
_SPAN = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|h|m|s))+", re.IGNORECASE)
_RESETS = ("ratelimit-reset", "x-ratelimit-reset", "ratelimit-reset-after", "x-ratelimit-reset-after")


def demanded(headers: Mapping[str, str], message: str = "", after: float | None = None, now: datetime | None = None) -> float | None:
    """Return the wait demanded by an endpoint that was asked too much, in seconds, None if it names none.

    In this order: `retry-after-ms`, `Retry-After`, `after` (told in the body), the reset headers (`1s`, `6m0s`, `20ms`, seconds,
    or a moment in seconds, milli- or microseconds since 1970), the words of the message.
    """
    moment = now or datetime.now(UTC)
    found = retry_after(headers, moment)
    if found is None:
        found = after
    if found is None:
        found = _reset(headers, moment)
    return _told(message) if found is None else found


def _reset(headers: Mapping[str, str], now: datetime) -> float | None:
    spans = {kind: _span(headers.get(f"x-ratelimit-reset-{kind}"), now) for kind in ("requests", "tokens")}
    known = {kind: span for kind, span in spans.items() if span is not None}
    spent = [known[kind] for kind in known if headers.get(f"x-ratelimit-remaining-{kind}") == "0"]
    if known:
        return max(spent) if spent else min(known.values())
    return _span(next((value for name in _RESETS if (value := headers.get(name)) is not None), None), now)


def _from(number: float, now: datetime) -> float:
    """Seconds of a bare number: it names a wait, or, if large, a moment since 1970 in seconds or in thousandths of them."""
    if number < EPOCH:
        return number
    while number >= 100 * EPOCH:
        number /= 1000
    return max(0.0, number - now.timestamp())


def _span(text: str | None, now: datetime) -> float | None:
    """Seconds of `1s`, `6m0s`, `20ms` or a bare number."""
    if text is not None and _SPAN.fullmatch(text.strip()):
        return _sum(text)
    number = _number(text)
    return None if number is None else _from(number, now)


def _told(message: str) -> float | None:
    found = _TOLD.search(message)
    return _sum(found[1] or found[2]) if found else None


_UNITS = (("ms", 1e-3), ("milli", 1e-3), ("毫", 1e-3), ("s", 1.0), ("秒", 1.0), ("m", 60.0), ("分", 60.0), ("h", 3600.0))


def _sum(text: str) -> float:
    return sum(float(n) * next(s for name, s in _UNITS if unit.lower().startswith(name)) for n, unit in _PART.findall(text))


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the wait a server demands, in seconds: `retry-after-ms`, or `Retry-After` as seconds, an HTTP date or seconds since 1970."""
    millis = _number(headers.get("retry-after-ms"))
    if millis is not None:
        return millis / 1000
    given, moment = headers.get("Retry-After"), now or datetime.now(UTC)
    if (seconds := _number(given)) is not None:
        return _from(seconds, moment)
    return None if given is None else _until(given, moment)


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
