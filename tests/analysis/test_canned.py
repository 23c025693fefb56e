import pytest

from ragstone.analysis.canned import canned_answers

HOTLINE = {"zh": "您好，客服热线是 400-0012-2760。", "en": "Hello, our helpline is 01632 960 146."}
QUESTIONS = {
    "zh": ["易损件多久换一次？", "怎么申请年假？", "门卫室的电话是多少？"],
    "en": ["How often are wear parts replaced?", "How do I apply for leave?", "Who guards the north gate?"],
}


def rows(answer, questions, **more):
    return [{"id": f"s{n}", "question": question, "answer": answer, **more} for n, question in enumerate(questions, 1)]


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_one_answer_to_three_unlike_questions(lang):
    (found,) = canned_answers(lambda: rows(HOTLINE[lang], QUESTIONS[lang]))
    assert (found.answer, found.sample_ids) == (HOTLINE[lang], ["s1", "s2", "s3"])


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_two_questions_are_not_enough(lang):
    assert canned_answers(lambda: rows(HOTLINE[lang], QUESTIONS[lang][:2])) == []


@pytest.mark.parametrize(
    "questions",
    [
        ["客服电话是多少？", "客服电话是多少", "客服的电话是多少？", "请问客服电话是多少？"],
        ["What is the phone number?", "what is the phone number", "What is the phone number, please?"],
        ["客服电话是多少？", "客服的电话是多少？", "怎么申请年假？"],
    ],
)
def test_the_same_question_asked_again_is_one_question(questions):
    assert canned_answers(lambda: rows("400-0012-2760", questions)) == []


def test_answers_are_the_same_when_they_fold_to_the_same():
    given = rows("客服热线是 400。", QUESTIONS["zh"])
    given[1]["answer"] = " 客服热线是400 "
    assert [one.sample_ids for one in canned_answers(lambda: given)] == [["s1", "s2", "s3"]]
    given[1]["answer"] = "客服热线是 401。"
    assert canned_answers(lambda: given) == []


@pytest.mark.parametrize(
    "more", [{"expected_behavior": "refuse"}, {"meta": {"expected_behavior": "clarify"}}, {"question": None}, {"question": " "}]
)
def test_wanted_refusals_and_rows_without_a_question_are_left_out(more):
    assert canned_answers(lambda: [row | more for row in rows("没有找到。", QUESTIONS["zh"])]) == []


@pytest.mark.parametrize("answer", ["", "  ", None])
def test_empty_answers_are_not_canned(answer):
    assert canned_answers(lambda: rows(answer, QUESTIONS["en"])) == []


def test_several_canned_answers_come_in_the_order_they_are_met():
    given = rows(HOTLINE["en"], QUESTIONS["en"]) + [{**row, "id": "t" + row["id"]} for row in rows(HOTLINE["zh"], QUESTIONS["zh"])]
    assert [one.answer for one in canned_answers(lambda: given)] == [HOTLINE["en"], HOTLINE["zh"]]
