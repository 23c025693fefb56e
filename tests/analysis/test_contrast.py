"""One metric on paired samples."""

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from support.two_runs import only, row, rows

BASE = [0.5, 0.9, 0.4, 1.0, 0.0, 0.7, 0.8, 0.3]
NEW = [0.6, 0.8, 0.9, 1.0, 0.5, 0.7, 1.0, 0.6]
SCORES = st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 2 / 3, 0.75, 0.9, 1.0])
CELLS = st.one_of(SCORES, st.sampled_from(["timeout", None]))


def test_every_number_of_a_metric_small_enough_to_reckon_by_hand():
    found = only(rows([*BASE, "timeout", 0.5, "timeout", None]), rows([*NEW, 1.0, "bad_reply", "timeout", 0.5]))
    differences = [b - a for a, b in zip(BASE, NEW, strict=True)]
    mean, sd = statistics.fmean(differences), statistics.stdev(differences)
    reach = stats.t.ppf(0.975, 7) * sd / math.sqrt(8)
    z = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    signs = stats.permutation_test(
        (differences,), statistics.fmean, permutation_type="samples", vectorized=False, n_resamples=math.inf
    ).pvalue
    assert found.pop("text")
    ci, bounds = found.pop("ci"), found.pop("bounds")
    assert (ci["low"], ci["high"]) == (pytest.approx(mean - reach), pytest.approx(mean + reach))
    assert (ci["level"], ci["method"]) == (0.95, "t")
    assert bounds == {
        "low": pytest.approx((sum(differences) + (1.0 - 1) + (0 - 0.5) + (0 - 1)) / 11),
        "high": pytest.approx((sum(differences) + (1.0 - 0) + (1 - 0.5) + (1 - 0)) / 11),
    }
    assert found == {
        "metric": "faithfulness",
        "n": 8,
        "left_out": [
            {"sample_id": "q08", "why": "failed_base"},
            {"sample_id": "q09", "why": "failed_new"},
            {"sample_id": "q10", "why": "failed_both"},
            {"sample_id": "q11", "why": "not_applicable"},
        ],
        "base_mean": pytest.approx(statistics.fmean(BASE)),
        "new_mean": pytest.approx(statistics.fmean(NEW)),
        "difference": pytest.approx(mean),
        "sd": pytest.approx(sd),
        "p": pytest.approx(signs),
        "p_method": "exact",
        "p_adjusted": pytest.approx(signs),
        "effect_size": pytest.approx(mean / sd),
        "wins": 5,
        "ties": 2,
        "losses": 1,
        "detectable": pytest.approx(z * sd / math.sqrt(8)),
        "needed_n": math.ceil((z * sd / mean) ** 2),
        "margin": None,
        "judge_noise": None,
        "verdict": "cannot_tell",
    }


@pytest.mark.parametrize(
    ("differences", "options", "verdict"),
    [
        ([0.1] * 5, {}, "too_few"),
        ([0.0] * 5, {}, "too_few"),
        ([0.0] * 6, {}, "identical"),
        ([0.0] * 6, {"margin": 1.0}, "identical"),
        ([0.1] * 6, {}, "better"),
        ([-0.1] * 6, {}, "worse"),
        ([0.1] * 6, {"alpha": 0.03}, "cannot_tell"),
        ([0.1] * 6, {"margin": 0.2}, "better"),
        ([0.01, -0.01] * 20, {}, "cannot_tell"),
        ([0.01, -0.01] * 20, {"margin": 0.02}, "equivalent"),
        ([0.01, -0.01] * 20, {"margin": 0.001}, "cannot_tell"),
        ([0.3, -0.2, 0.1, 0.4, -0.3, 0.2], {"margin": 0.05}, "cannot_tell"),
    ],
)
def test_verdicts(differences, options, verdict):
    found = only(rows([0.5] * len(differences)), rows([0.5 + d for d in differences]), **options)
    assert found["verdict"] == verdict


def test_nothing_measured_on_both_sides_is_words_and_no_number():
    found = only(rows(["timeout"] * 8), rows([0.5] * 8))
    assert (found["n"], found["verdict"], found["bounds"]) == (0, "too_few", {"low": -0.5, "high": 0.5})
    unknown = ("base_mean", "new_mean", "difference", "sd", "ci", "p", "p_method", "p_adjusted", "effect_size", "detectable", "needed_n")
    assert {name: found[name] for name in unknown} == dict.fromkeys(unknown)
    assert "NaN" not in found["text"]


def test_one_pair():
    found = only(rows([0.5]), rows([0.7]))
    assert (found["n"], found["sd"], found["ci"], found["p"], found["p_method"], found["verdict"]) == (1, None, None, None, None, "too_few")
    assert found["difference"] == pytest.approx(0.2)


def test_constant_difference_has_no_effect_size():
    found = only(rows([0.1 * i for i in range(8)]), rows([0.1 * i + 0.1 for i in range(8)]))
    assert (found["sd"], found["effect_size"], found["p"]) == (0, None, 2 / 2**8)
    assert found["ci"]["low"] == pytest.approx(0.1)


def test_rounding_is_no_difference():
    found = only(rows([0.3] * 8), rows([0.1 + 0.2] * 8))
    assert (found["ties"], found["difference"], found["verdict"]) == (8, 0, "identical")


def test_needed_n_is_for_the_margin_where_one_is_given():
    base, new = rows([0.5] * 20), rows([0.5 + 0.1 * (i % 3 - 0.9) for i in range(20)])
    assert only(base, new, margin=0.2)["needed_n"] < only(base, new)["needed_n"]


def test_no_difference_needs_no_number_of_pairs():
    base, new = rows([0.5] * 8), rows([0.6, 0.4] * 4)
    assert only(base, new)["needed_n"] is None
    assert only(base, new, margin=0.1)["needed_n"] is None
    assert only(base, base)["needed_n"] is None


def test_a_cell_that_only_one_run_has_is_left_out_by_name():
    base, new = rows([*BASE, 0.5]), [*rows(NEW), row("q08", 1.0, "other")]
    found = only(base, new, metrics="faithfulness")
    assert found["left_out"] == [{"sample_id": "q08", "why": "failed_new"}]
    assert found["bounds"]["low"] < found["difference"] < found["bounds"]["high"]


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=20))
def test_laws(cells):
    found = only(rows([a for a, _ in cells]), rows([b for _, b in cells]))
    back = only(rows([b for _, b in cells]), rows([a for a, _ in cells]))
    assert found["n"] + len(found["left_out"]) == len(cells)
    assert found["wins"] + found["ties"] + found["losses"] == found["n"]
    assert (found["wins"], found["losses"], found["p"]) == (back["losses"], back["wins"], pytest.approx(back["p"]))
    turned = {"better": "worse", "worse": "better"}
    assert turned.get(found["verdict"], found["verdict"]) == back["verdict"]
    if found["n"]:
        assert found["difference"] == pytest.approx(found["new_mean"] - found["base_mean"], abs=1e-9)
        assert found["bounds"]["low"] - 1e-9 <= found["bounds"]["high"]
    if found["ci"]:
        assert found["ci"]["low"] - 1e-9 <= found["difference"] <= found["ci"]["high"] + 1e-9
    if all(why["why"] == "not_applicable" for why in found["left_out"]) and found["n"]:
        assert found["bounds"]["low"] == pytest.approx(found["difference"], abs=1e-9) == found["bounds"]["high"]
