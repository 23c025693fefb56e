import numpy as np
import pytest
from support.benches import load

shapes = load("shapes")


def drawn(shape, seed=1):
    return shape.draw(np.random.default_rng(seed), (1, 200_000))


@pytest.mark.parametrize("shape", shapes.SHAPES, ids=lambda s: s.name)
def test_both_versions_are_equally_good_and_as_good_as_they_are_said_to_be(shape):
    base, new = drawn(shape)
    assert base.mean() == pytest.approx(shape.mean, abs=0.004)
    assert new.mean() == pytest.approx(shape.mean, abs=0.004)
    assert 0 <= min(base.min(), new.min()) < max(base.max(), new.max()) <= 1


@pytest.mark.parametrize(
    ("name", "tied"), [("thirds and halves", 0.5), ("near the ceiling", 0.88), ("binary", 0.75), ("smooth", 0), ("rare losses", 0.965)]
)
def test_as_many_pairs_are_tied_as_said(name, tied):
    (shape,) = (s for s in shapes.SHAPES if s.name == name)
    base, new = drawn(shape)
    assert (base == new).mean() == pytest.approx(tied, abs=0.005)


def test_smooth_pairs_go_together():
    base, new = drawn(shapes.SHAPES[3])
    assert np.corrcoef(base.ravel(), new.ravel())[0, 1] == pytest.approx(0.57, abs=0.02)


def test_so_few_ties_that_scores_would_lose_their_chances_are_refused():
    with pytest.raises(ValueError, match="few ties"):
        shapes.lumps((0.0, 1.0), (0.1, 0.9), 0.5)


def test_a_tilt_moves_the_mean_and_not_the_sizes():
    shape, rng = shapes.SHAPES[0], np.random.default_rng(2)
    usual = float(shape.sizes(rng).mean())
    moved = shapes.tilted(rng, shape, (1, 200_000), 0.1, usual)
    assert moved.mean() == pytest.approx(0.1, abs=0.004)
    assert np.abs(moved).mean() == pytest.approx(usual, abs=0.004)
