"""One row's asking: what is sent before the question, the question itself, and what is sent after it."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import orjson

from ragstone.collect import mapping
from ragstone.collect.answer import unreadable
from ragstone.collect.base import Kept, Received, Row, Trouble
from ragstone.collect.expressions import search
from ragstone.collect.sending import Examine, Request
from ragstone.collect.spec import in_query
from ragstone.collect.streams import Assembled
from ragstone.collect.template import Values, filled, filled_headers, filled_path, filled_query
from ragstone.collect.told import told_error
from ragstone.collect.values import plain
from ragstone.errors import StoppedError
from ragstone.text import say
from ragstone.together import together

if TYPE_CHECKING:
    from ragstone.collect.address import Address
    from ragstone.collect.spec import Spec, Step
    from ragstone.errors import RagstoneError
    from ragstone.transport.wire import Sleep, Wire
    from ragstone.types import Language

SHARED = 8192
"""Responses for single chunks that are held for other rows."""
FIRST_POLL, POLL = 0.25, 1.0
"""Seconds between two looks at a step that is not finished yet: at first, and at most."""
_WORDS = {"bad_reply": "too_large"}
"""The wire's own words for what is called otherwise here: the only reply it refuses by itself is one that is too large."""


class Failed(Exception):
    """A request came to nothing."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble.word)
        self.trouble = trouble


@dataclass(frozen=True, slots=True)
class Line:
    """What the conversations of one application share."""

    spec: Spec
    address: Address
    wire: Wire
    environ: Mapping[str, str]
    sleep: Sleep
    lang: Language
    fetched: Fetched = field(default_factory=lambda: Fetched(SHARED))


class Fetched:
    """Responses for single chunks, which many rows have in common; what was not wanted for the longest time goes first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: OrderedDict[object, Received] = OrderedDict()
        self._locks: WeakValueDictionary[object, asyncio.Lock] = WeakValueDictionary()

    def lock(self, key: object) -> asyncio.Lock:
        """Return the lock of a request, so that rows that want the same at once send it once."""
        return self._locks.setdefault(key, asyncio.Lock())

    def find(self, key: object) -> Received | None:
        """Return what came back for a request, None if it is not held."""
        if (found := self._held.get(key)) is not None:
            self._held.move_to_end(key)
        return found

    def keep(self, key: object, received: Received) -> None:
        """Hold what came back for a request."""
        self._held[key] = received
        if len(self._held) > self._most:
            self._held.popitem(last=False)


