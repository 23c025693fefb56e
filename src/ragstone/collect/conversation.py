"""One row's asking: what is sent before the question, the question itself, and what is sent after it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import orjson

from ragstone.collect import mapping
from ragstone.collect.answer import unreadable
from ragstone.collect.base import Kept, Received, Row, Trouble
from ragstone.collect.paths import search
from ragstone.collect.sending import Examine, Request
from ragstone.collect.template import Values, filled, filled_headers, filled_path
from ragstone.collect.told import told_error
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.collect.address import Address
    from ragstone.collect.spec import Spec, Step
    from ragstone.errors import RagstoneError
    from ragstone.transport.wire import Sleep, Wire
    from ragstone.types import Language

POLL = 1.0
"""Seconds between two looks at a step that is not finished yet."""
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
    fetched: dict[tuple[str, str, bytes], Received] = field(default_factory=dict)
    """Responses for single chunks, which many rows have in common."""
    locks: dict[tuple[str, str, bytes], asyncio.Lock] = field(default_factory=dict)


class Conversation:
    """Asks one row. `run` once, then `kept`."""

    def __init__(self, line: Line, row: Row) -> None:
        self._line, self._row = line, row
        self._received: list[Received] = []
        self._latency: float | None = None
        self._attempts = 0
        self.question: Any = None
        """The parsed response to the question, None until there is a whole one."""
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
            if spec.then and self.look is not None and self.look.trouble is None:
                await self._then(before)
        except Failed as failed:
            return failed.trouble
        return None

    def kept(self, trouble: Trouble | None, stop: RagstoneError | None = None) -> Kept:
        """Return what has come of the row."""
        return Kept(self._row.id, tuple(self._received), self._latency, self._attempts, trouble, stop)

    @property
    def last(self) -> Received | None:
        """The last response that is kept."""
        return self._received[-1] if self._received else None

    # ------------------------------------------------------------------ the steps
    async def _before(self, step: Step) -> Any:
        request = self._request("before", step, self._values(), self._whole(step))
        await self._send(step, request, self._values())
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
            await self._send(spec, request, values)
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
        pieces = await asyncio.gather(*(self._after_chunk(step, at, chunk, before) for at, chunk in lacking for step in steps))
        self._received += [piece for piece in pieces if isinstance(piece, Received)]
        if failed := next((piece for piece in pieces if isinstance(piece, Trouble)), None):
            raise Failed(failed)

    async def _after_answer(self, step: Step, values: Values) -> Any:
        """Send a step until it is finished; only its last response is kept."""
        clock, timeout = asyncio.get_running_loop().time, self._line.spec.timeout
        end = clock() + timeout
        for _ in range(max(1, int(timeout / POLL))):
            request = self._request("then", step, values, self._whole(step))
            await self._send(step, request, values)
            done = step.until is None or bool(search(step.until, request.parsed))
            if done or clock() + POLL > end:
                break
            await self._line.sleep(POLL)
        self._received.append(_received(request))
        if not done:
            raise Failed(Trouble("timeout", say("asking.poll_timeout", self._line.lang, seconds=f"{timeout:g}")))
        return request.parsed

    async def _after_chunk(self, step: Step, at: int, chunk: Any, before: Any) -> Received | Trouble:
        own = search(self._line.spec.context_id, chunk) if self._line.spec.context_id else None
        named = None if own is None or isinstance(own, dict | list) else str(own)
        values = self._values(response=self.question, before=before, chunk=chunk, chunk_id=named)
        request = self._request("then", step, values, self._whole(step), at)
        key = (request.method, self._line.address.at(filled_path(step.path, values)), request.body())
        async with self._line.locks.setdefault(key, asyncio.Lock()):
            if (known := self._line.fetched.get(key)) is not None:
                return replace(known, chunk=at)
            try:
                await self._send(step, request, values)
            except Failed as failed:
                return self._chunk_failed(failed.trouble, at)
            self._line.fetched[key] = _received(request)
        return _received(request)

    def _chunk_failed(self, trouble: Trouble, at: int) -> Trouble:
        if trouble.word in ("key", "quota"):
            return trouble
        return Trouble("no_chunk_text", say("asking.chunk_failed", self._line.lang, rank=at + 1, message=trouble.message or trouble.word))

    # ------------------------------------------------------------------ one request
    def _values(self, **bodies: Any) -> Values:
        return Values(self._row, app=self._line.spec.app, environ=self._line.environ, **bodies)

    def _request(self, name: str, step: Spec | Step, values: Values, examine: Examine, chunk: int | None = None) -> Request:
        sends = step.body is not None and step.method.upper() not in ("GET", "HEAD")
        kind = {"Content-Type": "application/json"} if sends else {}
        headers = {**kind, **filled_headers(step.headers, values)}
        return Request(name, step.method, headers, lambda: orjson.dumps(filled(step.body, values)) if sends else b"", examine, chunk)

    async def _send(self, step: Spec | Step, request: Request, values: Values) -> None:
        """Send a request to its end. Raises Failed, StoppedError."""
        self.stopped = request
        try:
            done = await self._line.wire.ask(filled_path(step.path, values), request)
        finally:
            if request.step != "then":
                self._attempts = request.tally.attempts
        self.stopped = None
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
                clean.pop("events", None)  # each of them holds a piece, none the whole
                request.received = replace(received, body=clean)
                request.parsed = mapping.parsed(self._line.spec, request.received, self._line.lang)


def _received(request: Request) -> Received:
    assert request.received is not None, "a request that is done has an answer"
    return request.received
