import json
import math
import statistics
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ragstone import Run
from ragstone.analysis.levels import Levels

VALUES = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.5, 1 / 3, 2 / 3, 1.0])), min_size=1, max_size=40)


def ok(sample_id, value, metric="faithfulness", **more):
    return {"sample_id": sample_id, "metric": metric, "value": value, "status": "ok", **more}


def failed(sample_id, reason="timeout", metric="faithfulness", **more):
    return {"sample_id": sample_id, "metric": metric, "value": None, "status": "failed", "reason": reason, **more}


def not_applicable(sample_id, reason="no_claims", metric="faithfulness", **more):
    return {"sample_id": sample_id, "metric": metric, "value": None, "status": "not_applicable", "reason": reason, **more}


def document(rows, samples=None, manifest=None, **wanted):
    return Run.from_scores(rows, samples, manifest).summary(**wanted).to_dict()


def only(rows, **more):
    (metric,) = document(rows, **more)["metrics"]
    return metric


def test_every_key_of_a_metric_on_a_run_small_enough_to_reckon_by_hand():
    lines = [{"kind": "answer_claim", "id": "a1", "text": "x", "verdict": v} for v in ("supported", "not_found")]
    rows = [
        ok("a", 0.5, verdicts=lines),
        ok("b", 1.0, verdicts=lines[:1]),
        failed("c"),
        not_applicable("d"),
        ok("e", 0.0),
        failed("f", "bad_reply"),
    ]
    samples = [{"id": name, "expected_behavior": "refuse" if name == "d" else "answer"} for name in "abcdef"]
    assert only(rows, samples=samples) == {
        "metric": "faithfulness",
        "mean": 0.5,
        "sd": 0.5,
        "median": 0.5,
        "n": 3,
        "total": 6,
        "failed": 2,
        "not_applicable": 1,
        "coverage": 0.6,
        # weights Dirichlet(1, 1, 1, 1) on 0, 0, 0.5, 1: P(mean <= t) = 6 t^2 (1 - t), which is 2.5 % at 0.0668; the high end mirrors it
        "ci": {"low": pytest.approx(0.0668, abs=4e-3), "high": pytest.approx(0.9332, abs=4e-3), "level": 0.95, "method": "bounded"},
        "micro": 2 / 3,
        "bounds": {"low": 0.3, "high": 0.7},
        "expected": {"refuse": 1, "clarify": 0},
        "level": "middle",
        "histogram": [1, 0, 0, 0, 0, 1, 0, 0, 0, 1],
        "reasons": {"bad_reply": 1, "no_claims": 1, "timeout": 1},
        "variance": None,
        "resolution": {"kind": "ratio", "lines": 1.5, "score": 1 / 1.5, "mean": 1 / 1.5 / 3},
        "unseen": None,
    }


def test_every_key_of_the_document():
    manifest = {
        "run_id": "r1",
        "signature": "s",
        "created_at": "2026-01-01",
        "gold_fingerprint": "g",
        "judge": {"model": "local"},
        "counts": {"requests": 3},
        "tokens": {"prompt": 7},
        "cost": {"total": 0.5},
    }
    line = {"kind": "answer_claim", "id": "a1", "text": "x", "verdict": "contradicted"}
    assert {**document([ok("a", 0.0, verdicts=[line])], manifest=manifest), "metrics": None} == {
        "run": {
            "path": None,
            "run_id": "r1",
            "signature": "s",
            "created_at": "2026-01-01",
            "gold_fingerprint": "g",
            "notice": "local heuristic judge: smoke test, not a measurement",
        },
        "samples": 1,
        "metrics": None,
        "slices": [],
        "worst": [{"sample_id": "a", "metric": "faithfulness", "value": 0.0, "claims": [line]}],
        "min_coverage": 0.95,
        "covered": True,
        "warnings": [],
        "tokens": {"prompt": 7},
        "cost": {"total": 0.5},
    }


