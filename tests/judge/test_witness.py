"""What replies show besides their text: who answered, whether it thought, whether it saw the whole prompt."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.asking import KIND

from ragstone.judge.replies import Completion
from ragstone.judge.witness import _THINKS, Witness, _may_think, counted_tokens
from ragstone.questions.base import Question, ask
from ragstone.tokens import estimate, estimate_bytes


class Told(list[str]):
    def __call__(self, name: str, **values: object) -> None:
        self.append(name)


def witness(told: Told | None = None, quiet: bool = True) -> Witness:
    return Witness(quiet=quiet, tell=told if told is not None else Told())


def asked(tokens: int, language: Any = "en") -> Question:
    """A question that is estimated at about so many tokens."""
    text = ("章" if language == "zh" else "word") * int(tokens / (0.75 if language == "zh" else 1))
    return ask(KIND, language, 0, "", {"text": text})


def same(text: str) -> str:
    return text


@pytest.mark.parametrize("text", ["plain words", "出差结束后15天内提交", "mixed 中文 and words", "é à ü", "\U0001f600\U0001f600"])
def test_a_quarter_of_the_bytes_is_the_estimate(text: str) -> None:
    assert len(text.encode()) / 4 == pytest.approx(estimate(text), abs=1)
    assert estimate(text) == estimate_bytes(text.encode())


# ------------------------------------------------------------------ prompts that were cut
@pytest.mark.parametrize("window", [2048, 4096, 8192, 16384, 32768, 131072])
@pytest.mark.parametrize("below", [0.0, 0.009])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_count_that_stops_at_a_full_window_is_a_cut(window: int, below: float, language: str) -> None:
    told = Told()
    seen = witness(told)
    counted = int(window * (1 - below)) + (below > 0)
    for _ in range(3):
        assert seen.cut(asked(int(1.3 * window), language), {"prompt_tokens": counted}) == "window"
    assert told == ["prompt_cut_window"]


@pytest.mark.parametrize(
    ("tokens", "usage"),
    [
        (6000, {"prompt_tokens": 5900}),
        (6000, {"prompt_tokens": 4000}),  # no full window, not far below
        (5000, {"prompt_tokens": 4096}),  # within what an estimate may be off
        (6000, {"prompt_tokens": 4097}),
        (1300, {"prompt_tokens": 1024}),
        (900, {"prompt_tokens": 1}),  # a short prompt fits any window
        (6000, {}),
        (6000, None),
        (6000, {"prompt_tokens": 0}),
        (6000, {"prompt_tokens": None}),
        (6000, "many"),
    ],
)
def test_what_is_no_cut(tokens: int, usage: Any) -> None:
    told = Told()
    assert witness(told).cut(asked(tokens), usage) is None
    assert told == []


@pytest.mark.parametrize(("tokens", "counted", "far"), [(1100, 400, True), (1100, 500, False), (50000, 3000, True)])
def test_a_count_far_below_the_estimate_is_noted_and_told_once(tokens: int, counted: int, far: bool) -> None:
    told = Told()
    seen = witness(told)
    assert {seen.cut(asked(tokens), {"prompt_tokens": counted}) for _ in range(3)} == {"far" if far else None}
    assert told == (["prompt_cut_far"] if far else [])


def test_how_an_endpoint_counts_is_learned_from_short_prompts() -> None:
    """A vocabulary with long tokens, or a server that counts nonsense, does not look like a cut."""
    seen = witness()
    seen.cut(asked(800, "zh"), {"prompt_tokens": 560})  # 0.7 of the estimate
    assert seen.cut(asked(5200, "zh"), {"prompt_tokens": 4096}) is None
    assert seen.cut(asked(5200, "en"), {"prompt_tokens": 4096}) == "window", "each language by itself"
    assert seen.cut(asked(9000, "zh"), {"prompt_tokens": 4096}) == "window"
    odd = witness()
    odd.cut(asked(500), {"prompt_tokens": 40})
    assert odd.cut(asked(5000), {"prompt_tokens": 40}) is None


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 105, "prompt_tokens_details": {"cached_tokens": 90}}, 100),
        ({"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 1005, "prompt_tokens_details": {"cached_tokens": 900}}, 1000),
        ({"input_tokens": 100, "output_tokens": 5, "cache_read_input_tokens": 900}, 1000),
        ({"prompt_tokens": 500, "completion_tokens": 5, "prompt_cache_hit_tokens": 400}, 900),
        ({"prompt_tokens": 900, "completion_tokens": 5, "prompt_cache_hit_tokens": 800}, 900),
        ({"prompt_tokens": 900, "completion_tokens": 5}, 900),
        ({"completion_tokens": 5}, None),
    ],
)
def test_cached_tokens_are_added_where_an_endpoint_leaves_them_out(usage: Any, counted: int | None) -> None:
    assert counted_tokens(usage, 1000) == counted


def test_cached_prompts_are_no_cut_ones() -> None:
    assert witness().cut(asked(5000), {"prompt_tokens": 200, "completion_tokens": 9, "cached_tokens": 4800}) is None


# ------------------------------------------------------------------ thoughts
@pytest.mark.parametrize(
    ("completion", "thinks"),
    [
        (Completion("{}", reasoning="Let me see"), True),
        (Completion(None, "truncated", reasoning="Let me"), True),
        (Completion("<think>hm</think>{}"), True),
        (Completion("hm</think>{}"), True),
        (Completion("◁think▷hm◁/think▷{}"), True),
        (Completion("[THINK]hm[/THINK]{}"), True),
        (Completion('{"reason":"I think so, thinking of it"}'), False),
        (Completion("{}"), False),
    ],
)
def test_a_judge_that_thinks_although_it_must_not_is_told_of_once(completion: Completion, thinks: bool) -> None:
    told, left = Told(), Told()
    for seen in (witness(told), witness(left, quiet=False)):
        seen.thought(completion)
        seen.thought(completion)
    assert (told, left) == (["thinks"] if thinks else [], [])


# ------------------------------------------------------------------ who answered
@pytest.mark.parametrize(
    ("models", "told"),
    [
        (["deepseek-chat"], []),
        (["gpt-5-mini-2026-02-01", "gpt-5-mini"], []),
        (["openai/gpt-5-mini", "gpt-5-mini-20260201"], []),
        (["meta/llama-4:free", "meta/llama-4"], []),
        (["qwen-plus-latest", "qwen-plus-0919"], []),
        (["deepseek-v4", "qwen-max"], ["several_models"]),
        (["glm-4.5", "glm-4.5-air", "glm-4.6"], ["several_models"]),
        ([None, 7, "", {"a": 1}], []),
    ],
)
def test_more_than_one_model_is_told_of_once(models: list[Any], told: list[str]) -> None:
    heard = Told()
    seen = witness(heard)
    for model in models * 2:
        seen.hear({"model": model}, same)
    assert heard == told
    assert seen.models == [model for model in models if model and isinstance(model, str)]


def test_few_fingerprints_are_kept_and_all_names_are_scrubbed() -> None:
    seen = witness()
    for n in range(40):
        seen.hear({"model": f"m-{n} secret", "system_fingerprint": f"fp_{n} secret"}, lambda text: text.replace("secret", "…"))
    assert seen.fingerprints == [f"fp_{n} …" for n in range(5)]
    assert (len(seen.models), seen.models[0]) == (20, "m-0 …")


@given(st.text(st.sampled_from(["<", "/", "◁", "▷", "[", "]", "t", "T", "h", "H", "I", "i", "n", "K", "k", "想", "\u212a"]), max_size=12))
def test_no_text_that_shows_thoughts_is_passed_over(said: str) -> None:
    shows = "hink" in said.lower() and _THINKS.search(said)
    assert not shows or _may_think(said)


@pytest.mark.parametrize("said", ["<think>", "x </THINK>", "◁think▷", "[Think]", "[tHIN\u212a]"])
def test_thoughts_are_seen_in_any_case(said: str) -> None:
    assert _may_think(said)
    assert _THINKS.search(said)
