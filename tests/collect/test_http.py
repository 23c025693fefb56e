"""Applications asked over HTTP, on real sockets."""

import asyncio
import base64
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from urllib.parse import quote

import orjson
import pytest
from support.rag_server import DROP, HANG, HELD, Asked, RagServer, Reply, fail, page, redirect, stream, tell

from ragstone.collect.base import Kept, Received, Row
from ragstone.collect.conversation import Fetched
from ragstone.collect.http import HttpApplication
from ragstone.collect.spec import Spec, Step
from ragstone.errors import AuthError, ConfigError, EndpointError, RagstoneError, StoppedError
from ragstone.transport.retry import Backoff
from ragstone.types import Sample

KEY = "app-7Qx2LmZr9TbWk4Vd"
QUICK = Backoff(base=0.0001, cap=0.0002)
GOOD = {"answer": "Ten days.", "chunks": [{"id": "c1", "text": "Staff get ten days of leave."}]}


def row(number: int = 1, question: str = "How long is the leave?", **meta: Any) -> Row:
    return Row(Sample(id=f"q{number}", question=question, meta=meta))


def spec(url: str, **changes: Any) -> Spec:
    usual: dict[str, Any] = {
        "url": url,
        "path": "/ask",
        "body": {"q": "$question"},
        "answer": "answer",
        "contexts": "chunks",
        "context_id": "id",
        "context_text": "text",
        "error": "error",
        "timeout": 20.0,
        "retries": 3,
    }
    return Spec(**{**usual, **changes})


def application(
    url: str, key: str | None = KEY, environ: dict[str, str] | None = None, lang: Any = "en", **changes: Any
) -> HttpApplication:
    return HttpApplication(spec(url, **changes), key, environ=environ or {}, lang=lang, backoff=QUICK)


async def ask(made: HttpApplication, count: int = 1, expect: int | None = None) -> list[Kept]:
    """Ask rows one after the other until one says stop."""
    made.expect(count if expect is None else expect)
    kept: list[Kept] = []
    try:
        for number in range(count):
            kept.append(await made.ask(row(number)))
            if kept[-1].stop:
                break
    finally:
        await made.close()
    return kept


def stored(kept: Kept) -> str:
    """Everything of a row that reaches a file or a screen."""
    parts = [repr(kept), str(kept.stop), str(kept.trouble)]
    return "\n".join([*parts, *(orjson.dumps(r.body).decode() for r in kept.received)])


# ------------------------------------------------------------------ what is sent, and what comes back
async def test_a_question_is_posted_and_its_answer_found() -> None:
    async with RagServer(tell(GOOD)) as server:
        made = application(server.url, headers={"X-Team": "t-$row"}, body={"q": "$question", "who": "$row.team"})
        kept = await made.ask(row(team="人事"))
        reading = made.read(kept)
        await made.close()
    (asked,) = server.seen
    assert (asked.method, asked.path, asked.body) == ("POST", "/ask", {"q": "How long is the leave?", "who": "人事"})
    assert asked.headers["Authorization"] == f"Bearer {KEY}"
    assert (asked.headers["Content-Type"], asked.headers["X-Team"]) == ("application/json", "t-q1")
    assert (kept.id, kept.trouble, kept.stop, kept.attempts) == ("q1", None, None, 1)
    assert kept.latency_s is not None
    assert kept.latency_s >= 0
    assert kept.received[0].body == GOOD
    assert kept.received[0].url == f"{server.url}/ask"
    assert reading.found is not None
    assert reading.found.chunks is not None
    assert (reading.found.answer, reading.found.chunks[0].text) == ("Ten days.", "Staff get ten days of leave.")


async def test_a_get_has_its_values_in_the_path_and_no_body() -> None:
    async with RagServer(tell(GOOD)) as server:
        made = application(server.url, method="get", path="/apps/$app/ask?q=$question&k=5", app="a/b", body=None)
        await made.ask(row(question="a & b = 年假?"))
        await made.close()
    (asked,) = server.seen
    assert (asked.method, asked.raw) == ("GET", b"")
    assert asked.path_qs.startswith("/apps/a%2Fb/ask?")
    assert asked.query == {"q": "a & b = 年假?", "k": "5"}
    assert "Content-Type" not in asked.headers


@pytest.mark.parametrize(("path", "held"), [("/ask", {}), ("/ask?k=5", {"k": "5"})])
async def test_a_get_sends_the_keys_of_its_body_as_query(path: str, held: dict[str, str]) -> None:
    body = {"q": "$question", "top k": 3, "tags": ["a", "$row.team"], "exact": True, "none": None, "key": "x$env.SECRET"}
    async with RagServer(tell(GOOD)) as server:
        made = application(server.url, environ={"SECRET": "s3cr3t-value"}, method="GET", path=path, body=body)
        await made.ask(row(question="a&b=年假?", team="人事"))
        await made.close()
    (asked,) = server.seen
    assert asked.raw == b""
    assert asked.query == {**held, "q": "a&b=年假?", "top k": "3", "tags": '["a","人事"]', "exact": "true", "key": "x"}
    assert "top%20k=3" in asked.path_qs


