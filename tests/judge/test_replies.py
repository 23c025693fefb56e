from typing import Any

import pytest

from ragstone.judge.replies import add_usage, read_completion, read_usage


def choice(content: Any, finish: Any = "stop", **message: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"content": content, **message}, "finish_reason": finish}]}


@pytest.mark.parametrize(
    ("data", "text", "word"),
    [
        (choice('{"a":1}'), '{"a":1}', None),
        (choice("好", None), "好", None),
        (choice("x", "eos"), "x", None),
        (choice("x", "STOP"), "x", None),
        (choice("x", 7), "x", None),
        (choice([{"type": "text", "text": "a"}, {"type": "thinking", "text": "no"}, "b", 3, {"type": "text", "text": None}]), "ab", None),
        (choice("\ud83d half"), "? half", None),
        (choice("x", reasoning_content="thought"), "x", None),
        (choice("", reasoning_content='{"a":1}'), None, "empty_reply"),
        (choice(None, reasoning="thought"), None, "empty_reply"),
        (choice(" \n"), None, "empty_reply"),
        (choice({"a": 1}), None, "empty_reply"),
        ({"choices": []}, None, "empty_reply"),
        ({"choices": None}, None, "empty_reply"),
        ({"choices": [None]}, None, "empty_reply"),
        ({"choices": [{"message": None}]}, None, "empty_reply"),
        ({"id": "x"}, None, "bad_reply"),
        (choice('{"a":', "length"), None, "truncated"),
        (choice("", "max_tokens"), None, "truncated"),
        (choice("x", "MAX_TOKENS"), None, "truncated"),
        (choice("x", "content_filter"), None, "blocked"),
        (choice("", "sensitive"), None, "blocked"),
        (choice(None, refusal="I cannot"), None, "blocked"),
        (choice("x", refusal=""), "x", None),
        (choice("half", "network_error"), None, "server_error"),
        (choice("half", "abort"), None, "server_error"),
        (choice("half", "insufficient_system_resource"), None, "server_error"),
        (choice("{", "model_context_window_exceeded"), None, "truncated"),
        (choice("x", "blocklist"), None, "blocked"),
        (choice("x", "RECITATION"), None, "blocked"),
        (choice("x", "end_turn"), "x", None),
        (choice("", "tool_calls", tool_calls=[{"function": {"arguments": "{}"}}]), None, "empty_reply"),
    ],
)
def test_the_first_choice_is_read(data: dict[str, Any], text: str | None, word: str | None) -> None:
    read = read_completion(data)
    assert (read.text, read.word, read.usage) == (text, word, None)


def counts(prompt: int | None, completion: int | None, cached: int | None) -> dict[str, int | None]:
    return {"prompt_tokens": prompt, "completion_tokens": completion, "cached_tokens": cached}


@pytest.mark.parametrize(
    ("usage", "told"),
    [
        (None, None),
        ("many", None),
        ({}, None),
        ({"prompt_tokens": None}, None),
        ({"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}, counts(5, 2, None)),
        ({"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4, "audio": {}}}, counts(5, None, 4)),
        ({"prompt_tokens": 5.0, "prompt_cache_hit_tokens": 0, "prompt_tokens_details": None}, counts(5, None, 0)),
        ({"input_tokens": 3, "output_tokens": 1, "cached_tokens": 2}, counts(3, 1, 2)),
        ({"prompt_tokens": {"text": 3}, "completion_tokens": True}, None),
        ({"prompt_tokens": -1, "completion_tokens": float("nan")}, None),
    ],
)
def test_usage_is_taken_as_far_as_it_is_told(usage: Any, told: dict[str, int | None] | None) -> None:
    assert read_usage(usage) == told


def test_usage_of_several_tries_adds_up_and_unknown_stays_unknown() -> None:
    assert add_usage(counts(5, None, None), counts(6, 1, None)) == counts(11, 1, None)
    assert add_usage(None, counts(1, 2, 3)) == counts(1, 2, 3)
    assert add_usage(None, None) is None


@pytest.mark.parametrize(
    ("data", "reasoning", "ending"),
    [
        (choice("x"), None, None),
        (choice("x", reasoning_content=" Hm. ", reasoning="other"), "Hm.", None),
        (choice("x", reasoning_content="", reasoning="想一想"), "想一想", None),
        (choice("x", reasoning={"summary": [{"text": "a"}, {"text": "b"}]}), "a\nb", None),
        (choice("x", reasoning_details=[{"text": "a"}, {"summary": "b"}, {"data": "…"}, 3, None]), "a\nb", None),
        (choice([{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "x"}]), "Hm", None),
        (choice("x", reasoning_content=7, reasoning=True), None, None),
        (choice("", reasoning_content="Hm"), "Hm", None),
        (choice("half", "abort"), None, "finish_reason abort"),
        (choice("x", "sensitive"), None, "finish_reason sensitive"),
        (choice(None, refusal="I cannot help"), None, "I cannot help"),
        (choice("x", reasoning_content="\ud83d"), "?", None),
    ],
)
def test_thoughts_and_endings_stand_apart(data: dict[str, Any], reasoning: str | None, ending: str | None) -> None:
    read = read_completion(data)
    assert (read.reasoning, read.ending) == (reasoning, ending)
