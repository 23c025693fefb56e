"""Proxies, certificates and slow connections; what an exchange goes through otherwise is tested with judge and embedder."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from support.asking import KEY, judge, question
from support.server import Answer, Server, refuse, say

import ragstone.transport.wire as module
from ragstone.errors import EndpointError


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
