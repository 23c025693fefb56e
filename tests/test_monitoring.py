"""Reading production traces from Python: windows that stay, time limits, projects, servers that are not there."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest
from support.langfuse_server import LangfuseServer
from support.langfuse_traces import serve, trace
from support.rag_server import Asked, Reply, tell

from ragstone.config import load_config
from ragstone.errors import ConfigError, EndpointError, StoppedError
from ragstone.langfuse.client import Client
from ragstone.monitoring import collect_traces

NOW = datetime(2026, 12, 2, tzinfo=UTC)


def made(*hours: int) -> list:
    return [trace(f"t{hour:02}", question="q", answer="a", at=f"2026-12-01T{hour:02}:30:00.000Z") for hour in hours]


@pytest.fixture
async def server() -> AsyncIterator[LangfuseServer]:
    async with LangfuseServer("v5") as server:
        serve(server.langfuse, made(1, 2, 3))
        yield server


async def at_once(_: float) -> None:
    """Wait for nothing."""


async def read(server: LangfuseServer, to: Path, *, now: datetime = NOW, on_notice=None, **flags):
    config = load_config(flags, environ={}).config
    quick = {"client": lambda host: Client(host, sleep=at_once)}
    return await collect_traces(to=to, config=config, environ=server.environ, now=now, on_notice=on_notice, **quick)


def ids(path: Path) -> list[str]:
    return [orjson.loads(line)["id"] for line in path.read_bytes().splitlines()]


async def test_a_window_that_was_begun_stays_whatever_the_time_is_now(server, tmp_path):
    to, keys = tmp_path / "s.jsonl", server.langfuse.keys

    def cut_off(asked):
        if told.whole:
            server.langfuse.keys = ("pk-lf-other", "sk-lf-other")
        return told(asked)

    told = serve(server.langfuse, made(1, 2, 3, 4, 5, 6))
    server.langfuse.more = cut_off
    with pytest.raises(StoppedError):
        await read(server, to)
    server.langfuse.keys, server.langfuse.more = keys, told
    told.traces += [*made(23), trace("next", question="q", at="2026-12-02T05:00:00.000Z")]
    notices = list[str]()
    found = await read(server, to, now=NOW + timedelta(days=1), on_notice=notices.append)
    assert found.window.to_dict() == {"since": "2026-12-01T00:00:00Z", "until": "2026-12-02T00:00:00Z"}
    assert ids(to) == ["t01", "t02", "t03", "t04", "t05", "t06", "t23"]
    assert any("2026-12-01T00:00:00Z" in notice for notice in notices)
    assert found.counts["kept"] + found.counts["read"] == 7


async def test_a_call_that_was_killed_is_gone_on_with(server, tmp_path):
    to, told = tmp_path / "s.jsonl", serve(server.langfuse, made(1, 2, 3))
    await read(server, to)
    raw = to.with_name("s.jsonl.raw.jsonl")
    head, first, second, *_ = raw.read_bytes().splitlines(keepends=True)
    raw.write_bytes(head + first + second[:-20])
    to.write_bytes(b"")
    told.whole.clear()
    found = await read(server, to)
    assert (found.counts["kept"], found.counts["read"], len(told.whole)) == (1, 2, 2)
    assert ids(to) == ["t01", "t02", "t03"]


async def test_half_a_character_and_a_number_too_large_are_no_hindrance(server, tmp_path):
    told = serve(server.langfuse, [trace("t1", question="年假 HALF？", answer="a", passages=[{"text": "p", "score": 7}])])

    def broken(asked):
        reply = told(asked)
        body = orjson.dumps(reply.body).replace(b"HALF", rb"\ud83d").replace(b":7", b":" + b"9" * 40).replace(rb"\":7", rb"\":" + b"9" * 40)
        return Reply(200, body, "application/json")

    server.langfuse.more = broken
    assert (await read(server, tmp_path / "s.jsonl")).rows == 1
    assert orjson.loads((tmp_path / "s.jsonl").read_bytes())["question"].startswith("年假 ")


async def test_a_window_without_traces_is_not_kept_to(server, tmp_path):
    to = tmp_path / "s.jsonl"
    assert (await read(server, to, now=NOW - timedelta(days=30))).exit_code == 1
    found = await read(server, to)
    assert (found.exit_code, found.rows) == (0, 3)


async def test_traces_of_another_project_do_not_come_into_the_same_file(server, tmp_path):
    to, told = tmp_path / "s.jsonl", serve(server.langfuse, made(1, 2))
    await read(server, to)
    raw = to.with_name("s.jsonl.raw.jsonl")
    raw.write_bytes(b"\n".join(line for line in raw.read_bytes().split(b"\n") if b'"complete"' not in line))
    server.script = lambda asked: (
        tell({"data": [{"id": "p2", "name": "other"}]}) if asked.path.endswith("/projects") else told(asked) or tell({}, 404)
    )
    with pytest.raises(ConfigError, match="p2"):
        await read(server, to)
    assert ids(to) == ["t01", "t02"]


async def test_the_deadline_keeps_what_was_read(server, tmp_path):
    def slow(asked):
        return tell({}, held="for ever") if "traceId=t02" in asked.path_qs else told(asked)

    told = serve(server.langfuse, made(1, 2))
    server.langfuse.more = slow
    with pytest.raises(StoppedError, match="--deadline"):
        await read(server, tmp_path / "s.jsonl", deadline=1.0)
    assert ids(tmp_path / "s.jsonl") == ["t01"]


async def test_two_calls_on_one_file_exclude_each_other(server, tmp_path):
    both = await asyncio.gather(*(read(server, tmp_path / "s.jsonl") for _ in range(2)), return_exceptions=True)
    assert sorted(type(one).__name__ for one in both) == ["ConfigError", "Monitored"]


async def test_a_server_that_is_not_there_is_told(server, tmp_path):
    await server.__aexit__(None, None, None)
    with pytest.raises(EndpointError, match="http://127"):
        await read(server, tmp_path / "s.jsonl")


async def test_a_file_of_answers_is_left_alone(server, tmp_path):
    to = tmp_path / "s.jsonl"
    to.write_text('{"id":"a","question":"q"}\n', encoding="utf-8")
    with pytest.raises(ConfigError):
        await read(server, to)
    head = {"collect": {"platform": "fastgpt", "url": "http://rag"}, "mapping": {}}
    line = {"id": "a", "question": "q", "attempts": 1, "good": True, "received": [{"step": "ask", "body": {}}]}
    to.with_name("s.jsonl.raw.jsonl").write_bytes(b"\n".join(map(orjson.dumps, (head, line))) + b"\n")
    with pytest.raises(ConfigError, match="fastgpt"):
        await read(server, to)
    assert ids(to) == ["a"]
    assert server.seen == []


async def test_a_server_that_tells_the_same_page_for_ever_is_told(server, tmp_path):
    told = serve(server.langfuse, made(1, 2))

    def stuck(asked):
        reply = told(asked)
        return tell({**reply.body, "meta": {"cursor": "same"}}) if "isRootObservation" in asked.path_qs else reply

    server.langfuse.more = lambda asked: stuck(Asked(**{**vars(asked), "path_qs": asked.path_qs.replace("cursor=same", "cursor=0")}))
    with pytest.raises(EndpointError, match="cursor"):
        await read(server, tmp_path / "s.jsonl")


@pytest.mark.parametrize("status", [400, 413, 422, 500])
@pytest.mark.parametrize("generation", ["v5", "v3"])
async def test_a_trace_that_the_server_does_not_tell_keeps_nobody_from_the_others(generation, status, tmp_path):
    async with LangfuseServer(generation) as server:
        told = serve(server.langfuse, made(1, 2, 3))
        told.failing = {"t02": status}
        found = await read(server, to := tmp_path / "s.jsonl")
        assert (ids(to), found.counts["failed"], found.exit_code) == (["t01", "t03"], 1, 1)
        assert any("too much memory" in notice for notice in found.notices)
        told.failing.clear()
        told.whole.clear()
        found = await read(server, to)
        assert (ids(to), told.whole, found.exit_code) == (["t01", "t02", "t03"], ["t02"], 0)


async def test_a_server_that_tells_no_trace_is_given_up(server, tmp_path):
    told = serve(server.langfuse, [trace(f"t{n}", question="q", answer="a", at=f"2026-12-01T01:{n}:00.000Z") for n in range(10, 59)])
    told.failing = {one["id"]: 400 for one in told.traces}
    with pytest.raises(EndpointError, match="too much memory"):
        await read(server, tmp_path / "s.jsonl")
    assert len(told.whole) < 30


@pytest.mark.parametrize("page", [2, 3])
async def test_traces_that_are_deleted_meanwhile_move_no_page(page, tmp_path):
    async with LangfuseServer("v3") as server:
        told = serve(server.langfuse, made(*range(12)))
        told.page = page

        def deleting(asked):
            reply = told(asked)
            if asked.path.endswith("/traces"):
                del told.traces[0:1]
            return reply

        server.langfuse.more = deleting
        await read(server, to := tmp_path / "s.jsonl")
        assert ids(to) == [one["id"] for one in told.traces]


async def test_more_traces_of_one_moment_than_a_page_holds_are_all_told(tmp_path):
    async with LangfuseServer("v3") as server:
        told = serve(
            server.langfuse, [trace(f"t{n}", question="q", answer="a", at="2026-12-01T01:00:00.000Z") for n in range(7)] + made(2, 3)
        )
        told.page = 2
        await read(server, to := tmp_path / "s.jsonl")
        assert sorted(ids(to)) == sorted(one["id"] for one in told.traces)
