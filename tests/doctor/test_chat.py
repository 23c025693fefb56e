"""The probes of a judge against servers of every make."""

from dataclasses import replace
from typing import Any

import pytest
from support import makes
from support.clock import no_waiting
from support.server import HANG, PAGE, Server, refuse, say

from ragstone.config import JudgeSettings
from ragstone.doctor.chat import ChatProbes
from ragstone.doctor.examine import _probe
from ragstone.doctor.findings import MOST, Examined
from ragstone.doctor.line import Line
from ragstone.doctor.requests import questions, switches
from ragstone.transport.endpoint import JUDGE, Endpoint, Key
from ragstone.transport.memory import Memory


async def no_wait(seconds: float) -> None:
    pass


async def probe(server: Server, *, timeout: float = 5.0, most: int = MOST, memory: Memory | None = None, **settings: Any) -> Examined:
    line = Line(Endpoint(server.url, "m", Key("sk-secret-0123456789", "K"), JUDGE, "en"), timeout, most, no_wait)
    return await _probe(line, ChatProbes(line, JudgeSettings(model="m", timeout=timeout, **settings)), memory)


def codes(examined: Examined) -> dict[str, str]:
    return {finding.probe: finding.code for finding in examined.findings}


def states(examined: Examined) -> dict[str, str]:
    return {finding.probe: finding.state for finding in examined.findings}


READ = {"chat_en": "chat_read", "chat_zh": "chat_read", "usage": "usage_told"}
TAKEN = {**READ, "temperature": "temperature_taken", "max_tokens": "limit_kept", "thinking": "thinking_none"}

MAKES: dict[str, tuple[makes.Make, dict[str, str], dict[str, Any], int]] = {
    "good": (
        makes.good(),
        {**TAKEN, "json_schema": "schema_applied", "json_object": "object_given", "logprobs": "logprobs_given"},
        {},
        5,
    ),
    "deepseek": (
        makes.deepseek(),
        {
            **TAKEN,
            "json_schema": "schema_refused",
            "json_object": "object_given",
            "thinking": "thinking_stopped",
            "logprobs": "logprobs_given",
        },
        {"extra_body": {"thinking": {"type": "disabled"}}},
        6,
    ),
    "openai reasoning": (
        makes.openai_reasoning(),
        {
            **READ,
            "served": "served_other",
            "temperature": "temperature_refused",
            "max_tokens": "limit_renamed",
            "json_schema": "schema_applied",
            "json_object": "object_given",
            "logprobs": "logprobs_refused",
            "thinking": "thinking_stopped",
        },
        {"extra_body": {"reasoning_effort": "none"}},
        9,
    ),
    "lm studio": (
        makes.lm_studio(),
        {**TAKEN, "json_schema": "schema_applied", "json_object": "object_refused", "logprobs": "logprobs_missing"},
        {},
        5,
    ),
    "minimax": (
        makes.minimax(),
        {
            **READ,
            "temperature": "temperature_changed",
            "max_tokens": "limit_kept",
            "json_schema": "schema_refused",
            "json_object": "object_refused",
            "logprobs": "logprobs_missing",
            "thinking": "thinking_on",
        },
        {},
        10,
    ),
    "ollama": (
        makes.ollama(),
        {
            **TAKEN,
            "json_schema": "schema_applied",
            "json_object": "object_given",
            "logprobs": "logprobs_missing",
            "thinking": "thinking_stopped",
        },
        {"extra_body": {"reasoning_effort": "none"}},
        7,
    ),
    "takes all, applies none": (
        makes.silent_vllm(),
        {
            **TAKEN,
            "usage": "usage_missing",
            "max_tokens": "limit_ignored",
            "json_schema": "schema_ignored",
            "json_object": "object_wrapped",
            "logprobs": "logprobs_missing",
        },
        {},
        6,
    ),
}


@pytest.mark.parametrize("name", MAKES)
async def test_what_a_server_takes_is_told_in_under_15_requests(name, tmp_path):
    make, found, advice, requests = MAKES[name]
    async with Server(make) as server:
        examined = await probe(server, memory=Memory(tmp_path))
    assert codes(examined) == found
    assert examined.advice == advice
    assert examined.usable
    assert examined.trouble is None
    assert examined.requests == len(server.seen) == requests
    assert Memory(tmp_path).recall(server.url, "m")["logprobs"] is (found["logprobs"] == "logprobs_given")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_questions_are_those_of_a_run(lang):
    question = questions()[lang]
    assert question.language == lang
    assert question.prompt.startswith("task: check_claims/")
    assert set(question.input) == {"contexts", "claims"}


