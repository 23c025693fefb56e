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


@pytest.mark.parametrize(
    ("question", "reference"),
    [
        ("年假是不是12天？", "12 天"),
        ("年假是不是 12 天", "是的，12 天。"),
        ("年假是否为十二天？", "年假为 12 天。"),
        ("年假是每年12天吗？", "每年 12 天"),
        ("退货期限为 7 天，对吗？", "7 天"),
        ("报销系统是不是 Concur？", "Concur"),
        ("Is it right that leave is 12 days?", "12 days"),
        ("Is it true that annual leave is twelve days a year?", "Yes, 12 days a year."),
        ("Am I right that the claim system is Concur?", "Concur"),
        ("Is it correct that a refund takes 5 days?", "5 days."),
    ],
)
def test_a_question_that_asks_to_confirm_the_number_or_name_of_its_reference_is_found(question, reference):
    (finding,) = found(with_row(question=question, reference=reference), "giveaway")
    assert (finding.row, finding.column, finding.severity) == (5, "question", "warning")


@pytest.mark.parametrize(
    ("question", "reference"),
    [
        ("年假是不是12天？", "15 天"),
        ("年假是不是12天？", "是"),
        ("年假是不是12天？", "不是，是 15 天。"),
        ("年假是不是12天？", "不是 12 天。"),
        ("年假是不是12天？", "满一年 12 天，满十年 15 天。"),
        ("年假是不是12天？", "是 12 天，须在次年三月底前休完，逾期作废。"),
        ("年假是12天还是15天？", "12 天"),
        ("试用期是不是满 3 个月才能转正？", "满 3 个月才能转正。"),
        ("满 5 年的员工是不是有 10 天年假？", "是，满 5 年的有 10 天年假。"),
        ("试用期满 3 个月可以请年假吗？", "满 3 个月可以请年假。"),
        ("住宿标准是不是 480 元以上？", "480 元"),
        ("这种电池是不是危险品？", "危险品"),
        ("停车是免费吗？", "免费"),
        ("退货后 30 天还能退款吗？", "30 天内可以。"),
        ("Is it right that leave is 12 days?", "15 days"),
        ("Is it right that leave is 12 days?", "Yes."),
        ("Is it right that leave is 12 days?", "No, it is not 12 days."),
        ("Is it right that leave is 12 days?", "12 days after one year, 15 after ten."),
        ("Is it right that leave is 12 or 15 days?", "12 days"),
        ("Is it right that leave is paid after 12 days?", "After 12 days."),
        ("Is it right that the battery is dangerous?", "Dangerous"),
        ("Is the warranty still valid after 12 months?", "12 months"),
        ("Can I return goods within 30 days?", "Yes, within 30 days."),
        ("Is it true that parking is free?", "Free"),
    ],
)
def test_a_question_that_asks_to_confirm_something_else_is_left_alone(question, reference):
    assert found(with_row(question=question, reference=reference), "giveaway") == []


@pytest.mark.parametrize(
    ("said", "end"),
    [("保修期是{}一年吗？", "一年。"), ("保修期是{}，一年", "一年。"), ("Is it right that the term is{}a year?", "A year.")],
)
def test_thousands_of_blanks_after_is_keep_nobody_waiting(said, end):
    from ragstone.checks.giveaways import _CONFIRM

    patterns = [pattern for patterns in _CONFIRM.values() for pattern in patterns]
    held = {match["held"][0] for blanks in (1, 20_000) for pattern in patterns if (match := pattern.search(said.format(" " * blanks)))}
    assert not any(first.isspace() for first in held)
    assert not found(with_row(question=said.format(" " * 20_000), reference=end + "另需登记。"), "giveaway")
