import itertools
import math
from array import array

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ragstone.analysis import signflip
from ragstone.analysis.signflip import RESAMPLES, Chance, sign_flip

LUMPS = [0.0, 0.0, 1 / 3, -1 / 3, 0.5, -0.5, 2 / 3, 0.9 - 0.6]
DIFFERENCE = st.one_of(st.sampled_from(LUMPS), st.floats(-1, 1))
BASE = [0.50, 0.88] * 20


def brute_force(differences):
    """Count all patterns of signs."""
    reach = abs(sum(differences)) - 1e-12 * len(differences)
    patterns = list(itertools.product((-1, 1), repeat=len(differences)))
    return sum(abs(sum(s * d for s, d in zip(p, differences, strict=True))) >= reach for p in patterns) / len(patterns)


def drawn(values, n, seed):
    return list(np.random.default_rng(seed).choice(values, n))


@given(st.lists(DIFFERENCE, min_size=2, max_size=9))
def test_p_is_the_share_of_all_patterns(differences):
    found = sign_flip(differences)
    assert (found.method, found.resamples) == ("exact", 0)
    assert found.p == pytest.approx(brute_force(differences), rel=1e-9)


@pytest.mark.parametrize("n", [10, 13])
@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_scipy(n, seed):
    differences = np.random.default_rng(seed).normal(0.1, 0.3, n)
    oracle = stats.permutation_test((differences,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert sign_flip(differences).p == pytest.approx(oracle.pvalue, rel=1e-9)


@pytest.mark.parametrize(
    ("new", "p"), [([0.83, 0.61] * 20, pytest.approx(0.5584, abs=1e-4)), ([0.52, 0.92] * 20, pytest.approx(2 * 0.5**40))]
)
def test_the_same_means_can_be_luck_or_not(new, p):
    differences = [b - a for a, b in zip(BASE, new, strict=True)]
    assert sum(differences) / 40 == pytest.approx(0.03)
    assert sign_flip(differences) == Chance(p, "exact", 0)


def test_equal_sizes_are_the_sign_test_whatever_rounding_does_to_them():
    differences = [0.3] * 30 + [-0.3] * 5 + [0.9 - 0.6] * 10 + [-(0.1 + 0.2)] * 5 + [0.0] * 50
    assert sign_flip(differences).p == pytest.approx(stats.binomtest(10, 50).pvalue, rel=1e-9)


@pytest.mark.parametrize("n", [40, 200, 1000])
def test_lumpy_differences_are_counted_exactly_however_many(n):
    differences = drawn([0, 0, 1 / 3, -1 / 3, 2 / 3, -0.5, 1 / 6], n, seed=n)
    found = sign_flip(differences)
    steps = [round(d * 6) for d in differences]
    oracle = {0: 1}
    for k in steps:
        counted = {}
        for total, ways in oracle.items():
            for reached in (total + k, total - k):
                counted[reached] = counted.get(reached, 0) + ways
        oracle = counted
    beyond = sum(ways for total, ways in oracle.items() if abs(total) >= abs(sum(steps)))
    assert found.method == "exact"
    assert found.p == pytest.approx(beyond / 2**n, rel=1e-9)


@pytest.mark.parametrize("n", [30, 300])
def test_random_patterns_agree_with_the_exact_count_within_their_error(n, monkeypatch):
    differences = [round(d, 3) for d in np.random.default_rng(n).normal(0.25 / math.sqrt(n), 0.2, n)]
    exact = sign_flip(differences)
    monkeypatch.setattr(signflip, "_STEPS", 0)
    random = sign_flip(differences)
    assert (exact.method, random.method, random.resamples) == ("exact", "monte_carlo", RESAMPLES)
    assert random.p == pytest.approx(exact.p, abs=5 * math.sqrt(exact.p * (1 - exact.p) / RESAMPLES))
    assert sign_flip(differences) == random
    assert sign_flip(differences, seed=1) != random


@pytest.mark.parametrize(("spread", "method"), [((-0.5, 0.5, 1 / 3, 0.0, -1 / 3), "monte_carlo"), (None, "normal")])
def test_very_many_pairs_agree_with_the_normal_distribution(spread, method):
    rng = np.random.default_rng(5)
    differences = rng.choice(spread, 100_000) if spread else rng.normal(0.0008, 0.2, 100_000)
    found = sign_flip(array("d", differences))
    z = differences.sum() / math.sqrt((differences**2).sum())
    assert found.method == method
    assert found.p == pytest.approx(2 * stats.norm.sf(abs(z)), abs=0.02)


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ([], Chance(None, None, 0)),
        ([0.5], Chance(None, None, 0)),
        ([0.0, 0.0, 1e-13], Chance(1.0, "exact", 0)),
        ([0.5, 0.0], Chance(1.0, "exact", 0)),
        ([0.5, -0.5], Chance(1.0, "exact", 0)),
        ([0.5, 0.25], Chance(0.5, "exact", 0)),
        ([0.1] * 6, Chance(2 / 64, "exact", 0)),
        ([1e-9] * 6, Chance(2 / 64, "exact", 0)),
    ],
)
def test_small_and_tied(differences, expected):
    assert sign_flip(differences) == expected


def test_whole_clusters_are_flipped():
    differences = [0.2, 0.4, -0.1, 0.3, 0.5, -0.5]
    assert sign_flip(differences, [7, 7, 7, 1, 2, 2]).p == brute_force([0.5, 0.3, 0.0])
    assert sign_flip(differences, range(6)) == sign_flip(differences)
    assert sign_flip(differences, [3] * 6) == Chance(1.0, "exact", 0)


@given(st.lists(DIFFERENCE, min_size=2, max_size=14), st.randoms())
def test_neither_order_nor_sign_matters(differences, random):
    p = sign_flip(differences).p
    assert 0 < p <= 1
    assert sign_flip([-d for d in differences]).p == pytest.approx(p, rel=1e-9)
    random.shuffle(differences)
    assert sign_flip(differences).p == pytest.approx(p, rel=1e-9)


@given(st.lists(DIFFERENCE, min_size=2, max_size=12), st.integers(1, 30))
def test_pairs_without_a_difference_change_nothing(differences, more):
    assert sign_flip([*differences, *[0.0] * more]).p == pytest.approx(sign_flip(differences).p, rel=1e-9)
