import math
import subprocess
import sys
from array import array

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas import DataFrame
from scipy import stats
from statsmodels.formula.api import ols

from ragstone.analysis.intervals import DIFFERENCES, METHODS, SCORES, Interval, interval

SCORE = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.5, 1 / 3, 2 / 3, 1.0]))
BASE = [0.50, 0.88] * 20
RESAMPLED = ("bca", "bootstrap_t")


def mean(values):
    return math.fsum(values) / len(values)


def ends(found):
    return (found.low, found.high)


def lumpy(n, seed, values=(0, 0, 0, 1 / 3, -1 / 3, 0.5, -0.5, 1 / 6)):
    return list(np.random.default_rng(seed).choice(values, n))


def smooth(n, seed):
    return list(np.random.default_rng(seed).beta(5, 2, n))


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("values", [smooth(12, 1), lumpy(200, 2), [0.0, 1.0]])
def test_t_agrees_with_scipy(values, level):
    oracle = stats.t.interval(level, len(values) - 1, np.mean(values), stats.sem(values))
    found = interval(values, DIFFERENCES, level=level, method="t")
    assert ends(found) == pytest.approx(oracle, rel=1e-9, abs=1e-12)
    assert (found.level, found.method) == (level, "t")


@pytest.mark.parametrize("sizes", [[3, 1, 4, 2, 6], [5] * 30, [1, 9]])
def test_cluster_t_agrees_with_statsmodels(sizes):
    values, clusters = smooth(sum(sizes), len(sizes)), np.repeat(np.arange(len(sizes)), sizes)
    fit = ols("y ~ 1", DataFrame({"y": values})).fit(cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": True})
    # statsmodels corrects by G / (G - 1) * (N - 1) / (N - K); with K = 1 column that is G / (G - 1)
    reach = stats.t.ppf(0.975, len(sizes) - 1) * fit.bse.iloc[0]
    found = interval(values, SCORES, clusters=list(clusters))
    assert ends(found) == pytest.approx((mean(values) - reach, mean(values) + reach), rel=1e-9)
    assert found.method == "cluster_t"


def test_a_cluster_a_value_is_the_t_interval():
    values = smooth(30, 3)
    assert ends(interval(values, SCORES, clusters=range(30))) == pytest.approx(ends(interval(values, SCORES, method="t")), rel=1e-12)


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        ([1.0] * 50, 0.025 ** (1 / 50), 1.0),
        ([0.0] * 50, 0.0, 1 - 0.025 ** (1 / 50)),
        ([0.4] * 9, 0.4 * 0.025 ** (1 / 9), 1 - 0.6 * 0.025 ** (1 / 9)),
        ([0.0] * 17 + [1.0] * 3, stats.beta.ppf(0.025, 3, 18), stats.beta.ppf(0.975, 4, 17)),
        ([1.0] * 100_000, 0.025**1e-5, 1.0),
    ],
)
def test_bounded_is_exact_where_the_draws_have_a_closed_form(values, low, high):
    found = interval(values, SCORES)
    assert found.method == "bounded"
    assert ends(found) == pytest.approx((low, high), rel=1e-9)


@pytest.mark.parametrize("values", [[0.2, 0.7, 0.9], lumpy(30, 5), [0.0] * 40 + [0.5, -0.5, 0.25]])
def test_bounded_agrees_with_weights_drawn_one_by_one(values):
    rng, n = np.random.default_rng(99), len(values)
    found = interval(values, DIFFERENCES, method="bounded")
    for end, share, extra in ((found.low, 0.025, -1.0), (found.high, 0.975, 1.0)):
        weights = rng.standard_exponential((100_000, n + 1))
        means = weights @ [*values, extra] / weights.sum(axis=1)
        below = np.count_nonzero(means <= end) / len(means)
        assert below == pytest.approx(share, abs=5 * math.sqrt(share * (1 - share) * (1 / 10_000 + 1 / 100_000)))


