"""Power where most differences are 0: the simulation against the test it stands for."""

import itertools
import math

import numpy as np
import pytest

from ragstone.analysis.contrast import FEWEST
from ragstone.analysis.planning import needed_n
from ragstone.analysis.signflip import sign_flip
from ragstone.analysis.tied import Simulation, _grid

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
def test_needed_is_the_least_number_that_finds_the_gap_and_more_for_what_a_few_changes_tell(differences):
    found = plan(differences)
    least = found.needed(0.05) / (1 + found._unsure())
    assert found.found(math.ceil(least + 1), 0.05) >= 0.8
    assert found.found(int(least * 0.97), 0.05) < 0.8


@SHAPES
@pytest.mark.parametrize("n", [40, 75, 150, 300, 1234])
def test_needed_and_detectable_are_each_other_s_inverse(differences, n):
    found = plan(differences)
    assert found.needed(found.detectable(n)) == pytest.approx(n, rel=0.015)


@SHAPES
def test_more_pairs_find_more(differences):
    """On the way from the gap's number to its double no size is luckier than a larger one."""
    powers = [plan(differences).found(n, 0.05) for n in range(100, 300, 10)]
    assert all(later > earlier - 0.005 for earlier, later in itertools.pairwise(powers))


def test_no_seed_is_luckier_than_the_others():
    needed = [plan(LUMPY, seed=seed).needed(0.04) for seed in range(8)]
    assert max(needed) <= 1.02 * min(needed)


@pytest.mark.parametrize("changes", [(0.37, -0.21, 0.11, 0.29, -0.05), (1 / 3, -1 / 2, 1 / 6, 2 / 3, -1.0)], ids=["any", "in steps"])
def test_changes_of_any_size_scatter_as_they_do(changes):
    values = (*changes, *[0.0] * 20) * 8
    grid = _grid(values)
    assert float(grid.shares @ grid.steps**2) * grid.step**2 == pytest.approx(sum(v * v for v in values) / len(values))
    assert grid.exact == (1 / 3 in changes)


def test_few_changes_tell_the_scatter_badly():
    assert plan(RARE)._unsure() > plan(LUMPY)._unsure() > plan(LUMPY * 10)._unsure() > 0
    assert plan(LUMPY * 10)._unsure() == pytest.approx(plan(LUMPY)._unsure() / 10)
    assert plan(LUMPY, alpha=0.01, power=0.1)._unsure() == 0


PILOTS = {
    "thirds and halves, 75 %": (0.75, (1 / 3, 1 / 2, 2 / 3, 1 / 6, 1.0), (0.3, 0.3, 0.2, 0.1, 0.1)),
    "thirds and halves, 90 %": (0.9, (1 / 3, 1 / 2, 2 / 3, 1 / 6, 1.0), (0.3, 0.3, 0.2, 0.1, 0.1)),
    "binary, 75 %": (0.75, (1.0,), (1.0,)),
    "binary, 90 %": (0.9, (1.0,), (1.0,)),
    "rare losses": (0.965, (0.5,), (1.0,)),
}


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [200, 3000])
@pytest.mark.parametrize("shape", PILOTS)
def test_a_plan_from_a_pilot_reaches_its_power_on_average(shape, pairs):
    """A pilot without a change, a plan from it, and a comparison of as many pairs with the change, 2,000 times."""
    ties, sizes, chances = PILOTS[shape]
    draw = np.random.default_rng([5, pairs])

    def values(n, tilt):
        signs = np.where(draw.random(n) < (1 + tilt) / 2, 1, -1)
        return draw.choice(sizes, n, p=chances) * (draw.random(n) >= ties) * signs

    gap = 0.45 * (1 - ties) * float(np.dot(sizes, chances))
    pilots = [values(pairs, 0).tolist() for _ in range(120 if pairs < 1000 else 40)]
    planned = [plan(pilot).needed(gap) for pilot in pilots if any(pilot)]  # without any change there is no plan
    hits = 0
    for at in range(2000):
        compared = values(planned[at % len(planned)], 0.45)
        hits += compared.sum() > 0 and sign_flip(compared.tolist()).p <= 0.05
    assert hits / 2000 == pytest.approx(0.8, abs=0.03 + 0.01)


def test_where_changes_are_many_it_comes_near_the_formula():
    sd = float(np.std(LUMPY, ddof=1))
    assert plan(LUMPY).needed(0.02) == pytest.approx(needed_n(sd, 0.02), rel=0.12)


def test_five_pairs_show_nothing_and_all_pairs_the_same_way_show_something():
    assert plan(RARE).detectable(FEWEST - 1) is None
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
