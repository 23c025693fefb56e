"""An OpenAI-compatible chat and embeddings server on 127.0.0.1 whose every answer a test decides.

    async with Server() as server:                      # answers every question with {"ok": true}
        server.chat = [refuse(429), say("{}")]          # the first two requests; later ones get the last step again
        server.chat = lambda seen: say(text_for(seen))  # or decided by the request
        HttpJudge("m", server.url, "key")
        server.seen                                     # what arrived

`ThreadedServer` is the same in a thread of its own, for tests that are not coroutines (command lines, `ragstone.evaluate`).
"""

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import orjson
from aiohttp import web


@dataclass(frozen=True)
class Seen:
    """A request as it arrived; `nth` counts from 0 within its operation."""

    path: str
    headers: Mapping[str, str]
    raw: bytes
    nth: int

    @property
    def body(self) -> dict[str, Any]:
        return orjson.loads(self.raw)

    @property
    def user(self) -> str:
        """The user's text of a chat request."""
        return self.body["messages"][-1]["content"]

    @property
    def format(self) -> str | None:
        return self.body.get("response_format", {}).get("type")


@dataclass(frozen=True)
class Answer:
    """What the server does with one request. `mode`: hang = never answer, drip = blank lines for ever, drop = cut the line,
    cut = announce more bytes than are sent."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    after: float = 0.0
    mode: Literal["answer", "hang", "drip", "drop", "cut"] = "answer"

    @property
    def raw(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else orjson.dumps(self.body)


Script = Sequence[Answer] | Callable[[Seen], Answer]


def say(content: Any, finish: str | None = "stop", usage: Any = None, after: float = 0.0, **message: Any) -> Answer:
    """A chat completion holding `content`."""
    choice = {"index": 0, "message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}
    return Answer(body={"id": "c", "object": "chat.completion", "choices": [choice], "usage": usage}, after=after)


def refuse(status: int, body: Any = None, after: float = 0.0, **headers: str) -> Answer:
    """An error; a text becomes the message of an OpenAI-shaped body, bytes are sent as they are."""
    shaped = {"error": {"message": body or f"refused with {status}", "type": "test", "param": None, "code": None}}
    return Answer(
        status, body if isinstance(body, bytes | dict | list) else shaped, {k.replace("_", "-"): v for k, v in headers.items()}, after
    )


def vectors(*rows: Any, indices: Sequence[Any] | None = None, **more: Any) -> Answer:
    """An embeddings response; `indices` replaces 0, 1, …; an index None is left out."""
    places = range(len(rows)) if indices is None else indices
    data = [{"embedding": row} | ({} if i is None else {"index": i}) for i, row in zip(places, rows, strict=True)]
    return Answer(body={"object": "list", "data": data, **more})


def vector(text: str, size: int = 8) -> list[float]:
    """A vector that differs between texts and is never zero."""
    codes = [ord(c) for c in text]
    return [1.0 + sum(c * (i + 1) for c in codes) % (7 + i) for i in range(size)]


def embed(seen: Seen) -> Answer:
    """The right answer to an embeddings request."""
    return vectors(*(vector(text) for text in seen.body["input"]))


HANG, DRIP, DROP, CUT = (Answer(mode=m) for m in ("hang", "drip", "drop", "cut"))
PAGE = Answer(200, b"<!doctype html><html><head><title>Welcome</title></head></html>", {"Content-Type": "text/html"})


class Server:
    """The server; `chat` and `embeddings` may be replaced at any time, `seen` holds every request in order of arrival."""

    def __init__(self, chat: Script | None = None, embeddings: Script | None = None) -> None:
        self.chat: Script = chat or [say('{"ok":true}')]
        self.embeddings: Script = embeddings or embed
        self.seen: list[Seen] = []
        self.most_at_once = 0
        self._at_once = 0
        self._runner: web.AppRunner | None = None
        self._closing: asyncio.Event | None = None
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def asked(self, operation: str = "chat/completions") -> list[Seen]:
        return [s for s in self.seen if s.path.endswith(operation)]

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.stop()

    async def start(self) -> None:
        self._closing = asyncio.Event()
        app = web.Application(client_max_size=1 << 26)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        if self._closing is not None and self._runner is not None:
            self._closing.set()
            await self._runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            return await self._answer(request)
        finally:
            self._at_once -= 1

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        operation = "embeddings" if request.path.endswith("/embeddings") else "chat/completions"
        seen = Seen(request.path_qs, dict(request.headers), await request.read(), len(self.asked(operation)))
        self.seen.append(seen)
        script = self.embeddings if operation == "embeddings" else self.chat
        answer = script(seen) if callable(script) else script[min(seen.nth, len(script) - 1)]
        if answer.after:
            await asyncio.sleep(answer.after)
        match answer.mode:
            case "hang":
                await self._hold()
            case "drip":
                return await self._drip(request)
            case "drop" | "cut":
                return await self._break(request, answer.mode)
        return web.Response(status=answer.status, body=answer.raw, headers={"Content-Type": "application/json", **answer.headers})

    async def _hold(self, seconds: float | None = None) -> None:
        assert self._closing is not None
        with suppress(TimeoutError):
            await asyncio.wait_for(self._closing.wait(), seconds)

    async def _drip(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        with suppress(ConnectionError):
            while self._closing is not None and not self._closing.is_set():
                await response.write(b"\n")
                await self._hold(0.02)
        return response

    async def _break(self, request: web.Request, mode: str) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "1000"})
        if mode == "cut":
            await response.prepare(request)
            await response.write(b'{"choices":[')
        assert request.transport is not None
        request.transport.close()
        return response


class ThreadedServer(Server):
    """A server with a thread and an event loop of its own, as a plain context manager."""

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self.start(), self._loop).result(60)
        return self

    def __exit__(self, *error: object) -> None:
        asyncio.run_coroutine_threadsafe(self.stop(), self._loop).result(60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(60)
        self._loop.close()
