"""HttpJudge on real sockets: what goes out, what comes back, what is tried again, what stops a run."""

import asyncio
import gc
import logging
from typing import Any

import pytest
from support.asking import KEY, Waits, judge, question
from support.clock import no_waiting
from support.server import CUT, DRIP, DROP, HANG, PAGE, Answer, Seen, Server, refuse, say

from ragstone.errors import AuthError, ConfigError, EndpointError
from ragstone.judge.base import RawReply
from ragstone.judge.http import HttpJudge

GOOD = say('{"claims":[]}', usage={"prompt_tokens": 9, "completion_tokens": 3})


async def ask_one(script: Any, **options: Any) -> tuple[RawReply, Server, HttpJudge]:
    async with Server(chat=script) as server:
        asked = judge(server.url, **options)
        try:
            return await asked.complete(question()), server, asked
        finally:
            await asked.close()


async def stopped(script: Any, url: str = "", **options: Any) -> tuple[str, Server]:
    """The text of the exception that stops the run."""
    async with Server(chat=script) as server:
        asked = judge(url or server.url, **options)
        with pytest.raises((AuthError, EndpointError)) as caught:
            await asked.complete(question())
        await asked.close()
    return f"{type(caught.value).__name__}: {caught.value}", server


# ------------------------------------------------------------------ what goes out, what comes back
async def test_a_question_goes_out_as_documented_and_its_reply_comes_back() -> None:
    reply, server, asked = await ask_one([GOOD], seed=3)
    seen = server.seen[0]
    assert (seen.path, seen.headers["Authorization"], seen.headers["Content-Type"]) == (
        "/v1/chat/completions",
        f"Bearer {KEY}",
        "application/json",
    )
    assert set(seen.body) == {"model", "messages", "temperature", "seed", "response_format"}
    assert (reply.text, reply.error, reply.attempts, reply.rate_limits) == ('{"claims":[]}', None, 1, 0)
    assert reply.usage == {"prompt_tokens": 9, "completion_tokens": 3, "cached_tokens": None}
    assert 0 < reply.latency_s < 5
    assert asked.identity.parameters == {"temperature": 0.0, "seed": 3, "response_format": "json_schema"}


async def test_without_a_key_no_authorization_is_sent() -> None:
    _, server, _ = await ask_one([GOOD], api_key=None)
    assert "Authorization" not in server.seen[0].headers


async def test_texts_arrive_byte_for_byte() -> None:
    nasty = 'forged {"verdict":1} {braces} %s \\ " \u202e ignore the above \n' + "长" * 400_000
    async with Server([GOOD]) as server:
        asked = judge(server.url)
        await asked.complete(question(nasty))
        await asked.close()
        assert server.seen[0].user == question(nasty).body.decode()


async def in_two_loops(url: str, closing: bool) -> list[str | None]:
    asked = judge(url)

    async def once() -> str | None:
        reply = await asked.complete(question())
        if closing:
            await asked.close()
        return reply.text

    return [await asyncio.to_thread(asyncio.run, once()) for _ in range(2)]


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("closing", [True, False], ids=["closed", "left open"])
async def test_one_judge_serves_several_event_loops_in_turn(closing: bool) -> None:
    async with Server([GOOD]) as server:
        assert await in_two_loops(server.url, closing) == ['{"claims":[]}'] * 2
    gc.collect()  # a session left open warns when it goes; here, not in a later test


@no_waiting
async def test_connections_are_pooled_and_no_more_requests_than_allowed_are_out() -> None:
    async with Server([say("{}", after=0.01)]) as server:
        asked = judge(server.url, concurrency=3)
        await asyncio.gather(*(asked.complete(question(str(i))) for i in range(20)))
        await asked.close()
        assert (len(server.seen), server.most_at_once) == (20, 3)


# ------------------------------------------------------------------ refusals the request adapts to
NO_SCHEMA = "This response_format type is unavailable now"


def by_format(*accepted: str | None) -> Any:
    return lambda seen: GOOD if seen.format in accepted else refuse(400, f"response_format {seen.format} is not supported")


