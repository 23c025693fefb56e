import math

import pytest

from ragstone.analysis.causes import LostClaim, Points, SampleCauses
from ragstone.analysis.sums import Pile


def sample(lost, *claims):
    """A sample that lost `lost` points of correctness; claims are (cause, points) or (cause, points, expected)."""
    found = [
        LostClaim(cause, f"r{n}", "", (), more[0] if more else None, Points(0.0, points))
        for n, (cause, points, *more) in enumerate(claims, 1)
    ]
    return SampleCauses(Points(0.0, lost), tuple(found))


def sums(*samples):
    pile = Pile()
    for n, one in enumerate(samples, 1):
        pile.add(f"s{n}", one)
    return pile.sums()


def test_causes_are_summed_most_points_first():
    found = sums(
        sample(0.5, ("not_used", 0.2), ("not_used", 0.2)),
        sample(0.9, ("made_up", 0.6), ("not_used", 0.1)),
        sample(0.0),
    )
    assert [(c.cause, c.sample_ids, c.claims, c.samples) for c in found.causes] == [
        ("made_up", ("s2",), 1, 1),
        ("not_used", ("s1", "s2"), 3, 2),
    ]
    assert found.samples == 3
    assert found.lost.answer_correctness == pytest.approx(1.4)
    assert found.unattributed.answer_correctness == pytest.approx(0.3)
    assert found.merged == found.causes


def test_equal_points_keep_the_order_of_the_causes_whatever_the_rounding():
    found = sums(*[sample(0.3, ("not_used", 0.1), ("made_up", 0.1), ("refused", 0.1, "no"))] * 3, sample(0.0))
    assert [c.cause for c in found.causes] == ["refused", "made_up", "not_used"]


def test_refusals_that_were_asked_for_stand_apart():
    found = sums(
        sample(0.2, ("refused", 0.2, "no")),
        sample(0.7, ("refused", 0.4, "yes"), ("refused", 0.3, "yes")),
        sample(0.1, ("refused", 0.1, "unknown")),
    )
    assert [(c.expected, c.sample_ids, c.claims) for c in found.causes] == [(True, ("s2",), 2), (False, ("s1", "s3"), 2)]
    assert [(c.sample_ids, c.claims, c.points.total) for c in found.merged] == [(("s1", "s2", "s3"), 4, pytest.approx(1.0))]
    assert found.refusals == {"no": 1, "yes": 1, "unknown": 1}
    assert found.expected is not None
    assert [c.sample_ids for c in found.faults] == [("s1", "s3")]
    assert found.counted == pytest.approx(0.3)
    assert sums(sample(0.5, ("made_up", 0.5))).expected is None


def test_sums_do_not_drift():
    found = sums(*[sample(0.1, ("made_up", 0.1))] * 1000)
    assert found.causes[0].points.answer_correctness == math.fsum([0.1] * 1000) == found.lost.answer_correctness