def test_the_case_of_rivals_that_hide_failures():
    """Six honest ones, four rows whose judge calls all failed: neither a mean of 1.00 without a word nor 0.60."""
    rows = [ok(f"s{i}", 1.0) for i in range(6)] + [failed(f"s{i}", "server_error") for i in range(6, 10)]
    found = document(rows)
    metric = found["metrics"][0]
    assert (metric["mean"], metric["n"], metric["total"], metric["coverage"]) == (1.0, 6, 10, 0.6)
    assert metric["bounds"] == {"low": 0.6, "high": 1.0}
    assert found["covered"] is False


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param(
            [failed("a")], {"mean": None, "coverage": 0.0, "bounds": {"low": 0.0, "high": 1.0}, "level": None, "sd": None}, id="all failed"
        ),
        pytest.param(
            [not_applicable("a")], {"mean": None, "coverage": None, "bounds": {"low": None, "high": None}, "median": None}, id="all n/a"
        ),
        pytest.param([ok("a", 0.25)], {"mean": 0.25, "sd": None, "median": 0.25, "level": "low"}, id="one sample"),
        pytest.param([ok(c, 0.1) for c in "abc"], {"mean": 0.1, "sd": 0.0, "median": 0.1}, id="constant"),
        pytest.param([ok("a", 0.25), ok("b", 0.75)], {"median": 0.5, "mean": 0.5, "sd": math.sqrt(0.125)}, id="even count"),
    ],
)
def test_edges(rows, expected):
    found = only(rows)
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(("coverage", "covered"), [([ok("a", 1), failed("b")], False), ([not_applicable("a")], True), ([ok("a", 1)], True)])
def test_a_metric_without_coverage_does_not_count(coverage, covered):
    assert document([*coverage, ok("x", 1, "other")])["covered"] is covered


@pytest.mark.parametrize(("limit", "covered"), [(None, False), (0.5, True), (0.51, False)])
def test_min_coverage_is_the_callers_the_runs_or_95_percent(limit, covered):
    found = document([ok("a", 1), failed("b")], min_coverage=limit)
    assert (found["min_coverage"], found["covered"]) == (0.95 if limit is None else limit, covered)
    assert document([ok("a", 1), failed("b")], manifest={"min_coverage": 0.4})["covered"] is True


@given(VALUES)
def test_statistics_agree_with_the_standard_library(values):
    found = only([ok(f"s{i}", v) for i, v in enumerate(values)])
    assert found["mean"] == pytest.approx(statistics.fmean(values), abs=1e-12)
    assert found["median"] == statistics.median(values)
    assert found["sd"] == (pytest.approx(statistics.stdev(values), abs=1e-9) if len(values) > 1 else None)
    assert min(values) <= found["mean"] <= max(values)
    assert sum(found["histogram"]) == len(values)