@pytest.mark.parametrize(
    ("auth", "key", "sent"), [("Bearer", KEY, f"Bearer {KEY}"), ("", KEY, KEY), ("Token", KEY, f"Token {KEY}"), ("Bearer", None, None)]
)
async def test_the_key_is_sent_under_its_scheme(auth: str, key: str | None, sent: str | None) -> None:
    async with RagServer(tell(GOOD)) as server:
        await ask(application(server.url, key, auth=auth))
    assert server.seen[0].headers.get("Authorization") == sent


async def test_secrets_of_the_environment_reach_the_server_and_its_own_headers_win() -> None:
    environ = {"GATE_TOKEN": "gate-0123456789\n", "TENANT": "tenant-secret-77"}
    headers = {"authorization": "Basic $env.GATE_TOKEN"}
    async with RagServer(tell(GOOD)) as server:
        await ask(application(server.url, None, environ, headers=headers, body={"t": "$env.TENANT"}))
    assert server.seen[0].headers["Authorization"] == "Basic gate-0123456789"
    assert server.seen[0].body == {"t": "tenant-secret-77"}


async def test_a_repeated_question_begins_a_new_conversation() -> None:
    async with RagServer([fail(503), tell(GOOD)]) as server:
        (kept,) = await ask(application(server.url, body={"chat": "$uuid"}))
    assert kept.trouble is None
    assert kept.attempts == 2
    assert len({asked.body["chat"] for asked in server.seen}) == 2


async def test_the_first_question_goes_alone_and_the_others_side_by_side() -> None:
    async with RagServer(tell(GOOD, held="go")) as server:
        made = application(server.url, concurrency=4)
        asking = [asyncio.ensure_future(made.ask(row(number))) for number in range(9)]
        await server.arrived(1)
        alone = server.most_at_once
        server.script = tell(GOOD, held="all")
        server.release("go")
        await server.arrived(5)
        server.release("all")
        kept = await asyncio.gather(*asking)
        await made.close()
    assert (alone, server.most_at_once, len(server.seen)) == (1, 4, 9)
    assert [k.id for k in kept] == [f"q{number}" for number in range(9)]


# ------------------------------------------------------------------ secrets
def echo_plain(asked: Asked) -> Any:
    return {
        "answer": f"You sent {asked.headers['Authorization']} and {asked.body['t']}",
        "seen": {asked.body["t"]: [asked.headers["X-Gate"]]},
    }


def echo_escaped(asked: Asked) -> Any:
    spelt = "".join(f"\\u{ord(c):04x}" for c in asked.headers["Authorization"] + asked.body["t"] + asked.headers["X-Gate"])
    return f'{{"answer": "{spelt}"}}'.encode()


def echo_nested(asked: Asked) -> Any:
    inner = "".join(f"\\u{ord(c):04x}" for c in asked.headers["X-Gate"] + asked.headers["Authorization"])
    return {"answer": "a", "log": f'{{"token": "{inner}"}}'}


def echo_code(asked: Asked) -> Any:
    return {"code": asked.headers["X-Gate"], "message": "no", "error": {"code": asked.body["t"], "message": "no"}, "statusText": KEY}


def echo_spelt(asked: Asked) -> Any:
    given = (KEY, asked.headers["X-Gate"], asked.body["t"])
    return {"answer": [[quote(one, safe=""), base64.b64encode(f"u:{one}".encode()).decode(), one.encode().hex()] for one in given]}


@pytest.mark.parametrize("echo", [echo_plain, echo_escaped, echo_nested, echo_code, echo_spelt])
@pytest.mark.parametrize("status", [200, 400, 401, 500])
async def test_secrets_a_server_repeats_are_never_kept(echo: Callable[[Asked], Any], status: int) -> None:
    environ = {"TENANT": "tenant-secret-77", "GATE": "gate/Secret+88=="}
    async with RagServer(lambda asked: Reply(status, echo(asked), "application/json")) as server:
        made = application(server.url, KEY, environ, headers={"X-Gate": "$env.GATE"}, body={"t": "$env.TENANT"}, retries=0)
        made.expect(1)
        try:
            text = stored(await made.ask(row()))
        except StoppedError as error:
            text = str(error)
        await made.close()
    assert server.seen[0].headers["X-Gate"] == environ["GATE"]
    for secret in (KEY, *environ.values()):
        assert secret not in text
        assert quote(secret, safe="") not in text
        assert secret.encode().hex() not in text
        assert base64.b64encode(f"u:{secret}".encode()).decode()[4:-4] not in text
        assert "".join(f"\\u{ord(c):04x}" for c in secret) not in text.replace("\\\\", "\\")


async def test_a_secret_that_a_stream_tells_in_pieces_is_not_kept() -> None:
    pieces = [orjson.dumps({"event": "message", "answer": part}).decode() for part in ("The key is ", KEY[:9], KEY[9:], ".")]
    text = "".join(f"data: {piece}\n\n" for piece in pieces) + 'data: {"event": "message_end"}\n\n'
    async with RagServer(stream(text)) as server:
        made = application(server.url, contexts=None)
        (kept,) = await ask(made)
    reading = made.read(kept)
    assert reading.found is not None
    assert reading.found.answer == "The key is app…Vd."
    assert KEY not in stored(kept)
    assert KEY[9:] not in stored(kept)


