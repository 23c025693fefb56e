import pytest

from ragstone.analysis.quadrants import QUADRANTS, quadrant


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"context_precision": 0.8, "faithfulness": 0.8}, "good_good"),
        ({"context_precision": 1.0, "context_recall": 0.6, "faithfulness": 0.7, "answer_correctness": 0.9}, "good_good"),
        ({"context_precision": 1.0, "context_recall": 0.59, "faithfulness": 0.9}, "bad_good"),
        ({"context_recall": 0.9, "answer_correctness": 0.79}, "good_bad"),
        ({"context_recall": 0.0, "answer_correctness": 0.0}, "bad_bad"),
        ({"context_recall": 1.0, "answer_relevancy": 1.0}, "unknown"),
        ({"faithfulness": 1.0}, "unknown"),
        ({}, "unknown"),
    ],
)
def test_the_mean_of_a_side_decides(values, word):
    assert quadrant(values) == word
    assert word in QUADRANTS


def test_a_mean_that_misses_the_limit_by_rounding_alone_reaches_it():
    assert quadrant({"context_precision": 0.7, "context_recall": 0.9, "faithfulness": 0.1 + 0.7}) == "good_good"


def test_the_limit_can_be_moved():
    values = {"context_recall": 0.7, "faithfulness": 0.9}
    assert [quadrant(values, high) for high in (0.7, 0.8, 0.95)] == ["good_good", "bad_good", "bad_bad"]
