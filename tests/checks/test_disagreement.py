"""Whether two references contradict each other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.checks.disagreement import disagreement
from ragstone.embed.bundled import BundledEmbedder
from ragstone.types import Sample

EMBEDDER = BundledEmbedder(max_vectors=100)


def told(question, one, other, **more):
    a, b = Sample(id="a", question=question, reference=one), Sample(id="b", question=question, reference=other, **more)
    why, back = disagreement(a, b, EMBEDDER.encode), disagreement(b, a, EMBEDDER.encode)
    assert (why is None) == (back is None)
    return why and why.key.removeprefix("check.contradiction_")


@pytest.mark.parametrize(
    ("question", "one", "other", "why"),
    [
        ("年假几天？", "5 天", "十天", "number"),
        ("年假几天？", "员工每年享有 5 天年假。", "员工每年享有 10 天年假，须提前申请。", "number"),
        ("税率是多少？", "20%", "百分之十九", "number"),
        ("几点开门？", "9:00", "8:30 开门", "number"),
        ("尘盒多大？", "350ml", "５５０ml", "number"),
        ("What is the rate limit?", "60 requests per second.", "100 requests per second", "number"),
        ("When was it released?", "August 2000", "November 1999", "number"),
        ("How long is the notice?", "30 days", "The notice period is 60 days.", "number"),
        ("What does it cost?", "$20", "$25 a month", "number"),
        ("可以自己装软件吗？", "可以自行安装。", "不能，要找管理员。", "yes_no"),
        ("May I eat in the lab?", "Yes, in the break corner.", "No.", "yes_no"),
        ("谁能报销？", "试用期员工可以报销差旅费。", "试用期员工不可以报销差旅费。", "denial"),
        ("Which costs count?", "Interns may claim travel costs.", "Interns may not claim travel costs.", "denial"),
        ("合同由哪个部门盖章？", "人力资源部", "法务部", "name"),
        ("Who signs?", "The finance team signs it.", "The legal team signs it.", "name"),
    ],
)
def test_what_cannot_both_be_right(question, one, other, why):
    assert told(question, one, other) == why


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        ("年假几天？", "5 天", "每年五天，满 10 年的 10 天。"),
        ("退款多久？", "24 小时", "1 天"),
        ("需要多久？", "半小时", "30 分钟"),
        ("多少钱？", "3 万元", "30,000 元"),
        ("可以装软件吗？", "可以", "能，但要先登记。"),
        ("可以报销吗？", "不可以", "不行。"),
        ("怎么办？", "先断电，再报修。", "不要触碰设备，先断电，然后报修。"),
        ("谁盖章？", "人力资源部", "人事部"),
        ("什么是紧急避险？", "为了制止侵害行为而采取的措施", "为了制止不法侵害行为而采取的措施"),
        ("When?", "August 2000", "August 31, 2000"),
        ("How much?", "$1,000", "1000 dollars"),
        ("May I?", "Yes.", "Yes, no approval is needed."),
        ("What is it?", "It is not a hosted service, it runs locally.", "It runs locally."),
        ("How?", "Open Settings. It takes 5 minutes.", "Choose Account. Changes are live after 10 minutes."),
        ("Where is it?", "Orlando, Florida", "the old stadium"),
    ],
)
def test_what_may_both_be_right(question, one, other):
    assert told(question, one, other) is None


def test_an_alternative_that_agrees_is_enough_and_behaviour_counts():
    assert told("年假几天？", "5 天", "10 天", reference_alternatives=("5 天",)) is None
    assert told("年假几天？", "5 天", "5 天", expected_behavior="refuse") == "behavior"


@given(st.text(), st.text(), st.sampled_from(["可以吗？", "Who?", "几天？", ""]))
def test_it_is_symmetric_and_nothing_contradicts_itself(one, other, question):
    told(question, one, other)
    assert told(question, one, one) is None
