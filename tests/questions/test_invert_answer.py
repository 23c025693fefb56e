"""Kind invert_answer."""

import json

import pytest

from ragstone.questions.base import Failed
from ragstone.questions.invert_answer import KIND, InvertedQuestion, ask


def q(text, flag=False):
    return {"question": text, "noncommittal": flag}


def talk(count=3, language="en"):
    return ask("Traders were unsure, some pointed to weak wage data.", count, language=language, repeat=0)


def test_all_there(driver):
    result = driver.script(talk(), {"questions": [q("a", True), q("b"), q("c")]})
    assert result == [InvertedQuestion("a", True), InvertedQuestion("b", False), InvertedQuestion("c", False)]
    assert driver.inputs == [{"answer": "Traders were unsure, some pointed to weak wage data.", "count": 3}]


def test_equal_ones_are_kept_and_not_asked_again(driver):
    assert len(driver.script(talk(), {"questions": [q("a"), q("a"), q("a")]})) == 3


def test_too_many_are_cut(driver):
    assert [r.text for r in driver.script(talk(2), {"questions": [q("a"), q("b"), q("c")]})] == ["a", "b"]


@pytest.mark.parametrize(
    ("flag", "meant"),
    [(True, True), (1, True), (0, False), ("yes", True), ("no", False), ("是", True), ("否", False), ("noncommittal", True)],
)
def test_flags(driver, flag, meant):
    assert driver.script(talk(1), [q("a", flag)]) == [InvertedQuestion("a", meant)]


BLANK = {"questions": [q("a", True), q(" ", False), q("c", False)]}


@pytest.mark.parametrize("language", ["zh", "en"])
def test_h19_a_blank_question_is_asked_again(driver, language):
    full = {"questions": [q("x"), q("y"), q("z")]}
    assert [r.text for r in driver.script(talk(language=language), BLANK, full)] == ["x", "y", "z"]
    assert "2" in driver.inputs[1]["problem"]
    assert list(driver.inputs[1]) == ["answer", "count", "problem"]


@pytest.mark.parametrize("second", [BLANK, {"questions": [q("a", True), q("c")]}])
def test_h19_still_blank_it_is_left_out_with_its_flag(driver, second):
    assert driver.script(talk(), BLANK, second) == [InvertedQuestion("a", True), InvertedQuestion("c", False)]


@pytest.mark.parametrize("second", ["sorry", {"questions": []}, {"questions": [q("x")]}])
def test_a_worse_second_reply_does_not_count(driver, second):
    assert [r.text for r in driver.script(talk(), BLANK, second)] == ["a", "c"]


def test_there_may_be_none(driver):
    assert driver.script(talk(), {"questions": []}, {"questions": [q("")]}) == []


def test_a_question_without_a_readable_flag_is_missing():
    reading = KIND.read({"count": 3}, json.dumps({"questions": [q("a"), {"question": "b"}, q("c", "maybe")]}))
    assert reading.parsed == {"questions": [q("a")]}
    assert reading.missing == (("questions", 2), ("questions", 3))
    assert reading.asked == 3


def test_extra_questions_are_noted():
    reading = KIND.read({"count": 1}, json.dumps({"questions": [q("a"), q("b")]}))
    assert reading.notes == ("questions: 1 more than asked",)


@pytest.mark.parametrize("word", ["timeout", "truncated"])
def test_failure_words(driver, fails, word):
    assert driver.script(talk(), fails(word)) == Failed(word)
    assert driver.script(talk(2), {"questions": []}, fails(word)) == Failed(word)


def test_bad_replies(driver):
    assert driver.script(talk(), "a", {"questions": ["q1", "q2", "q3"]}, "{}", "d") == Failed("bad_reply")
