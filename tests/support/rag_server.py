"""A RAG application on 127.0.0.1 whose every reply a test decides: any method, any path.

    async with RagServer() as server:                      # replies {"answer": "yes"} to everything
        server.script = [fail(429), tell({"answer": "a"})] # the first two requests; later ones get the last reply again
        server.script = {"/v1/chat-messages": tell(…), "GET /detail": [fail(500), tell(…)]}   # by path, or by method and path
        server.script = lambda asked: tell({"answer": asked.body["query"]})                   # or decided by the request
        server.seen                                        # what arrived, in order

A reply may be a stream sent in pieces, be held until the test lets it go, never come, or break off:

    stream('data: {"a":1}\\n\\n', HELD, "data: [DONE]\\n\\n")  # waits at HELD until `server.release()`
    tell({…}, held="slow")                                 # waits until `server.release("slow")`
    HANG, DROP, stream("data: {", cut=True), redirect("/login"), page("<html>…")

`await server.arrived(3)` waits for the third request, so that no test has to sleep. `ThreadedRagServer` is the same in a thread of its own
(`with … as server`), for tests of command lines; there `arrived` and `release` are plain calls.
"""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, Self

import orjson
from aiohttp import web


@dataclass(frozen=True)
class Asked:
    """A request as it arrived; `nth` counts from 0 within its method and path."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    raw: bytes
    nth: int
    path_qs: str = ""
    """Path and query as they were spelt."""

    @property
    def body(self) -> Any:
        """The JSON value of the body."""
        return orjson.loads(self.raw)


class _Held:
    """The place in a stream where the server waits for `release()`."""


HELD: Final = _Held()


@dataclass(frozen=True)
class Reply:
    """What the server does with one request."""

    status: int = 200
    body: Any = None
    """Bytes and texts are sent as they are, everything else as JSON."""
    type: str | None = None
    """Content-Type; None = application/json for JSON, text/plain for text."""
    headers: Mapping[str, str] = field(default_factory=dict)
    held: str | None = None
    """Name to be released before anything is sent."""
    pieces: tuple[bytes | _Held, ...] | None = None
    mode: Literal["reply", "hang", "drop", "cut"] = "reply"
    """hang = never reply, drop = close the connection instead, cut = close it after the pieces, in the middle of the body."""

    @property
    def raw(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        return self.body.encode() if isinstance(self.body, str) else orjson.dumps(self.body)

    @property
    def content_type(self) -> str:
        return self.type or ("text/plain; charset=utf-8" if isinstance(self.body, str) else "application/json")


def tell(body: Any, status: int = 200, *, held: str | None = None, type: str | None = None, **headers: str) -> Reply:
    """A reply with a JSON value (or a text, as it is); `Retry_After="1"` becomes a header."""
    return Reply(status, body, type, _named(headers), held)


def fail(status: int, body: Any = None, **headers: str) -> Reply:
    """A failure; without a body `{"message": "failed with <status>"}`."""
    return tell({"message": f"failed with {status}"} if body is None else body, status, **headers)


def stream(*pieces: str | bytes | _Held, type: str = "text/event-stream", cut: bool = False, status: int = 200) -> Reply:
    """A body sent piece by piece; with `cut` the connection breaks after the last."""
    sent = tuple(piece.encode() if isinstance(piece, str) else piece for piece in pieces)
    return Reply(status, type=type, pieces=sent, mode="cut" if cut else "reply")


def page(html: str = "<!doctype html><html><head><title>Sign in</title></head><body></body></html>", status: int = 200) -> Reply:
    """A web page."""
    return Reply(status, html, "text/html; charset=utf-8")


def redirect(to: str, status: int = 302) -> Reply:
    """A redirect."""
    return Reply(status, "", headers={"Location": to})


HANG, DROP = Reply(mode="hang"), Reply(mode="drop")
Rule = Reply | Sequence[Reply] | Callable[[Asked], Reply]
Script = Rule | Mapping[str, Rule]


def _named(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


class RagServer:
    """The server. `script` may be replaced at any time; a path no rule is for gets 404."""

    def __init__(self, script: Script | None = None) -> None:
        self.seen: list[Asked] = []
        self.most_at_once = 0
        """Requests that were in the server at one time, at most."""
        self.port = 0
        self._at_once = 0
        self._counts: Counter[tuple[str, str]] = Counter()
        self.script = Reply(body={"answer": "yes"}) if script is None else script
        self._runner: web.AppRunner | None = None
        self._released: dict[str, asyncio.Event] = {}
        self._closing = self._news = asyncio.Event()

    @property
    def script(self) -> Script:
        return self._script

    @script.setter
    def script(self, script: Script) -> None:
        self._script, self._used = script, Counter[str]()

    @property
    def url(self) -> str:
        """The base address, without a path."""
        return f"http://127.0.0.1:{self.port}"

    def asked(self, path: str, method: str | None = None) -> list[Asked]:
        """The requests for one path."""
        return [a for a in self.seen if a.path == path and method in (None, a.method)]

    async def arrived(self, count: int) -> None:
        """Wait until so many requests have arrived in all (a minute at most)."""
        async with asyncio.timeout(60):
            while len(self.seen) < count:
                await self._news.wait()

    def release(self, name: str = "") -> None:
        """Let go what is held under a name, now and from now on; "" is that of HELD in streams."""
        self._event(name).set()

    # ------------------------------------------------------------------ its life
    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.stop()

    async def start(self) -> None:
        self._closing, self._news, self._released = asyncio.Event(), asyncio.Event(), {}
        app = web.Application(client_max_size=1 << 26)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port).start()
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        self._closing.set()
        if self._runner is not None:
            await self._runner.cleanup()

    # ------------------------------------------------------------------ one request
    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            return await self._reply(request, self._decide(await self._arrive(request)))
        finally:
            self._at_once -= 1

    async def _arrive(self, request: web.Request) -> Asked:
        raw, place = await request.read(), (request.method, request.path)
        asked = Asked(*place, dict(request.query), dict(request.headers), raw, self._counts[place], request.path_qs)
        self._counts[place] += 1
        self.seen.append(asked)
        self._news.set()
        self._news = asyncio.Event()
        return asked

    def _decide(self, asked: Asked) -> Reply:
        rule, name = self.script, ""
        if isinstance(rule, Mapping):
            name = next((n for n in (f"{asked.method} {asked.path}", asked.path) if n in rule), "")
            if not name:
                return fail(404, {"message": f"nothing at {asked.path}"})
            rule = rule[name]
        if isinstance(rule, Reply):
            return rule
        if callable(rule):
            return rule(asked)
        self._used[name] += 1
        return rule[min(self._used[name], len(rule)) - 1]

    async def _reply(self, request: web.Request, reply: Reply) -> web.StreamResponse:
        if reply.held is not None and not await self._until(reply.held):
            reply = replace(reply, mode="drop")
        if reply.mode == "hang":
            await self._closing.wait()
        if reply.mode in ("hang", "drop"):
            return self._break(request, web.StreamResponse())
        headers = {"Content-Type": reply.content_type, **reply.headers}
        if reply.pieces is None and reply.mode == "reply":
            return web.Response(status=reply.status, body=reply.raw, headers=headers)
        return await self._stream(request, reply, web.StreamResponse(status=reply.status, headers=headers))

    async def _stream(self, request: web.Request, reply: Reply, response: web.StreamResponse) -> web.StreamResponse:
        response.enable_chunked_encoding()
        await response.prepare(request)
        for piece in reply.pieces or ():
            if isinstance(piece, bytes):
                await response.write(piece)
            elif not await self._until(""):
                return self._break(request, response)
        return self._break(request, response) if reply.mode == "cut" else response

    def _break(self, request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
        if request.transport is not None:
            request.transport.close()
        return response

    async def _until(self, name: str) -> bool:
        """Wait for a release; False if the server closes first."""
        waits = [asyncio.ensure_future(event.wait()) for event in (self._event(name), self._closing)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        return self._event(name).is_set()

    def _event(self, name: str) -> asyncio.Event:
        return self._released.setdefault(name, asyncio.Event())


class ThreadedRagServer:
    """A RagServer with a thread and an event loop of its own, as a plain context manager."""

    def __init__(self, script: Script | None = None) -> None:
        self._server = RagServer(script)

    @property
    def script(self) -> Script:
        return self._server.script

    @script.setter
    def script(self, script: Script) -> None:
        self._server.script = script

    @property
    def seen(self) -> list[Asked]:
        return self._server.seen

    @property
    def most_at_once(self) -> int:
        return self._server.most_at_once

    @property
    def url(self) -> str:
        return self._server.url

    def asked(self, path: str, method: str | None = None) -> list[Asked]:
        return self._server.asked(path, method)

    def arrived(self, count: int) -> None:
        """Wait until so many requests have arrived in all (a minute at most)."""
        asyncio.run_coroutine_threadsafe(self._server.arrived(count), self._loop).result(70)

    def release(self, name: str = "") -> None:
        """Let go what is held under a name."""
        self._loop.call_soon_threadsafe(self._server.release, name)

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._server.start(), self._loop).result(60)
        return self

    def __exit__(self, *error: object) -> None:
        asyncio.run_coroutine_threadsafe(self._server.stop(), self._loop).result(60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(60)
        self._loop.close()
