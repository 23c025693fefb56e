"""Texts, numbers and ids out of whatever a response holds."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.collect.values import clean, label_of, number_of, text_of, without_thinking


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("好", "好"),
        (7, "7"),
        (0.5, "0.5"),
        (True, None),
        (None, None),
        (math.nan, None),
        ({"text": "x"}, None),
        ([], None),
        (["a", "b"], "ab"),
        ([{"type": "reasoning", "reasoning": {"content": "想"}}, {"type": "text", "text": {"content": "五天"}}], "五天"),
        ([{"type": "text", "text": "five "}, {"type": "tool_use", "text": "x"}, {"type": "text", "text": "days"}], "five days"),
        ([{"type": "output_text", "text": {"value": "v"}}], "v"),
        ([{"type": "tool", "tools": []}], None),
        ([None, {"odd": 1}], None),
        ("a\ud83d", "a\ufffd"),
        ("\ud83d\ude00", "😀"),
        ("nul\0nul", "nulnul"),
    ],
)
def test_text(value, text):
    assert text_of(value) == text


def test_a_list_in_a_list_without_end_is_no_text():
    value: list = []
    for _ in range(5000):
        value = [value]
    assert text_of(value) is None


@given(st.text(st.characters(exclude_categories=())))
def test_every_text_can_be_written_to_a_file(text):
    assert "\0" not in clean(text).encode().decode()


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (0.5, 0.5),
        (1, 1.0),
        ("0.75", 0.75),
        (" 3 ", 3.0),
        ([{"type": "embedding", "value": 0.83}, {"type": "rrf", "value": 0.01}], 0.83),
        ([], None),
        ([0.25], 0.25),
        (True, None),
        ("high", None),
        (math.inf, None),
        ("nan", None),
        (10**400, None),
        ({"value": "0.5"}, 0.5),
        (None, None),
    ],
)
def test_score(value, number):
    assert number_of(value) == number


@pytest.mark.parametrize(("value", "label"), [("d1", "d1"), (7, "7"), ("", None), ("  ", None), (None, None), (False, None), (["a"], None)])
def test_id_or_source(value, label):
    assert label_of(value) == label


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("<think>让我想想</think>五天。", "五天。"),
        ("<think>a</think>\n\nFive <b>days</b>.", "Five <b>days</b>."),
        ("想一想\n</think>\n五天。", "五天。"),
        ("<think>never closed", ""),
        ("A. <think>x</think>B.", "A. B."),
        ("a</think>b<think>c</think>d</think>e", "e"),
        ("a<think>b</think>c<think>d</think>e", "ace"),
        ("<think>" * 50_000 + "x", ""),
        ("<thinking>x</thinking>y", "y"),
        ("I think so.", "I think so."),
        ("  kept", "  kept"),
    ],
)
def test_thinking_is_no_answer(text, bare):
    assert without_thinking(text) == bare
