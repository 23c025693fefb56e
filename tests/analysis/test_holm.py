import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from ragstone.analysis.holm import holm

PS = st.lists(st.one_of(st.none(), st.floats(0, 1), st.sampled_from([0.01, 0.02, 0.5])), max_size=12)


def test_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.01, None, 0.9, 0.9]) == pytest.approx([0.03, None, 1, 1])
    assert holm([]) == []
    assert holm([None]) == [None]


@given(PS)
def test_agrees_with_statsmodels(ps):
    tested = [p for p in ps if p is not None]
    adjusted = [p for p in holm(ps) if p is not None]
    assert [p is None for p in holm(ps)] == [p is None for p in ps]
    if tested:
        assert adjusted == pytest.approx(multipletests(tested, method="holm")[1], rel=1e-12, abs=1e-12)


@given(PS)
def test_keeps_the_order_of_the_ps_and_only_raises_them(ps):
    pairs = sorted((p, q) for p, q in zip(ps, holm(ps), strict=True) if p is not None)
    assert all(p <= q <= 1 for p, q in pairs)
    assert [q for _, q in pairs] == sorted(q for _, q in pairs)