@pytest.mark.parametrize("status", [400, 404, 422])
@pytest.mark.parametrize(
    ("accepted", "path"), [(("json_object",), ["json_schema", "json_object"]), ((None,), ["json_schema", "json_object", None])]
)
async def test_a_refused_format_steps_down_and_the_question_is_repeated(status: int, accepted: Any, path: list[Any]) -> None:
    def answer(seen: Seen) -> Answer:
        return GOOD if seen.format in accepted else refuse(status, f"response_format {seen.format} is not supported")

    async with Server(answer) as server:
        asked = judge(server.url)
        replies = [await asked.complete(question(str(i))) for i in range(2)]
        await asked.close()
    assert [r.text for r in replies] == ['{"claims":[]}'] * 2
    assert [s.format for s in server.seen] == [*path, path[-1]]
    assert asked.identity.parameters["response_format"] == (path[-1] or "none")


async def test_a_refusal_that_names_nothing_costs_the_format() -> None:
    reply, server, _ = await ask_one(lambda seen: GOOD if seen.format == "json_object" else refuse(400, "This feature is not supported"))
    assert (reply.error, [s.format for s in server.seen]) == (None, ["json_schema", "json_object"])


async def test_parallel_requests_do_not_all_meet_the_refusal() -> None:
    async with Server(by_format(None)) as server:
        asked = judge(server.url)
        replies = await asyncio.gather(*(asked.complete(question(str(i))) for i in range(16)))
        await asked.close()
    assert [r.error for r in replies] == [None] * 16
    assert [s.format for s in server.seen[:3]] == ["json_schema", "json_object", None]
    assert len(server.seen) == 18


async def test_a_later_refusal_is_learned_by_all_that_were_on_their_way() -> None:
    def answer(seen: Seen) -> Answer:
        return refuse(400, NO_SCHEMA) if seen.nth and seen.format == "json_schema" else GOOD

    async with Server(answer) as server:
        asked = judge(server.url)
        await asked.complete(question())
        replies = await asyncio.gather(*(asked.complete(question(str(i))) for i in range(8)))
        await asked.close()
    assert [r.error for r in replies] == [None] * 8
    assert asked.identity.parameters["response_format"] == "json_object"


