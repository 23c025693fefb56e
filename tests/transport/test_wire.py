"""Proxies, certificates and slow connections; what an exchange goes through otherwise is tested with judge and embedder."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from support.asking import KEY, judge, question
from support.server import Server, say

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