class Conversation:
    """Asks one row. `run` once, then `kept`."""

    def __init__(self, line: Line, row: Row) -> None:
        self._line, self._row = line, row
        self._received: list[Received] = []
        self._latency: float | None = None
        self._attempts = self._requests = 0
        self.question: Any = None
        """The parsed response to the question, None until there is a whole one."""
        self._broken: Trouble | None = None
        """What was wrong with a stream of which only the cleaned answer is kept."""
        self.look: mapping.Look | None = None
        """What the responses hold so far."""
        self.stopped: Request | None = None
        """The request whose answer stopped the asking."""

    async def run(self) -> Trouble | None:
        """Send everything. Returns what went wrong on the way. Raises StoppedError."""
        spec = self._line.spec
        try:
            before = None if spec.before is None else await self._before(spec.before)
            await self._ask(spec, before)
            if self._broken is not None:
                return self._broken
            if spec.then and self.look is not None and self.look.trouble is None:
                await self._then(before)
        except Failed as failed:
            return failed.trouble
        return None

    def kept(self, trouble: Trouble | None, stop: RagstoneError | None = None) -> Kept:
        """Return what has come of the row."""
        return Kept(self._row.id, tuple(self._received), self._latency, self._attempts, trouble, self._requests, stop)

    @property
    def last(self) -> Received | None:
        """The last response that is kept."""
        return self._received[-1] if self._received else None

    # ------------------------------------------------------------------ the steps
    async def _before(self, step: Step) -> Any:
        values = self._values()
        request = self._request("before", step, values, self._whole(step))
        await self._send(_path(step, values), request)
        self._received.append(_received(request))
        return request.parsed

    async def _ask(self, spec: Spec, before: Any) -> None:
        def examine(request: Request, received: Received) -> Trouble | None:
            self._parse(request, received)
            self.look = mapping.look(spec, request.parsed, (), self._line.lang)
            return self.look.trouble

        values = self._values(before=before)
        request = self._request("ask", spec, values, examine)
        try:
            await self._send(_path(spec, values), request)
        finally:
            self._latency = request.tally.latency_s if request.tally.attempts else None
        self._received.append(_received(request))
        self.question = request.parsed

    async def _then(self, before: Any) -> None:
        spec, later = self._line.spec, list[Any]()
        began = asyncio.get_running_loop().time() - (self._latency or 0.0)
        for step in spec.then:
            if step.per == "answer":
                later.append(await self._after_answer(step, self._values(response=self.question, before=before)))
                if step.answer:
                    self._latency = asyncio.get_running_loop().time() - began
        steps = [step for step in spec.then if step.per == "chunk"]
        self.look = mapping.look(spec, self.question, later, self._line.lang)
        lacking = self.look.lacking if steps else ()
        calls = [self._after_chunk(step, at, chunk, before) for at, chunk in lacking for step in steps]
        pieces = await together(calls) if calls else []
        self._received += [piece for piece in pieces if isinstance(piece, Received)]
        if failed := next((piece for piece in pieces if isinstance(piece, Trouble)), None):
            raise Failed(failed)

    async def _after_answer(self, step: Step, values: Values) -> Any:
        """Send a step until it is finished; only its last response is kept."""
        clock, timeout = asyncio.get_running_loop().time, self._line.spec.timeout
        end = clock() + timeout
        for turn in range(int(timeout / POLL) + 2):
            pause = min(POLL, FIRST_POLL * (turn + 1))
            request = self._request("then", step, values, self._whole(step))
            await self._send(_path(step, values), request)
            done = step.until is None or bool(search(step.until, request.parsed))
            if done or clock() + pause > end:
                break
            await self._line.sleep(pause)
        self._received.append(_received(request))
        if not done:
            raise Failed(Trouble("timeout", say("asking.poll_timeout", self._line.lang, seconds=f"{timeout:g}")))
        return request.parsed

    async def _after_chunk(self, step: Step, at: int, chunk: Any, before: Any) -> Received | Trouble:
        own = search(self._line.spec.context_id, chunk) if self._line.spec.context_id else None
        named = None if own is None or isinstance(own, dict | list) else str(own)
        values = self._values(response=self.question, before=before, chunk=chunk, chunk_id=named)
        request = self._request("then", step, values, self._whole(step), at)
        path = _path(step, values)
        key, fetched = (request.method, path, request.body(), tuple(request.headers.items())), self._line.fetched
        async with fetched.lock(key):
            if (known := fetched.find(key)) is not None:
                return replace(known, chunk=at)
            try:
                await self._send(path, request)
            except Failed as failed:
                return self._chunk_failed(failed.trouble, at)
            fetched.keep(key, _received(request))
        return _received(request)

    def _chunk_failed(self, trouble: Trouble, at: int) -> Trouble:
        if trouble.word in ("key", "quota"):
            return trouble
        return Trouble("no_chunk_text", say("asking.chunk_failed", self._line.lang, rank=at + 1, message=trouble.message or trouble.word))

    # ------------------------------------------------------------------ one request
    def _values(self, **bodies: Any) -> Values:
        return Values(self._row, app=self._line.spec.app, environ=self._line.environ, **bodies)

    def _request(self, name: str, step: Spec | Step, values: Values, examine: Examine, chunk: int | None = None) -> Request:
        sends = step.body is not None and not in_query(step)
        kind = {"Content-Type": "application/json"} if sends else {}
        headers = {**kind, **filled_headers(step.headers, values)}
        return Request(name, step.method, headers, lambda: _encoded(filled(step.body, values)) if sends else b"", examine, chunk)

    async def _send(self, path: str, request: Request) -> None:
        """Send a request to its end. Raises Failed, StoppedError."""
        try:
            done = await self._line.wire.ask(path, request)
        except StoppedError:
            self.stopped = self.stopped or request  # of several at once, the first to be stopped is the one that met it
            raise
        finally:
            self._requests += request.tally.attempts
            if request.step != "then":
                self._attempts = request.tally.attempts
        if done.then != "done":
            if request.received is not None and request.chunk is None:
                self._received.append(request.received)
            word = done.word or "connection"
            raise Failed(Trouble(_WORDS.get(word, word), done.message or ""))

    def _whole(self, step: Step) -> Examine:
        """Look at a response that need not hold an answer."""

        def examine(request: Request, received: Received) -> Trouble | None:
            self._parse(request, received)
            if isinstance(request.parsed, str):
                return unreadable(request.parsed, self._line.lang)
            told = told_error(step.error or self._line.spec.error, request.parsed, self._line.lang)
            return Trouble("platform_error", told) if told else None

        return examine

    def _parse(self, request: Request, received: Received) -> None:
        """Bring a response into the mapping's shape; a secret that a stream has told in pieces is taken out of what is kept."""
        request.parsed = mapping.parsed(self._line.spec, received, self._line.lang)
        if isinstance(received.body, str) and isinstance(request.parsed, dict):
            clean = self._line.address.cleaned(request.parsed)
            if clean != request.parsed:
                self._broken = request.parsed.trouble if isinstance(request.parsed, Assembled) else None  # the clean body tells it no more
                clean.pop("events", None)  # each of them holds a piece, none the whole
                request.received = replace(received, body=clean)
                request.parsed = mapping.parsed(self._line.spec, request.received, self._line.lang)


def _path(step: Spec | Step, values: Values) -> str:
    path = filled_path(step.path, values)
    query = filled_query(step.body, values) if step.body is not None and in_query(step) else ""
    return f"{path}{'&' if '?' in path else '?'}{query}" if query else path


def _encoded(body: Any) -> bytes:
    try:
        return orjson.dumps(body)
    except TypeError:  # a frame's own kinds of numbers and dates, halves of characters
        return orjson.dumps(plain(body))


def _received(request: Request) -> Received:
    assert request.received is not None, "a request that is done has an answer"
    return request.received
