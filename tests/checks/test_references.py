"""References: missing, without an answer, long, in another language."""

import pytest
from support.checking import CLEAN, found, with_row, without_columns


@pytest.mark.parametrize(
    "reference",
    [
        "无答案",
        "未提及。",
        "N/A",
        "n/a",
        "不在知识库中",
        "I don't know.",
        "知识库中没有相关信息。",
        "抱歉，未找到相关内容。",
        "暂无",
        "None",
        "The knowledge base does not mention this.",
        "This is not covered in the documents.",
        "No relevant information found.",
    ],
)
def test_a_reference_that_says_there_is_no_answer(reference):
    (finding,) = found(with_row(question="描述报销流程。", reference=reference), "no_answer_reference")
    assert (finding.row, finding.column, finding.severity) == (5, "reference", "warning")
    assert "refuse" in finding.fix("en")
    assert "refuse" in finding.fix("zh")


@pytest.mark.parametrize(
    ("question", "reference"),
    [
        ("有没有违约金？", "无"),
        ("Is there a fee?", "None"),
        ("提前离职要赔多少钱？", "没有"),
        ("能上门取件吗？", "无法提供该服务。"),
        ("系统报错怎么办？", "未找到设备时，先检查网线，再重启路由器。"),
        ("What does code 404 mean?", "The page was not found on the server."),
        ("资料没交齐怎么办？", "资料未提供齐全的，五个工作日内补交。"),
        ("What do the documents not cover?", "Damage by water and fire."),
    ],
)
def test_an_answer_that_denies_something_is_an_answer(question, reference):
    assert found(with_row(question=question, reference=reference), "no_answer_reference") == []


def test_a_refusal_that_is_expected_is_fine():
    assert found(with_row(reference="知识库中没有相关信息。", expected_behavior="refuse")) == []


@pytest.mark.parametrize(
    "row",
    [
        {"reference": None},
        {"reference": "同上。"},
        {"reference": "See the manual"},
        {"reference": "TODO"},
        {"reference": "待补充"},
        {"reference": "……"},
    ],
)
def test_a_missing_reference(row):
    (finding,) = found(with_row(**row), "missing_reference")
    assert (finding.row, finding.severity) == (5, "warning")


@pytest.mark.parametrize("row", [{"reference_points": ["七点半开门"]}, {"expected_behavior": "refuse"}, {"expected_behavior": "clarify"}])
def test_no_reference_is_needed(row):
    assert found(with_row(reference=None, **row), "missing_reference") == []


def test_a_set_without_references_is_told_once():
    (finding,) = found(without_columns(CLEAN, "reference"), "missing_reference")
    assert finding.id is None


@pytest.mark.parametrize(
    ("question", "reference", "unlike"),
    [
        ("年假可以休几天，怎么申请？", "Five days a year, to be applied for in the system.", True),
        ("How do I apply for leave?", "在系统里提交申请，由经理批准。", True),
        ("会议室的型号是什么？", "iPhone 15 Pro Max", False),
        ("What is the Chinese name?", "麒麟码头", False),
        ("邮件的标题怎么写？", "写 [Leave] Name 即可。", False),
    ],
)
def test_question_and_reference_in_different_languages(question, reference, unlike):
    assert bool(found(with_row(question=question, reference=reference), "language_mismatch")) is unlike


def test_a_set_that_asks_in_one_language_and_answers_in_another_is_told_once():
    rows = [
        {"id": str(i), "question": f"第 {i} 条规定是怎么说的？", "reference": f"Rule {i} says that you must ask the office first."}
        for i in range(9)
    ]
    (finding,) = found(rows, "language_mismatch")
    assert (finding.id, finding.severity) == (None, "note")
    assert "9 of 9" in finding.text("en")


def test_points_that_say_nothing():
    (finding,) = found(with_row(reference_points=["七点半开门", "——", "。"]), "empty_points")
    assert "2" in finding.text("en")


def test_more_points_or_sentences_than_one_request_takes():
    (finding,) = found(with_row(reference_points=[f"第 {i} 点" for i in range(21)]), "long_reference")
    assert finding.column == "reference_points"
    (finding,) = found(
        with_row(reference="".join(f"第{i}步要先在系统里打开申请页面，再逐项填写表格。" for i in range(25))), "long_reference"
    )
    assert "25" in finding.text("zh")


def test_a_reference_far_longer_than_the_others():
    rows = [{"id": str(i), "question": f"第 {i} 条？", "reference": "早上七点半开门，晚上八点关门。" * 2} for i in range(12)]
    rows[3]["reference"] = "早上七点半开门，晚上八点关门，周末不开" * 30
    (finding,) = found(rows, "long_reference")
    assert finding.row == 4
