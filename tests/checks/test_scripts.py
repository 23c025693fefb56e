"""Traditional and simplified Chinese."""

import unicodedata

import pytest
from support.checking import found, with_row

from ragstone.checks.scripts import counted
from ragstone.resources import read_toml

PAIRS = read_toml("checks", "scripts.toml")["pairs"].split()


def test_the_table_holds_pairs_of_different_characters_each_once():
    assert len(PAIRS) >= 300
    assert {len(pair) for pair in PAIRS} == {2}
    traditional, simplified = {pair[0] for pair in PAIRS}, {pair[1] for pair in PAIRS}
    assert len(traditional) == len(simplified) == len(PAIRS)
    assert not traditional & simplified
    assert all(unicodedata.name(char).startswith("CJK UNIFIED") for pair in PAIRS for char in pair)


def test_simplified_characters_are_those_of_gb2312_and_traditional_ones_those_of_big5():
    assert [pair for pair in PAIRS if pair[1].encode("gb2312", "ignore") == b""] == []
    assert [pair for pair in PAIRS if pair[0].encode("gb2312", "ignore") != b""] == []
    assert [pair for pair in PAIRS if pair[0].encode("big5", "ignore") == b""] == []


@pytest.mark.parametrize(
    ("text", "both"),
    [
        ("員工每年可以休五天年假", (1, 0)),
        ("员工每年可以休五天年假", (0, 1)),
        ("《臺灣經濟學》这本书在哪里借？", (0, 2)),
        ("国会の学習は経済です", (0, 0)),
        ("Leave of 5 days", (0, 0)),
    ],
)
def test_characters_of_one_script_are_counted(text, both):
    assert tuple(map(len, counted(text))) == both


def test_a_text_of_both_scripts():
    (finding,) = found(with_row(question="请问员工的年假怎么计算？請問試用期員工有沒有？"), "script_mix")
    assert (finding.row, finding.column, finding.severity) == (5, "question", "warning")
    assert "請" in finding.text("en")


def test_a_row_of_the_other_script_is_a_note_and_a_name_is_nothing():
    (finding,) = found(with_row(question="請問員工的年假怎麼計算？", reference="滿一年五天，請提前兩週申請。"), "script_mix")
    assert (finding.row, finding.severity) == (5, "note")
    assert "繁体" in finding.text("zh")
    assert found(with_row(question="陳先生负责哪个部门？"), "script_mix") == []


def test_a_set_of_both_scripts_is_told_once():
    rows = [{"id": str(i), "question": q, "reference": "可以。"} for i, q in enumerate(["请问员工怎么报销？", "請問員工怎麼報銷？"] * 4)]
    rows = [row | {"question": f"{i}：{row['question']}"} for i, row in enumerate(rows)]
    (finding,) = found(rows, "script_mix")
    assert "Rows in traditional Chinese: 4, in simplified: 4" in finding.text("en")


@pytest.mark.parametrize(
    ("reference", "column"), [("應立即向應急辦報告，兩小時內上報衛生部門", "reference"), ("应立即向应急办报告，两小时内上报卫生部门", None)]
)
def test_a_reference_in_the_other_script_than_its_question_is_told(reference, column):
    rows = with_row(question="食物中毒应该怎么报告？", reference=reference)
    assert [finding.column for finding in found(rows, "script_mix") if finding.id == "x"] == ([column] if column else [])


def test_columns_that_differ_in_most_rows_are_told_once():
    row = {"question": "食物中毒应该怎么报告？", "reference": "應立即向應急辦報告，兩小時內上報衛生部門"}
    rows = [row | {"id": str(i)} for i in range(6)]
    assert [(finding.id, finding.row) for finding in found(rows, "script_mix") if finding.values["which"].key.endswith("columns")] == [
        (None, 1)
    ]