async def test_a_stream_that_breaks_after_telling_a_secret_in_pieces_is_still_broken() -> None:
    pieces = [orjson.dumps({"event": "message", "answer": part}).decode() for part in ("The key is ", KEY[:9], KEY[9:], " and")]
    text = "".join(f"data: {piece}\n\n" for piece in pieces)
    async with RagServer([stream(text), stream(text.replace(KEY[9:], "…"))]) as server:
        made = application(server.url, contexts=None, stream="event-sse", platform="dify-chat")
        told, plain = await ask(made, 2)
    assert made.read(plain).trouble is not None
    assert made.read(told).trouble == made.read(plain).trouble
    assert KEY[9:] not in stored(told)


async def test_what_is_asked_and_how_it_is_read_tells_no_secret() -> None:
    then = (Step(path="/detail?id=$id", per="chunk", text="data", headers={"X-Api-Key": "abcdef123456"}),)
    made = application("https://h/v1?sig=zzz-secret-99", headers={"Cookie": "s=abc-secret-11", "X-Gate": "$env.GATE"}, then=then)
    asked, mapping = dict(made.asked), dict(made.mapping)
    text = orjson.dumps([asked, mapping]).decode() + repr(made)
    assert not any(secret in text for secret in (KEY, "zzz-secret-99", "abc-secret-11", "abcdef123456"))
    assert asked["headers"] == {"Cookie": "…", "X-Gate": "$env.GATE"}
    assert asked["url"] == "https://h/v1"
    assert asked["then"][0]["path"] == "/detail?id=$id"
    assert mapping["answer"] == "answer"
    assert mapping["then"][0]["text"] == "data"
    assert "timeout" not in {*asked, *mapping}


# ------------------------------------------------------------------ trouble that passes, and trouble of one row
@pytest.mark.parametrize("refusal", [fail(429, Retry_After="0.001"), fail(500), fail(502), DROP, stream('{"answer": "Te', cut=True)])
async def test_passing_trouble_is_sat_out(refusal: Reply) -> None:
    async with RagServer([refusal, refusal, tell(GOOD)]) as server:
        (kept,) = await ask(application(server.url))
    assert kept.trouble is None
    assert kept.received[0].body == GOOD
    assert len(server.seen) == 3


async def test_a_server_that_names_the_time_is_waited_for() -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async with RagServer([fail(429, {"code": "too_many_requests", "message": "slow"}, Retry_After="7"), tell(GOOD)]) as server:
        made = HttpApplication(spec(server.url), KEY, environ={}, lang="en", backoff=QUICK, sleep=sleep)
        (kept,) = await ask(made)
    assert kept.trouble is None
    assert len(waits) == 1
    assert 7 <= waits[0] <= 7.7


async def test_a_code_under_200_that_means_too_much_is_asked_again() -> None:
    async with RagServer([tell({"code": 429, "message": "请求过于频繁"}), tell({"code": 777, "msg": "again"}), tell(GOOD)]) as server:
        (kept,) = await ask(application(server.url, retry=(777,)))
    assert kept.trouble is None
    assert kept.attempts == 3


async def test_a_crowd_told_in_a_whole_answer_is_no_reason_to_stop() -> None:
    async with RagServer([tell({"code": 500, "error": "model overloaded"})] * 4 + [tell(GOOD)]) as server:
        made = application(server.url, retries=1)
        kept = await ask(made, 3)
    assert [str(k.trouble) for k in kept] == ["platform_error: model overloaded (code 500)"] * 2 + ["None"]
    assert (len(server.seen), kept[0].attempts) == (5, 2)


async def test_rows_that_fail_do_not_end_the_asking() -> None:
    def script(asked: Asked) -> Reply:
        return fail(500, {"message": "boom"}) if asked.body["q"] == "bad" else tell(GOOD)

    async with RagServer(script) as server:
        made = application(server.url, retries=1)
        made.expect(3)
        first = await made.ask(row(1))
        bad = await made.ask(row(2, "bad"))
        last = await made.ask(row(3))
        await made.close()
    assert [k.trouble and k.trouble.word for k in (first, bad, last)] == [None, "server_error", None]
    assert "boom" in str(bad.trouble)
    assert bad.attempts == 2
    assert bad.stop is None
    assert bad.received[0].status == 500


@pytest.mark.parametrize("bad", [fail(500), fail(503), DROP], ids=["500", "503", "dropped"])
async def test_the_first_row_may_be_the_only_bad_one(bad: Reply) -> None:
    async with RagServer(lambda asked: bad if asked.nth < 2 else tell(GOOD)) as server:
        kept = await ask(application(server.url, retries=1, concurrency=1), 3)
    assert [k.trouble is None for k in kept] == [False, True, True]


async def test_three_rows_used_up_are_enough_where_nothing_was_ever_answered() -> None:
    async with RagServer(fail(503)) as server:
        kept = await ask(application(server.url, retries=0, concurrency=1), 9)
    assert [type(k.stop) for k in kept] == [type(None), type(None), EndpointError]
    assert "no question of this call" in str(kept[-1].stop)


async def test_rows_that_a_killed_call_leaves_first_may_all_be_bad_ones() -> None:
    async with RagServer(lambda asked: fail(500) if asked.body["q"] == "bad" else tell(GOOD)) as server:
        made = application(server.url, retries=1, concurrency=8)
        made.accepted()
        made.expect(9)
        rows = [row(number, "bad") for number in range(8)] + [row(8)]
        kept = await asyncio.gather(*(made.ask(one) for one in rows[:8]))
        last = await made.ask(rows[8])
        await made.close()
    assert [k.trouble and k.trouble.word for k in (*kept, last)] == ["server_error"] * 8 + [None]


