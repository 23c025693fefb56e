import math
from array import array

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas import DataFrame
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from ragstone.analysis.variance import Variance, random_effects

SCORE = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.5, 1 / 3, 1.0]))
GROUPS = st.lists(st.lists(SCORE, min_size=1, max_size=5), min_size=2, max_size=12).filter(lambda g: any(len(x) > 1 for x in g))


def made(counts, seed):
    rng = np.random.default_rng(seed)
    return [list(rng.normal(mean, 0.1, k)) for mean, k in zip(rng.normal(0.6, 0.2, len(counts)), counts, strict=True)]


def test_by_hand():
    # means 0.5 and 1: within (0.5 + 0) / 2, between 2 (0.25^2 + 0.25^2) / 1 = 0.25, so nothing is left for the samples
    found = random_effects([[0.0, 1.0], [1.0, 1.0]])
    assert found == Variance(2, 2, 0.0, 0.25, 1.0, pytest.approx(math.sqrt(0.25 * 1) / 2))
    assert found.to_dict() == {
        "repeats": {"min": 2, "max": 2},
        "samples": 0.0,
        "judge": 0.25,
        "judge_share": 1.0,
        "se_judge": pytest.approx(0.25),
    }


@pytest.mark.parametrize("counts", [[3] * 8, [1, 2, 3, 4, 5], [2, 1, 1, 1], [2, 7]])
def test_mean_squares_are_those_of_statsmodels(counts):
    groups = made(counts, seed=len(counts))
    n, lines = len(counts), sum(counts)
    lines_of = DataFrame({"y": np.concatenate(groups), "g": np.repeat(np.arange(n), counts)})
    table = anova_lm(ols("y ~ C(g)", lines_of).fit())
    between, within = table["mean_sq"]
    n0 = (lines - sum(k * k for k in counts) / lines) / (n - 1)
    found = random_effects(groups)
    assert found.judge == pytest.approx(within, rel=1e-9)
    assert found.samples == pytest.approx(max(0, (between - within) / n0), rel=1e-9)
    assert found.judge_share == pytest.approx(found.judge / (found.samples + found.judge), rel=1e-9)
    assert found.se_judge == pytest.approx(math.sqrt(within * sum(1 / k for k in counts)) / n, rel=1e-9)


def test_samples_without_values_do_not_count_and_arrays_do():
    assert random_effects([array("d", [0.1, 0.4]), [], (0.5,)]) == random_effects([[0.1, 0.4], [0.5]])


@pytest.mark.parametrize("groups", [[], [[]], [[0.5]], [[0.5], [0.25]]])
def test_none_without_repeats(groups):
    assert random_effects(groups) is None


def test_one_sample_tells_of_the_judge_alone():
    assert random_effects([[0.0, 1.0]]) == Variance(2, 2, None, 0.5, None, 0.5)


@pytest.mark.parametrize("value", [0.0, 1.0, 1 / 3, 0.1, 0.7])
def test_equal_values_have_no_variance_to_share(value):
    found = random_effects([[value] * 3, [value] * 3, [value]])
    assert (found.samples, found.judge, found.judge_share, found.se_judge) == (0, 0, None, 0)


def test_a_steady_judge_has_no_share():
    found = random_effects([[0.1] * 3, [0.7] * 3])
    assert (found.judge, found.judge_share, found.se_judge) == (0, 0, 0)
    assert found.samples == pytest.approx(0.18)


@given(GROUPS, st.randoms())
def test_order_does_not_matter_and_shares_stay_in_range(groups, random):
    found = random_effects(groups)
    assert found.samples >= 0
    assert found.judge >= 0
    assert found.judge_share is None or 0 <= found.judge_share <= 1
    random.shuffle(groups)
    again = random_effects([random.sample(g, len(g)) for g in groups])
    assert (again.judge, again.samples) == pytest.approx((found.judge, found.samples), abs=1e-12)
