import numpy as np
import pytest
from support.benches import load

from ragstone.analysis.contrast import Paired, Rules, contrast, judged

simulate = load("simulate")
shapes = load("shapes")


@pytest.mark.parametrize("shape", shapes.SHAPES[:4], ids=lambda s: s.name)
def test_flagged_is_what_compare_calls_better_or_worse(shape):
    base, new = shape.draw(np.random.default_rng(3), (40, 30))
    new = np.clip(new + 0.1, 0, 1)
    ok = np.zeros(30, dtype=np.uint8)
    for old, now in zip(base, new, strict=True):
        found = contrast("m", Paired(old, now, ok, ok), [str(i) for i in range(30)], Rules())
        verdict = judged(found, found.chance.p, Rules()).verdict
        assert simulate.flagged((now - old).tolist()) == (verdict in ("better", "worse"))


def test_a_missed_bar_is_marked():
    bars = {"kept": simulate.Bar(0.5, most=0.6), "missed": simulate.Bar(0.7, 0.8), "free": simulate.Bar(40), "none": None}
    assert list(simulate.tables([simulate.Row("binary", 20, bars)])) == [
        "| shape | n | kept | missed | free | none |",
        "|---|---|---|---|---|---|",
        "| binary | 20 | 0.500 | 0.700 ! | 40 | - |",
        "",
    ]


def test_the_planned_gap_is_the_detectable_one():
    gap, sd = simulate._planned(0.09, 50)
    assert gap**2 + sd**2 == pytest.approx(0.09)
    assert simulate.detectable(sd, 50) == pytest.approx(gap)


def test_the_same_seed_measures_the_same():
    clusters = next(at for at, (what, _) in enumerate(simulate.tasks()) if what is simulate.clustered)
    assert simulate.measure(clusters, 20, 1) == simulate.measure(clusters, 20, 1)
    assert simulate.measure(clusters, 20, 1) != simulate.measure(clusters, 20, 2)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(simulate.tasks())))
def test_every_bar_is_kept_within_the_error_of_few_repetitions(number):
    row = simulate.measure(number, 400, seed=7)
    for name, bar in row.figures.items():
        if bar is not None:
            # 4 standard errors of a share near its bar
            assert bar.least - 0.06 <= bar.figure <= bar.most + 0.06, name
