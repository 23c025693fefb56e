import pytest

from ragstone.analysis.levels import USUAL, Levels, reaches


@pytest.mark.parametrize(
    ("metric", "mean", "expected"),
    [
        ("faithfulness", 0.8, "high"),
        ("faithfulness", 2.4 / 3, "high"),  # 0.7999999999999999
        ("faithfulness", 0.7999, "middle"),
        ("context_recall", 0.5, "middle"),
        ("context_recall", 0.4999, "low"),
        ("my_own_metric", 0.9, "high"),
        ("answer_relevancy", 0.9, None),
        ("answer_relevancy(strictness=1)", 0.1, None),
        ("faithfulness", None, None),
    ],
)
def test_level(metric, mean, expected):
    assert USUAL.of(metric, mean) == expected


@pytest.mark.parametrize(("mean", "reached"), [(0.8, True), (0.1 + 0.7, True), (0.8 - 1e-12, True), (0.8 - 1e-6, False), (0.9, True)])
def test_a_limit_is_reached_up_to_rounding(mean, reached):
    assert reaches(mean, 0.8) is reached


def test_other_limits():
    levels = Levels(high=0.9, middle=0.6)
    assert [levels.of("faithfulness", mean) for mean in (0.9, 0.899, 0.6, 0.599)] == ["high", "middle", "middle", "low"]
    assert Levels(1, 1).of("faithfulness", 1.0) == "high"
    assert Levels(0.5, 0.5).of("faithfulness", 0.5) == "high"


@pytest.mark.parametrize(("high", "middle"), [(0.5, 0.8), (1.1, 0.5), (0.8, -0.1), (float("nan"), 0.5)])
def test_limits_out_of_order_are_refused(high, middle):
    with pytest.raises(ValueError, match="0 <= middle <= high <= 1"):
        Levels(high, middle)
