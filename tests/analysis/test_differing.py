"""What two runs were made with, and where that differs."""

import pytest

from ragstone.analysis.differing import differing

JUDGE = {"model": "m-1", "endpoint": "https://h/v1", "parameters": {"temperature": 0}}
FULL = {
    "judge": JUDGE,
    "embedder": {"model": "e-1", "endpoint": "https://h/v1"},
    "prompts": {"zh": "aaaa", "en": "bbbb"},
    "metrics": {"faithfulness": {"version": 1, "parameters": {}}, "other": {"version": 1}},
    "plan": "separate",
    "language": "auto",
    "limits": {},
    "signature": "s",
}


def codes(old, now, metrics=("faithfulness",)):
    return [notice.code for notice in differing(old, now, metrics)]


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({}, []),
        ({"signature": "other"}, []),
        ({"version": "9"}, []),
        ({"judge": {**JUDGE, "model": "m-2"}}, ["judge_differs"]),
        ({"judge": {**JUDGE, "endpoint": "https://i/v1"}}, ["judge_differs"]),
        ({"judge": {**JUDGE, "parameters": {"temperature": 1}}}, ["judge_differs"]),
        ({"judge": {**JUDGE, "parameters": {"temperature": 0, "largest_output": 99}}}, []),
        ({"judge": {**JUDGE, "answered_by": ["m-1-0731"]}}, []),
        ({"judge": "m-2"}, ["judge_differs"]),
        ({"judge": {"model": "none", "endpoint": "none"}}, []),
        ({"judge": None}, ["signature_unknown"]),
        ({"embedder": {"model": "e-2"}}, ["embedder_differs"]),
        ({"embedder": {**FULL["embedder"], "parameters": {"cut_texts": 3}}}, []),
        ({"prompts": {"zh": "aaaa", "en": "cccc"}}, ["prompts_differ"]),
        ({"prompts": {"zh": "aaaa"}}, []),
        ({"prompts": "cccc"}, ["prompts_differ"]),
        ({"metrics": {"faithfulness": {"version": 2, "parameters": {}}}}, ["metric_version_differs"]),
        ({"metrics": {"faithfulness": {"version": 1}, "other": {"version": 2}}}, []),
        ({"plan": "joint"}, ["setup_differs"]),
        ({"language": "zh"}, ["setup_differs"]),
        ({"limits": {"top_k": 1}}, ["setup_differs"]),
        ({"gold_fingerprint": "x"}, []),
    ],
)
def test_each_part_is_told_apart(change, found):
    assert codes(FULL, {**FULL, **change}) == found
    assert codes({**FULL, **change}, FULL) == found


@pytest.mark.parametrize(
    ("old", "now", "found"),
    [
        ({"signature": "a"}, {"signature": "b"}, ["signature_differs"]),
        ({"signature": "a"}, {"signature": "a"}, []),
        ({"signature": "a"}, {}, ["signature_unknown"]),
        ({"signature": "a"}, {**FULL, "signature": "b"}, ["signature_differs"]),
        ({}, {}, ["signature_unknown"]),
        ({"gold_fingerprint": "a"}, {"gold_fingerprint": "b"}, ["signature_unknown", "gold_differs"]),
    ],
)
def test_without_the_parts_the_signature_tells(old, now, found):
    assert codes(old, now) == found


def test_settings_that_one_run_does_not_tell_do_not_differ():
    bare = {name: value for name, value in FULL.items() if name != "limits"}
    assert codes(bare, {**FULL, "limits": {"top_k": 1}}) == []


def test_what_differs_is_named_and_short():
    (notice,) = differing(FULL, {**FULL, "judge": {**JUDGE, "model": "m" * 500}}, ())
    assert dict(notice.values)["base"] == "model m-1"
    assert len(dict(notice.values)["new"]) < 100
