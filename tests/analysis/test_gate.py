"""Outcomes of rules: what noise could explain is flaky, what has no data is skipped."""

from types import SimpleNamespace

import pytest

from ragstone.analysis.cells import Notice
from ragstone.analysis.gate import (
    Limit,
    Outcome,
    coverage_outcome,
    drop_outcome,
    made_up_outcome,
    mean_outcome,
    new_claims,
    questions_outcome,
    unchecked,
    unpaired,
)
from ragstone.analysis.intervals import Interval
from ragstone.analysis.pairs import Pairs

MEAN, DROP, COVERAGE = Limit("min_mean", "m", 0.8), Limit("max_drop", "m", 0.02), Limit("min_coverage", "m", 0.95, required=False)
MADE_UP = Limit("no_new_made_up", None, 0.0, required=False)


def ci(low, high):
    return Interval(low, high, 0.95, "t")


@pytest.mark.parametrize(
    ("mean", "interval", "status"),
    [
        (0.85, ci(0.7, 0.95), "pass"),
        (0.8 - 1e-12, ci(0.7, 0.9), "pass"),
        (0.79, ci(0.7, 0.88), "flaky"),
        (0.79, ci(0.7, 0.8), "flaky"),
        (0.7, ci(0.62, 0.78), "fail"),
        (0.5, None, "flaky"),
        (0.9, None, "pass"),
        (None, None, "skipped"),
    ],
)
def test_least_mean(mean, interval, status):
    assert mean_outcome(MEAN, 0 if mean is None else 30, mean, interval).status == status


@pytest.mark.parametrize(
    ("difference", "interval", "status"),
    [
        (0.1, ci(0.05, 0.15), "pass"),
        (0.0, ci(0.0, 0.0), "pass"),
        (-0.02, ci(-0.05, 0.01), "pass"),
        (-0.03, ci(-0.08, 0.02), "flaky"),
        (-0.03, ci(-0.05, -0.01), "flaky"),
        (-0.05, ci(-0.07, -0.03), "fail"),
        (-0.5, None, "flaky"),
        (None, None, "skipped"),
    ],
)
def test_largest_drop(difference, interval, status):
    assert drop_outcome(DROP, 0 if difference is None else 30, difference, interval).status == status


@pytest.mark.parametrize(
    ("n", "failed", "status", "share"), [(95, 5, "pass", 0.95), (94, 6, "fail", 0.94), (0, 3, "fail", 0.0), (0, 0, "skipped", None)]
)
def test_coverage(n, failed, status, share):
    found = coverage_outcome(COVERAGE, n, failed)
    assert (found.status, found.observed) == (status, share)


@pytest.mark.parametrize(
    ("status", "lacking", "required", "on_doubt", "breaks"),
    [
        ("pass", None, True, "fail", False),
        ("fail", None, False, "pass", True),
        ("flaky", None, True, "pass", False),
        ("flaky", None, True, "fail", True),
        ("skipped", "run", True, "pass", True),
        ("skipped", "run", False, "fail", False),
        ("skipped", "base", True, "fail", False),
        ("skipped", "pairs", True, "fail", False),
    ],
)
def test_what_makes_a_gate_fail(status, lacking, required, on_doubt, breaks):
    assert Outcome(Limit("min_mean", "m", 0.8, required=required), status, lacking=lacking).breaks(on_doubt) is breaks


@pytest.mark.parametrize(
    ("rule", "lacking", "told"),
    [
        (DROP, "run", False),
        (DROP, "base", True),
        (DROP, "pairs", True),
        (COVERAGE, "run", False),
        (MADE_UP, "run", True),
        (MADE_UP, "base", True),
    ],
)
def test_a_comparison_that_could_not_be_made_is_told(rule, lacking, told):
    outcomes = [Outcome(rule, "skipped", lacking=lacking), Outcome(rule, "pass", 1.0)]
    assert [dict(notice.values) for notice in unchecked(outcomes)] == ([{"rule": rule, "lacking": lacking}] if told else [])


def test_a_made_up_claim_is_new_if_its_sample_did_not_have_it():
    base = {"a": {"old"}, "b": {"other"}}
    new = {"a": [("a1", "Old", "old"), ("a2", "7 days", "7 days")], "b": [("a1", "Old", "old")], "c": [("a1", "x", "x")]}
    found = new_claims(base, new)
    assert [(c.sample_id, c.claim, c.text) for c in found] == [("a", "a2", "7 days"), ("b", "a1", "Old"), ("c", "a1", "x")]
    rule = MADE_UP
    assert (made_up_outcome(rule, found).status, made_up_outcome(rule, found).observed) == ("fail", 3.0)
    assert made_up_outcome(rule, []).status == "pass"


@pytest.mark.parametrize(
    ("only_base", "only_new", "changed", "told"),
    [
        ((), (), (), []),
        ((), ("n",), (), []),
        (("a", "b"), ("n",), (), [("questions_missing", ("a", "b"))]),
        (("a",), (), ("c",), [("questions_missing", ("a",)), ("questions_changed", ("c",))]),
    ],
)
def test_questions_of_the_baseline_without_a_partner(only_base, only_new, changed, told):
    pairs = Pairs((0,), (0,), ("x",), only_base, only_new, changed, (), 9, 9)
    few = [Notice("coverage_low", (("metric", metric), ("n", 1), ("total", 9))) for metric in (None, "m")]
    uneven = Notice("coverage_low", (("metric", "m"), ("base", 1.0), ("new", 0.5)))
    gold = [Notice("gold_differs", values) for values in ((("n", 1),), (("base", "1"), ("new", "2")))]
    found = list(unpaired(SimpleNamespace(pairs=pairs, warnings=[*few, uneven, *gold, Notice("judge_differs")])))
    assert [(notice.code, dict(notice.values)["ids"]) for notice in found[:-2]] == told
    assert all(dict(notice.values)["total"] == 9 for notice in found[:-1])
    assert found[-2:] == [few[1], gold[1]]


@pytest.mark.parametrize(
    ("only_base", "changed", "status"), [((), ("c",), None), (("a",), (), "fail"), (("a",), tuple("cdefghijklmnopqrst"), "pass")]
)
def test_questions_that_are_gone_are_not_covered(only_base, changed, status):
    found = questions_outcome(Pairs((0,), (0,), ("x",), only_base, ("n",), changed, (), 9, 9), 0.95)
    assert (found.status if found else None) == status
