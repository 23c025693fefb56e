"""Proxies, certificates and slow connections; what an exchange goes through otherwise is tested with judge and embedder."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from support.asking import KEY, judge, question
from support.rag_server import RagServer, fail
from support.server import Answer, Server, refuse, say

import ragstone.transport.wire as module
from ragstone.errors import EndpointError
from ragstone.transport.answer import Answer as HttpAnswer
from ragstone.transport.endpoint import COLLECT, Endpoint, Key
from ragstone.transport.retry import Backoff
from ragstone.transport.wire import DONE, Spared, Step, Tally, Wire


@asynccontextmanager
async def listening(reply: bytes | None) -> AsyncIterator[int]:
    """A port that answers every connection with these bytes; None = it stays silent."""
    closing = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        if reply is None:
            await closing.wait()
        else:
            writer.write(reply)
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        closing.set()
        server.close()


@pytest.fixture
def proxied(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    def use(port: int) -> None:
        for name in ("http_proxy", "https_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{port}")
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)

    return use


async def test_a_proxy_of_the_environment_is_asked_for_other_hosts_and_not_for_this_machine(proxied: Any) -> None:
    async with Server([say('{"ok":1}')]) as server, Server([say('{"ok":2}')]) as proxy:
        proxied(proxy.port)
        for url, text in ((server.url, '{"ok":1}'), ("http://judge.example/v1", '{"ok":2}')):
            asked = judge(url)
            assert (await asked.complete(question())).text == text
            await asked.close()
        assert [len(server.seen), len(proxy.seen)] == [1, 1]
        assert proxy.seen[0].headers["Host"] == "judge.example"


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (b"HTTP/1.1 407 Who\r\nContent-Length: 0\r\n\r\n", "HTTP 407"),
        (b"HTTP/1.1 502 Down\r\nContent-Length: 0\r\n\r\n", "cannot be reached"),
    ],
)
async def test_a_proxy_that_refuses_is_named(reply: bytes, words: str, proxied: Any) -> None:
    async with listening(reply) as port:
        proxied(port)
        asked = judge("https://judge.example/v1", retries=1)
        with pytest.raises(EndpointError, match=words) as caught:
            await asked.complete(question())
        await asked.close()
    assert KEY not in str(caught.value)


async def test_a_failed_secure_connection_stops_the_run_at_once() -> None:
    async with listening(b"HTTP/1.1 400 Bad\r\n\r\n") as port:
        asked = judge(f"https://127.0.0.1:{port}/v1")
        with pytest.raises(EndpointError, match="secure connection failed"):
            await asked.complete(question())
        await asked.close()


async def test_a_connection_that_does_not_stand_is_no_timeout_of_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CONNECT", 0.05)
    async with listening(None) as port:
        asked = judge(f"https://127.0.0.1:{port}/v1", retries=0, timeout=30)
        with pytest.raises(EndpointError, match=r"no connection within 0\.05 s"):
            await asked.complete(question())
        await asked.close()


LONG = "n" * 385
"""Fills an error text so that a key behind it stands across the place where the text is cut."""


@pytest.mark.parametrize(
    "answer",
    [
        refuse(400, LONG + KEY),
        refuse(500, LONG + KEY),
        Answer(502, f"<html><title>{LONG}{KEY}</title></html>".encode()),
        Answer(200, (LONG + KEY).encode()),
        Answer(400, {"error": {"message": "".join(f"\\u{ord(c):04x}" for c in KEY)}}),
    ],
)
async def test_no_piece_of_a_key_is_left_where_a_text_is_cut(answer: Answer) -> None:
    async with Server([say("{}"), answer]) as server:
        asked = judge(server.url, retries=0)
        await asked.complete(question("first"))
        reply = await asked.complete(question())
        await asked.close()
    assert reply.error is not None
    assert KEY[:5] not in str(reply.message)


async def test_a_key_spelt_with_escapes_in_a_reply_is_masked() -> None:
    spelt = "".join(f"\\u{ord(c):04X}" for c in KEY)
    async with Server([say(f'{{"claims":["{spelt}"]}}')]) as server:
        asked = judge(server.url)
        reply = await asked.complete(question())
        await asked.close()
    assert reply.text == '{"claims":["sk-…Vd"]}'


async def test_the_query_of_an_address_stands_in_no_error() -> None:
    async with listening(b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 3\r\n\r\nzzz") as port:
        asked = judge(f"http://127.0.0.1:{port}/v1?key=hidden-secret", retries=0)
        with pytest.raises(EndpointError, match="has taken no request") as caught:
            await asked.complete(question())
        await asked.close()
    assert "hidden-secret" not in str(caught.value)


@pytest.mark.parametrize("location", ["http://[::1", "http://[", ""])
async def test_a_redirect_to_nonsense_stops_the_run_like_any_other(location: str) -> None:
    async with Server([Answer(302, b"", {"Location": location})]) as server:
        asked = judge(server.url)
        with pytest.raises(EndpointError, match="redirects to"):
            await asked.complete(question())
        await asked.close()


@pytest.mark.parametrize("packed", [False, True])
async def test_a_reply_without_end_is_not_read_to_its_end(packed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST", 1 << 16)
    raw = b" " * (1 << 22)
    body = Answer(body=gzip.compress(raw), headers={"Content-Encoding": "gzip"}) if packed else Answer(body=raw)
    async with Server([body]) as server:
        asked = judge(server.url)
        reply = await asked.complete(question())
        await asked.close()
    assert (reply.error, reply.attempts) == ("bad_reply", 1)
    assert "more than 0 MB" in str(reply.message)


# ------------------------------------------------------------------ requests that are no judge's
class Plain:
    """A request with a method and headers of its own."""

    spared: Spared = None

    def __init__(self, method: str, headers: dict[str, str] | None, body: bytes) -> None:
        self.method, self.headers, self._body = method, headers, body
        self.tally = Tally()

    def body(self) -> bytes:
        return self._body


class Taken:
    """A reader of answers that takes everything."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, Any, str]] = []

    def sort(self, answer: HttpAnswer, data: Any, exchange: Any, url: str) -> tuple[Step, bool]:
        self.answers.append((answer.status, data, url))
        return DONE, True


