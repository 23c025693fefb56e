"""One request to Langfuse: what is asked again, what ends everything, and what is the caller's to judge."""

import asyncio
import gzip
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import orjson
import pytest
from support.langfuse_server import PROJECT, PUBLIC, SECRET, LangfuseServer
from support.rag_server import DROP, RagServer, Reply, fail, page, redirect, tell

from ragstone.errors import AuthError, EndpointError, StoppedError
from ragstone.langfuse.access import Host, host_of
from ragstone.langfuse.client import MOST_FAILING, RETRIES_AT_FIRST, Client, Project
from ragstone.transport.retry import Backoff

HEALTH, PROJECTS, SCORES = (f"/api/public/{name}" for name in ("health", "projects", "scores"))
GOOD = {HEALTH: tell({"status": "OK", "version": "5.0.1"}), PROJECTS: tell({"data": [{"id": "p1", "name": "我的项目"}]})}


@asynccontextmanager
async def client(server: RagServer, lang: str = "en", secret: str = SECRET) -> AsyncIterator[Client]:
    """A client that never really waits; `client.slept` holds the waits it would have made."""
    slept = list[float]()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        await asyncio.sleep(0)

    made = Client(Host(server.url, PUBLIC, secret, lang), backoff=Backoff(), sleep=sleep)
    made.slept = slept
    try:
        yield made
    finally:
        await made.close()


async def test_version_and_project_are_told():
    async with LangfuseServer("v4") as server, client(server) as asked:
        assert await asked.version() == "4.16.0"
        assert await asked.project() == Project(PROJECT, "tests")
        assert (asked.requests, asked.retried) == (2, 0)


async def test_the_keys_go_along_and_posts_may_be_packed():
    async with RagServer({**GOOD, SCORES: tell({})}) as server, client(server) as asked:
        await asked.post("scores", b'{"a":1}', packed=True, headers={"x-more": "4"})
        seen = server.asked(SCORES)[0]
        assert seen.headers["Authorization"] == host_of({**_environ(server.url)}).header()["Authorization"]
        assert seen.headers["Content-Encoding"] == "gzip"
        assert seen.headers["x-more"] == "4"
        assert seen.raw in (b'{"a":1}', gzip.compress(b'{"a":1}', 6, mtime=0))


def _environ(url: str) -> dict[str, str]:
    return {"LANGFUSE_HOST": url, "LANGFUSE_PUBLIC_KEY": PUBLIC, "LANGFUSE_SECRET_KEY": SECRET}


# ------------------------------------------------------------------ asked again
@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 520])
async def test_passing_trouble_is_asked_again(status):
    async with RagServer({**GOOD, SCORES: [fail(status), fail(status), tell({"id": "s"})]}) as server, client(server) as asked:
        await asked.project()
        reply = await asked.post("scores", b"{}")
        assert (reply.status, reply.body) == (200, {"id": "s"})
        assert (asked.requests, asked.retried) == (4, 2)


async def test_a_lost_connection_is_asked_again():
    async with RagServer({**GOOD, SCORES: [DROP, DROP, tell({"id": "s"})]}) as server, client(server) as asked:
        await asked.project()
        assert (await asked.post("scores", b"{}")).good


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [({"Retry_After": "7"}, 7), ({"Retry_After": "61"}, 61), ({"X_RateLimit_Remaining": "0", "X_RateLimit_Reset": "9"}, 9)],
)
async def test_the_server_says_how_long_to_wait(headers, seconds):
    heard = list[float | None]()
    async with RagServer({**GOOD, SCORES: [fail(429, **headers), tell({"id": "s"})]}) as server, client(server) as asked:
        asked._waits = heard.append
        await asked.project()
        assert (await asked.post("scores", b"{}")).good
        assert heard == [seconds]
        assert seconds <= asked.slept[0] <= seconds * 1.11


async def test_many_rate_limits_with_a_time_named_cost_no_reply():
    async with RagServer({**GOOD, SCORES: [*[fail(429, Retry_After="30")] * 9, tell({"id": "s"})]}) as server, client(server) as asked:
        await asked.project()
        assert (await asked.post("scores", b"{}")).good


async def test_a_server_error_that_stays_is_a_reply_and_one_of_a_gateway_ends_the_export():
    async with RagServer({**GOOD, SCORES: fail(500, {"message": "boom"}), "/api/public/x": fail(503)}) as server, client(server) as asked:
        await asked.project()
        reply = await asked.post("scores", b"{}")
        assert (reply.status, reply.message, reply.good, reply.closed) == (500, "boom", False, False)
        with pytest.raises(EndpointError, match="does not answer any more"):
            await asked.post("x", b"{}")


async def test_a_server_that_breaks_down_is_not_asked_for_ever():
    async with RagServer({**GOOD, SCORES: fail(500), "/api/public/x": tell({})}) as server, client(server) as asked:
        await asked.project()
        for _ in range(MOST_FAILING - 1):
            assert (await asked.post("scores", b"{}")).status == 500
        await asked.post("x", b"{}")
        for _ in range(MOST_FAILING - 1):
            assert (await asked.post("scores", b"{}")).status == 500
        with pytest.raises(EndpointError, match="does not answer any more"):
            await asked.post("scores", b"{}")


