"""An OpenAI-compatible server on 127.0.0.1 with one of ragstone's own judges behind it: remembers what it was asked, can be slow."""

import asyncio
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import web

from ragstone.embed.bundled import BundledEmbedder
from ragstone.judge.base import Judge
from ragstone.judge.scripted import ScriptedJudge
from ragstone.questions.base import Question, ask, system_prompt
from ragstone.questions.kinds import KINDS


@dataclass
class TruthServer:
    """What was asked (request bodies, in order of arrival) and how long each answer takes."""

    judge: Judge
    delay_s: float = 0.0
    instead: Callable[[dict[str, Any]], tuple[int, dict[str, Any]] | None] = lambda body: None
    """(request body) -> (status, response body) in place of the truth; None = the truth."""
    logprobs: Callable[[str], Any] | None = None
    """Reply -> the probabilities of its tokens, for those who ask."""
    base_url: str = ""
    chats: list[dict[str, Any]] = field(default_factory=list)
    embeddings: list[dict[str, Any]] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0

    def inputs(self, since: int = 0) -> list[str]:
        """Return the user JSON of every chat request from number `since` on, with its kind."""
        return [kind_of(body) + body["messages"][1]["content"] for body in self.chats[since:]]


def kind_of(body: dict[str, Any]) -> str:
    """Return the kind that the first line of the system prompt names."""
    found = re.match(r"task: (\w+)/\d+\n", body["messages"][0]["content"])
    assert found, body["messages"][0]["content"][:80]
    return found.group(1)


def question_of(body: dict[str, Any]) -> Question:
    """Return the question a request body carries."""
    kind, (system, user) = KINDS[kind_of(body)], (message["content"] for message in body["messages"])
    return ask(kind, "zh" if system == system_prompt(kind, "zh") else "en", 0, system, orjson.loads(user))


def serving(truth: dict[str, Any], delay_s: float = 0.0) -> AbstractContextManager[TruthServer]:
    """Serve a truth table in a thread until the block ends."""
    return answering(ScriptedJudge.from_dict(truth), delay_s)


@contextmanager
def answering(judge: Judge, delay_s: float = 0.0) -> Iterator[TruthServer]:
    """Serve a judge, and the bundled embedder, in a thread until the block ends."""
    server, loop, ready = TruthServer(judge, delay_s), asyncio.new_event_loop(), threading.Event()

    async def start() -> None:
        app = web.Application(client_max_size=64 * 2**20)
        embedder = BundledEmbedder()

        async def chat(request: web.Request) -> web.Response:
            body = orjson.loads(await request.read())
            server.chats.append(body)
            server.at_once += 1
            server.most_at_once = max(server.most_at_once, server.at_once)
            try:
                await asyncio.sleep(server.delay_s)
                if (other := server.instead(body)) is not None:
                    return web.json_response(other[1], status=other[0])
                raw = await server.judge.complete(question_of(body))
            finally:
                server.at_once -= 1
            choice = {"index": 0, "message": {"role": "assistant", "content": raw.text}, "finish_reason": "stop"}
            if server.logprobs and body.get("logprobs"):
                choice["logprobs"] = server.logprobs(raw.text or "")
            return web.json_response({"choices": [choice], "usage": {"prompt_tokens": 10, "completion_tokens": 5}})

        async def embed(request: web.Request) -> web.Response:
            body = orjson.loads(await request.read())
            server.embeddings.append(body)
            vectors = await embedder.embed(body["input"])
            return web.json_response({"data": [{"index": i, "embedding": [float(x) for x in v]} for i, v in enumerate(vectors)]})

        app.router.add_post("/v1/chat/completions", chat)
        app.router.add_post("/v1/embeddings", embed)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        server.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        ready.set()
        try:
            await stopping.wait()
        finally:
            await runner.cleanup()
            await embedder.close()
            await judge.close()

    stopping = asyncio.Event()
    thread = threading.Thread(target=loop.run_until_complete, args=(start(),))
    thread.start()
    try:
        assert ready.wait(60)
        yield server
    finally:
        loop.call_soon_threadsafe(stopping.set)
        thread.join(60)
        loop.close()
