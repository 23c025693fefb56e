"""Regular expressions of the settings: usable ones pass, the others are told apart before they meet an answer."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.collect.patterns import mistake


@pytest.mark.parametrize(
    "pattern",
    [
        r"\s*\[ID:\s*\d+\]",
        r"\[\d+(?:,\s*\d+)*\]",
        r"(?:\[\d+\])+",
        r"(?s)^<document_metadata>.*?</document_metadata>\s*",
        r"【\d+†[^】]*】",
        r"^\*\*ERROR\*\*",
        "抱歉|无法回答",
        r"(?:[a-z]+\.)+[a-z]{2,}",
        "a{1,9}",
    ],
)
def test_usual_patterns_are_taken(pattern):
    assert mistake(pattern, "en") is None


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(\w+\s?)*$", r"((?:x*)*)y", r"(a|aa)+$", r"(?:.*,?)*z", r"(\d+)*\d"])
def test_patterns_that_could_match_forever_are_refused(pattern):
    assert "forever" in mistake(pattern, "en")
    assert "永远" in mistake(pattern, "zh")


@pytest.mark.parametrize(
    ("pattern", "en", "zh"),
    [
        ("(", "cannot be read", "无法解析"),
        ("a{2,1}", "cannot be read", "无法解析"),
        ("", "fits the empty text", "空文本"),
        (r"\s*", "fits the empty text", "空文本"),
        ("x" * 1001, "1000", "1000"),
    ],
)
def test_other_mistakes_are_told_in_words(pattern, en, zh):
    assert en in mistake(pattern, "en")
    assert zh in mistake(pattern, "zh")


@given(st.text(st.sampled_from(r"ab\\d\\s[](){}?*+|^$.,1-9年")))
def test_whatever_is_given_is_told_or_can_be_used(pattern):
    told = mistake(pattern, "en")
    if told is None:
        assert re.compile(pattern).search("") is None
    else:
        assert told
