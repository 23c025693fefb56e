"""Keywords and passages in reference_contexts."""

import pytest
from support.checking import found

from ragstone.checks.passages import form_of

PASSAGE = "员工每年可以休五天年假，须提前两周在系统里提交申请。"


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("年假", "keywords"),
        ("氨浓度", "keywords"),
        ("annual leave", "keywords"),
        ("12345", "keywords"),
        (PASSAGE, "passages"),
        ("You may take five days of leave each year, after asking.", "passages"),
        ("先报修。后登记。", "passages"),
        ("", None),
    ],
)
def test_the_form_of_an_item(text, form):
    assert form_of(text) == form


def rows(*contexts):
    return [{"id": str(i), "question": f"第 {i} 条？", "reference": "可以。", "reference_contexts": c} for i, c in enumerate(contexts)]


def test_a_set_of_one_form_is_told_once():
    (finding,) = found(rows(["年假"], ["病假", "证明"]), "keyword_contexts")
    assert "keywords (rows: 2)" in finding.text("en")
    (finding,) = found(rows([PASSAGE]), "keyword_contexts")
    assert "片段（1 行）" in finding.text("zh")


def test_rows_that_mix_or_differ_are_told_one_by_one():
    findings = found(rows(["年假"], ["病假"], [PASSAGE], ["年假", PASSAGE]), "keyword_contexts")
    assert sorted((f.row, f.id or "") for f in findings) == [(1, ""), (3, "2"), (4, "3")]
    assert {f.severity for f in findings} == {"note"}
