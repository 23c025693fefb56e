import pytest
from support.made_runs import one

from ragstone.analysis.intents import intent_right, truth


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        *((yes, True) for yes in (1, 1.0, 0.5, True, "yes", " TRUE ", "1", "对", "正确")),
        *((no, False) for no in (0, 0.0, 0.49, False, "no", "Wrong", "0", "错误", "不对")),
        *((neither, None) for neither in (None, "", "refund", "退款", "2", ["对"])),
    ],
)
def test_what_a_column_of_rights_and_wrongs_says(said, meant):
    assert truth(said) is meant


@pytest.mark.parametrize(
    ("sample", "right"),
    [
        ({"sample": {"meta": {"intent_top1": "退款", "intent": "退货"}}}, False),
        ({"sample": {"meta": {"intent_top1": "Refund", "intent": "refund"}}}, True),
        ({"sample": {"meta": {"intent_top1": 1}}}, True),
        ({"sample": {"meta": {"intent_top1": "refund"}}}, None),
        ({"values": {"intent_top1": 0.0}, "sample": {"meta": {"intent": "refund"}}}, False),
        ({"values": {"faithfulness": 1.0}}, None),
    ],
)
def test_an_intent_is_right_by_its_flag_its_score_or_beside_the_right_one(sample, right):
    assert intent_right(one(**{"values": {"faithfulness": 1.0}, **sample})) is right
