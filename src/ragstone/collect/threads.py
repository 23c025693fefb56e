"""Threads that neither wait for each other nor hold up the end of the process: a call that hangs cannot be stopped, only left alone."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
_DEFAULT = "_default_executor"
"""Where a loop holds its executor: there is no other way to ask for it, or to have none again."""
_UNKNOWN = object()


def in_thread(work: Callable[[], T], wrapped: Callable[[BaseException], BaseException]) -> asyncio.Future[T]:
    """Start `work` in a thread of its own and return its result to come; what it raises is raised as `wrapped` gives it."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def run() -> None:
        outcome: tuple[T | None, BaseException | None]
        try:
            outcome = context.run(work), None
        except BaseException as error:  # SystemExit in a thread would go unheard
            outcome = None, wrapped(error)
        try:
            loop.call_soon_threadsafe(_settle, result, *outcome)
        except RuntimeError:
            return  # the loop is closed: nobody waits any more

    threading.Thread(target=run, daemon=True, name="ragstone-call").start()
    return result


class Threads(ThreadPoolExecutor):
    """For what asynchronous code hands to threads (`asyncio.to_thread`, blocking parts of a chain).

    Each gets one of its own at once: the loop's usual few would be used up by calls that hang, and waited for at the end.
    """

    def __init__(self, in_place_of: object = None) -> None:
        super().__init__(1)
        self.in_place_of, self.borrowers = in_place_of, 0

    def submit(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Start `work` in a thread that the end of the process does not wait for."""
        result: Future[T] = Future()

        def run() -> None:
            if result.set_running_or_notify_cancel():
                try:
                    result.set_result(work(*args, **kwargs))
                except BaseException as error:  # whoever waits raises it
                    result.set_exception(error)

        threading.Thread(target=run, daemon=True, name="ragstone-call").start()
        return result

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Wait for nobody."""


class Lent:
    """`Threads` in the place of a loop's own executor, until the last who borrowed gives back: the loop may belong to somebody else."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop, held = loop, getattr(loop, _DEFAULT, _UNKNOWN)
        self._threads = held if isinstance(held, Threads) else Threads(held)
        self._threads.borrowers += 1
        if held not in (_UNKNOWN, self._threads):  # what cannot be given back is left alone
            loop.set_default_executor(self._threads)

    def give_back(self) -> None:
        """Let the loop have its own again, unless somebody has set another one since."""
        self._threads.borrowers -= 1
        if not self._threads.borrowers and getattr(self._loop, _DEFAULT, _UNKNOWN) is self._threads:
            setattr(self._loop, _DEFAULT, self._threads.in_place_of)


def _settle(result: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
    if result.done():
        return
    if error is None:
        result.set_result(value)
    else:
        result.set_exception(error)
        result.exception()  # seen: a call that took too long has nobody who looks
