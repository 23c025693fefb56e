"""Asking a RAG application that is a Python function or object in this process."""

from __future__ import annotations

import asyncio
import inspect
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ragstone.collect.base import Kept, Reading, Received, Row, Trouble
from ragstone.collect.own_secrets import masked
from ragstone.collect.result import read_result, unread_keys
from ragstone.collect.returned import Unheld, as_json
from ragstone.collect.threads import Lent, in_thread
from ragstone.errors import ConfigError
from ragstone.text import listing, say
from ragstone.transport.key import Key
from ragstone.transport.retry import Backoff
from ragstone.types import Language, Sample

_PASSING = re.compile(r"Timeout|TimedOut|Connect(?:ion)?(?:Reset|Refused|Aborted)?Error|RateLimit|ServiceUnavailable|TooManyRequests")
_LONGEST_TEXT = 500
_FIRST_ROWS = 3
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Way:
    """How one question is put to a function or object."""

    call: Callable[[Sample], Any]
    """Called with the gold row; what it returns may be awaitable or a generator of pieces of text.

    Raises ConfigError for a row without what the function needs.
    """
    threaded: bool = True
    """False = it does not block: it is called in the event loop."""
    alone: bool = False
    """True = it holds one conversation, so that rows are asked one after another."""
    uses: Callable[[Sample], Mapping[str, Any]] | None = None
    """What of a gold row is handed over besides its question; None = nothing."""


class CallApplication:
    """A Python function or object, asked in this process.

    What blocks runs in a thread of its own, `concurrency` of them at a time, so that one that hangs holds up neither the other rows nor
    the end of the command. A row that takes longer than `timeout` seconds is told as `timeout` and not asked again (its call may still be
    running); an exception is told as `call_failed`, and asked again, `retries` times at most, if it is one of passing trouble: a
    TimeoutError, a ConnectionError or what libraries name so (rate limits too).
    """

    def __init__(
        self,
        way: Way,
        asked: Mapping[str, Any],
        *,
        concurrency: int,
        timeout: float,
        retries: int,
        lang: Language,
        backoff: Backoff | None = None,
        keys: tuple[Key, ...] = (),
    ) -> None:
        """`keys`: secrets that are kept out of what the function tells."""
        self._keys = keys
        self._way, self._asked, self._lang = way, dict(asked), lang
        self._timeout, self._retries, self._backoff = timeout, retries, backoff or Backoff()
        self._slots = asyncio.Semaphore(1 if way.alone else max(1, concurrency))
        self._running: asyncio.Future[Any] | None = None
        self._lent: Lent | None = None
        self._rows, self._unfit, self._fit = _FIRST_ROWS, 0, False
        self._left_out: set[str] = set()

    @property
    def asked(self) -> Mapping[str, Any]:
        """The function's name and the hash of the file it stands in."""
        return self._asked

    @property
    def mapping(self) -> Mapping[str, Any]:
        """Nothing: results are read by the names of their keys."""
        return {}

    @property
    def notices(self) -> tuple[str, ...]:
        """What of the results was left unread, once rows were asked."""
        if not self._left_out:
            return ()
        names = sorted(self._left_out)
        shown = [*names[:_SHOWN], "…"] if len(names) > _SHOWN else names
        return (say("calling.left_out", self._lang, names=listing(shown, self._lang)),)

    def uses(self, row: Row) -> Any:
        """What of the row is handed over besides its question."""
        return None if self._way.uses is None else self._way.uses(row.gold) or None

    def expect(self, rows: int) -> None:
        """Hear how many rows are going to be asked."""
        self._rows = min(_FIRST_ROWS, rows)

    async def ask(self, row: Row) -> Kept:
        """Ask one question. See `Application.ask`."""
        if not self._way.threaded and self._lent is None:
            self._lent = Lent(asyncio.get_running_loop())
        async with self._slots:
            if self._way.alone and not await self._free():
                return Kept(row.id, trouble=Trouble("timeout", say("calling.busy", self._lang)))
            return await self._tries(row)

    def read(self, kept: Kept) -> Reading:
        """Find answer and chunks in what the function returned."""
        if kept.trouble is not None or not kept.received:
            return Reading(trouble=kept.trouble or Trouble("call_failed", ""))
        return read_result(kept.received[-1].body, self._lang)

    async def close(self) -> None:
        """Give the loop its own threads back."""
        lent, self._lent = self._lent, None
        if lent is not None:
            lent.give_back()

    # -------------------------------------------------------------- one row
    async def _free(self) -> bool:
        """Wait until the call of an earlier row, which took too long, has ended."""
        if self._running is not None and not self._running.done():
            await asyncio.wait([self._running], timeout=self._timeout)
        return self._running is None or self._running.done()

    async def _tries(self, row: Row) -> Kept:
        attempt = 0
        while True:
            attempt += 1
            started = time.perf_counter()
            try:
                returned = await self._once(row.gold)
            except _TookTooLong:
                text = say("calling.timeout", self._lang, seconds=f"{self._timeout:g}")
                return Kept(row.id, latency_s=_since(started), attempts=attempt, trouble=Trouble("timeout", text))
            except _Failed as failed:
                if attempt <= self._retries and _passes(failed.error):
                    await asyncio.sleep(self._backoff.delay(attempt))
                    continue
                return Kept(row.id, latency_s=_since(started), attempts=attempt, trouble=Trouble("call_failed", self._told(failed.error)))
            return self._judged(self._kept(Kept(row.id, latency_s=_since(started), attempts=attempt), returned))

    async def _once(self, gold: Sample) -> Any:
        try:
            async with asyncio.timeout(self._timeout) as limit:
                return await self._whole(gold)
        except TimeoutError as error:
            raise (_TookTooLong() if limit.expired() else _Failed(error)) from None
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise _Failed(error) from None
        except (ConfigError, _Failed):
            raise
        except (Exception, SystemExit) as error:
            raise _Failed(error) from None

    @staticmethod
    def _wrapped(error: BaseException) -> BaseException:
        return error if isinstance(error, ConfigError) else _Failed(error)

    async def _whole(self, gold: Sample) -> Any:
        if self._way.threaded:
            self._running = in_thread(lambda: _joined(self._way.call(gold)), self._wrapped)
            returned = await asyncio.shield(self._running)
        else:
            returned = _joined(self._way.call(gold))
        if inspect.isawaitable(returned):
            returned = await returned
        return await _gathered(returned) if isinstance(returned, AsyncIterator) else returned

    # -------------------------------------------------------------- what came back
    def _kept(self, kept: Kept, returned: Any) -> Kept:
        try:
            body = masked(as_json(returned, self._left_out), self._keys)
        except Unheld as error:
            if error.place:
                text = say("calling.unheld", self._lang, place=error.place, kind=error.kind)
            else:
                text = say("calling.wrong_type", self._lang, kind=error.kind)
            return replace(kept, trouble=Trouble("call_failed", text))
        except Exception as error:  # a property of what was returned
            return replace(kept, trouble=Trouble("call_failed", self._told(error)))
        self._left_out.update(unread_keys(body))
        return replace(kept, received=(Received("ask", body),))

    def _told(self, error: BaseException) -> str:
        return told(error, self._keys)

    def _judged(self, kept: Kept) -> Kept:
        """Set `stop` if none of the first rows brought a result that can be read."""
        reading = self.read(kept)
        unfit = reading.trouble is not None and reading.trouble.word == "call_failed"
        self._fit = self._fit or reading.trouble is None
        self._unfit = self._unfit + 1 if unfit else 0
        if not unfit or self._fit or self._unfit < self._rows or reading.trouble is None:
            return kept
        text = say("calling.unfit", self._lang, count=self._unfit, trouble=reading.trouble.message)
        return replace(kept, stop=ConfigError(text))