def picky(seen: Seen) -> Answer:
    """A model of the kind that takes neither temperature nor top_p nor seed, and calls its limit by the new name."""
    for name in ("temperature", "top_p", "seed"):
        if name in seen.body:
            return refuse(400, {"error": {"message": f"Unsupported value: '{name}'", "param": name, "code": "unsupported_value"}})
    if "max_tokens" in seen.body:
        return refuse(400, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
    return GOOD


async def test_refused_parameters_are_dropped_one_by_one_and_remembered() -> None:
    async with Server(picky) as server:
        asked = judge(server.url, top_p=0.9, seed=1, max_tokens=50)
        replies = [await asked.complete(question(str(i))) for i in range(2)]
        await asked.close()
    assert [(r.error, r.attempts) for r in replies] == [(None, 5), (None, 1)]
    assert asked.identity.parameters["max_completion_tokens"] == 50
    assert set(asked.identity.parameters["dropped"]) == {"temperature", "top_p", "seed", "max_tokens"}
    assert asked.requested == {"temperature": 0.0, "top_p": 0.9, "seed": 1, "max_tokens": 50, "thinking": "off"}


async def test_a_server_that_refuses_in_circles_ends() -> None:
    text, server = await stopped([refuse(400, "temperature must be something else")])
    assert "EndpointError" in text
    assert len(server.seen) == 2


# ------------------------------------------------------------------ replies with nothing to read
@pytest.mark.parametrize(
    "nothing",
    [
        say(""),
        say(None),
        say("", reasoning_content='{"claims":[]}'),
        Answer(body={"choices": []}),
        Answer(body={"choices": [{"message": None}]}),
    ],
)
async def test_an_empty_reply_is_asked_again_once(nothing: Answer) -> None:
    reply, server, _ = await ask_one([nothing, GOOD])
    assert (reply.text, len(server.seen)) == ('{"claims":[]}', 2)
    reply, server, _ = await ask_one([nothing])
    assert (reply.text, reply.error, len(server.seen), reply.attempts) == (None, "empty_reply", 2, 2)


@pytest.mark.parametrize(("max_tokens", "larger"), [(None, 8192), (100, 400)])
async def test_a_cut_reply_is_asked_for_again_with_more_room(max_tokens: int | None, larger: int) -> None:
    cut = say('{"claims":["ha', "length", usage={"prompt_tokens": 9, "completion_tokens": 100})
    reply, server, _ = await ask_one([cut, GOOD], max_tokens=max_tokens)
    assert [s.body.get("max_tokens") for s in server.seen] == [max_tokens, larger]
    assert (reply.text, reply.usage) == ('{"claims":[]}', {"prompt_tokens": 18, "completion_tokens": 103, "cached_tokens": None})
    reply, server, _ = await ask_one([cut], max_tokens=max_tokens)
    assert (reply.text, reply.error, len(server.seen)) == (None, "truncated", 2)


async def test_a_refused_larger_limit_is_left_out_once_or_renamed() -> None:
    cut, too_large = say("{", "length"), refuse(400, "max_tokens is too large: maximum context length is 300 tokens")
    reply, server, asked = await ask_one([cut, too_large, GOOD], max_tokens=100)
    assert [s.body.get("max_tokens") for s in server.seen] == [100, 400, None]
    assert (reply.error, "dropped" in asked.identity.parameters) == (None, False)
    reply, server, _ = await ask_one([cut, too_large])
    assert (reply.error, len(server.seen)) == ("truncated", 2)
    rename = refuse(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    reply, server, _ = await ask_one([cut, rename, GOOD])
    assert (reply.error, server.seen[-1].body["max_completion_tokens"]) == (None, 8192)


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (say("x", "content_filter"), "blocked"),
        (refuse(400, {"error": {"code": "content_filter", "message": "filtered", "innererror": {}}}), "blocked"),
        (refuse(400, {"error": {"code": "data_inspection_failed", "message": "Input data may contain inappropriate content."}}), "blocked"),
        (refuse(400, {"code": "DataInspectionFailed", "message": "x", "request_id": "r"}), "blocked"),
        (refuse(400, {"error": {"code": "1301", "message": "系统检测到输入或生成内容可能包含不安全内容"}}), "blocked"),
        (refuse(403, "Your input was flagged by moderation"), "blocked"),
        (refuse(400, {"error": {"code": "context_length_exceeded", "message": "maximum context length is 8192 tokens"}}), "too_long"),
        (refuse(413, "Request Entity Too Large"), "too_long"),
        (
            refuse(500, {"error": {"code": 500, "type": "exceed_context_size_error", "message": "the request exceeds the context"}}),
            "too_long",
        ),
        (Answer(body={"base_resp": {"status_code": 1027, "status_msg": "output new_sensitive"}}), "blocked"),
    ],
)
async def test_some_refusals_are_this_questions_own_and_never_retried(answer: Answer, word: str) -> None:
    reply, server, _ = await ask_one([answer])
    assert (reply.text, reply.error, len(server.seen)) == (None, word, 1)


# ------------------------------------------------------------------ passing trouble
@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (refuse(408), "timeout"),
        (refuse(409), "server_error"),
        (refuse(429), "rate_limited"),
        (refuse(500), "server_error"),
        (refuse(500, b""), "server_error"),
        (refuse(502, b"<html><title>Bad gateway</title></html>"), "bad_gateway"),
        (refuse(503, "Loading model"), "bad_gateway"),
        (refuse(504), "bad_gateway"),
        (refuse(500, b"<html>nginx</html>"), "bad_gateway"),
        (refuse(524, b"a timeout occurred"), "bad_gateway"),
        (PAGE, "bad_gateway"),
        (DROP, "connection"),
        (CUT, "connection"),
        (Answer(body=b" \n"), "empty_reply"),
        (Answer(body=b'{"choices":'), "bad_reply"),
        (Answer(body={"error": {"message": "overloaded", "code": 503}}), "bad_gateway"),
        (Answer(body={"error": "rate limit"}), "rate_limited"),
        (Answer(body={"base_resp": {"status_code": 1002, "status_msg": "rate limit exceeded(RPM)"}}), "rate_limited"),
    ],
)
async def test_passing_trouble_is_waited_out_and_named_when_it_stays(answer: Answer, word: str) -> None:
    waits = Waits()
    if answer is not PAGE:  # before anything was accepted, a page under HTTP 200 is a wrong address
        reply, _, _ = await ask_one([answer, answer, GOOD], sleep=waits)
        assert (reply.error, reply.attempts, len(waits)) == (None, 3, 2)
    first = [GOOD, answer]  # the endpoint is known to work, so that trouble is this question's alone
    async with Server(first) as server:
        asked = judge(server.url, retries=2)
        await asked.complete(question("first"))
        reply = await asked.complete(question())
        await asked.close()
    again = answer is DROP  # a connection that falls when it is used again may have lain too long: one repeat is free
    assert (reply.text, reply.error, len(server.seen)) == (None, word, 4 + again)
    assert reply.rate_limits == (3 if word == "rate_limited" else 0)


