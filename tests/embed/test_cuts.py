"""Texts cut without a word: what the endpoint counted against what it was sent."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.embed.cuts import LEAST, cut_texts
from ragstone.tokens import estimate

EN, ZH = "The warranty lasts two years. ", "差旅报销须在出差结束后十五天内提交。"


def of(tokens: int, seed: str = ZH) -> str:
    """A text of about so many estimated tokens."""
    text = seed * (tokens // estimate(seed) + 1)
    return text[: max(1, round(len(text) * tokens / estimate(text)))]


@pytest.mark.parametrize("seed", [EN, ZH])
@pytest.mark.parametrize(
    ("sizes", "counted", "cut"),
    [
        ([2000], 512, 1),
        ([2000], 2000, 0),
        ([2000], 1100, 0),
        ([2000], 900, 0),
        ([2000], 700, 1),
        ([700], 512, 1),
        ([700], 511, 0),
        ([9000], 8192, 1),
        ([9000], 8193, 0),
        ([300], 100, 0),
        ([500], 100, 1),
        ([500], 512, 0),
        ([2000, 50, 50], 612, 1),
        ([2000, 2000, 50, 50], 1124, 2),
        ([700, 700], 1024, 0),
        ([100] * 10, 300, 0),
        ([1000] * 10, 1280, 10),
        ([1000] * 10, 3, 0),
        ([1000] * 10, 100, 0),
        ([2000, 2000, 10, 10], 100, 0),
    ],
)
def test_far_fewer_tokens_than_sent_mean_cut_texts(seed: str, sizes: list[int], counted: int, cut: int) -> None:
    assert cut_texts([of(size, seed) for size in sizes], {"prompt_tokens": counted}) == cut


@pytest.mark.parametrize(
    "usage", [None, {}, {"prompt_tokens": None}, {"prompt_tokens": "512"}, {"prompt_tokens": True}, [512], {"prompt_tokens": 0}]
)
def test_without_a_count_nothing_is_said(usage: Any) -> None:
    assert cut_texts([of(5000)], usage) == 0


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=10), st.integers(0, 9000))
def test_never_more_than_there_are_and_none_where_the_count_is_near(sizes: list[int], counted: int) -> None:
    texts = [of(size) for size in sizes]
    found = cut_texts(texts, {"prompt_tokens": counted})
    assert 0 <= found <= len(texts)
    if counted >= sum(map(estimate, texts)) or counted < LEAST:
        assert found == 0
