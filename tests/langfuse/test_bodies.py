"""Data sets, items and links: what every run on a gold set sends alike, and what a strict server takes."""

from dataclasses import replace

import pytest
from support.hostile_texts import HOSTILE
from support.langfuse_checks import dataset_wrong, item_wrong, run_item_wrong
from support.langfuse_lines import FRAME, cell, line

from ragstone.langfuse.bodies import dataset_unit, item_unit, run_item_unit

OTHER_RUN = replace(
    FRAME, run_name="run-2", run_id="run-2", timestamp="2027-01-01T00:00:00.000Z", signature="another", notice="a smoke test"
)


def test_a_data_set_bears_the_fingerprint_of_its_gold_set():
    unit = dataset_unit(FRAME)
    assert (unit.kind, unit.id) == ("dataset", "ragstone/0a1b2c3d")
    assert unit.body["metadata"]["gold_fingerprint"] == FRAME.gold_fingerprint
    assert not dataset_wrong(unit.body)
    assert dataset_unit(OTHER_RUN) == unit


def test_an_item_is_the_gold_row_and_nothing_of_the_run():
    asked = line(reference_points=["24 days"], meta={"source": "hr"}, answer="24")
    unit = item_unit(asked, FRAME)
    assert unit.body == {
        "datasetName": "ragstone/0a1b2c3d",
        "id": "ragstone/0a1b2c3d/q1",
        "input": "How much leave?",
        "expectedOutput": "24",
        "metadata": {"gold_row": "q1", "gold_fingerprint": FRAME.gold_fingerprint, "reference_points": ["24 days"]},
    }
    other = line(cell("context_recall", 1), answer="none", contexts=[], reference_points=["24 days"], meta={"source": "web"}, language="zh")
    assert item_unit(other, OTHER_RUN) == unit


def test_another_gold_set_has_other_items():
    changed = replace(FRAME, gold_fingerprint="ffff000011112222", dataset="ragstone/ffff0000")
    assert item_unit(line(), changed).id != item_unit(line(), FRAME).id


@pytest.mark.parametrize(
    ("id", "meta", "row"),
    [
        ("q1#0", {"question_id": "q1"}, "q1"),
        ("第一题#12", {"question_id": "第一题"}, "第一题"),
        ("q1#x", {"question_id": "q1"}, "q1#x"),
        ("q1#", {"question_id": "q1"}, "q1#"),
        ("q1#1", {}, "q1#1"),
        ("q1#1", {"question_id": 1}, "q1#1"),
    ],
)
def test_answers_collected_several_times_for_one_question_share_its_item(id, meta, row):
    unit = item_unit(line(id=id, meta=meta), FRAME)
    assert unit.id == f"ragstone/0a1b2c3d/{row}"
    assert unit.sample_id == id


def test_points_are_expected_where_there_is_no_reference():
    assert item_unit(line(reference=None, reference_points=["a"]), FRAME).body["expectedOutput"] == ["a"]
    assert "expectedOutput" not in item_unit(line(reference=None), FRAME).body
    assert item_unit(line(reference=""), FRAME).body["expectedOutput"] == ""


def test_a_link_names_run_item_and_trace():
    unit = run_item_unit(line(), FRAME)
    assert unit.id == unit.body["traceId"] == FRAME.trace_of("q1")
    assert unit.body["observationId"] == FRAME.span_of("q1")
    assert (unit.body["runName"], unit.body["datasetItemId"]) == ("run-1", "ragstone/0a1b2c3d/q1")
    assert {"signature", "gold_fingerprint"} <= unit.body["metadata"].keys()
    assert unit.body["runDescription"] == FRAME.signature


@pytest.mark.parametrize("text", [*HOSTILE.values(), "\ud800", "\0", "问" * 600_000, ""], ids=lambda text: repr(text[:20]))
def test_any_text_makes_bodies_that_a_strict_server_takes(text):
    frame = replace(FRAME, run_name=text or "r", dataset=text or "d", signature=text)
    asked = line(id=text or "q", question=text, reference=text, reference_points=[text] * 3)
    assert not dataset_wrong(dataset_unit(frame).body)
    assert not item_wrong(item_unit(asked, frame).body)
    assert not run_item_wrong(run_item_unit(asked, frame).body)
    assert all(unit.digest for unit in (dataset_unit(frame), item_unit(asked, frame), run_item_unit(asked, frame)))