async def test_a_server_that_hangs_is_a_timeout() -> None:
    async with RagServer(lambda asked: HANG if asked.body["q"] == "bad" else tell(GOOD)) as server:
        made = application(server.url, timeout=0.3, retries=0)
        await made.ask(row(1))
        kept = await made.ask(row(2, "bad"))
        await made.close()
    assert kept.trouble is not None
    assert kept.trouble.word == "timeout"
    assert "0.3" in kept.trouble.message
    assert kept.received == ()
    assert kept.stop is None


async def test_a_stream_sent_in_pieces_is_one_response() -> None:
    pieces = (
        'data: {"event":"message","answer":"Ten "}\n\n',
        HELD,
        'data: {"event":"message","answer":"days."}\n\nda',
        'ta: {"event":"message_end"}\n\n',
    )
    async with RagServer(stream(*pieces)) as server:
        made = application(server.url, contexts=None)
        asking = asyncio.ensure_future(made.ask(row()))
        await server.arrived(1)
        assert not asking.done()
        server.release()
        reading = made.read(await asking)
        await made.close()
    assert reading.trouble is None
    assert reading.found is not None
    assert reading.found.answer == "Ten days."


async def test_a_stream_that_ends_too_early_is_a_broken_row() -> None:
    async with RagServer([tell(GOOD), stream('data: {"event":"message","answer":"Ten "}\n\n', cut=True)]) as server:
        made = application(server.url, retries=1)
        _, kept = await ask(made, 2)
    assert kept.trouble is not None
    assert kept.trouble.word == "connection"
    assert kept.attempts == 2
    reading = made.read(kept)
    assert reading.found is None


async def test_nobody_listening_stops_the_asking() -> None:
    async with RagServer() as server:
        url = server.url
    made = application(url, retries=1)
    made.expect(5)
    with pytest.raises(EndpointError, match=r"cannot be reached.*\[collect\] url"):
        await made.ask(row())
    with pytest.raises(EndpointError):
        await made.ask(row(2))
    await made.close()


@pytest.mark.parametrize("deep", [150, 700, 980, 3000])
async def test_a_stream_that_is_nested_however_deep_is_that_rows_trouble(deep: int) -> None:
    nested = '{"answer":"Ten days.","more":' + "[" * deep + "1" + "]" * deep + "}"
    async with RagServer([stream(f"data: {nested}\n\n"), tell(GOOD)]) as server:
        made = application(server.url)
        kept = await ask(made, 2)
    troubles = [made.read(k).trouble for k in kept]
    assert [t.word if t else None for t in troubles] == [None if deep < 200 else "broken_stream", None]


async def test_values_that_json_does_not_know_are_sent_as_their_text() -> None:
    async with RagServer(tell(GOOD)) as server:
        made = application(server.url, body={"q": "$question", "price": "$row.price", "half": "$row.half"})
        kept = await made.ask(row(price=Decimal("1.50"), half="a \ud800 b"))
        await made.close()
    assert kept.trouble is None
    assert server.seen[0].body == {"q": "How long is the leave?", "price": "1.50", "half": "a ? b"}


# ------------------------------------------------------------------ what would fail every row
STOPS: list[tuple[str, Reply, int, type[RagstoneError], str, tuple[str, ...]]] = [
    ("status 401", fail(401, {"message": "nope"}), 1, AuthError, "key", ("/ask", "app…Vd", "nope", "RAGSTONE_COLLECT_API_KEY")),
    ("status 403", fail(403, {"error": "Invalid API Key"}), 1, AuthError, "key", ("Invalid API Key",)),
    ("status 402", fail(402, {"detail": "pay"}), 1, AuthError, "quota", ("pay",)),
    ("status 404", fail(404, "<html><title>Nothing</title></html>"), 1, EndpointError, "app", ("base address", "--url", "Nothing")),
    ("status 405", fail(405), 1, EndpointError, "app", ("base address",)),
    ("elsewhere", redirect("https://other.example/x?token=abc"), 1, EndpointError, "app", ("other.example",)),
    (
        "body 514",
        tell({"code": 514, "statusText": "unAuthApiKey", "message": "Api Key 不合法", "data": None}),
        3,
        AuthError,
        "key",
        ("不合法", "514"),
    ),
    (
        "body 514/500",
        fail(500, {"code": 514, "statusText": "unAuthApiKey", "message": "", "data": None}),
        3,
        AuthError,
        "key",
        ("unAuthApiKey",),
    ),
    ("body 109", tell({"code": 109, "message": "Authentication error: API key is invalid!"}), 3, AuthError, "key", ("109",)),
    ("body 102", tell({"code": 102, "message": "You don't own the chat 9f"}), 3, EndpointError, "app", ("own the chat 9f", "--app")),
    (
        "not a chat",
        fail(400, {"code": "not_chat_app", "message": "Wrong mode", "status": 400}),
        3,
        EndpointError,
        "app",
        ("dify-workflow",),
    ),
    ("quota", fail(400, {"code": "provider_quota_exceeded", "message": "used up", "status": 400}), 3, AuthError, "quota", ("used up",)),
    ("login page", page(), 3, EndpointError, "login_page", ("Sign in", "base address")),
    ("login", redirect("/login?next=%2Fask"), 3, EndpointError, "login_page", ("/login",)),
    ("text", tell("ok"), 3, EndpointError, "not_json", ("ok", "base address")),
    (
        "bad body",
        fail(422, {"detail": [{"loc": ["body", "query"], "msg": "Field required"}]}),
        10,
        EndpointError,
        "refused",
        ("body.query", "[collect] body"),
    ),
]


