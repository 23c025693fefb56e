"""One question on its way: cut, empty, broken and thoughtful replies, and prompts the server has cut. On real sockets."""

from pathlib import Path
from typing import Any

import pytest
from support.asking import KEY, Waits, judge, question
from support.server import Answer, Script, Seen, Server, refuse, say

from ragstone.judge.base import RawReply
from ragstone.transport.memory import Memory


def cut(tokens: int | None = None, prompt: int = 9) -> Answer:
    return say('{"claims":["ha', "length", usage=None if tokens is None else {"prompt_tokens": prompt, "completion_tokens": tokens})


GOOD = say('{"claims":[]}', usage={"prompt_tokens": 9, "completion_tokens": 3})


class Asked:
    """Several questions put to one judge, one after the other, and what came of it."""

    def __init__(self, script: Script, *texts: str, port: int = 0, **options: Any) -> None:
        self._port, self._script, self._texts, self._options = port, script, texts or ("a",), options
        self.told: list[str] = []

    async def run(self) -> "Asked":
        server = Server(self._script)
        server.port = self._port
        async with server:
            asked = judge(server.url, **self._options)
            asked.hear(self.told.append)
            self.replies: list[RawReply] = [await asked.complete(question(text)) for text in self._texts]
            await asked.close()
        self.seen, self.identity, self.port = server.seen, asked.identity, server.port
        return self

    @property
    def limits(self) -> list[int | None]:
        return [s.body.get("max_tokens", s.body.get("max_completion_tokens")) for s in self.seen]

    @property
    def words(self) -> list[str | None]:
        return [reply.error for reply in self.replies]


# ------------------------------------------------------------------ limits of the output
def limited(most: int, words: str, status: int = 400) -> Script:
    """A model that gives `most` tokens at most and refuses to be asked for more; "long" needs more than that."""

    def answer(seen: Seen) -> Answer:
        limit = seen.body.get("max_tokens")
        if limit and limit > most:
            return refuse(status, words)
        if "long" in seen.user:
            return cut(min(limit or most, most))
        return cut(limit) if limit and limit < 200 else GOOD

    return answer


@pytest.mark.parametrize("status", [400, 422])
@pytest.mark.parametrize("words", ["max_tokens must be <= 1024", "Range of max_tokens should be [1, 1024]", "max_tokens 最大值为 1024"])
async def test_a_larger_limit_is_as_large_as_the_refusal_says(words: str, status: int) -> None:
    done = await Asked(limited(1024, words, status), "a", "b", "long", max_tokens=300).run()
    assert (done.limits, done.words) == ([300, 300, 300, 1200, 1024], [None, None, "truncated"])
    done = await Asked(limited(1024, words, status), "a", max_tokens=100).run()
    assert (done.limits, done.words) == ([100, 400], [None])


async def test_the_largest_output_is_not_asked_for_again_in_vain_in_this_run_nor_the_next(tmp_path: Path) -> None:
    script, memory = limited(1024, "max_tokens must be <= 1024"), Memory(tmp_path)
    done = await Asked(script, "long 1", "long 2", "short", memory=memory).run()
    assert done.limits == [None, 8192, None, None]
    assert done.words == ["truncated", "truncated", None]
    assert done.identity.parameters["largest_output"] == 1024
    assert len(done.told) == 1
    done = await Asked(script, "long 3", "short", memory=memory, port=done.port).run()
    assert (done.limits, done.words) == ([None, None], ["truncated", None])


