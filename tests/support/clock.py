"""Time that passes only while nothing happens, for tests that wait: no machine is too slow for them, and none of them waits.

    @no_waiting
    async def test_…

The clock of the event loop stands still as long as a callback or a socket is ready; else it jumps to what is due next. So an
answer that comes at all comes before any time limit. Client and server must share the loop, and no thread may be at work.
"""

import asyncio
import functools
import selectors
from collections.abc import Callable, Coroutine
from typing import Any

IDLE = 0.05
"""Seconds of the machine in which no byte came; what one side sends is there for the other at once, within one process."""


class _Selector(selectors.DefaultSelector):
    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or timeout <= 0:
            return super().select(timeout)
        found = super().select(0) or super().select(min(timeout, IDLE))
        self.now += 0 if found else timeout
        return found


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._clock = _Selector()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now


def no_waiting(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a coroutine on such a loop."""

    @functools.wraps(test)
    def run(*args: Any, **more: Any) -> None:
        with asyncio.Runner(loop_factory=_Loop) as runner:
            runner.run(test(*args, **more))

    return run