@pytest.mark.parametrize(("reply", "rows", "kind", "word", "said"), [s[1:] for s in STOPS], ids=[s[0] for s in STOPS])
async def test_what_every_row_would_meet_ends_the_asking(
    reply: Reply, rows: int, kind: type[RagstoneError], word: str, said: tuple[str, ...]
) -> None:
    async with RagServer(reply) as server:
        made = application(server.url)
        kept = await ask(made, 20)
        with pytest.raises(kind):
            await made.ask(row(99))
        await made.close()
    assert len(kept) == len(server.seen) == rows
    assert all(made.read(k).trouble.word == word for k in kept)  # type: ignore[union-attr]
    stop = kept[-1].stop
    assert type(stop) is kind
    assert stop.exit_code == 3
    assert [text for text in (*said, server.url) if text not in str(stop)] == []
    assert KEY not in str(stop)


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_fewer_rows_than_three_are_enough_when_fewer_are_asked(lang: str) -> None:
    async with RagServer(tell({"code": 514, "message": "密钥无效"})) as server:
        kept = await ask(application(server.url, lang=lang), 2)
    assert len(kept) == 2
    assert kept[0].stop is None
    assert ("已连续 2 个问题" if lang == "zh" else "2 questions in a row") in str(kept[1].stop)


async def test_a_refusal_among_good_answers_is_one_row() -> None:
    refusal = tell({"code": 403, "message": "unauthorized"})
    async with RagServer([refusal, refusal, tell(GOOD), *[refusal] * 9, tell(GOOD), *[refusal] * 20]) as server:
        kept = await ask(application(server.url), 40)
    assert len(kept) == 3 + 9 + 1 + 10
    assert isinstance(kept[-1].stop, AuthError)
    assert [k.trouble.word if k.trouble else None for k in kept[:4]] == ["key", "key", None, "key"]


async def test_a_key_refused_in_mid_run_by_status_stops_at_once() -> None:
    async with RagServer([tell(GOOD), fail(401)]) as server:
        kept = await ask(application(server.url), 9)
    assert len(kept) == 2
    assert isinstance(kept[1].stop, AuthError)


async def test_a_404_in_mid_run_is_one_row() -> None:
    async with RagServer([tell(GOOD), fail(404), tell(GOOD)]) as server:
        kept = await ask(application(server.url), 3)
    assert [k.trouble.word if k.trouble else None for k in kept] == [None, "app", None]
    assert all(k.stop is None for k in kept)


async def test_without_a_key_the_text_asks_for_one() -> None:
    async with RagServer(fail(401)) as server:
        (kept,) = await ask(application(server.url, None))
    assert "wants a key, and none is set" in str(kept.stop)


async def test_a_key_sent_by_a_header_of_ones_own_is_the_one_to_check() -> None:
    async with RagServer(fail(401)) as server:
        made = application(server.url, None, environ={"MY_RAG_KEY": "k-123456"}, headers={"X-Api-Key": "$env.MY_RAG_KEY"})
        (kept,) = await ask(made)
    assert "Check MY_RAG_KEY" in str(kept.stop)
    assert "k-123456" not in str(kept.stop)
    assert "none is set" not in str(kept.stop)


# ------------------------------------------------------------------ a mapping that fits nothing
async def test_a_mistyped_mapping_ends_the_asking_and_keeps_the_responses() -> None:
    async with RagServer(tell({"data": {"answer": "Ten days.", "sources": []}, "code": 0, "message": "success"})) as server:
        made = application(server.url, answer="data.anwser", contexts=None)
        kept = await ask(made, 9)
        assert len(kept) == 3 == len(server.seen)
        assert isinstance(kept[2].stop, ConfigError)
        assert kept[2].stop.exit_code == 2
        assert "data.anwser" in str(kept[2].stop)
        assert "sources" in str(kept[2].stop)
        mended = application(server.url, answer="data.answer", contexts=None)
    assert [k.trouble for k in kept] == [None] * 3
    assert [mended.read(k).found.answer for k in kept] == ["Ten days."] * 3  # type: ignore[union-attr]


async def test_one_response_without_an_answer_is_one_row() -> None:
    async with RagServer([tell({"answer": None}), tell(GOOD), *[tell({"answer": None})] * 5]) as server:
        kept = await ask(application(server.url), 6)
    assert len(kept) == 6
    assert all(k.stop is None for k in kept)


@pytest.mark.parametrize(
    ("contexts", "rows", "stops"),
    [("sources", 1, False), ("sources", 2, False), ("sources", 3, False), ("chunk", 1, True), ("chunk", 2, True)],
)
async def test_contexts_that_are_nowhere_end_the_asking_if_the_name_is_nearly_right(contexts: str, rows: int, stops: bool) -> None:
    told: list[str] = []
    async with RagServer(tell(GOOD)) as server:
        made = application(server.url, contexts=contexts, own=("contexts",))
        made.hear(told.append)
        kept = await ask(made, rows)
    assert len(kept) == rows
    assert [k.stop is not None for k in kept] == [False] * (rows - 1) + [stops]
    assert (told == []) is stops
    said = str(kept[-1].stop) if stops else told[0]
    assert f"[collect] contexts = {contexts} finds nothing" in said


