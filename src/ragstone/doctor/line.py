"""One endpoint as the doctor asks it: one session, few repeats, a count of requests, no try after one that took all its time."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from ragstone.transport.endpoint import Endpoint
from ragstone.transport.error_body import ApiError
from ragstone.transport.retry import Backoff
from ragstone.transport.wire import AGAIN, DONE, Posted, Sleep, Spared, Step, Tally, Wire

REPEATS = 2
LONGEST_WAIT = 10.0
"""Seconds the doctor waits at most before it repeats a request, whatever the server demands."""

Body = Callable[[], Mapping[str, Any]]
"""Makes the request as it has to be sent now; called for every try."""
Learn = Callable[[ApiError, bool], bool]
"""Takes in a refusal, asked first with True (it names what it refuses), then with False (any clue); True = ask again."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What came of one request: an object, a refusal, or the word why there is neither."""

    data: dict[str, Any] | None
    error: ApiError | None
    word: str | None
    message: str
    seconds: float
    """Time of the last try."""


class Line:
    """Sends the doctor's requests to one endpoint, `most` in all."""

    def __init__(self, endpoint: Endpoint, timeout: float, most: int, sleep: Sleep = asyncio.sleep) -> None:
        self.endpoint, self.timeout, self.left, self._most = endpoint, timeout, most, most
        self._wire = Wire(endpoint, timeout=timeout, retries=REPEATS, concurrency=1, backoff=Backoff(cap=4.0), sleep=self._pause)
        self._sleep, self._tally = sleep, Tally()

    @property
    def used(self) -> int:
        """Requests sent so far."""
        return self._most - self.left

    async def ask(self, path: str, body: Body, known: str, learn: Learn | None = None, *, first: bool = False) -> Heard:
        """Send one request and what its refusals teach. `known` is the key an answer of this kind has.

        With `first` a refusal nobody has learned from stops everything, as it would stop a run.

        Raises:
            AuthError, EndpointError: what would stop a run.
        """
        asked = _Asked(self, body, known, learn, first=first)
        self._tally = asked.tally
        step = await self._wire.ask(path, asked)
        word = asked.word or (None if asked.data is not None else step.word or "bad_reply")
        return Heard(asked.data, asked.error, word, step.message or "", asked.tally.latency_s)

    async def close(self) -> None:
        """Close the pooled connections."""
        await self._wire.close()

    @property
    def late(self) -> bool:
        """True if the last try took all the time it had."""
        return self._tally.latency_s >= 0.9 * self.timeout

    async def _pause(self, seconds: float) -> None:
        if not self.late:  # else it is not repeated, so there is nothing to wait for
            await self._sleep(min(seconds, LONGEST_WAIT))


class _Asked(Posted):
    """One request of the doctor on its way."""

    def __init__(self, line: Line, body: Body, known: str, learn: Learn | None, *, first: bool) -> None:
        self._line, self._body, self._known, self._learn, self._first = line, body, known, learn, first
        self.tally = Tally()
        self.spared: Spared = self._spent
        self.data: dict[str, Any] | None = None
        self.error: ApiError | None = None
        self.word: str | None = None

    async def _spent(self) -> bool:
        if self._line.late:
            self.word = "timeout"
        elif self._line.left <= 0:
            self.word = "requests"
        else:
            self._line.left -= 1
        return self.word is not None

    def body(self) -> bytes:
        return orjson.dumps(self._body())

    def known(self, data: dict[str, Any]) -> bool:
        return self._known in data

    def read(self, data: dict[str, Any]) -> Step:
        self.data = data
        return DONE

    def refused(self, error: ApiError, sure: bool) -> Step | None:
        if self._learn is not None and self._learn(error, sure):
            return AGAIN
        if self._first:
            return None
        if sure and self._learn is not None and self._learn(error, False):
            return AGAIN
        self.error = error
        return Step("fail", "bad_reply", error.message)
