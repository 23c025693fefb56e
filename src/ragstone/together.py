"""Work done by several at once, or within a time: what one fails at ends it for all, as it is."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

T = TypeVar("T")


async def fulfil(promise: asyncio.Future[T], work: Coroutine[Any, Any, T]) -> T:
    """Do the work and hand its outcome to all who wait for the promise: no task is needed, the first who asks does it."""
    try:
        result = await work
    except BaseException as bad:
        if not promise.done():
            promise.set_exception(bad) if isinstance(bad, Exception) else promise.cancel()
        _ = promise.cancelled() or promise.exception()  # it is raised here, whether anybody waits or not
        raise
    if not promise.done():
        promise.set_result(result)
    return result


async def together(calls: Sequence[Coroutine[Any, Any, Any]]) -> list[Any]:
    """Await all; the first failure cancels the others, waits for their end, and is raised as it is."""
    if len(calls) == 1:
        return [await calls[0]]
    tasks = [asyncio.ensure_future(call) for call in calls]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in tasks:
            if task.done() and not task.cancelled():
                task.result()
        return [task.result() for task in tasks]
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


@asynccontextmanager
async def within(seconds: float | None, late: Callable[[], Exception]) -> AsyncIterator[None]:
    """Give the block so many seconds, None = any; raises what `late` makes when they are over."""
    try:
        async with asyncio.timeout(seconds) as limit:
            yield
    except TimeoutError:
        if not limit.expired():
            raise
        raise late() from None
