import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ragstone.analysis.planning import MOST_N, Formula, detectable, needed_n

SIZES = st.floats(0.001, 2)


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


@given(sd=SIZES, gap=SIZES)
def test_the_two_are_each_other_s_inverse(sd, gap):
    n = needed_n(sd, gap)
    assert detectable(sd, n) <= gap * (1 + 1e-9)
    assert n == 1 or detectable(sd, n - 1) > gap * (1 - 1e-9)


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