# ------------------------------------------------------------------ the caller's to judge
@pytest.mark.parametrize(
    ("status", "body", "message", "closed"),
    [
        (400, {"message": "Invalid request data", "error": ["a: bad", "b: worse"]}, "Invalid request data: a: bad; b: worse", False),
        (
            400,
            {"message": "Invalid", "error": [{"path": ["value", 0], "message": "Expected number"}]},
            "Invalid: value.0: Expected number",
            False,
        ),
        (400, {"error": "Failed to parse OTLP"}, "Failed to parse OTLP", False),
        (404, {"error": "LangfuseNotFoundError", "message": "Not found"}, "Not found", True),
        (405, {"message": "Method not allowed"}, "Method not allowed", True),
        (413, {"message": "too large"}, "too large", False),
        (422, {"message": "Request timed out"}, "Request timed out", False),
        (409, {"message": "数据集不存在"}, "数据集不存在", False),
    ],
)
async def test_a_refusal_is_a_reply_with_the_servers_words(status, body, message, closed):
    async with RagServer({**GOOD, SCORES: fail(status, body)}) as server, client(server) as asked:
        await asked.project()
        reply = await asked.post("scores", b"{}")
        assert (reply.status, reply.message, reply.closed, reply.good) == (status, message, closed, False)
        assert asked.retried == 0


async def test_a_page_of_a_firewall_refuses_one_request_alone():
    async with RagServer({**GOOD, SCORES: page("<html><title>Request blocked</title></html>", 403)}) as server, client(server) as asked:
        await asked.project()
        reply = await asked.post("scores", b"{}")
        assert (reply.status, reply.message) == (403, "Request blocked")


async def test_what_a_server_echoes_of_the_keys_is_masked():
    echo = {"message": f"key {SECRET} of {PUBLIC}", "error": [f"{SECRET}"]}
    async with RagServer({**GOOD, SCORES: fail(400, echo)}) as server, client(server) as asked:
        reply = await asked.post("scores", b"{}")
        assert SECRET not in reply.message
        assert PUBLIC not in reply.message


# ------------------------------------------------------------------ what ends everything
REFUSALS: list[tuple[Reply, type[StoppedError], list[str]]] = [
    (fail(401, {"message": f"Invalid credentials {SECRET}"}), AuthError, ["LANGFUSE_SECRET_KEY", "LANGFUSE_PUBLIC_KEY", "pk-", "401"]),
    (fail(403, {"message": "Organization-scoped keys"}), AuthError, ["LANGFUSE_PUBLIC_KEY", "Organization-scoped keys", "403"]),
    (redirect("https://elsewhere.example/login?token=abc"), EndpointError, ["elsewhere.example", "LANGFUSE_HOST"]),
    (page(), EndpointError, ["Sign in", "LANGFUSE_HOST"]),
    (Reply(200, "welcome"), EndpointError, ["welcome", "LANGFUSE_HOST"]),
    (fail(404), EndpointError, ["404", "LANGFUSE_HOST"]),
    (tell({"data": []}), EndpointError, ["LANGFUSE_HOST"]),
    (tell([1]), EndpointError, ["LANGFUSE_HOST"]),
]


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(("reply", "kind", "named"), REFUSALS)
async def test_what_is_no_project_of_a_langfuse_ends_it(reply, kind, named, lang):
    async with RagServer({**GOOD, PROJECTS: reply}) as server, client(server, lang) as asked:
        await asked.version()
        with pytest.raises(kind) as told:
            await asked.project()
        said = str(told.value)
        assert server.url in said
        assert all(word in said for word in named)
        assert SECRET not in said
        assert PUBLIC not in said
        assert "token=abc" not in said
        assert bool(re.search("[一-鿿]", said)) is (lang == "zh")


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_a_suspended_project_ends_every_later_request_unsent(lang):
    async with LangfuseServer("v5", "suspended") as server, client(server, lang) as asked:
        await asked.project()
        for _ in range(2):
            with pytest.raises(StoppedError, match="usage threshold exceeded") as told:
                await asked.post("scores", orjson.dumps([{}]))
            assert told.value.exit_code == 3
        assert len(server.asked(SCORES)) == 1


async def test_a_wrong_secret_and_a_host_that_is_not_there():
    async with LangfuseServer() as server, client(server, secret="sk-lf-another-one-entirely") as asked:
        await asked.version()
        with pytest.raises(AuthError, match="pk-…c3") as told:
            await asked.project()
        assert "another-one" not in str(told.value)
    async with client(server) as asked:
        with pytest.raises(EndpointError, match="cannot be reached"):
            await asked.version()
        assert asked.requests == 1 + RETRIES_AT_FIRST


async def test_a_server_without_a_health_page_is_asked_for_its_project_all_the_same():
    async with RagServer({**GOOD, HEALTH: fail(404)}) as server, client(server) as asked:
        assert await asked.version() == ""
        assert (await asked.project()).name == "我的项目"
