"""References that say how to answer."""

import pytest
from support.checking import CLEAN, with_row
from support.checking import found_by_all as found

from ragstone.checks.directives import directive
from ragstone.types import Sample


@pytest.mark.parametrize(
    "text",
    [
        "应列出三类物品及数量，并注明出处。",
        "先问清是哪个库区；不要自行编写任何电话。",
        "回答应说明年假天数",
        "资料中没有。应直接说明查不到，不得编造。",
        "应拒绝回答，并说明资料中没有",
        "Should mention the 5-day limit.",
        "The answer must not invent a phone number.",
        "It should ask which site is meant.",
        "Do not make up a number.",
        "Ask which product is meant and do not invent a price",
    ],
)
def test_a_description_of_an_answer(text):
    assert directive(Sample(id="x", reference=text))
    assert not directive(Sample(id="x", reference=text, reference_points=("x",)))


@pytest.mark.parametrize(
    "text",
    [
        "请假应先告知主管，并注明事由。",
        "员工应在 3 天内说明原因。",
        "接报人员应先问清库区，不得下达处置指令。",
        "不得泄露客户信息。",
        "应付账款由财务部负责",
        "You must state the reason on the form.",
        "The label must include the date.",
        "It does not provide details.",
        "Do not share your password.",
        "Should the alarm sound, leave by the nearest exit.",
    ],
)
def test_a_rule_for_people_is_an_answer(text):
    assert not directive(Sample(id="x", reference=text))


def test_all_rows_are_told_once():
    (finding,) = found(
        [*with_row(reference="应列出三类物品。"), CLEAN[0] | {"id": "y", "reference": "Should list both."}], "directive_reference"
    )
    assert (finding.row, finding.id, finding.severity) == (5, None, "note")
    assert "2 of 6" in finding.text("en")
    assert "reference_points" in finding.fix("zh")
