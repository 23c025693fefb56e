"""Questions that hold their answer."""

import pytest
from support.checking import found_by_all as found
from support.checking import with_row


@pytest.mark.parametrize(
    ("question", "reference"),
    [
        ("年假为 15 天的员工有几天年假？", "15 天"),
        ("负责档案室钥匙的行政专员是什么岗位？", "行政专员"),
        ("What is the main metal in lithium batteries?", "Lithium"),
        ("How long does the 30 day trial last?", "30 days"),
    ],
)
def test_a_reference_that_tells_nothing_new_is_found(question, reference):
    (finding,) = found(with_row(question=question, reference=reference), "giveaway")
    assert (finding.row, finding.column, finding.severity) == (5, "question", "warning")


@pytest.mark.parametrize(
    ("question", "reference"),
    [
        ("叉车司机必须持证吗？", "叉车司机必须持证。"),
        ("Which event is sent after a failed payment?", "payment.failed"),
        ("退款成功后推送哪种 refund success 事件？", "refund.success"),
        ("满 5 年的员工年假几天？", "5 天"),
        ("A 档和 B 档哪个更高？", "A 档"),
        ("差旅费报销要附哪些票据？", "差旅费报销要附住宿发票和车票。"),
        ("Do forklift drivers need a licence?", "Forklift drivers need a licence."),
        ("Is the red or the blue form needed?", "The red form."),
        ("How much leave is there after 5 years?", "5 days"),
        ("Who signs travel claims?", "The line manager signs travel claims."),
    ],
)
def test_what_shares_only_its_subject_or_asks_to_confirm_or_choose_is_left_alone(question, reference):
    assert found(with_row(question=question, reference=reference), "giveaway") == []
