"""What a chat completion gives away."""

import pytest

from ragstone.doctor.signs import has_logprobs, object_in, thought


def completion(content=None, usage=None, logprobs=None, **message):
    return {"choices": [{"message": {"content": content, **message}, "logprobs": logprobs}], "usage": usage}


@pytest.mark.parametrize(
    ("data", "sign"),
    [
        (completion("42"), None),
        (completion("42", reasoning_content=""), None),
        (completion("42", reasoning_content="想一想"), "reasoning_content"),
        (completion("42", reasoning="hm"), "reasoning"),
        (completion("42", reasoning_details=[{"text": "hm"}]), "reasoning_details"),
        (completion("<think>hm</think>42"), "<think>"),
        (completion("hm</think>42"), "</think>"),
        (completion("42", {"completion_tokens_details": {"reasoning_tokens": 0}}), None),
        (completion("42", {"completion_tokens_details": {"reasoning_tokens": 7}}), "reasoning_tokens"),
        ({"choices": []}, None),
        ({"choices": "none", "usage": []}, None),
    ],
)
def test_a_thought_shows_in_fields_tags_and_counts(data, sign):
    assert thought(data) == sign


@pytest.mark.parametrize(
    ("text", "found", "alone"),
    [
        ('{"a":1}', {"a": 1}, True),
        (' {"a":1}\n', {"a": 1}, True),
        ('```json\n{"a":1}\n```', {"a": 1}, False),
        ('<think>{no}</think>{"颜色":"蓝"}', {"颜色": "蓝"}, False),
        ("blue", None, False),
        ("{blue}", None, False),
        ("[1]", None, False),
        ("", None, False),
    ],
)
def test_an_object_is_found_among_words(text, found, alone):
    assert object_in(text) == (found, alone)


@pytest.mark.parametrize(
    ("given", "there"),
    [
        (None, False),
        ({}, False),
        ({"content": None}, False),
        ({"content": []}, False),
        ({"content": [{"token": "a"}]}, False),
        ({"content": [{"token": "a", "logprob": -0.5}]}, True),
        ({"content": [{"token": "a", "logprob": 0}]}, True),
    ],
)
def test_log_probabilities_must_really_be_there(given, there):
    assert has_logprobs(completion("a", logprobs=given)) is there
