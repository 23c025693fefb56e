import pytest
from support.benches import load

made = load("made")


@pytest.mark.parametrize(("text", "count"), [("", 0), ("abcd", 1), ("abcde", 2), ("年假", 2), ("年假 12 天", 4)])
def test_tokens_by_rule(text, count):
    assert made.tokens(text) == count


def test_the_floor_is_what_seven_requests_must_show():
    row = {"question": "问", "answer": "答答", "reference": "参参参", "contexts": ["一二三四", "五六七八九十"]}
    claims, checks, rate, invert, match = (1 + 2) + (1 + 3), (10 + 2) + (10 + 3), 1 + 10 + 3, 2, 1 + 2 + 3
    assert made.floor(row) == claims + checks + rate + invert + match


def test_samples_are_the_same_every_time_and_in_both_languages():
    assert made.sample(4) == made.sample(4)
    assert made.sample(4)["question"].startswith("第4号")
    assert made.sample(5)["question"].startswith("What")


@pytest.mark.parametrize("number", [0, 1])
def test_a_large_sample_fills_a_request(number):
    row = made.large_sample(number, claims=20)
    mark = "。" if number % 2 == 0 else "."
    assert len(row["contexts"]) == 12
    assert [row[column].count(mark) for column in ("answer", "reference")] == [20, 20]


@pytest.mark.parametrize("number", [0, 1])
def test_only_the_answer_changes(number):
    old = made.sample(number)
    new = made.answered_anew(old, number)
    assert {column for column in old if old[column] != new[column]} == {"answer"}