@pytest.mark.parametrize(
    ("method", "headers", "body"),
    [
        ("GET", None, b""),
        ("GET", {"X-One": "1"}, b""),
        ("POST", {"Content-Type": "application/json"}, b'{"q":1}'),
        ("PUT", None, b"x"),
        ("DELETE", None, b""),
    ],
)
async def test_any_request_can_be_sent_and_read_by_another_reader(method: str, headers: dict[str, str] | None, body: bytes) -> None:
    reader = Taken()
    async with RagServer(fail(418, {"tea": True})) as server:
        endpoint = Endpoint(server.url, "", Key(KEY, "K"), COLLECT, "en", whole=True)
        made = Wire(
            endpoint,
            timeout=5.0,
            retries=0,
            concurrency=1,
            backoff=Backoff(),
            sleep=asyncio.sleep,
            headers={"Accept": "*/*", "X-Two": "2"},
            meaning=lambda *_: reader,
        )
        step = await made.ask("some/where?x=1", Plain(method, headers, body))
        await made.close()
    (asked,) = server.seen
    assert (asked.method, asked.path_qs, asked.raw) == (method, "/some/where?x=1", body)
    assert (asked.headers["X-Two"], asked.headers["Accept"], asked.headers.get("X-One")) == ("2", "*/*", (headers or {}).get("X-One"))
    assert "Authorization" not in asked.headers
    assert step is DONE
    assert reader.answers == [(418, {"tea": True}, f"{server.url}/some/where?x=1")]


async def test_a_judge_still_posts_json_with_its_key() -> None:
    async with Server() as server:
        made = judge(server.url)
        await made.complete(question())
        await made.close()
    sent = server.seen[0].headers
    assert (sent["Content-Type"], sent["Accept"], sent["Authorization"]) == ("application/json", "application/json", f"Bearer {KEY}")
