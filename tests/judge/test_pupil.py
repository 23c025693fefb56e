"""A judge that met an endpoint before meets no refusal: what was taught is kept in the cache folder. On real sockets."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from support.asking import KEY, judge, question
from support.server import Answer, Seen, Server, refuse, say

from ragstone.judge.http import HttpJudge
from ragstone.questions.base import Kind, Reading
from ragstone.transport.memory import FILE, Memory

GOOD = say('{"claims":[]}', usage={"prompt_tokens": 9, "completion_tokens": 3})
Told = list[str]


KEYED = Kind("split_claims", 1, {"type": "object", "required": ["claims"]}, lambda _user, _raw: Reading())


async def ask(server: Server, folder: Path | None, told: Told | None = None, times: int = 2, **options: Any) -> HttpJudge:
    asked = judge(server.url, memory=Memory(folder) if folder else None, **options)
    if told is not None:
        asked.hear(told.append)
    for n in range(times):
        assert (await asked.complete(question(str(n), KEYED))).error is None
    await asked.close()
    return asked


def picky(seen: Seen) -> Answer:
    """Takes no schema, no temperature of 0, the new name of the limit, and no thinking."""
    body = seen.body
    if seen.format == "json_schema":
        return refuse(400, "This response_format type is unavailable now")
    if body.get("temperature") == 0:
        return refuse(400, {"error": {"code": "1210", "message": "temperature 参数非法"}})
    if "max_tokens" in body:
        return refuse(400, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
    if body.get("max_completion_tokens", 0) > 4096:
        return refuse(400, "max_completion_tokens 取值范围为 [1, 4096]")
    if "top_p" in body:
        return refuse(400, "Unknown parameter: 'top_p'")
    return GOOD if body.get("enable_thinking") is False else refuse(400, "parameter.enable_thinking must be set to false")


async def test_the_second_run_meets_no_refusal_and_says_since_when_it_knows(tmp_path: Path) -> None:
    async with Server(picky) as server:
        first = await ask(server, tmp_path, max_tokens=9000, top_p=0.9)
        refused, told = len(server.seen) - 2, Told()
        second = await ask(server, tmp_path, told, max_tokens=9000, top_p=0.9)
        assert (refused, len(server.seen)) == (6, 2 + 6 + 2)
        third = await ask(server, None, max_tokens=9000, top_p=0.9)
    assert {k: v for k, v in first.identity.parameters.items() if k not in ("dropped", "added", "changed")} == {
        "temperature": 0.01,
        "enable_thinking": False,
        "max_completion_tokens": 4096,
        "response_format": "json_object",
        "largest_output": 4096,
    }
    for name in ("dropped", "added", "changed"):
        before, after = first.identity.parameters[name], second.identity.parameters[name]
        assert set(before) == set(after)
        assert all("remembered" not in why for why in before.values())
        assert all(after[key].startswith(before[key] + " (remembered since 2") for key in before)
    assert third.identity.parameters["added"] == first.identity.parameters["added"]
    assert len(told) == 1
    for name in ("json_schema", "temperature", "top_p", "max_tokens", "enable_thinking", "cache clear", "m-1"):
        assert name in told[0]


async def test_nothing_is_read_or_written_where_nothing_is_taught_or_asked(tmp_path: Path) -> None:
    async with Server([GOOD]) as server:
        await ask(server, tmp_path / "a")
        asked = judge(server.url, memory=Memory(tmp_path / "b"))
        assert asked.identity.parameters["response_format"] == "json_schema"
    assert list(tmp_path.iterdir()) == []


async def test_what_led_to_no_usable_reply_is_not_kept(tmp_path: Path) -> None:
    async with Server(lambda seen: refuse(400, "temperature is invalid") if "temperature" in seen.body else say("sorry")) as server:
        await ask(server, tmp_path)
    assert list(tmp_path.iterdir()) == []


async def test_facts_of_others_stay_and_no_key_is_kept(tmp_path: Path) -> None:
    def answer(seen: Seen) -> Answer:
        return refuse(400, f"temperature is not supported for {KEY}") if "temperature" in seen.body else GOOD

    async with Server(answer) as server:
        Memory(tmp_path).keep(server.url, "m-1", {"concurrency": 4})
        await ask(server, tmp_path)
        facts = Memory(tmp_path).recall(server.url, "m-1")
    assert (facts["concurrency"], [row["name"] for row in facts["dialect"]]) == (4, ["temperature"])
    assert KEY not in (tmp_path / FILE).read_text()


@pytest.mark.parametrize("spoil", [lambda raw: b"{", lambda raw: b"[]", lambda raw: raw.replace(b'"drop"', b'"explode"')])
async def test_a_damaged_memory_costs_a_refusal_and_no_run(tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
    async with Server(lambda seen: refuse(400, "temperature is not supported") if "temperature" in seen.body else GOOD) as server:
        await ask(server, tmp_path)
        (tmp_path / FILE).write_bytes(spoil((tmp_path / FILE).read_bytes()))
        await ask(server, tmp_path)
        assert len(server.seen) == 6
        await ask(server, tmp_path)
        assert len(server.seen) == 8


async def test_another_temperature_is_asked_for_again_unless_the_parameter_was_meant(tmp_path: Path) -> None:
    async with Server(lambda seen: refuse(400, "temperature 0.0 is refused") if seen.body.get("temperature") == 0 else GOOD) as server:
        await ask(server, tmp_path)
        await ask(server, tmp_path, temperature=0.7)
        assert server.seen[-1].body["temperature"] == 0.7
        await ask(server, tmp_path)
        assert "temperature" not in server.seen[-1].body, "what does not mean this request is kept all the same"
        assert len(server.seen) == 7


async def test_what_is_remembered_and_wrong_is_learned_anew(tmp_path: Path) -> None:
    old = "Use 'max_completion_tokens' instead of max_tokens"
    new = "Unsupported parameter: 'max_completion_tokens'. Use 'max_tokens' instead."
    async with Server() as server:
        for taken, words in (("max_completion_tokens", old), ("max_tokens", new)):
            server.chat = lambda seen, taken=taken, words=words: GOOD if taken in seen.body else refuse(400, words)
            before = len(server.seen)
            await ask(server, tmp_path, max_tokens=70)
            await ask(server, tmp_path, max_tokens=70)
            assert len(server.seen) - before == 5, "one refusal, once"


# ------------------------------------------------------------------ what is told
TAUGHT: list[tuple[str, dict[str, Any], str, str]] = [
    ("This response_format type is unavailable now", {}, "asking for json_object", "改用 json_object"),
    ("temperature must be 1", {}, "temperature = 0.0 is refused", "拒绝 temperature = 0.0"),
    ("temperature must be > 0", {}, "0.01 is sent from now on", "改为发送 0.01"),
    ("Use 'max_completion_tokens' instead of max_tokens", {"max_tokens": 5}, "called max_completion_tokens", "max_completion_tokens"),
    ("enable_thinking must be set to false", {}, "enable_thinking", "enable_thinking"),
    ("max_tokens must be <= 64", {"max_tokens": 500}, "at most 64 tokens", "最多 64 个 token"),
]


@pytest.mark.parametrize(("message", "options", "en", "zh"), TAUGHT)
async def test_each_thing_is_told_once_in_both_languages(message: str, options: dict[str, Any], en: str, zh: str) -> None:
    for lang, words in (("en", en), ("zh", zh)):
        told = Told()
        async with Server([refuse(400, message), GOOD]) as server:
            await ask(server, None, told, times=3, lang=lang, **options)
        (line,) = told
        assert words in line
        assert message in line


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_counts_that_contradict_each_other_are_not_told_again_and_again(lang: str) -> None:
    def cut(seen: Seen) -> Answer:
        used = (30, 50, 20, 40)[int(orjson.loads(seen.user)["text"]) % 4]
        return say('{"claims":[]}', finish="length", usage={"prompt_tokens": 9, "completion_tokens": used})

    told = Told()
    async with Server(cut) as server:
        asked = judge(server.url, lang=lang)
        asked.hear(told.append)
        for n in range(12):
            assert (await asked.complete(question(str(n)))).error == "truncated"
        await asked.close()
    assert ["30" in told[0], "20" in told[1], len(told)] == [True, True, 2]


async def test_lessons_are_kept_as_they_are_meant_to_be_read(tmp_path: Path) -> None:
    async with Server([refuse(400, "temperature must be > 0"), GOOD]) as server:
        await ask(server, tmp_path)
    (facts,) = orjson.loads((tmp_path / FILE).read_bytes()).values()
    (row,) = facts["dialect"]
    assert {name: row[name] for name in ("change", "name", "refused", "sent", "scope", "why")} == {
        "change": "send",
        "name": "temperature",
        "refused": 0.0,
        "sent": 0.01,
        "scope": "value",
        "why": "HTTP 400: temperature must be > 0",
    }