@given(VALUES, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_number(values, random):
    rows = [ok(f"s{i}", v) for i, v in enumerate(values)] + [failed("x"), not_applicable("y")]
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert only(rows) == only(shuffled)


@given(VALUES)
def test_a_failed_cell_moves_the_bounds_and_nothing_else(values):
    rows = [ok(f"s{i}", v) for i, v in enumerate(values)]
    before, after = only(rows), only([*rows, failed("x")])
    assert before["mean"] == after["mean"]
    assert after["bounds"]["low"] <= before["bounds"]["low"] <= before["bounds"]["high"] <= after["bounds"]["high"]


@pytest.mark.parametrize(("value", "bin"), [(0, 0), (0.0999, 0), (0.1, 1), (0.3, 3), (0.7, 7), (0.95, 9), (1, 9)])
def test_bins_are_closed_below_and_the_last_one_above(value, bin):
    assert only([ok("a", value)])["histogram"].index(1) == bin


def test_repeats_count_once_a_sample():
    found = only([ok("a", 0.0), ok("a", 1.0, repeat=1), ok("b", 1.0), failed("b", repeat=1)])
    assert (found["mean"], found["n"], found["total"], found["failed"]) == (0.75, 2, 2, 0)


def test_worst_cells_are_the_lowest_in_run_order_over_all_metrics():
    rows = [ok("a", 1.0), ok("b", 0.2), ok("a", 0.2, "context_recall"), failed("c"), ok("c", 0.0, "context_recall"), ok("d", 0.2)]
    found = document(rows, worst=4)["worst"]
    assert [(w["sample_id"], w["metric"], w["value"]) for w in found] == [
        ("c", "context_recall", 0.0),
        ("a", "context_recall", 0.2),
        ("b", "faithfulness", 0.2),
        ("d", "faithfulness", 0.2),
    ]
    assert document(rows, worst=0)["worst"] == []


def test_worst_cells_carry_the_lines_of_the_row_that_counts():
    old, new = ([{"kind": "answer_claim", "id": "a1", "text": text, "verdict": "not_found"}] for text in ("old", "new"))
    found = document([ok("a", 0.5, verdicts=old), ok("a", 0.0, verdicts=new)])
    assert found["worst"][0]["claims"] == new
    assert found["warnings"] == ["cells_doubled: count=1"]


SAMPLES = [{"id": name, "meta": {"category": category}} for name, category in zip("abcdef", ["x", "y", "x", "x", "x", "x"], strict=True)]


def test_slices():
    found = document([*(ok(name, 1.0) for name in "abcde"), failed("f"), ok("g", 0.0)], SAMPLES, by="category")["slices"]
    assert [(s["key"], s["value"], s["small"]) for s in found] == [
        ("category", "x", False),
        ("category", "y", True),
        ("category", None, True),
    ]
    assert [(s["metrics"][0]["mean"], s["metrics"][0]["n"], s["metrics"][0]["total"]) for s in found] == [
        (1.0, 4, 5),
        (1.0, 1, 1),
        (0.0, 1, 1),
    ]


def test_slices_add_up_to_the_whole():
    found = document([ok("a", 0.5), ok("b", 1.0), failed("c"), not_applicable("d")], SAMPLES, by="category")
    for count in ("n", "total", "failed", "not_applicable"):
        assert sum(s["metrics"][0][count] for s in found["slices"]) == found["metrics"][0][count]


def test_promised_cells_that_are_missing_count_as_interrupted():
    found = document([ok("a", 1.0)], SAMPLES[:3], {"metrics": {"faithfulness": {}, "context_recall": {}}})
    assert [(m["metric"], m["n"], m["total"], m["reasons"]) for m in found["metrics"]] == [
        ("faithfulness", 1, 3, {"interrupted": 2}),
        ("context_recall", 0, 3, {"interrupted": 3}),
    ]
    assert found["warnings"] == ["cells_interrupted: count=5, total=6"]


def test_nothing_is_promised_without_samples_or_metrics():
    assert document([ok("a", 1.0)], None, {"metrics": {"faithfulness": {}, "context_recall": {}}})["metrics"][0]["total"] == 1
    assert only([ok("a", 1.0)], samples=SAMPLES)["total"] == 1


def test_samples_that_should_refuse_stand_apart_as_well():
    samples = [{"id": "a", "expected_behavior": "refuse"}, {"id": "b", "meta": {"expected_behavior": "clarify"}}, {"id": "c"}]
    summary = Run.from_scores([ok(name, value) for name, value in zip("abc", (0.0, 0.5, 1.0), strict=True)], samples).summary()
    assert [(part.value, part.samples, part.metrics[0].mean) for part in summary.apart] == [("refuse", 1, 0.0), ("clarify", 1, 0.5)]
    assert summary.metrics[0].expected == {"refuse": 1, "clarify": 1}


# ------------------------------------------------------------------ intervals
def scores(*values, **more):
    return [ok(f"s{i}", v, **more) for i, v in enumerate(values)]


def test_the_interval_of_a_mean_is_students():
    values = [i / 30 for i in range(30)]
    found = only(scores(*values))["ci"]
    low, high = stats.t.interval(0.95, 29, statistics.fmean(values), stats.sem(values))
    assert found == {"low": pytest.approx(low, abs=1e-9), "high": pytest.approx(high, abs=1e-9), "level": 0.95, "method": "t"}


@pytest.mark.parametrize(
    ("values", "method"),
    [
        ([1.0] * 50, "bounded"),
        ([1.0] * 41 + [0.5] * 9, "bounded"),
        ([1.0] * 40 + [0.5] * 10, "t"),
        ([0.25, 0.5, 0.75], "bounded"),
        ([i / 10 for i in range(10)], "bounded"),  # nine differ from any one of them
        ([i / 11 for i in range(11)], "t"),
    ],
)
def test_where_few_scores_differ_the_interval_is_bounded(values, method):
    assert only(scores(*values))["ci"]["method"] == method


@given(st.lists(st.sampled_from([0.0, 0.1 + 0.2, 0.3, 0.5, 1.0]), min_size=2, max_size=60))
def test_the_method_follows_from_the_count_of_scores_that_differ_from_the_most_frequent(values):
    most = max(Counter(round(v, 9) for v in values).values())
    assert only(scores(*values))["ci"]["method"] == ("bounded" if len(values) - most < 10 else "t")


def test_fifty_perfect_scores_are_no_proof_of_perfection():
    found = only(scores(*[1.0] * 50))
    assert (found["ci"]["low"], found["ci"]["high"]) == (pytest.approx(0.025 ** (1 / 50)), 1.0)
    assert found["unseen"] == pytest.approx(1 - 0.05 ** (1 / 50))
    assert only(scores(*[1.0] * 49, 0.5))["unseen"] is None


@pytest.mark.parametrize("rows", [[ok("a", 0.5)], [failed("a")], [not_applicable("a")]])
def test_below_two_scores_there_is_no_interval(rows):
    assert only(rows)["ci"] is None


def test_a_method_a_level_and_a_seed_can_be_named():
    rows = scores(*[0.0, 0.5, 1.0] * 10)
    assert [only(rows, ci=method)["ci"]["method"] for method in ("t", "bca", "bootstrap_t", "bounded")] == [
        "t",
        "bca",
        "bootstrap_t",
        "bounded",
    ]
    assert only(rows, ci="bca", seed=1)["ci"] != only(rows, ci="bca")["ci"]
    assert only(rows, ci="bca", seed=1)["ci"] == only(rows, ci="bca", seed=1)["ci"]
    narrow, wide = only(rows, confidence=0.5)["ci"], only(rows)["ci"]
    assert wide["low"] < narrow["low"] < narrow["high"] < wide["high"]
    assert narrow["level"] == 0.5


def test_slices_have_intervals_of_their_own():
    samples = [{"id": f"s{i}", "meta": {"category": "a" if i < 30 else "b"}} for i in range(60)]
    first, second = document(scores(*([i / 30 for i in range(30)] + [1.0] * 30)), samples)["slices"]
    assert [part["metrics"][0]["ci"]["method"] for part in (first, second)] == ["t", "bounded"]


# ------------------------------------------------------------------ clusters
DOCUMENTS = [{"id": f"s{i}", "meta": {"doc": f"d{i // 5}"}} for i in range(40)]
ALIKE = [i // 5 / 8 for i in range(40)]


def test_samples_that_belong_together_make_the_interval_wider():
    found, alone = only(scores(*ALIKE), samples=DOCUMENTS, cluster="doc")["ci"], only(scores(*ALIKE))["ci"]
    assert found["method"] == "cluster_t"
    assert found["high"] - found["low"] > 2 * (alone["high"] - alone["low"])
    means = [i / 8 for i in range(8)]
    low, high = stats.t.interval(0.95, 7, statistics.fmean(means), stats.sem(means))
    assert (found["low"], found["high"]) == (pytest.approx(low, abs=1e-9), pytest.approx(high, abs=1e-9))


def test_several_answers_to_a_question_are_told_where_they_are_not_taken_together():
    repeated = [{"id": f"s{i}", "meta": {"question_id": "s"}} for i in range(2)]
    named = [{"id": f"s{i // 2}#{i % 2}", "meta": {"question_id": f"s{i // 2}"}} for i in range(6)]
    held = [{**row, "sample_id": sample["id"]} for row, sample in zip(scores(*[0.5] * 6), named, strict=True)]
    assert document(held, named)["warnings"] == ["repeats_unclustered: key=question_id, count=3"]
    assert document(held, named, cluster="question_id")["warnings"] == []
    assert document(scores(0.5, 0.5), repeated)["warnings"] == [], "a key of that name alone says nothing of repeats"


def test_a_sample_without_the_key_is_a_cluster_of_its_own_and_counted():
    found = document(scores(*ALIKE), DOCUMENTS[:30], cluster="doc")
    assert found["warnings"] == ["cluster_missing: key=doc, count=10"]
    named = [*DOCUMENTS[:30], *({"id": f"s{i}", "meta": {"doc": f"x{i}"}} for i in range(30, 40))]
    assert found["metrics"][0]["ci"] == document(scores(*ALIKE), named, cluster="doc")["metrics"][0]["ci"]


def test_only_clusters_say_what_perfect_scores_leave_open():
    assert only(scores(*[1.0] * 40), samples=DOCUMENTS, cluster="doc")["unseen"] == pytest.approx(1 - 0.05 ** (1 / 8))


def test_a_method_that_knows_no_clusters_is_used_and_told():
    found = document(scores(*ALIKE), DOCUMENTS, cluster="doc", ci="t")
    assert found["metrics"][0]["ci"]["method"] == "t"
    assert found["warnings"] == ["cluster_unused: method=t"]


def test_one_cluster_has_no_interval():
    assert only(scores(0.5, 1.0), samples=DOCUMENTS[:2], cluster="doc")["ci"] is None


# ------------------------------------------------------------------ levels, repeats, slices nobody asked for
def test_the_limits_of_the_levels_are_the_callers_or_the_runs():
    run = Run.from_scores([ok("a", 0.7)])
    assert run.summary().metrics[0].level == "middle"
    assert run.summary(levels=Levels(0.7, 0.6)).metrics[0].level == "high"
    run.levels = Levels(0.9, 0.8)
    assert run.summary().metrics[0].level == run.in_memory().summary().metrics[0].level == "low"


def test_repeats_split_the_variance():
    found = only([ok("a", 0.0), ok("a", 0.5, repeat=1), ok("b", 1.0), failed("b", repeat=1), failed("c")])
    # one cell of two repeats: MS within = 0.125; grand mean 0.5; n0 = (3 - 5/3) / 1
    between = (2 * 0.25**2 + 0.5**2) / 1
    judge, samples = 0.125, (between - 0.125) / (4 / 3)
    assert found["variance"] == {
        "repeats": {"min": 1, "max": 2},
        "samples": pytest.approx(samples),
        "judge": judge,
        "judge_share": pytest.approx(judge / (samples + judge)),
        "se_judge": pytest.approx(math.sqrt(judge * 1.5) / 2),
    }


@pytest.mark.parametrize(
    "rows", [[ok("a", 0.5), ok("b", 1.0)], [ok("a", 0.5), failed("a", repeat=1)], [ok("a", 0.5), ok("b", 1.0, repeat=1)]]
)
def test_without_two_ok_repeats_of_a_cell_there_is_no_variance(rows):
    assert only(rows)["variance"] is None


def test_a_run_is_sliced_by_category_unless_told_otherwise():
    rows = scores(0.5, 1.0, 0.0)
    samples = [{"id": f"s{i}", "language": "en", "meta": {"category": "ab"[i % 2]}} for i in range(2)]
    assert [(s["key"], s["value"]) for s in document(rows, samples)["slices"]] == [("category", "a"), ("category", "b"), ("category", None)]
    assert [(s["key"], s["value"]) for s in document(rows, samples, by="language")["slices"]] == [("language", "en"), ("language", None)]
    assert document(rows, samples, by="")["slices"] == []


@pytest.mark.parametrize("samples", [None, [{"id": "s0", "meta": {"team": "x"}}], [{"id": "s0", "meta": {"category": None}}]])
def test_without_a_category_nothing_is_sliced_and_nothing_is_said(samples):
    found = document(scores(0.5, 1.0), samples)
    assert (found["slices"], found["warnings"]) == ([], [])


@pytest.mark.parametrize(("values", "sliced"), [(30, 30), (31, 0)])
def test_too_many_categories_are_no_slices(values, sliced):
    samples = [{"id": f"s{i}", "meta": {"category": i % values}} for i in range(70)]
    found = document(scores(*[0.5] * 70), samples)
    assert len(found["slices"]) == sliced
    assert found["warnings"] == ([] if sliced else ["slices_crowded: key=category, most=30"])
    assert len(document(scores(*[0.5] * 70), samples, by="category")["slices"]) == values


def test_the_same_run_and_seed_give_the_same_bytes():
    rows, samples = scores(0.1, 0.2, 0.2, 0.7), [{"id": f"s{i}", "meta": {"category": i % 2}} for i in range(4)]
    assert json.dumps(document(rows, samples)) == json.dumps(document(rows, samples))
