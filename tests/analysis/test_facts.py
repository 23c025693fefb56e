"""What a run shows, in numbers."""

import pytest
from support.made_runs import facts

from ragstone.analysis.facts import Tally, Weak, standing
from ragstone.analysis.levels import Levels

LISTS = {"meta": {"category": "lists"}}
CONTACTS = {"meta": {"category": "contacts"}}


def test_a_metric_has_its_mean_and_the_reasons_of_the_rest():
    found = facts({"values": {"faithfulness": 0.9}}, {"values": {"faithfulness": 0.0}}, {"failed": {"faithfulness": "timeout"}})
    assert found.samples == 6
    metric = found.metrics["faithfulness"]
    assert (metric.mean, metric.standing, metric.n, metric.reasons) == (0.45, "low", 4, {"timeout": 2})
    assert (found.mean("context_recall"), found.standing("context_recall")) == (None, None)


def test_a_metric_that_failed_everywhere_has_no_mean():
    found = facts({"failed": {"faithfulness": "timeout"}})
    assert (found.mean("faithfulness"), found.standing("faithfulness")) == (None, None)


@pytest.mark.parametrize(
    ("mean", "level"), [(None, None), (0.8, "high"), (0.8 - 1e-12, "high"), (0.79, "middle"), (0.5, "middle"), (0.49, "low")]
)
def test_where_a_mean_stands(mean, level):
    assert standing(mean, Levels()) == level


def test_limits_can_be_set():
    assert facts({"values": {"faithfulness": 0.85}}, levels=Levels(high=0.9, middle=0.6)).standing("faithfulness") == "middle"


@pytest.mark.parametrize(
    ("recall", "high", "fed"),
    [(0.8, 0.8, True), (0.1 + 0.7, 0.8, True), (0.79, 0.8, False), (0.7, 0.7, True), (0.85, 0.9, False)],
)
def test_a_sample_is_fed_where_its_quadrant_calls_retrieval_good(recall, high, fed):
    found = facts({"claims": "sn", "values": {"context_recall": recall}}, levels=Levels(high=high))
    assert (found.sign("added").of, found.sign("not_fed").of) == ((2, 0) if fed else (0, 2))
    assert found.quadrants["good_bad" if fed else "bad_bad"] == 2


def test_signs_count_only_samples_that_can_show_them():
    found = facts({"chunks": "01"}, {"chunks": "10"}, {"chunks": "00"}, {"claims": "s"})
    assert found.sign("noise_first") == Tally(2, 4)
    assert found.sign("nothing_useful") == Tally(2, 6)
    assert found.sign("no such sign") == Tally(0, 0)
    assert (Tally(2, 4).share, Tally(0, 0).share) == (0.5, 0.0)


def test_quadrants_add_up_to_the_samples():
    good, bad = {"claims": "s", "recall": "s"}, {"claims": "n", "recall": "n"}
    found = facts(good, bad, {"claims": "s", "recall": "n"}, {"claims": "n", "recall": "s"}, {"claims": "s"})
    assert found.quadrants == dict.fromkeys(("good_good", "good_bad", "bad_good", "bad_bad", "unknown"), 2)


@pytest.mark.parametrize(
    ("chunks", "enough", "most"),
    [(["10000"] * 19 + ["00001"], 1, 5), (["10000"] * 18 + ["00001"] * 2, 5, 5), (["0"], None, 1), ([], None, None)],
)
def test_so_many_chunks_hold_the_useful_ones_of_nearly_all_samples(chunks, enough, most):
    found = facts(*({"chunks": row} for row in chunks), {"claims": "s"})
    assert (found.enough, found.chunks) == (enough, most)


def test_weak_groups_lie_clearly_below_the_run():
    found = facts(
        *[{"recall": "s", "chunks": "1"}] * 12,
        *[{"recall": "n", "chunks": "0", "sample": LISTS}] * 3,
        {"recall": "s", "chunks": "01", "sample": CONTACTS},
        *[{"recall": "n", "sample": {"expected_behavior": "clarify"}}] * 3,
    )
    assert found.weak == (Weak("category", "lists", 0.0, 6), Weak("expected_behavior", "clarify", 0.0, 6))
    assert found.smallest_group == 2


def test_a_group_too_small_to_say_something_is_not_called_weak():
    found = facts(*[{"recall": "s"}] * 20, *[{"recall": "snn", "sample": LISTS}] * 3, {"recall": "n", "sample": CONTACTS})
    assert [weak.value for weak in found.weak] == ["lists"]


def test_a_group_is_as_large_as_its_scores():
    """Nine of ten without a score: the one that is left does not make a group weak."""
    usual, lost = [{"recall": "s"}] * 20, {"failed": {"context_recall": "timeout"}, "sample": LISTS}
    assert facts(*usual, {"recall": "n", "sample": LISTS}, *[lost] * 9).weak == ()
    found = facts(*usual, *[{"recall": "n", "sample": LISTS}] * 3, *[lost] * 7)
    assert ([weak.n for weak in found.weak], found.smallest_group) == ([6], 20)


def test_nothing_gives_nothing():
    found = facts()
    assert (found.samples, found.metrics, found.weak, found.smallest_group) == (0, {}, (), None)
