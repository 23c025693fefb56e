"""Questions that are missing, asked twice, or without an id."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.checking import CLEAN, found, with_row, without_columns

from ragstone.language import fold


@pytest.mark.parametrize(
    ("question", "alike"),
    [
        ("年假可以休几天?", True),
        ("年假 可以休几天", True),
        ("Ｈow late may a travel claim be handed in", True),
        ("HOW LATE may a travel claim be handed in?!", True),
        ("年假可以休几天，病假呢？", False),
        ("事假可以休几天？", False),
    ],
)
def test_a_question_asked_twice_is_found_whatever_its_width_case_blanks_and_marks(question, alike):
    findings = found(with_row(question=question), "duplicate_question")
    assert [(f.row, f.id, f.column) for f in findings] == ([(5, "x", "question")] if alike else [])


@pytest.mark.parametrize(
    ("row", "severity", "en", "zh"),
    [
        ({"reference": "工作满一年的员工每年5天,满十年的10天"}, "warning", "agree", "一致"),
        ({"reference": "满一年 5 天，满十年 10 天。"}, "warning", "worded differently", "写法不同"),
        ({"reference": None}, "warning", "only one of them", "只有一行"),
    ],
)
def test_a_duplicate_says_whether_the_references_agree(row, severity, en, zh):
    (finding,) = found(with_row(question="年假可以休几天?", **row), "duplicate_question")
    assert finding.severity == severity
    assert en in finding.text("en")
    assert "row 1 (leave-1)" in finding.text("en")
    assert zh in finding.text("zh")


@pytest.mark.parametrize("row", [{"reference": "满一年 6 天，满十年 12 天。"}, {"reference": None, "expected_behavior": "refuse"}])
def test_rows_that_contradict_each_other_are_left_to_the_check_of_that(row):
    assert found(with_row(question="年假可以休几天?", **row), "duplicate_question") == []


def test_turns_of_a_conversation_and_repeats_of_one_question_are_no_duplicates():
    question = {"question": "年假可以休几天？"}
    assert found(with_row(**question, history=[{"role": "user", "content": "我是实习生"}]), "duplicate_question") == []
    repeats = [{"id": f"q#{i}", "question": "x 是什么", "answer": "y", "meta": {"question_id": "q"}} for i in range(3)]
    assert found(repeats, "duplicate_question") == []


@given(st.lists(st.sampled_from(["a b", "A  B?", "ａｂ", "c", "c!", "", "？", "d"]), min_size=2, max_size=8))
def test_every_later_row_of_equal_questions_is_found_once_in_any_order(texts):
    rows = [{"id": str(i), "question": text, "answer": "x", "reference": "yes"} for i, text in enumerate(texts)]

    def groups(given_rows):
        pairs = [(f.id, f.values["first_id"]) for f in found(given_rows, "duplicate_question")]
        return len(pairs), {fold(texts[int(a)]) for a, _ in pairs}, all(fold(texts[int(a)]) == fold(texts[int(b)]) for a, b in pairs)

    assert groups(rows) == groups(rows[::-1])
    folded = [fold(text) for text in texts if fold(text)]
    assert groups(rows)[0] == len(folded) - len(set(folded))


def test_a_row_that_asks_nothing():
    (finding,) = found(with_row(question="？？"), "missing_question")
    assert (finding.row, finding.severity) == (5, "error")
    (finding,) = found([*CLEAN, {"id": "x", "answer": "yes"}], "missing_question")
    assert "该行没有问题" in finding.text("zh")


def test_a_set_without_any_question_is_told_once():
    (finding,) = found([{"id": str(i), "answer": "yes"} for i in range(9)], "missing_question")
    assert finding.id is None


def test_rows_without_an_id_are_counted():
    (finding,) = found([*without_columns(CLEAN, "id"), {"id": "x", "question": "食堂几点开门？", "reference": "七点半。"}], "unstable_ids")
    assert "4 of 5" in finding.text("en")
    assert found(CLEAN, "unstable_ids") == []


def test_an_id_that_was_written_into_the_file_is_a_given_one():
    made = [{"id": "b3f5c9b0a1d2", "question": "年假几天？", "reference": "5 天"}]
    assert found(made, "unstable_ids") == []
