"""How many requests may be on the wire at once, and the gate the first one goes through alone."""

import asyncio
from collections import deque
from types import TracebackType


class Limiter:
    """At most `limit` requests at once, served in the order they came. Waiting for a repeat holds no place."""

    __slots__ = ("_busy", "_waiting", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._busy = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def __aenter__(self) -> None:
        if self._busy < self.limit and not self._waiting:
            self._busy += 1
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._hand_on()
            raise

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._hand_on()

    def _hand_on(self) -> None:
        if not _wake_one(self._waiting):
            self._busy -= 1


class Gate:
    """Lets requests through one at a time until one was accepted; then it stands open.

    So a parameter an endpoint refuses is refused once, not once for every request in flight. A request that gets no answer
    within `patience` seconds lets the next one try beside it, `most` in all: a server that never answers one
    request must not hold up the others.
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

    def _leave(self, accepted: bool) -> None:
        self._inside -= 1
        if accepted:
            self.release()
        else:
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

    def leave(self, accepted: bool) -> None:
        """Give the turn back; `accepted` opens the gate."""
        self._timer.cancel()
        self._gate._leave(accepted)


def _wake_one(waiting: "deque[asyncio.Future[None]]") -> bool:
    while waiting:
        future = waiting.popleft()
        if not future.done():
            future.set_result(None)
            return True
    return False