async def test_a_reply_that_ends_at_the_same_length_twice_shows_the_models_own_limit(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    done = await Asked(lambda seen: cut(4000) if "long" in seen.user else GOOD, "long 1", "long 2", "short", memory=memory).run()
    assert (done.limits, done.words) == ([None, 8192, None, None], ["truncated", "truncated", None])
    assert done.identity.parameters["largest_output"] == 4000
    done = await Asked(lambda seen: cut(4000) if "long" in seen.user else GOOD, "long 3", memory=memory, port=done.port).run()
    assert done.limits == [None]
    done = await Asked([cut(4001), GOOD, GOOD], "longer than known", memory=memory, port=done.port).run()
    assert (done.limits, done.words, "largest_output" in done.identity.parameters) == ([None, 8192], [None], False)


@pytest.mark.parametrize(
    ("first", "again"),
    [
        (cut(300), cut(1200)),  # it had what it was given
        (cut(None), cut(None)),
        (cut(96, prompt=4000), cut(96, prompt=4000)),  # no room left in a window of 4,096: another prompt ends elsewhere
        (cut(0), cut(0)),
    ],
)
async def test_what_shows_no_limit_of_the_model(first: Answer, again: Answer) -> None:
    done = await Asked([first, again, first, GOOD], "a", "b", max_tokens=300).run()
    assert (done.limits, done.words) == ([300, 1200, 300, 1200], ["truncated", None])
    assert "largest_output" not in done.identity.parameters


async def test_a_long_reply_is_given_twice_its_room_where_no_limit_is_set() -> None:
    assert (await Asked([cut(6000), GOOD]).run()).limits == [None, 12000]


async def test_a_thought_that_ate_the_room_is_a_cut_reply() -> None:
    eaten = say("", "length", reasoning_content="Let me think", usage={"prompt_tokens": 9, "completion_tokens": 50})
    done = await Asked([eaten, GOOD], max_tokens=50).run()
    assert (done.limits, done.words) == ([50, 200], [None])


async def test_only_one_of_the_two_names_is_ever_sent() -> None:
    for extra in ({"max_completion_tokens": 700}, {"max_tokens": 700}):
        done = await Asked([cut(700), GOOD], max_tokens=300, extra_body=extra).run()
        assert [set(s.body) & {"max_tokens", "max_completion_tokens"} for s in done.seen] == [set(extra)] * 2
        assert done.limits == [700, 2800]


# ------------------------------------------------------------------ thoughts
@pytest.mark.parametrize(
    "message",
    [
        {"reasoning_content": f"Hm {KEY}"},
        {"reasoning": f"Hm {KEY}"},
        {"reasoning_content": f"Hm {KEY}", "reasoning": f"Hm {KEY}"},
        {"reasoning_content": "", "reasoning_details": [{"type": "reasoning.text", "text": f"Hm {KEY}"}]},
        {"reasoning": {"content": f"Hm {KEY}"}},
        {"reasoning_details": [{"type": "reasoning.summary", "summary": f"Hm {KEY}"}, {"type": "reasoning.encrypted", "data": "x"}]},
        {"parts": [{"type": "thinking", "thinking": f"Hm {KEY}"}, {"type": "text", "text": '{"claims":[]}'}]},
        {"parts": [{"type": "thinking", "thinking": [{"type": "text", "text": f"Hm {KEY}"}]}, {"type": "text", "text": '{"claims":[]}'}]},
    ],
)
@pytest.mark.parametrize("thinking", ["off", "auto"])
async def test_thoughts_stand_apart_with_the_key_masked(message: dict[str, Any], thinking: str) -> None:
    content = message.get("parts", '{"claims":[]}')
    answer = say(content, **{name: held for name, held in message.items() if name != "parts"})
    done = await Asked([answer], "a", "b", thinking=thinking).run()
    assert [(reply.text, reply.reasoning) for reply in done.replies] == [('{"claims":[]}', "Hm sk-…Vd")] * 2
    assert len(done.told) == (thinking == "off")
    for words in ("chat_template_kwargs", "reasoning_effort", "m-1"):
        assert all(words in line for line in done.told)


# ------------------------------------------------------------------ endings
@pytest.mark.parametrize("finish", ["network_error", "insufficient_system_resource", "abort", "error", "ABORT"])
async def test_a_reply_that_broke_off_is_waited_for_and_repeated(finish: str) -> None:
    waits = Waits()
    done = await Asked([say("{", finish), say("{", finish), GOOD], sleep=waits).run()
    assert (done.words, len(waits), done.replies[0].attempts) == ([None], 2, 3)
    done = await Asked([GOOD, say("{", finish)], "a", "b", retries=2).run()
    assert (done.words, len(done.seen)) == ([None, "server_error"], 4)
    assert finish in (done.replies[1].message or "")


@pytest.mark.parametrize("finish", ["length", "max_tokens", "MAX_TOKENS", "model_context_window_exceeded", "max_output_tokens"])
async def test_every_word_for_a_cut_reply(finish: str) -> None:
    done = await Asked([say("{", finish)]).run()
    assert (done.words, len(done.seen)) == (["truncated"], 2)


@pytest.mark.parametrize(
    "answer", [*(say("x", word) for word in ("content_filter", "sensitive", "SAFETY", "RECITATION", "blocklist")), say(None, refusal="No.")]
)
async def test_every_word_for_a_blocked_reply(answer: Answer) -> None:
    done = await Asked([answer]).run()
    assert (done.words, len(done.seen)) == (["blocked"], 1)


@pytest.mark.parametrize("finish", ["stop", "eos", "eos_token", "STOP", "end_turn", "stop_sequence", None, "", "tool_calls", 1])
async def test_every_word_for_a_whole_reply(finish: Any) -> None:
    assert (await Asked([say('{"claims":[]}', finish)]).run()).words == [None]


async def test_an_error_inside_a_choice_is_an_error() -> None:
    broken = Answer(
        body={"choices": [{"error": {"code": 502, "message": "upstream"}, "message": {"content": "{"}, "finish_reason": "error"}]}
    )
    waits = Waits()
    done = await Asked([broken, GOOD], sleep=waits).run()
    assert (done.words, len(waits)) == ([None], 1)
    blocked = Answer(body={"choices": [{"error": {"code": 403, "message": "flagged by moderation"}}]})
    assert (await Asked([blocked]).run()).words == ["blocked"]


async def test_a_wait_that_a_body_demands_is_kept() -> None:
    waits = Waits()
    body = {"error": {"code": 429, "message": "slow", "metadata": {"headers": {"Retry-After": "9"}}}}
    done = await Asked([Answer(200, body), GOOD], sleep=waits).run()
    assert (done.words, done.replies[0].rate_limits) == ([None], 1)
    assert 9 <= waits[0] <= 9.9


# ------------------------------------------------------------------ prompts the server has cut
def counting(window: int, exact: bool = True) -> Script:
    """A server that cuts prompts to its window without a word."""

    def answer(seen: Seen) -> Answer:
        tokens = sum(len(message["content"].encode()) for message in seen.body["messages"]) // 4
        counted = min(tokens, window) if exact or tokens <= 1000 else tokens // 3
        return say('{"claims":[]}', usage={"prompt_tokens": counted, "completion_tokens": 3})

    return answer


@pytest.mark.parametrize("text", ["长文" * 4000, "long text " * 2400])
@pytest.mark.parametrize("window", [2048, 4096])
async def test_a_prompt_cut_to_a_window_is_too_long_and_noted(text: str, window: int) -> None:
    done = await Asked(counting(window), "short", text, text + "!").run()
    assert done.words == [None, "too_long", "too_long"]
    assert [reply.notes for reply in done.replies] == [(), ("prompt_cut",), ("prompt_cut",)]
    assert len(done.told) == 1
    assert f"{window}" in done.told[0]


async def test_a_prompt_counted_far_too_short_is_used_and_noted() -> None:
    done = await Asked(counting(9**9, exact=False), "short", "长文" * 2000, "long text " * 2000).run()
    assert done.words == [None] * 3
    assert [reply.notes for reply in done.replies] == [(), ("prompt_cut",), ("prompt_cut",)]
    assert len(done.told) == 1


async def test_each_try_is_looked_at_by_itself() -> None:
    """Tokens of an empty or cut reply that went before do not hide a cut, nor make one."""
    empty = say("", usage={"prompt_tokens": 5000, "completion_tokens": 0})
    done = await Asked([empty, say("{}", usage={"prompt_tokens": 2048, "completion_tokens": 1})], "long text " * 2000).run()
    assert (done.words, done.replies[0].usage) == (["too_long"], {"prompt_tokens": 7048, "completion_tokens": 1, "cached_tokens": None})


# ------------------------------------------------------------------ who answered
async def test_who_answered_is_known() -> None:
    def answer(seen: Seen) -> Answer:
        body = GOOD.body | {"model": ["m-1", "m-1-2026-08-01", "other"][seen.nth], "system_fingerprint": f"fp_{seen.nth % 2}"}
        return Answer(body=body)

    done = await Asked(answer, "a", "b", "c").run()
    assert done.identity.answered_by == ["m-1", "m-1-2026-08-01", "other"]
    assert done.identity.fingerprints == ["fp_0", "fp_1"]
    assert len(done.told) == 1
    assert "other" in done.told[0]
    assert (await Asked([GOOD]).run()).identity.answered_by is None
