"""Numbers with what they count."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.checks.measures import apart, measures


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("满 5 年的 10 天", {("5", "年"), ("10", "天")}),
        ("三个工作日", {("3", "工作日")}),
        ("five business days", {("5", "business day")}),
        ("2024 年 5 月 3 日", {("2024-05-03", "date"), ("2024-05", "month"), ("2024", "year of")}),
        ("May 2024", {("2024", "year of")}),
        ("百分之五", {("5%", "%")}),
        ("9:30", {("9:30", "time")}),
        ("$1,200", {("1200", "$")}),
        ("on the 12th", {("12", "th")}),
        ("11.3", {("11.3", "")}),
        ("section 7 of it", set()),
    ],
)
def test_numbers_come_with_their_units(text, found):
    assert measures(text) == found


@given(
    st.sets(st.tuples(st.sampled_from("123"), st.sampled_from("天年%"))),
    st.sets(st.tuples(st.sampled_from("123"), st.sampled_from("天年%"))),
)
def test_apart_is_symmetric_and_never_holds_of_a_part(one, other):
    a, b = frozenset(one), frozenset(other)
    assert (apart(a, b) is None) == (apart(b, a) is None)
    assert apart(a, a) is None
