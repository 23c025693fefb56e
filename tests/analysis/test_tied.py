"""Power where most differences are 0: the simulation against the test it stands for."""

import numpy as np
import pytest

from ragstone.analysis.planning import needed_n
from ragstone.analysis.signflip import sign_flip
from ragstone.analysis.tied import LEAST_N, Simulation

LUMPY = (0.0,) * 80 + (
    1 / 3,
    -1 / 3,
    0.5,
    -0.5,
    0.25,
    -0.25,
    1.0,
    -1.0,
    2 / 3,
    1 / 3,
    -1 / 3,
    0.5,
    0.5,
    -0.25,
    0.25,
    1 / 3,
    -0.5,
    0.2,
    -0.2,
    0.4,
)
RARE = (0.0,) * 95 + (-1.0, -1.0, -1.0, 1.0, 1.0)
SHAPES = pytest.mark.parametrize("differences", [LUMPY, RARE], ids=["lumpy", "rare"])


def plan(differences, alpha=0.05, power=0.8, seed=0):
    return Simulation(differences, alpha, power, seed)


@SHAPES
@pytest.mark.parametrize(("n", "share"), [(60, 1.0), (150, 1.0)])
def test_power_is_that_of_the_sign_flip_test(differences, n, share):
    """Draw comparisons one by one, as the model says, and test each by the real test."""
    reach = sum(map(abs, differences)) / len(differences)
    gap = 0.8 * reach * share
    draw, sizes = np.random.default_rng(7), np.abs(np.array(differences))
    hits = 0
    for _ in range(300):
        picked = draw.choice(sizes, size=n)
        signs = np.where(draw.random(n) < (1 + gap / reach) / 2, 1.0, -1.0)
        values = picked * signs
        p = sign_flip(values.tolist()).p
        hits += values.sum() > 0 and p is not None and p <= 0.05
    assert plan(differences).found(n, gap) == pytest.approx(hits / 300, abs=0.08)


@SHAPES
def test_needed_and_detectable_are_each_other_s_inverse(differences):
    found = plan(differences)
    n = found.needed(0.05)
    assert found.found(n, 0.05) >= 0.8
    assert found.found(int(n * 0.9), 0.05) < 0.82
    assert found.detectable(n) == pytest.approx(0.05, rel=0.06)


def test_where_changes_are_many_it_comes_near_the_formula():
    sd = float(np.std(LUMPY, ddof=1))
    assert plan(LUMPY).needed(0.02) == pytest.approx(needed_n(sd, 0.02), rel=0.12)


def test_five_pairs_show_nothing_and_all_pairs_the_same_way_show_something():
    assert plan(RARE).detectable(LEAST_N - 1) is None
    assert 0 < plan(RARE).detectable(20) <= 1


def test_same_seed_same_numbers():
    assert plan(LUMPY, seed=3).needed(0.04) == plan(LUMPY, seed=3).needed(0.04)
    assert {plan(LUMPY, seed=s).found(100, 0.04) for s in range(5)} != {plan(LUMPY).found(100, 0.04)}


def test_more_gap_is_more_power_and_stricter_tests_need_more():
    powers = [plan(LUMPY).found(80, gap) for gap in (0.0, 0.02, 0.05, 0.1, 0.3, 0.9)]
    assert powers == sorted(powers)
    assert powers[0] < 0.05
    assert powers[-1] == 1
    assert plan(LUMPY).needed(0.05) < plan(LUMPY, power=0.9).needed(0.05) < plan(LUMPY, alpha=0.01, power=0.9).needed(0.05)


@pytest.mark.parametrize("gap", [1e-12, 5e-324])
def test_a_gap_nobody_can_see_has_no_number(gap):
    assert plan(LUMPY).needed(gap) is None