async def test_an_application_that_leaves_its_chunks_out_at_first_is_asked_on() -> None:
    told: list[str] = []
    async with RagServer([*[tell({"answer": "Hello."})] * 4, tell(GOOD)]) as server:
        made = application(server.url, own=("contexts",))
        made.hear(told.append)
        kept = await ask(made, 5)
    assert [k.stop for k in kept] == [None] * 5
    assert len(told) == 1
    assert "first responses (3)" in told[0]
    assert [made.read(k).found.chunks is None for k in kept] == [True] * 4 + [False]  # type: ignore[union-attr]


async def test_a_setting_that_is_not_needed_and_finds_nothing_is_told_once_after_the_first_responses() -> None:
    told: list[str] = []
    async with RagServer(tell(GOOD)) as server:
        made = application(server.url, context_score="scor", usage="usge", own=("context_score", "usage"))
        made.hear(told.append)
        kept = await ask(made, 5)
        assert [k.stop for k in kept] == [None] * 5
        assert [text.split(" finds")[0] for text in told] == ["[collect] context_score = scor", "[collect] usage = usge"]
        made.refit(kept)
        assert len(told) == 4


@pytest.mark.parametrize("held", [{"chunks": None}, {"chunks": []}])
async def test_chunks_that_are_told_to_be_none_are_no_mistake(held: dict[str, Any]) -> None:
    told: list[str] = []
    async with RagServer(tell({"answer": "Hello.", **held})) as server:
        made = application(server.url, own=("contexts",))
        made.hear(told.append)
        kept = await ask(made, 4)
    assert [k.stop for k in kept] == [None] * 4
    assert told == []


async def test_chunks_whose_text_is_fetched_have_none_at_first() -> None:
    async with RagServer({"/ask": tell(THIN), "GET /detail": details}) as server:
        kept = await ask(application(server.url, then=DETAIL, context_text="text", own=("context_text",)), 4)
    assert [k.stop for k in kept] == [None] * 4


@pytest.mark.parametrize(("contexts", "stops"), [("sources", False), ("chunk", True)])
async def test_a_changed_mapping_of_contexts_is_tried_by_the_same_rule(contexts: str, stops: bool) -> None:
    told: list[str] = []
    async with RagServer(tell(GOOD)) as server:
        kept = await ask(application(server.url), 3)
        changed = application(server.url, contexts=contexts, own=("contexts",))
    changed.hear(told.append)
    if stops:
        with pytest.raises(ConfigError, match="finds nothing"):
            changed.refit(kept)
    else:
        changed.refit(kept)
    assert len(told) == (not stops)


@pytest.mark.parametrize("text", ["Ten days.", "年假十天。\n自入职满一年起。", "Ten days, see {1}."])
async def test_a_body_of_plain_text_is_the_answer_where_the_mapping_says_the_body_is_it(text: str) -> None:
    async with RagServer([tell(text), page()]) as server:
        made = application(server.url, answer="@", contexts=None, context_id=None, context_text=None, error=None)
        good, bad = await ask(made, 2)
    reading = made.read(good)
    assert (good.trouble, good.stop, reading.trouble) == (None, None, None)
    assert reading.found is not None
    assert reading.found.answer == text
    told = made.read(bad).trouble
    assert told is not None
    assert told.word == "login_page"


# ------------------------------------------------------------------ further requests
THIN = {"answer": "Ten days.", "chunks": [{"id": "c 1"}, {"id": "c2", "text": "given"}, {"id": "c3"}]}
DETAIL = (Step(path="/detail?id=$id", per="chunk", text="data.q"),)


def details(asked: Asked) -> Reply:
    return tell({"data": {"q": f"text of {asked.query['id']}"}})


async def test_chunks_without_text_are_fetched_once_each() -> None:
    async with RagServer({"/ask": tell(THIN), "GET /detail": details}) as server:
        made = application(server.url, then=DETAIL)
        made.expect(2)
        kept = await asyncio.gather(made.ask(row(1)), made.ask(row(2)))
        await made.close()
    for k in kept:
        found = made.read(k).found
        assert found is not None
        assert found.chunks is not None
        assert [c.text for c in found.chunks] == ["text of c 1", "given", "text of c3"]
        assert [(r.step, r.chunk) for r in k.received] == [("ask", None), ("then", 0), ("then", 2)]
    assert sorted(a.query["id"] for a in server.asked("/detail")) == ["c 1", "c3"]


async def test_a_chunk_is_fetched_again_where_a_header_differs_by_row() -> None:
    then = (Step(path="/detail?id=$id", per="chunk", text="data.q", headers={"X-Team": "$row.team"}),)
    async with RagServer({"/ask": tell(THIN), "GET /detail": details}) as server:
        made = application(server.url, then=then)
        made.expect(3)
        for number, team in enumerate("aab"):
            await made.ask(row(number, team=team))
        await made.close()
    assert sorted((a.headers["X-Team"], a.query["id"]) for a in server.asked("/detail")) == [
        *(("a", "c 1"), ("a", "c3"), ("b", "c 1"), ("b", "c3")),
    ]


