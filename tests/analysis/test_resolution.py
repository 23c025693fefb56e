import pytest

from ragstone import Run
from ragstone.analysis.resolution import Resolution, resolution_of


def test_a_ratio_moves_by_one_part():
    assert resolution_of("faithfulness", [9, 12], 4, 1.0, 5) == Resolution("ratio", 3.0, 1 / 3, 1 / 15)


def test_a_statement_counts_on_both_sides_of_correctness():
    found = resolution_of("answer_correctness(beta=1)", [2, 4, 3, 6], 2, 0.75, 10)
    assert found == Resolution("both_sides", 5.0, 0.75 * 2 / 5, 0.75 * 2 / 5 / 10)
    assert resolution_of("answer_correctness", [1, 1, 0, 0], 1, 0.75, 1) == Resolution("both_sides", 1.0, 0.75, 0.75)


def test_of_a_ranking_only_the_most_is_known():
    assert resolution_of("context_precision", [2, 12], 4, 1.0, 4) == Resolution("ranked", 3.0, 1.0, 0.25)


@pytest.mark.parametrize(
    ("metric", "counts", "cells", "n"),
    [("answer_relevancy", [3], 1, 1), ("my_own", [1, 2], 1, 1), ("faithfulness", [0, 0], 0, 3), ("faithfulness", [1, 2], 1, 0)],
)
def test_where_nothing_is_known_there_is_none(metric, counts, cells, n):
    assert resolution_of(metric, counts, cells, 1.0, n) is None


def claims(*verdicts):
    return [{"kind": "answer_claim", "id": f"a{i}", "text": "x", "verdict": verdict} for i, verdict in enumerate(verdicts)]


def test_flipping_one_verdict_moves_score_and_mean_by_that_much():
    def summary(*first):
        lines = [claims(*first), claims("supported", "not_found", "supported", "supported")]
        rows = [
            {
                "sample_id": f"s{i}",
                "metric": "faithfulness",
                "value": sum(c["verdict"] == "supported" for c in cell) / 4,
                "status": "ok",
                "verdicts": cell,
            }
            for i, cell in enumerate(lines)
        ]
        return Run.from_scores(rows).summary().metrics[0]

    before, after = summary(*["supported"] * 4), summary("not_found", *["supported"] * 3)
    assert before.mean - after.mean == pytest.approx(before.resolution.mean)
