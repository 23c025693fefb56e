"""How many requests may be on the wire at once, and the gate the first one goes through alone."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from ragstone.transport.adapting import SMALLEST, Adapting
from ragstone.transport.retry import Backoff

Sleep = Callable[[float], Awaitable[Any]]


class Limiter:
    """At most `limit` requests at once, in the order they came, repeats first. Waiting for a repeat holds no place.

    The limit follows what the endpoint refuses (see `Adapting`). Where nothing gets through any more nothing is sent for a
    while: until the time the endpoint names, else half a second, doubled each time.
    """

    __slots__ = ("_adapting", "_backoff", "_busy", "_idlers", "_in_vain", "_rest", "_rests", "_sleep", "_waiting")

    def __init__(self, most: int, backoff: Backoff | None = None, sleep: Sleep = asyncio.sleep) -> None:
        self._adapting, self._backoff, self._sleep = Adapting(most), backoff or Backoff(), sleep
        self._busy = self._rests = self._in_vain = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._idlers: deque[asyncio.Future[None]] = deque()
        self._rest: asyncio.Task[None] | None = None

    @property
    def limit(self) -> int:
        """Requests that may be out at once now."""
        return self._adapting.limit

    @property
    def most(self) -> int:
        """Requests that may ever be out at once."""
        return self._adapting.most

    async def enter(self, first: bool = False) -> int:
        """Wait for a place, `first` in front of all who wait; returns what `leave` wants to be told."""
        if self._busy < self._adapting.limit and not self._waiting and self._rest is None:
            self._busy += 1
            return self._adapting.epoch
        place = asyncio.get_running_loop().create_future()
        (self._waiting.appendleft if first else self._waiting.append)(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._free()
            raise
        return self._adapting.epoch

    def leave(self, epoch: int, refused: bool | None = None, after: float | None = None) -> None:
        """Give the place back. `refused`: was that too much for the endpoint? None = nobody knows. `after`: seconds it demands."""
        if refused is not None:
            self._in_vain = self._in_vain + 1 if refused else 0
            if not refused:
                self._rests = 0
            if self._adapting.note(epoch, refused) and self._in_vain >= SMALLEST and self._rest is None:
                self._rests += 1
                pause = self._backoff.delay(self._rests if after is None else 1, after)
                self._rest = asyncio.get_running_loop().create_task(self._pause(pause))
        self._free()

    async def idle(self) -> None:
        """Return once no request is out."""
        while self._busy:
            idler = asyncio.get_running_loop().create_future()
            self._idlers.append(idler)
            await idler

    def close(self) -> None:
        """End a pause."""
        if self._rest is not None:
            self._rest.cancel()
            self._rest = None

    async def _pause(self, seconds: float) -> None:
        try:
            await self._sleep(seconds)
        finally:
            self._rest = None
            self._serve()

    def _free(self) -> None:
        self._busy -= 1
        self._serve()
        while not self._busy and _wake_one(self._idlers):
            pass

    def _serve(self) -> None:
        while self._busy < self._adapting.limit and self._rest is None and _wake_one(self._waiting):
            self._busy += 1


class Gate:
    """Lets requests through one at a time until one was accepted; then it stands open.

    So a parameter an endpoint refuses is refused once, not once for every request in flight. A request that gets no answer
    within `patience` seconds lets the next one try beside it, `most` in all: a server that never answers one
    request must not hold up the others. Trouble that has nothing to do with a parameter lets one more in each time.
    """

    def __init__(self, patience: float = 10.0, most: int = 3) -> None:
        self.open = False
        self._patience, self._most = patience, most
        self._inside, self._width = 0, 1
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> "Pass | None":
        """Wait for a turn; returns the pass to `leave` with, or None once the gate is open."""
        loop = asyncio.get_running_loop()
        while not self.open and self._inside >= self._width:
            turn = loop.create_future()
            self._waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    _wake_one(self._waiting)
                raise
        if self.open:
            return None
        self._inside += 1
        return Pass(self, loop.call_later(self._patience, self._widen))

    def _widen(self) -> None:
        if self._width < self._most:
            self._width += 1
            _wake_one(self._waiting)

    def _leave(self, accepted: bool, troubled: bool) -> None:
        self._inside -= 1
        if accepted:
            self.release()
            return
        self._width += troubled
        for _ in range(1 + troubled):
            _wake_one(self._waiting)

    def release(self) -> None:
        """Open the gate for good."""
        self.open = True
        while _wake_one(self._waiting):
            pass


class Pass:
    """The right to ask while the gate is not open yet."""

    __slots__ = ("_gate", "_timer")

    def __init__(self, gate: Gate, timer: asyncio.TimerHandle) -> None:
        self._gate, self._timer = gate, timer

    def leave(self, accepted: bool, troubled: bool = False) -> None:
        """Give the turn back; `accepted` opens the gate, `troubled` widens it."""
        self._timer.cancel()
        self._gate._leave(accepted, troubled)


def _wake_one(waiting: "deque[asyncio.Future[None]]") -> bool:
    while waiting:
        future = waiting.popleft()
        if not future.done():
            future.set_result(None)
            return True
    return False
