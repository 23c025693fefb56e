import math
import statistics
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ragstone.analysis.spread import histogram_of, mean_of, mean_within, median_of, sd_of, unseen_share

VALUES = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1 / 3, 0.5, 1.0])), min_size=1, max_size=40).map(lambda v: array("d", v))


@given(VALUES)
def test_they_agree_with_the_standard_library(values):
    mean = mean_of(values, math.fsum(values))
    assert mean == pytest.approx(statistics.fmean(values), abs=1e-12)
    assert median_of(values) == statistics.median(values)
    assert sd_of(values, mean) == (pytest.approx(statistics.stdev(values), abs=1e-9) if len(values) > 1 else None)
    assert sum(histogram_of(values)) == len(values)


@given(VALUES)
def test_sums_and_means_that_are_known_change_nothing(values):
    mean = mean_within(values)
    assert mean == mean_of(values, math.fsum(values))
    assert sd_of(values) == sd_of(values, mean)


@pytest.mark.parametrize("value", [0.1, 0.7, 1 / 3])
def test_equal_values_have_their_mean_and_no_spread(value):
    assert {mean_within([value] * n) for n in range(1, 50)} == {value}
    assert {sd_of([value] * n) for n in range(2, 50)} == {0.0}


def test_sd_of_differences():
    assert sd_of((0.1, -0.1, 0.3)) == pytest.approx(0.2)
    assert sd_of([0.1]) is None


def test_of_no_values_there_is_nothing():
    none = array("d")
    assert (mean_of(none, 0.0), median_of(none), sd_of(none, None), sum(histogram_of(none)), unseen_share(none, 0, 0.95)) == (
        None,
        None,
        None,
        0,
        None,
    )


@pytest.mark.parametrize("n", [1, 2, 10, 50, 1000])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_what_perfect_scores_leave_open_is_the_one_sided_limit_of_clopper_and_pearson(n, confidence):
    share = unseen_share(array("d", [1.0] * n), n, confidence)
    assert share == pytest.approx(stats.beta.ppf(confidence, 1, n), abs=1e-9)
    if n >= 50 and confidence == 0.95:
        assert share == pytest.approx(3 / n, rel=0.05)


def test_one_imperfect_score_ends_the_rule():
    assert unseen_share(array("d", [1.0, 1.0, 0.999]), 3, 0.95) is None