def test_only_the_chunks_wanted_last_are_held() -> None:
    fetched, came = Fetched(2), [Received("then", n) for n in range(3)]
    fetched.keep("a", came[0])
    fetched.keep("b", came[1])
    assert fetched.find("a") is came[0]
    fetched.keep("c", came[2])
    assert [fetched.find(key) for key in "abc"] == [came[0], None, came[2]]
    assert fetched.lock("a") is not fetched.lock("b")
    held = fetched.lock("a")
    assert fetched.lock("a") is held


async def test_every_request_of_a_row_is_counted() -> None:
    script = {
        "GET /open": tell({"data": "chat-9"}),
        "POST /ask": [fail(503), tell(THIN), tell(GOOD)],
        "GET /detail": [fail(503), tell({"data": {"q": "text"}})],
    }
    async with RagServer(script) as server:
        kept = await ask(application(server.url, before=Step(path="/open"), then=DETAIL), 2)
    assert [k.requests for k in kept] == [1 + 2 + 3, 1 + 1]
    assert [k.attempts for k in kept] == [2, 1]
    assert sum(k.requests or 0 for k in kept) == len(server.seen)


async def test_the_request_that_is_stopped_names_the_row_though_others_are_under_way() -> None:
    def some(asked: Asked) -> Reply:
        if asked.query["id"] == "c1":
            return tell({"data": {"q": "text"}}, held="slow")
        server.release("slow")
        return fail(403, {"message": "no right"})

    many = {"answer": "a", "chunks": [{"id": "c1"}, {"id": "c2"}]}
    async with RagServer({"/ask": [tell(GOOD), tell(many)], "/detail": some}) as server:
        first, second = await ask(application(server.url, then=DETAIL, concurrency=4), 2)
    assert first.stop is None
    assert second.trouble is not None
    assert (second.trouble.word, "no right" in second.trouble.message) == ("key", True)
    assert isinstance(second.stop, AuthError)


def test_a_row_uses_the_columns_that_stand_in_its_requests() -> None:
    made = application(
        "http://127.0.0.1:1",
        path="/${row.team}/ask?id=$row.id",
        headers={"X-Lang": "$row.language", "X-Key": "$env.TOKEN"},
        then=(Step(path="/detail", body={"in": ["$$row.no", "$row.place"]}, method="POST"),),
        environ={"TOKEN": "a-secret-token"},
    )
    assert made.uses(row(team="a", place={"b": 1}, other=2)) == {"row.team": "a", "row.language": "en", "row.place": {"b": 1}}
    assert application("http://127.0.0.1:1").uses(row(team="a")) is None


async def test_a_chunk_that_cannot_be_fetched_fails_its_row_alone() -> None:
    def some(asked: Asked) -> Reply:
        return fail(404, {"message": "no such data"}) if asked.query["id"] == "c3" else details(asked)

    other = {"answer": "a", "chunks": [{"id": "c1"}]}
    async with RagServer({"/ask": [tell(THIN), tell(other)], "/detail": some}) as server:
        kept = await ask(made := application(server.url, then=DETAIL), 2)
    assert kept[0].trouble is not None
    assert kept[0].trouble.word == "no_chunk_text"
    assert "chunk 3" in kept[0].trouble.message
    assert "no such data" in kept[0].trouble.message
    assert kept[1].trouble is None
    assert made.read(kept[1]).trouble is None


async def test_a_key_that_may_not_fetch_chunks_stops_the_asking() -> None:
    async with RagServer({"/ask": tell(THIN), "/detail": fail(403, {"message": "no right"})}) as server:
        (kept,) = await ask(application(server.url, then=DETAIL), 5)
    assert kept.trouble is not None
    assert kept.trouble.word == "key"
    assert isinstance(kept.stop, AuthError)
    assert "/detail" in str(kept.stop)


async def test_what_comes_before_and_after_the_question_is_sent_in_order() -> None:
    script = {
        "GET /open": tell({"data": "chat-9"}),
        "POST /chat/chat-9": tell({"data": {"id": "m5", "content": "Ten days."}}),
        "GET /record/chat-9/m5": tell({"data": {"list": [{"id": "p1", "text": "passage"}]}}),
    }
    async with RagServer(script) as server:
        made = application(
            server.url,
            path="/chat/$before.data",
            answer="data.content",
            contexts=None,
            before=Step(path="/open"),
            then=(Step(path="/record/$before.data/$response.data.id", contexts="data.list"),),
        )
        (kept,) = await ask(made)
    assert [a.path for a in server.seen] == ["/open", "/chat/chat-9", "/record/chat-9/m5"]
    assert [r.step for r in kept.received] == ["before", "ask", "then"]
    found = made.read(kept).found
    assert found is not None
    assert found.chunks is not None
    assert found.chunks[0].text == "passage"


async def test_a_failure_before_the_question_is_the_rows_trouble() -> None:
    async with RagServer({"/open": [tell({"id": 1}), fail(500, {"message": "down"})], "/ask": tell(GOOD)}) as server:
        _, kept = await ask(application(server.url, before=Step(path="/open"), retries=0), 2)
    assert kept.trouble is not None
    assert kept.trouble.word == "server_error"
    assert len(server.asked("/ask")) == 1


