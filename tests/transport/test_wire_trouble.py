"""Servers that misbehave, on real sockets: dropped and stale connections, silence, stops, limits; waits are noted, not slept."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import orjson
import pytest
from support.asking import Waits, judge, question
from support.clock import no_waiting
from support.server import DRIP, DROP, HANG, Answer, Seen, Server, refuse, say

import ragstone.transport.retry as retry
from ragstone.errors import AuthError, EndpointError
from ragstone.judge.base import RawReply
from ragstone.judge.http import HttpJudge

GOOD = say('{"claims":[]}', usage={"prompt_tokens": 9, "completion_tokens": 3})


async def ask_many(asked: HttpJudge, count: int, name: str = "q") -> list[RawReply]:
    async with asyncio.timeout(120):
        return list(await asyncio.gather(*(asked.complete(question(f"{name}{i}")) for i in range(count))))


@asynccontextmanager
async def raw_server(answers: Callable[[int, int], bytes | None]) -> AsyncIterator[tuple[str, list[int]]]:
    """Answers request `nth` of connection `number` with bytes, None = lets the connection fall."""
    served: list[int] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = len(served)
        served.append(0)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                size = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
                await reader.readexactly(size)
                if (raw := answers(number, served[number])) is None:
                    break
                served[number] += 1
                writer.write(raw)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        writer.transport.abort()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", served
    finally:
        server.close()


BODY = orjson.dumps(GOOD.body)
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY)


async def test_a_connection_that_falls_when_it_is_used_again_is_replaced_at_once_and_free() -> None:
    waits = Waits()
    async with raw_server(lambda _number, nth: None if nth else OK) as (url, served):
        asked = judge(url, retries=0, sleep=waits)
        replies = [(await ask_many(asked, 1, f"{i}-"))[0] for i in range(5)]
        await asked.close()
    assert [r.error for r in replies] == [None] * 5
    assert (waits, sum(served)) == ([], 5)


async def test_a_server_that_accepts_and_closes_is_no_endless_loop() -> None:
    waits = Waits()
    async with raw_server(lambda number, nth: OK if number == 0 and not nth else None) as (url, _):
        asked = judge(url, retries=3, sleep=waits)
        await asked.complete(question("first"))
        reply = await asked.complete(question())
        await asked.close()
    assert (reply.error, reply.attempts, len(waits)) == ("connection", 5, 3)


@no_waiting
async def test_a_server_that_drops_connections_above_four_is_worked_through() -> None:
    server = Server()

    def answer(seen: Seen) -> Answer:
        return DROP if server._at_once > 4 else say("{}", after=0.01)

    server.chat = answer
    async with server:
        asked = judge(server.url, concurrency=16, retries=8, sleep=lambda seconds: asyncio.sleep(seconds / 50))
        replies = await ask_many(asked, 200)
        await asked.close()
    assert [r.error for r in replies] == [None] * 200
    assert len(server.seen) < 500


@pytest.mark.parametrize("mode", [HANG, DRIP], ids=["silent", "blank lines"])
@no_waiting
async def test_a_server_that_falls_silent_costs_timeouts_and_no_stall(mode: Answer) -> None:
    async with Server(lambda seen: mode if seen.nth > 10 else GOOD) as server:
        asked = judge(server.url, timeout=0.2, retries=1)
        replies = await ask_many(asked, 40)
        await asked.close()
    assert {r.error for r in replies} == {None, "timeout"}
    assert sum(r.error is None for r in replies) == 11


@no_waiting
async def test_concurrency_one_stays_one_whatever_happens() -> None:
    kinds = [refuse(500), refuse(429, Retry_After="1"), DROP, GOOD]
    async with Server(lambda seen: kinds[seen.nth] if seen.nth < 4 else say("{}", after=0.001)) as server:
        asked = judge(server.url, concurrency=1)
        assert [r.error for r in await ask_many(asked, 12)] == [None] * 12
        await asked.close()
        assert server.most_at_once == 1


# ------------------------------------------------------------------ stops
@pytest.mark.parametrize(
    ("answer", "words"),
    [(refuse(500, "on fire"), "HTTP 500: on fire"), (HANG, "no complete answer"), (refuse(429), "HTTP 429"), (DROP, "closed the conn")],
)
@no_waiting
async def test_an_endpoint_that_has_never_taken_anything_stops_the_run(answer: Answer, words: str) -> None:
    async with Server([answer]) as server:
        asked = judge(server.url, timeout=1.0, retries=2, concurrency=4)
        results = await asyncio.gather(*(asked.complete(question(str(i))) for i in range(12)), return_exceptions=True)
        await asked.close()
    assert any(isinstance(r, EndpointError) for r in results)
    assert all(isinstance(r, EndpointError) for r in results if not isinstance(r, RawReply))
    text = str(next(r for r in results if isinstance(r, EndpointError)))
    for word in (words, server.url, "m-1", "[judge] base_url"):
        assert word in text


@no_waiting
async def test_what_is_on_the_wire_when_a_key_is_refused_comes_in() -> None:
    def answer(seen: Seen) -> Answer:
        return GOOD if not seen.nth else refuse(401, "revoked") if "bad" in seen.user else Answer(body=GOOD.body, after=0.1)

    async with Server(answer) as server:
        asked = judge(server.url, concurrency=4)
        await asked.complete(question("first"))
        slow = [asyncio.create_task(asked.complete(question(f"slow{i}"))) for i in range(3)]
        await asyncio.sleep(0.02)
        later = [asyncio.create_task(asked.complete(question(f"later{i}"))) for i in range(4)]
        with pytest.raises(AuthError):
            await asked.complete(question("bad"))
        assert [(await task).error for task in slow] == [None] * 3
        results = await asyncio.gather(*later, return_exceptions=True)
        await asked.close()
        assert len(server.seen) <= 1 + 3 + 1 + 4
    assert any(isinstance(r, AuthError) for r in results)


# ------------------------------------------------------------------ shared repeats, budget
async def test_spent_repeats_are_told_once_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "LEAST_ALLOWANCE", 2)
    told: list[str] = []
    async with Server(lambda seen: refuse(500) if seen.nth else GOOD) as server:
        asked = judge(server.url)
        asked.expect(0, told.append)
        await asked.complete(question("first"))
        replies = [await asked.complete(question(str(i))) for i in range(3)]
        await asked.close()
    assert [r.attempts for r in replies] == [4, 2, 2]
    assert len(told) == 1
    assert "--retry-failed" in told[0]
    assert asked._wire.unrepeated == 3


class Coins:
    """A purse with so many requests in it."""

    def __init__(self, left: int) -> None:
        self.left, self.settled = left, list[Any]()

    def take(self, body: bytes) -> "Coins | None":
        assert body.startswith(b"{")
        self.left -= 1
        return self if self.left >= 0 else None

    def settle(self, data: dict[str, Any] | None) -> None:
        self.settled.append(data and sorted(data)[0])


async def test_every_try_is_paid_for_and_settled_once() -> None:
    async with Server([GOOD, refuse(500), DROP, GOOD]) as server:
        asked = judge(server.url)
        asked._wire.purse = purse = Coins(5)
        replies = [await asked.complete(question(str(i))) for i in range(4)]
        await asked.close()
        assert len(server.seen) == 5
    assert [r.error for r in replies] == [None, None, None, "budget"]
    assert len(purse.settled) == 5
    assert purse.settled[:3] == ["choices", "error", None]


async def test_requests_a_minute_are_kept() -> None:
    waits = Waits()
    async with Server([GOOD]) as server:
        asked = judge(server.url, rpm=6, sleep=waits)
        await ask_many(asked, 3)
        await asked.close()
    assert [round(seconds) for seconds in waits] == [10, 21]


async def how_it_ends(asked: HttpJudge, count: int, name: str = "q") -> list[str]:
    """Ask one after the other by 16 at a time; returns the words, and at last why the run stopped."""
    words: list[str] = []
    rest = iter(range(count))

    async def work() -> None:
        for n in rest:
            words.append((await asked.complete(question(f"{name}{n}"))).error or "fine")

    try:
        async with asyncio.timeout(120):
            await asyncio.gather(*(work() for _ in range(16)))
    except EndpointError as stopped:
        words.append(str(stopped))
    return words


ABSENT = [(HANG, "timeout"), (refuse(429), "rate_limited"), (DROP, "connection"), (refuse(503), "bad_gateway")]


@pytest.mark.parametrize(("answer", "word"), ABSENT, ids=[word for _, word in ABSENT])
@no_waiting
async def test_an_endpoint_that_was_never_there_is_not_asked_everything(answer: Answer, word: str) -> None:
    async with Server(lambda _: answer) as server:
        asked = judge(server.url, timeout=1.0, retries=1, sleep=Waits())
        words = await how_it_ends(asked, 3000)
        await asked.close()
    assert set(words[:-1]) <= {word}
    assert len(words) <= 17
    assert "has taken no request" in words[-1]


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(("answer", "word"), ABSENT, ids=[word for _, word in ABSENT])
@no_waiting
async def test_an_endpoint_that_goes_away_ends_the_run_before_every_cell_has_failed(answer: Answer, word: str, lang: Any) -> None:
    async with Server(lambda seen: GOOD if seen.nth < 20 else answer) as server:
        asked = judge(server.url, timeout=1.0, retries=1, lang=lang, sleep=Waits())
        words = await how_it_ends(asked, 3000)
        await asked.close()
    assert set(words[:-1]) <= {"fine", word}
    assert 99 <= words.count(word) <= 99 + 16, "what was out at the end may still end"
    assert {"en": "answered none of the last 100", "zh": "最近 100 个请求"}[lang] in words[-1]
    assert "--retry-failed" in words[-1]


@pytest.mark.parametrize(
    "answer", [refuse(500), refuse(400, "input is too long: maximum context length"), say("")], ids=["500", "400", "empty"]
)
async def test_an_endpoint_that_is_there_but_takes_nothing_fails_each_cell_for_its_own_reason(answer: Answer) -> None:
    async with Server(lambda seen: GOOD if seen.nth < 20 else answer) as server:
        asked = judge(server.url, retries=0, sleep=Waits())
        words = await how_it_ends(asked, 300)
        await asked.close()
    assert len(words) == 300
    assert set(words[-200:]) < {"server_error", "too_long", "empty_reply"}


async def test_now_and_then_an_answer_keeps_a_run_going() -> None:
    async with Server(lambda seen: GOOD if seen.nth % 50 == 0 else refuse(503)) as server:
        asked = judge(server.url, retries=0, sleep=Waits())
        words = await how_it_ends(asked, 400)
        await asked.close()
    assert len(words) == 400


@no_waiting
async def test_sixteen_requests_without_any_answer_are_enough_at_first() -> None:
    async with Server([HANG]) as server:
        asked = judge(server.url, timeout=1.0, retries=5, concurrency=16)
        results = await asyncio.gather(*(asked.complete(question(str(i))) for i in range(60)), return_exceptions=True)
        await asked.close()
        assert {type(r) for r in results} == {EndpointError}
        assert 16 <= len(server.seen) < 100, "none is repeated to its end"


@no_waiting
async def test_fifteen_silent_requests_before_the_good_ones_end_no_run() -> None:
    async with Server(lambda seen: HANG if seen.user.endswith('"bad"}') else GOOD) as server:
        asked = judge(server.url, timeout=1.0, retries=0, concurrency=16)
        texts = ["bad"] * 15 + [f"good{i}" for i in range(5)]
        results = await asyncio.gather(*(asked.complete(question(text)) for text in texts))
        await asked.close()
    assert [r.error for r in results] == ["timeout"] * 15 + [None] * 5