class _TookTooLong(Exception):
    pass


class _Failed(Exception):
    """The function raised `error`."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


def told(error: BaseException, keys: tuple[Key, ...] = ()) -> str:
    """Return an exception in one line, without a traceback and without the secrets in `keys`."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # a `__str__` of somebody else's that fails as well
        text = ""
    for key in keys:
        text = key.scrub_echoes(text)
    text = text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "…"
    name = type(error).__name__
    return f"{name}: {text}" if text else name


def _passes(error: BaseException) -> bool:
    if isinstance(error, TimeoutError | ConnectionError):
        return True
    return any(_PASSING.search(kind.__name__) for kind in type(error).__mro__)


def _since(started: float) -> float:
    return round(time.perf_counter() - started, 3)


# ------------------------------------------------------------------ pieces
def _joined(returned: Any) -> Any:
    """Put the pieces of a generator together, where it is one."""
    if callable(whole := getattr(returned, "get_response", None)) and hasattr(returned, "response_gen"):
        return whole()  # a LlamaIndex streaming response
    return _together(list(returned)) if isinstance(returned, Iterator) else returned


async def _gathered(pieces: AsyncIterator[Any]) -> Any:
    return _together([piece async for piece in pieces])


def _together(pieces: list[Any]) -> Any:
    """One text of texts or pieces of messages; anything else stays a list."""
    texts = [piece if isinstance(piece, str) else getattr(piece, "content", None) for piece in pieces]
    whole = "".join(text for text in texts if isinstance(text, str))
    return whole if all(isinstance(text, str) for text in texts) else pieces