POLLED = {"before": None, "answer": None, "contexts": None}


async def test_a_step_is_sent_again_until_it_is_finished() -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    script = {
        "/ask": tell({"data": {"id": "r1"}}),
        "/retrieve": [tell({"data": {"status": "in_progress"}})] * 2 + [tell({"data": {"status": "completed"}})],
        "/messages": tell({"data": [{"type": "answer", "content": "Ten days."}]}),
    }
    then = (
        Step(path="/retrieve?id=$response.data.id", until="data.status != 'in_progress'"),
        Step(path="/messages", answer="data[?type=='answer'].content | [0]"),
    )
    async with RagServer(script) as server:
        made = HttpApplication(spec(server.url, then=then, **POLLED), KEY, environ={}, lang="en", sleep=sleep)
        (kept,) = await ask(made)
    assert waits == [0.25, 0.5]
    assert len(server.asked("/retrieve")) == 3
    assert len(kept.received) == 3
    found = made.read(kept).found
    assert found is not None
    assert found.answer == "Ten days."


async def test_a_step_that_never_finishes_is_a_timeout() -> None:
    async def sleep(_: float) -> None:
        pass

    then = (Step(path="/retrieve", until="done", answer="text"),)
    async with RagServer({"/ask": tell({"id": 1}), "/retrieve": tell({"done": False})}) as server:
        made = HttpApplication(spec(server.url, then=then, timeout=3.0, **POLLED), KEY, environ={}, lang="en", sleep=sleep)
        (kept,) = await ask(made)
    assert kept.trouble is not None
    assert kept.trouble.word == "timeout"
    assert len(server.asked("/retrieve")) == 5


# ------------------------------------------------------------------ settings
@pytest.mark.parametrize(
    ("url", "changes", "said"),
    [
        ("", {}, "--url"),
        ("host/v1", {}, "no http"),
        ("https://me:pw-secret@host", {}, "RAGSTONE_COLLECT_API_KEY"),
        ("https://host", {"path": "https://other/x"}, "https://other/x"),
        ("https://host", {"then": (Step(path="//other/x"),)}, "//other/x"),
    ],
)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_bad_addresses_are_told_before_anything_is_sent(url: str, changes: dict[str, Any], said: str, lang: str) -> None:
    with pytest.raises(ConfigError) as caught:
        application(url, lang=lang, **changes)
    assert said in str(caught.value) or (said == "no http" and lang == "zh")
    assert "pw-secret" not in str(caught.value)


# ------------------------------------------------------------------ bodies no file can hold
@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b'{"answer": "half \\ud800 a character", "chunks": []}', "half ? a character"),
        (b'{"answer": "a", "chunks": [], "score": NaN}', "a"),
        (b'{"answer": "a", "score": NaN, "big": ' + b"9" * 40 + b"}", None),
        (b'{"answer": "a", "deep": ' + b"[" * 400 + b"]" * 400 + b"}", None),
        (b"\xef\xbb\xbf" + orjson.dumps(GOOD), "Ten days."),
    ],
)
async def test_strange_bodies_are_kept_so_that_a_file_can_hold_them(body: bytes, found: str | None) -> None:
    async with RagServer([tell(GOOD), Reply(200, body, "application/json")]) as server:
        made = application(server.url)
        _, kept = await ask(made, 2)
    assert orjson.loads(orjson.dumps(kept.received[0].body)) is not None
    reading = made.read(kept)
    assert (reading.found.answer if reading.found else None) == found
    assert (reading.trouble is None) == (found is not None)


@pytest.mark.parametrize(
    ("encoding", "type", "answer"),
    [
        ("gbk", "application/json; charset=GBK", "员工每年休假十天。"),
        ("gb18030", 'application/json; charset="gb2312"', "员工𠮷每年。"),
        ("gbk", "application/json; charset=utf-8", "员工每年休假十天。"),
        ("gbk", "application/json", "员工每年休假十天。"),
        ("big5", "application/json; charset=big5", "員工每年休假十天。"),
        ("utf-16", "application/json; charset=utf-16", "Zehn Tage für alle."),
        ("utf-16-le", "application/json; charset=utf-16le", "Ten days."),
        ("latin-1", "application/json; charset=ISO-8859-1", "Zehn Tage für alle."),
        ("utf-8", "application/json; charset=ISO-8859-1", "Zehn Tage für alle. 十天"),
        ("utf-8", "application/json; charset=no-such-thing", "十天"),
        ("utf-8", "application/json; charset=base64", "十天"),
    ],
)
async def test_answers_in_another_encoding_are_read(encoding: str, type: str, answer: str) -> None:
    body = f'{{"answer": "{answer}", "chunks": []}}'.encode(encoding)
    async with RagServer(Reply(200, body, type)) as server:
        made = application(server.url)
        (kept,) = await ask(made, 1)
    found = made.read(kept).found
    assert found is not None
    assert found.answer == answer


async def test_a_broken_byte_costs_one_character() -> None:
    async with RagServer(Reply(200, '{"answer": "一天 ?", "chunks": []}'.encode().replace(b"?", b"\xe5"), "application/json")) as server:
        made = application(server.url)
        (kept,) = await ask(made, 1)
    found = made.read(kept).found
    assert found is not None
    assert found.answer == "一天 \ufffd"
