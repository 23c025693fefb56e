"""How a run is gone through: in its own order, one sample at a time."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.diagnosed_runs import mixed
from support.evidence_rows import line, lost_cell, row

from ragstone.analysis.diagnosis import Diagnosed, diagnose, each_sample
from ragstone.analysis.slices import SampleFacts
from ragstone.results import Run


def diagnosed(run: Run, by: str | None = None, **terms: Any) -> Diagnosed:
    facts = SampleFacts(by)
    cells = run.cells(facts, [])
    return diagnose(cells, facts, run.row_at, lambda: run.sample_rows([]), run=run.facts(), **terms)


def test_samples_come_in_run_order_whatever_the_order_of_the_rows():
    run = mixed()
    rows = [one for id in ("en-3", "zh-3", "en-1", "zh-1", "zh-2", "en-2") for one in run.rows_of(id)]
    shuffled = Run.from_scores(sorted(rows, key=lambda one: one["metric"]), run.samples)
    cells = shuffled.cells(SampleFacts(), [])
    found = list(each_sample(cells, shuffled.row_at, lambda: shuffled.sample_rows([])))
    assert [(at, one.sample_id) for at, one in found] == list(enumerate(["zh-1", "en-1", "zh-2", "en-2", "zh-3", "en-3"]))
    assert diagnosed(shuffled).sums == diagnosed(run).sums


def test_samples_without_a_row_of_their_own_come_last():
    run = Run.from_scores([row("faithfulness", value=1.0, sample_id=id) for id in ("x", "b", "y")], [{"id": "a"}, {"id": "b"}])
    cells = run.cells(SampleFacts(), [])
    found = [(one.sample_id, one.about is not None) for _, one in each_sample(cells, run.row_at, lambda: run.sample_rows([]))]
    assert found == [("a", True), ("b", True), ("x", False), ("y", False)]


def test_of_a_sample_told_twice_the_last_row_counts():
    samples = [{"id": "a", "expected_behavior": "answer"}, {"id": "a", "expected_behavior": "refuse"}]
    run = Run.from_scores([row("answer_correctness", line("r1", "0"), sample_id="a")], samples)
    assert [claim.expected for claim in diagnosed(run).samples[0].claims] == ["yes"]


def test_the_readings_rest_on_every_sample():
    facts = diagnosed(mixed()).facts
    assert (facts.samples, facts.metrics["faithfulness"].n, facts.quadrants["unknown"]) == (6, 3, 1)


def test_the_claims_of_a_cause():
    found = diagnosed(mixed())
    assert [(id, [claim.claim for claim in claims]) for id, claims in found.claims_of("not_retrieved").items()] == [
        ("zh-1", ["r2"]),
        ("en-1", ["r2"]),
    ]
    assert found.claims_of("made_up") == {}


def test_why_a_sample_is_skipped():
    rows = [
        lost_cell("faithfulness", "not_applicable", "no_claims", "a"),
        lost_cell("answer_correctness", "failed", "blocked", "a"),
        lost_cell("faithfulness", "not_applicable", "no_claims", "b"),
    ]
    assert diagnosed(Run.from_scores(rows)).skipped == (("a", "blocked"), ("b", "no_claims"))


SAMPLES = st.lists(
    st.tuples(
        st.sampled_from(["+", "-", "!"]),
        st.sampled_from(["+", "-", "!"]),
        st.sampled_from(["=", "0"]),
        st.floats(0, 1),
        st.sampled_from(["x", "y", None]),
        st.sampled_from(["answer", "refuse"]),
    ),
    min_size=1,
    max_size=12,
)


@given(SAMPLES)
def test_sums_of_run_and_slices_keep_the_law(given_):
    rows, samples = [], []
    for n, (checked, matched, covered, cosine, topic, expects) in enumerate(given_):
        id = f"s{n}"
        samples.append({"id": id, "expected_behavior": expects, "meta": {"topic": topic}})
        rows.append(row("faithfulness", line("a1", checked), line("a2", "+"), sample_id=id))
        rows.append(row("answer_correctness", line("a1", matched), line("r1", covered), sample_id=id, cosine=cosine))
    found = diagnosed(Run.from_scores(rows, samples), by="topic")
    for sums in (found.sums, *(part.sums for part in found.slices)):
        for metric in ("faithfulness", "answer_correctness"):
            for causes in (sums.causes, sums.merged):
                parts = [getattr(one.points, metric) for one in causes]
                assert math.fsum([*parts, getattr(sums.unattributed, metric)]) == pytest.approx(getattr(sums.lost, metric), abs=1e-9)
    lost = math.fsum(1 - one["value"] for one in rows)
    assert found.sums.lost.total == pytest.approx(lost, abs=1e-9)
    assert sum(part.sums.samples for part in found.slices) == found.samples_total == sum(found.quadrants.values())