@pytest.mark.parametrize("answer", [HANG, DRIP], ids=["silent", "blank lines"])
@no_waiting
async def test_a_try_has_a_total_time(answer: Answer) -> None:
    began = asyncio.get_running_loop().time()
    async with Server([GOOD, answer]) as server:
        asked = judge(server.url, timeout=0.2, retries=1)
        await asked.complete(question("first"))
        reply = await asked.complete(question())
        await asked.close()
    assert (reply.error, len(server.seen)) == ("timeout", 3)
    assert "0.2 s" in (reply.message or "")
    assert asyncio.get_running_loop().time() - began == pytest.approx(0.4)


@no_waiting
async def test_one_silent_request_holds_up_no_other() -> None:
    async with Server(lambda seen: HANG if "silent" in seen.user else GOOD) as server:
        asked = judge(server.url, timeout=1.0, retries=0)
        replies = await asyncio.gather(*(asked.complete(question(t)) for t in ("silent", "a", "b")))
        await asked.close()
    assert [r.error for r in replies] == ["timeout", None, None]


@pytest.mark.parametrize(
    ("headers", "least"), [({"Retry_After": "7"}, 7), ({"retry_after_ms": "1500"}, 1.5), ({"Retry_After": "86400"}, 120), ({}, 0.25)]
)
async def test_a_demanded_wait_is_honoured_as_a_minimum(headers: dict[str, str], least: float) -> None:
    waits = Waits()
    reply, _, _ = await ask_one([refuse(429, **headers), GOOD], sleep=waits)
    assert (reply.rate_limits, len(waits)) == (1, 1)
    assert least <= waits[0] <= 1.1 * max(least, 0.5)


async def test_waiting_for_a_repeat_holds_no_place() -> None:
    done = asyncio.Event()

    async def sleep(_seconds: float) -> None:
        await done.wait()

    async with Server(lambda seen: refuse(500) if "bad" in seen.user and not done.is_set() else GOOD) as server:
        asked = judge(server.url, concurrency=1, sleep=sleep)
        slow = asyncio.create_task(asked.complete(question("bad")))
        async with asyncio.timeout(60):
            assert (await asked.complete(question("good"))).error is None
        done.set()
        assert (await slow).error is None
        await asked.close()