@pytest.mark.parametrize("values", [smooth(25, 4), [*smooth(40, 5), 0.0, 0.05], smooth(200, 6)])
def test_bca_agrees_with_scipy_within_the_error_of_simulation(values):
    oracle = stats.bootstrap((values,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(1))
    found = interval(values, SCORES, method="bca")
    spread = oracle.standard_error
    # an end is a quantile: its error is that of the share, over the density there
    error = 5 * math.sqrt(0.025 * 0.975 * (1 / 10_000 + 1 / 20_000)) / stats.norm.pdf(1.96) * spread
    assert ends(found) == pytest.approx(tuple(oracle.confidence_interval), abs=error)


def test_ties_do_not_shift_bca():
    symmetric = [0.0] * 20 + [0.25, -0.25, 0.5, -0.5]
    found = interval(symmetric, DIFFERENCES, method="bca")
    assert found.low == pytest.approx(-found.high, abs=0.011)
    oracle = np.random.default_rng(3).choice(symmetric, (100_000, 24)).mean(axis=1)
    assert ends(found) == pytest.approx(tuple(np.quantile(oracle, [0.025, 0.975])), abs=0.011)


@pytest.mark.parametrize("values", [smooth(25, 4), [*smooth(40, 5), 0.0, 0.05], lumpy(60, 8)])
def test_bootstrap_t_agrees_with_resamples_studentised_one_by_one(values):
    rng, n, centre = np.random.default_rng(7), len(values), np.mean(values)
    drawn = rng.choice(values, (50_000, n))
    studentised = (drawn.mean(axis=1) - centre) / (drawn.std(axis=1, ddof=1) / math.sqrt(n))
    high, low = np.quantile(studentised, [0.025, 0.975])
    found = interval(values, DIFFERENCES, method="bootstrap_t")
    assert ends(found) == pytest.approx((centre - low * stats.sem(values), centre - high * stats.sem(values)), abs=0.15 * stats.sem(values))


@pytest.mark.parametrize("method", RESAMPLED)
def test_grouped_resamples_are_those_of_single_values(method):
    values = lumpy(60, 9)
    apart = [v + 1e-9 * i for i, v in enumerate(values)]
    grouped, single = (interval(v, DIFFERENCES, method=method) for v in (values, apart))
    assert ends(grouped) == pytest.approx(ends(single), abs=0.15 * stats.sem(values))


def test_the_same_mean_difference_can_be_luck_or_not():
    luck = interval([b - a for a, b in zip(BASE, [0.83, 0.61] * 20, strict=True)], DIFFERENCES)
    real = interval([b - a for a, b in zip(BASE, [0.52, 0.92] * 20, strict=True)], DIFFERENCES)
    assert ends(luck) == pytest.approx((-0.067, 0.127), abs=0.001)
    assert ends(real) == pytest.approx((0.0268, 0.0332), abs=0.0001)


@pytest.mark.parametrize(
    ("values", "scale", "method"),
    [
        ([0.0] * 50 + [0.1] * 5, DIFFERENCES, "bounded"),
        ([0.0] * 50 + [0.1] * 6, DIFFERENCES, "t"),
        ([0.0] * 50 + [0.1] * 5 + [1e-13] * 9, DIFFERENCES, "bounded"),
        ([0.1] * 6, DIFFERENCES, "t"),
        ([0.2, 0.1, 0.5, 0.4, 0.3], DIFFERENCES, "bounded"),
        ([1.0] * 50 + [0.5] * 9, SCORES, "bounded"),
        ([1.0] * 50 + [0.5] * 10, SCORES, "t"),
        ([0.3] * 5 + [0.9 - 0.6] * 5 + [0.5] * 9, SCORES, "bounded"),
        ([i / 10 for i in range(10)], SCORES, "bounded"),
        ([i / 11 for i in range(11)], SCORES, "t"),
    ],
)
def test_the_usual_method(values, scale, method):
    assert interval(values, scale).method == method


@pytest.mark.parametrize("method", [None, *METHODS])
def test_none_below_two_values(method):
    clusters = {"clusters": []} if method == "cluster_t" else {}
    assert interval([], SCORES, method=method, **clusters) is None
    clusters = {"clusters": [4]} if method == "cluster_t" else {}
    assert interval([0.5], SCORES, method=method, **clusters) is None


def test_one_cluster_tells_nothing():
    assert interval([0.1, 0.9, 0.4], SCORES, clusters=[2, 2, 2]) is None


@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, 0.7, 1.0])
@pytest.mark.parametrize("method", ["t", "bca", "bootstrap_t", "cluster_t"])
def test_equal_values_have_no_width_but_by_bounded(method, value):
    clusters = [0, 0, 1] if method == "cluster_t" else None
    assert ends(interval([value] * 3, SCORES, method=method, clusters=clusters)) == (value, value)
    bounded = interval([value] * 3, SCORES, method="bounded")
    assert bounded.low <= value <= bounded.high
    assert bounded.high - bounded.low > 0.5