async def test_the_first_two_requests_ask_in_english_and_in_chinese_as_a_run_would():
    async with Server(makes.good()) as server:
        await probe(server)
    first, second = server.seen[0].body, server.seen[1].body
    assert first["response_format"]["json_schema"]["name"] == "check_claims"
    assert (first["temperature"], "logprobs" in first, "max_tokens" in first) == (0, False, False)
    assert "耳机" in second["messages"][1]["content"]
    assert second["logprobs"] is True
    assert all("n" not in seen.body for seen in server.seen)


async def test_a_judge_that_is_wrong_is_told_apart_from_one_that_cannot_be_read():
    async with Server(makes.Make(words=("supported", "supported"))) as server:
        assert codes(await probe(server))["chat_en"] == "chat_wrong"
    async with Server(makes.Make(words=("supported",))) as server:
        assert codes(await probe(server))["chat_en"] == "chat_part"
    async with Server([say("I would rather not.")]) as server:
        examined = await probe(server)
    assert codes(examined)["chat_en"] == codes(examined)["chat_zh"] == "chat_unread"
    assert not examined.usable
    assert examined.trouble is not None
    assert server.url in examined.trouble


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (refuse(401, "Incorrect API key provided: sk-secret-0123456789"), ("401", "K")),
        (refuse(402, "Insufficient Balance"), ("402", "K")),
        (refuse(404, "The model `m` does not exist"), ("404", "--judge")),
        (PAGE, ("200", "--base-url")),
        (refuse(500, "boom"), ("boom", "--base-url")),
        (refuse(502, b"<html><title>Bad gateway</title></html>"), ("502", "--base-url")),
        (refuse(429, "slow down"), ("slow down", "--base-url")),
        (HANG, ("timeout", "--base-url")),
    ],
    ids=["401", "402", "404", "page", "500", "502", "429", "hang"],
)
@no_waiting
async def test_a_judge_that_cannot_be_used_is_told_with_address_and_setting(answer, words):
    async with Server([answer]) as server:
        examined = await probe(server, timeout=3.0)
    assert not examined.usable
    assert examined.trouble is not None
    assert all(word in examined.trouble for word in (server.url, "m", *words))
    assert "sk-secret-0123456789" not in examined.trouble
    assert examined.requests == len(server.seen) <= 3
    assert list(states(examined).items()) == [("chat_en", "no")]


@no_waiting
async def test_a_hanging_server_is_asked_once():
    async with Server([HANG]) as server:
        examined = await probe(server, timeout=0.2)
    assert len(server.seen) == 1
    assert codes(examined) == {"chat_en": "chat_failed"}


@no_waiting
async def test_what_hangs_later_ends_with_the_time_and_what_is_known_is_kept():
    make = makes.good()
    async with Server(lambda seen: replace(make(seen), after=0.1) if seen.nth < 2 else HANG) as server:
        examined = await probe(server, timeout=1.0)
    assert codes(examined)["chat_en"] == "chat_read"
    assert codes(examined)["rest"] == "time_up"
    assert examined.usable
    assert len(server.seen) <= 5


async def test_passing_trouble_is_repeated():
    make = makes.good()
    async with Server(lambda seen: refuse(429, "slow down", Retry_After="60") if seen.nth in (0, 1, 4) else make(seen)) as server:
        examined = await probe(server)
    assert set(states(examined).values()) == {"yes"}
    assert examined.requests == 8


async def test_requests_run_out_before_15_and_what_was_not_asked_is_unknown():
    make = makes.openai_reasoning()
    async with Server(lambda seen: refuse(503) if seen.nth % 3 else make(seen)) as server:
        examined = await probe(server, most=6)
    assert examined.requests == len(server.seen) == 6
    assert "not_told" in codes(examined).values()
    assert "unknown" in states(examined).values()


async def test_thinking_is_left_alone_when_told_so():
    async with Server(makes.deepseek()) as server:
        examined = await probe(server, thinking="auto")
    assert codes(examined)["thinking"] == "thinking_left"
    assert examined.advice == {}


async def test_a_switch_in_extra_body_is_told_as_what_turns_thinking_off():
    async with Server(makes.ollama()) as server:
        examined = await probe(server, extra_body={"reasoning_effort": "none"})
    assert codes(examined)["thinking"] == "thinking_off"


async def test_a_key_that_expires_in_the_middle_stops_and_keeps_what_was_found():
    make = makes.good()
    async with Server(lambda seen: make(seen) if seen.nth < 3 else refuse(401, "expired")) as server:
        examined = await probe(server)
    assert codes(examined)["rest"] == "stopped"
    assert not examined.usable
    assert len(server.seen) == 4


@pytest.mark.parametrize("sign", ["reasoning", "reasoning_content", "reasoning_tokens", "<think>", "unheard of"])
def test_every_switch_is_tried_once_likeliest_first(sign):
    tried = switches(sign)
    assert len(tried) == 4
    assert all(tried.count(switch) == 1 for switch in tried)
    assert sign != "reasoning_tokens" or tried[0] == {"reasoning_effort": "none"}