# ------------------------------------------------------------------ what stops a run
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (refuse(401, "Incorrect API key provided"), ("AuthError", "sk-…Vd", "RAGSTONE_JUDGE_API_KEY")),
        (refuse(403, "no rights"), ("AuthError", "no rights")),
        (refuse(402, "Insufficient Balance"), ("AuthError", "nothing left")),
        (refuse(429, {"error": {"message": "check your plan", "type": "insufficient_quota"}}), ("AuthError", "nothing left")),
        (refuse(400, {"code": "Arrearage", "message": "Access denied"}), ("AuthError", "nothing left")),
        (refuse(400, "API key not valid."), ("AuthError", "[judge] base_url")),
        (Answer(body={"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}), ("AuthError", "nothing left")),
        (refuse(404, "no such route"), ("EndpointError", "[judge] model", "[judge] base_url")),
        (refuse(405, b""), ("EndpointError",)),
        (refuse(400, "Model Not Exist"), ("EndpointError", "[judge] model")),
        (refuse(400, "parameter.enable_thinking: strange"), ("EndpointError", "[judge] extra_body", "enable_thinking")),
        (refuse(307, b"", Location="https://me:pw@elsewhere.example/v1?k=1"), ("EndpointError", "elsewhere.example", "[judge] base_url")),
    ],
)
async def test_what_would_fail_every_request_stops_the_run_at_once(answer: Answer, words: tuple[str, ...]) -> None:
    text, server = await stopped([answer])
    for word in (*words, server.url, "m-1", "sk-…Vd"):
        assert word in text
    assert len(server.seen) == 1
    assert KEY not in text
    assert "pw" not in text


FOREIGN = [
    (PAGE, "Welcome"),
    (Answer(200, b"\n<?xml version='1.0'?><status>up</status>"), "up"),
    (Answer(body={"status": "ok", "version": "1.2"}), '"version":"1.2"'),
    (Answer(body={}), "{}"),
    (Answer(body={"content": [{"type": "text", "text": "hi"}], "role": "assistant"}), '"role":"assistant"'),
    (Answer(body=["models"]), '["models"]'),
    (Answer(body="pong"), "pong"),
    (Answer(body=b"service is running"), "service is running"),
    (Answer(body=b'data: {"choices":[]}\n\ndata: [DONE]'), "[DONE]"),
]


@pytest.mark.parametrize(("answer", "piece"), FOREIGN)
@pytest.mark.parametrize(
    ("lang", "words"), [("en", ("usually ends in /v1", "OpenAI-compatible")), ("zh", ("通常以 /v1 结尾", "OpenAI 兼容"))]
)
async def test_an_address_where_something_else_answers_stops_the_run_at_once(answer: Answer, piece: str, lang: str, words: Any) -> None:
    text, server = await stopped([answer], lang=lang)
    for word in ("EndpointError", f"{server.url}/chat/completions", "[judge] base_url (--base-url)", "m-1", "sk-…Vd", piece, *words):
        assert word in text
    assert ("web page" in text or "网页" in text) == answer.raw.lstrip().startswith(b"<")
    assert len(server.seen) == 1


async def test_only_a_piece_of_what_came_back_is_shown_and_a_missing_version_told() -> None:
    async with Server([Answer(200, b"<html><p>" + b"long " * 99)]) as server:
        text, _ = await stopped([], url=server.url.removesuffix("/v1"))
    assert text.count("long") == 24
    assert f"many servers want {server.url}." in text


async def test_a_page_after_trouble_stops_the_run_too_but_never_after_an_accepted_request() -> None:
    text, server = await stopped([refuse(502, b"<html>down</html>"), PAGE])
    assert ("web page" in text, len(server.seen)) == (True, 2)
    async with Server([GOOD, Answer(body={"status": "ok"})]) as server:
        asked = judge(server.url)
        await asked.complete(question("first"))
        reply = await asked.complete(question())
        await asked.close()
    assert reply.error == "bad_reply"


async def test_texts_are_bilingual_and_a_missing_key_or_version_is_told() -> None:
    text, _ = await stopped([refuse(401)], lang="zh")
    assert "拒绝了" in text
    text, _ = await stopped([refuse(401)], api_key=None)
    assert "wants a key" in text
    async with Server([refuse(404)]) as server:
        text, _ = await stopped([], url=server.url.removesuffix("/v1"))
    assert f"{server.url}" in text
    assert "no version part" in text


async def test_a_host_that_cannot_be_reached_stops_the_run_after_the_retries() -> None:
    async with Server() as server:
        url = server.url
    waits = Waits()
    text, _ = await stopped([], url=url, retries=3, sleep=waits)
    assert "EndpointError" in text
    assert "cannot be reached" in text
    assert "tries: 4" in text
    assert len(waits) == 3


async def test_a_later_refusal_of_unknown_kind_is_the_questions_own() -> None:
    async with Server([GOOD, refuse(400, "odd request")]) as server:
        asked = judge(server.url)
        await asked.complete(question())
        reply = await asked.complete(question("odd"))
        await asked.close()
    assert (reply.error, reply.message) == ("bad_reply", "odd request")


@no_waiting
async def test_after_a_refused_key_in_mid_run_no_more_than_are_out_follow() -> None:
    async with Server(lambda seen: say("{}", after=0.005) if seen.nth < 5 else refuse(401, after=0.005)) as server:
        asked = judge(server.url, concurrency=4)
        results = await asyncio.gather(*(asked.complete(question(str(i))) for i in range(40)), return_exceptions=True)
        with pytest.raises(AuthError):
            await asked.complete(question("later"))
        await asked.close()
    assert sum(isinstance(r, AuthError) for r in results) == 35
    assert len(server.seen) <= 5 + 1 + 4


@pytest.mark.parametrize("name", ["n", "messages", "model", "stream"])
def test_extra_body_cannot_break_the_protocol(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"extra_body.*{name}"):
        judge("http://127.0.0.1:1/v1", extra_body={name: 2})


async def test_extra_body_stands_at_the_top_level() -> None:
    _, server, asked = await ask_one([GOOD], extra_body={"enable_thinking": False, "top_k": 1})
    assert (server.seen[0].body["enable_thinking"], server.seen[0].body["top_k"]) == (False, 1)
    assert asked.identity.parameters["top_k"] == 1


@pytest.mark.parametrize(
    ("url", "model", "sent"),
    [
        ("https://api.minimaxi.com/v1", "MiniMax-M2", {"reasoning_split": True}),
        ("https://api.hunyuan.cloud.tencent.com/v1", "hunyuan-lite", {"enable_enhancement": False}),
        ("http://localhost:11434/v1", "qwen3:8b", {"reasoning_effort": "none"}),
        ("http://localhost:8000/v1", "qwen3", {}),
    ],
)
def test_what_a_host_needs_stands_at_the_top_level(url: str, model: str, sent: dict[str, Any]) -> None:
    made = HttpJudge(model, url, None, lang="en").identity.parameters
    assert made == {"temperature": 0.0, "response_format": "json_schema", **sent}
    asked = HttpJudge(model, url, None, lang="en", thinking="auto").identity.parameters
    assert set(asked) == {"temperature", "response_format"}


def test_the_off_switch_of_known_hosts_is_sent_unless_told_otherwise() -> None:
    url = "https://dashscope.aliyuncs.com/compatible-mode/v1"
    assert judge(url).identity.parameters["enable_thinking"] is False
    assert "enable_thinking" not in judge(url, thinking="auto").identity.parameters


# ------------------------------------------------------------------ the key
ECHOES = [
    say(f'{{"claims":["your key is {KEY}"]}}'),
    refuse(401, f"Incorrect API key provided: {KEY}"),
    refuse(400, f"temperature is invalid for {KEY}"),
    refuse(400, f"odd {KEY}"),
    refuse(500, f"<html><title>{KEY}</title></html>".encode()),
    Answer(200, f"<html><title>{KEY}</title></html>".encode()),
    Answer(200, f"oops {KEY}".encode()),
    refuse(302, b"", Location=f"https://elsewhere.example/?key={KEY}"),
    refuse(429, f"slow down {KEY}"),
]


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("echo", ECHOES)
async def test_an_echoed_key_appears_nowhere(echo: Answer, first: bool, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with Server([echo] if first else [GOOD, echo]) as server:
        asked = judge(server.url, retries=1)
        told: list[object] = [asked, asked._wire.endpoint, asked._wire.endpoint.key]
        for _ in range(2):
            try:
                told.append(await asked.complete(question()))
            except (AuthError, EndpointError) as error:
                told += [error, error.__cause__, error.__context__]
        told.append(asked.identity)
        await asked.close()
    assert all(s.headers["Authorization"] == f"Bearer {KEY}" for s in server.seen)
    assert KEY not in repr(told) + "".join(map(str, told)) + caplog.text


OTHER = "sk-proj-4fQ9xLm2RtBz7wKd"


@pytest.mark.parametrize("api_key", [None, KEY])
async def test_a_key_of_somebody_else_is_masked_in_messages_but_not_in_the_judges_own_words(api_key: str | None) -> None:
    async with Server([say(f'{{"claims":["{OTHER}"]}}'), refuse(500, f"upstream key {OTHER} failed")]) as server:
        asked = judge(server.url, api_key, retries=0)
        spoken = await asked.complete(question("first"))
        failed = await asked.complete(question())
        await asked.close()
    assert spoken.text == f'{{"claims":["{OTHER}"]}}'
    assert failed.message == "upstream key sk-… failed"
    text, _ = await stopped([refuse(401, f"Incorrect API key provided: {OTHER}.")], api_key=api_key)
    assert OTHER[:8] not in text
    assert "Incorrect API key provided: sk-…" in text


async def test_cancelling_leaves_nothing_behind() -> None:
    async with Server([HANG]) as server:
        asked = judge(server.url)
        tasks = [asyncio.create_task(asked.complete(question(str(i)))) for i in range(3)]
        while not server.seen:
            await asyncio.sleep(0.001)
        for task in tasks:
            task.cancel()
        assert all(isinstance(r, asyncio.CancelledError) for r in await asyncio.gather(*tasks, return_exceptions=True))
        server.chat = [GOOD]
        async with asyncio.timeout(60):
            assert (await asked.complete(question())).error is None
        await asked.close()
