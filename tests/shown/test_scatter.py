"""What a plan reads from runs; how the scatter itself comes out is tested with the plans."""

import pytest
from support.gated import A, run

from ragstone.shown.scatter import requests_a_sample


@pytest.mark.parametrize(
    ("manifest", "requests"),
    [
        (None, 7),
        ({"plan": "separate"}, 7),
        ({"plan": "joint"}, 4),
        ({"metrics": {"faithfulness": {}}, "plan": "separate"}, 2),
        ({"metrics": {"faithfulness": {}, "answer_correctness": {}}}, 4),
        ({"metrics": {"context_precision": {}}, "plan": "per-context"}, 5),
        ({"metrics": dict.fromkeys(("faithfulness", "answer_relevancy", "context_precision", "context_recall", "answer_correctness"))}, 7),
        ({"metrics": {"my_own": {}}}, 7),
    ],
)
def test_requests_follow_the_plan_and_the_metrics_of_the_run(manifest, requests):
    assert requests_a_sample(run(A, manifest=manifest)) == requests
