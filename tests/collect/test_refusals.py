"""When refusals told by an application end the asking."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.collect.refusals import Refusals

WORDS = st.sampled_from(["key", "app", "quota", "login_page", "not_json", "refused", "timeout", "blocked", "good"])


def run(words: list[str], rows: int = 500) -> list[int | None]:
    refusals, told = Refusals(), list[int | None]()
    refusals.expect(rows)
    for word in words:
        if word == "good":
            refusals.good()
            told.append(None)
        else:
            told.append(refusals.met(word))
    return told


@pytest.mark.parametrize(
    ("words", "rows", "ends"),
    [
        (["key"] * 3, 500, 3),
        (["key", "app", "login_page"], 500, 3),
        (["key"] * 2, 2, 2),
        (["quota"], 1, 1),
        (["good", *["key"] * 10], 500, 11),
        (["key", "key", "timeout", "key", "key", "blocked"], 500, None),
        (["refused"] * 10, 500, 10),
        (["refused"] * 4, 4, None),
        (["good", *["refused"] * 50], 500, None),
        (["timeout"] * 50, 500, None),
    ],
)
def test_so_many_in_a_row_end_the_asking(words: list[str], rows: int, ends: int | None) -> None:
    told = run(words, rows)
    assert [at for at, count in enumerate(told, 1) if count is not None] == ([] if ends is None else [ends])


@given(st.lists(WORDS, max_size=60))
def test_only_an_unbroken_row_of_refusals_ends_it(words: list[str]) -> None:
    for at, count in enumerate(run(words), 1):
        if count is not None:
            row = words[at - count : at]
            assert count >= (10 if "good" in words[:at] or row[0] == "refused" else 3)
            assert len(set(row) & {"refused"}) == (row == ["refused"] * count)
            assert not set(row) & {"timeout", "blocked", "good"}
