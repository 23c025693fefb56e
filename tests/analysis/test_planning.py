import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ragstone.analysis.planning import (
    MOST_N,
    SIZES,
    UNKNOWN_SD,
    Formula,
    Spread,
    detectable,
    needed_n,
    paired_sd,
    planned,
)

AMOUNTS = st.floats(0.001, 2)


@pytest.mark.parametrize(
    ("sd", "gap", "alpha", "power"),
    [(0.254, 0.03, 0.05, 0.8), (0.5, 0.1, 0.01, 0.9), (0.2, -0.05, 0.05, 0.8), (1.0, 2.0, 0.1, 0.5)],
)
def test_needed_n_is_the_formula(sd, gap, alpha, power):
    reach = stats.norm.ppf(1 - alpha / 2) + stats.norm.ppf(power)
    assert needed_n(sd, gap, alpha, power) == math.ceil((reach * sd / gap) ** 2)


def test_the_example_everybody_asks_about():
    assert needed_n(0.254, 0.03) == 563


def test_detectable_agrees_with_scipy():
    reach = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    assert detectable(0.254, 40) == pytest.approx(reach * 0.254 / math.sqrt(40), abs=1e-12)


@given(sd=AMOUNTS, gap=AMOUNTS)
def test_the_two_are_each_other_s_inverse(sd, gap):
    n = needed_n(sd, gap)
    assert detectable(sd, n) <= gap * (1 + 1e-9)
    assert n == 1 or detectable(sd, n - 1) > gap * (1 - 1e-9)


@given(sd=AMOUNTS, n=st.integers(2, 10**6))
def test_what_so_many_pairs_detect_needs_so_many(sd, n):
    """No pair more by rounding; a plan adds the two for the unknown sd."""
    assert needed_n(sd, detectable(sd, n)) == n
    assert Formula(sd).needed(Formula(sd).detectable(n)) == n + UNKNOWN_SD


@pytest.mark.parametrize("alpha", [1e-17, 5e-324])
def test_the_smallest_alpha_has_a_number(alpha):
    assert needed_n(0.2, 0.1, alpha) > needed_n(0.2, 0.1, 1e-12)


@pytest.mark.parametrize(("sd", "gap", "n"), [(0.0, 0.1, 1), (1.0, 1e-300, MOST_N), (1.0, 5e-324, MOST_N), (0.001, 2.0, 1)])
def test_extremes_are_numbers(sd, gap, n):
    assert needed_n(sd, gap) == n


def test_a_plan_adds_two_pairs_for_the_sd_that_the_test_has_to_estimate():
    assert Formula(0.254).needed(0.03) == needed_n(0.254, 0.03) + 2
    assert Formula(1.0).needed(1e-300) == MOST_N


@pytest.mark.parametrize("n", [20, 50, 200])
def test_the_planned_number_gives_the_power_of_the_t_test(n):
    gap = detectable(1.0, n) * (1 + 1e-9)
    count = Formula(1.0).needed(gap)
    reach, shift = stats.t.ppf(0.975, count - 1), gap * math.sqrt(count)
    power = stats.nct.sf(reach, count - 1, shift) + stats.nct.cdf(-reach, count - 1, shift)
    assert power == pytest.approx(0.8, abs=0.005)


# ------------------------------------------------------------------ plans
def spread(**more):
    return Spread(sd=0.254, **more)


def test_a_plan_for_a_gap():
    found = planned(spread(), gap=0.03)
    assert (found.n, found.n_needed, found.detectable, found.repeats, found.method) == (None, 565, None, None, "formula")
    assert found.table == tuple((n, detectable(0.254, n)) for n in SIZES)


def test_the_samples_at_hand_stand_in_the_table():
    found = planned(spread(n=40))
    assert (found.n, found.n_needed, found.detectable) == (40, None, detectable(0.254, 40))
    assert (40, found.detectable) in found.table
    assert planned(spread(n=40), n=60).n == 60


def test_repeats_take_the_judge_s_part_of_the_variance_down():
    noise = 2 * 0.1**2
    found = planned(spread(judge=noise, judge_held=noise), gap=0.03, repeats=4, requests=7)
    assert [r.repeats for r in found.repeats] == [1, 2, 3, 4]
    assert [r.n_needed for r in found.repeats] == [needed_n(math.sqrt(0.254**2 - noise + noise / k), 0.03) + 2 for k in (1, 2, 3, 4)]
    assert [r.requests for r in found.repeats] == [r.n_needed * r.repeats * 7 for r in found.repeats]
    assert found.repeats[0].n_needed == found.n_needed


def test_runs_judged_three_times_need_more_samples_when_judged_once():
    found = planned(spread(judge=0.02, judge_held=0.02 / 3), gap=0.03)
    assert found.repeats[0].n_needed > found.n_needed == found.repeats[2].n_needed


@given(sd=AMOUNTS, judge=st.floats(0, 4), k=st.integers(1, 10))
def test_repeats_never_cost_samples_and_never_pay_in_requests(sd, judge, k):
    s = Spread(sd=sd, judge=judge, judge_held=judge)
    assert 0 <= s.shrunk(k + 1) <= s.shrunk(k) * (1 + 1e-12)
    assert s.shrunk(k) * k >= 1 - 1e-9


@pytest.mark.parametrize(("zeros", "tied"), [(70, False), (71, True), (100, True), (0, False)])
def test_ties_call_for_a_simulation_above_seventy_percent(zeros, tied):
    assert spread(differences=(0.0,) * zeros + (0.5,) * (100 - zeros)).tied is tied


@pytest.mark.parametrize(("correlation", "sd"), [(0.5, 0.2), (0.0, 0.2 * math.sqrt(2)), (0.875, 0.1)])
def test_scatter_of_differences_from_that_of_scores(correlation, sd):
    assert paired_sd(0.2, correlation) == pytest.approx(sd)