@pytest.mark.parametrize("method", RESAMPLED)
@pytest.mark.parametrize("values", [[0.0, 1.0], [0.0] * 99 + [1.0], [0.5, 0.5 + 1e-11], [0.5] * 30 + [0.5 + 1e-10] * 2])
def test_resamples_without_spread_give_numbers(values, method):
    found = interval(values, SCORES, method=method)
    assert 0 <= found.low <= mean(values) + 1e-12
    assert mean(values) - 1e-12 <= found.high <= 1
    assert math.isfinite(found.low + found.high)


@pytest.mark.parametrize("method", [*RESAMPLED, "bounded"])
def test_the_seed_decides_and_many_values_are_drawn_in_portions(method, monkeypatch):
    values = smooth(50, 1)
    first = interval(values, SCORES, method=method)
    assert interval(array("d", values), SCORES, method=method) == first
    assert interval(values, SCORES, method=method, seed=1) != first
    monkeypatch.setattr("ragstone.analysis.intervals._CELLS", 7_000)
    assert ends(interval(values, SCORES, method=method)) == pytest.approx(ends(first), abs=0.01)


@pytest.mark.parametrize("method", [*RESAMPLED, "bounded"])
def test_very_many_values_are_drawn_by_neighbourhood(method):
    values = smooth(30_000, 2)
    found = interval(values, SCORES, method=method)
    usual = interval(values, SCORES, method="t")
    assert ends(found) == pytest.approx(ends(usual), abs=0.15 * stats.sem(values))


def test_values_beyond_the_scale_stretch_it():
    found = interval([-3.0, 5.0, 5.0], SCORES, method="bounded")
    assert -3 <= found.low < found.high <= 5


@pytest.mark.parametrize("wrong", [{"method": "z"}, {"method": "cluster_t"}, {"level": 0}, {"level": 1}, {"level": 95}])
def test_wrong_use_is_refused(wrong):
    with pytest.raises(ValueError, match="no interval"):
        interval([0.1, 0.2], SCORES, **wrong)


def test_the_document():
    assert Interval(0.1, 0.2, 0.95, "t").to_dict() == {"low": 0.1, "high": 0.2, "level": 0.95, "method": "t"}


def test_the_t_interval_does_without_numpy():
    code = (
        "import sys; from ragstone.analysis.intervals import SCORES, interval\n"
        "interval([i / 20 for i in range(20)], SCORES); interval([1.0] * 20, SCORES); interval([0.1, 0.3], SCORES, clusters=[0, 1])\n"
        "sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@given(st.lists(SCORE, min_size=2, max_size=30), st.sampled_from([None, "t", "bounded"]))
def test_an_interval_holds_the_mean_and_a_higher_level_is_wider(values, method):
    narrow, wide = (interval(values, SCORES, level=level, method=method) for level in (0.8, 0.95))
    assert narrow.low - 1e-12 <= mean(values) <= narrow.high + 1e-12
    assert wide.low <= narrow.low + 1e-12
    assert narrow.high - 1e-12 <= wide.high


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=30))
def test_mirrored_values_have_the_mirrored_interval(values):
    found, mirrored = (interval(v, DIFFERENCES, method="t") for v in (values, [-v for v in values]))
    assert ends(mirrored) == pytest.approx((-found.high, -found.low), abs=1e-12)


@given(st.lists(SCORE, min_size=2, max_size=30), st.randoms())
def test_order_does_not_matter(values, random):
    shuffled = random.sample(values, len(values))
    assert ends(interval(shuffled, SCORES)) == pytest.approx(ends(interval(values, SCORES)), abs=1e-12)
