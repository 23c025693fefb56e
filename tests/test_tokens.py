"""The estimate of tokens: exact laws, and that it lies near what tokenizers count."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.tokens import ERROR, estimate, estimate_bytes

COUNTED = [
    ("How much annual leave does a second-year employee get? Twelve days; what is left over lapses on 31 March.", 24),
    ("差旅报销须在出差结束后15天内提交，超过期限的，由部门负责人签字说明。", 22),
    ("VPN 客户端支持 Windows 10 and later，首次登录需要绑定手机。", 20),
]
"""Texts, and about what a vocabulary of the day counts for them."""


@pytest.mark.parametrize(("text", "counted"), COUNTED)
def test_an_estimate_lies_within_its_stated_error(text, counted):
    assert estimate(text) == pytest.approx(counted, rel=ERROR)


@given(st.text(), st.text())
def test_more_text_is_never_fewer_tokens(one, other):
    assert estimate(one + other) >= max(estimate(one), estimate(other)) >= 0
    assert (estimate(one) == 0) == (one == "")
    assert estimate(one) <= len(one)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_bytes_are_estimated_as_their_text(text):
    assert estimate_bytes(text.encode()) == estimate(text)


def test_bytes_that_are_no_text_are_no_error():
    assert estimate_bytes(b"\xff\xfe abc") == 2
    assert estimate("\ud800") == 1
