import pytest
from support.evidence_rows import line, row

from ragstone.analysis.canned import Canned
from ragstone.analysis.causes import causes_of
from ragstone.analysis.evidence import about, evidence
from ragstone.analysis.remarks import Remarks

CHUNKS = row("context_precision", line("c1", "u"), line("c2", "n"))


def notes(rows, sample=None, top_k=None):
    remarks = Remarks(top_k)
    found = evidence("s", rows, about(sample) if sample is not None else None)
    remarks.add(found, causes_of(found))
    return {note.code: note for note in remarks.notes()}


@pytest.mark.parametrize(
    ("rows", "sample", "top_k", "fewer"),
    [
        ([row("faithfulness", line("a1", "+"), clipped={"contexts_dropped": 2})], None, None, True),
        ([row("faithfulness", line("a1", "+"), clipped={"answer_cut": True})], None, None, False),
        ([CHUNKS], {"contexts": ["x", "y", "z"]}, None, True),
        ([CHUNKS], {"contexts": ["x", "y"]}, None, False),
        ([CHUNKS], {"contexts": ["x", "y"], "context_ids": ["1", "2", "3"]}, None, True),
        ([CHUNKS], {"contexts": ["x", "y"], "context_ids": ["1", "2"]}, None, False),
        ([row("context_recall", line("r1", "+"))], {"contexts": ["x", "y", "z"]}, 2, True),
        ([row("context_recall", line("r1", "+"))], {"contexts": ["x", "y", "z"]}, 3, False),
        ([row("context_recall", line("r1", "+"))], {"contexts": None}, 2, False),
        ([CHUNKS], None, None, False),
    ],
)
def test_judged_on_fewer_contexts_than_retrieved(rows, sample, top_k, fewer):
    assert ("fewer_contexts" in notes(rows, sample, top_k)) is fewer


def test_empty_answers_and_scores_without_verdicts_are_told_apart():
    empty = {**row("answer_correctness", value=0.0), "reason": "empty_answer"}
    assert set(notes([empty])) == {"empty_answers"}
    assert set(notes([row("faithfulness", value=0.5)])) == {"no_verdicts"}
    assert notes([row("faithfulness", value=1.0)]) == {}
    assert notes([row("faithfulness", line("a1", "-"))]) == {}


def test_a_cause_that_rests_on_a_metric_that_is_not_there_says_so():
    alone = [row("answer_correctness", line("a1", "-"), line("r1", "0"))]
    assert set(notes(alone)) == {"grounding_unknown", "retrieval_unknown"}
    full = [row("faithfulness", line("a1", "+", "c1")), row("context_recall", line("r1", "+", "c1")), *alone]
    assert notes(full) == {}


@pytest.mark.parametrize(
    ("relevancy", "intent", "told"),
    [(0.2, "hotline", True), (0.8, "hotline", False), *((0.2, nothing, False) for nothing in (None, "", True, False, 1, 0.0, "true", "0"))],
)
def test_the_intents_of_answers_to_another_question(relevancy, intent, told):
    sample = {"meta": {"intent_top1": intent}}
    found = notes([row("answer_relevancy", value=relevancy)], sample)
    assert ("intents" in found) is told
    if told:
        assert dict(found["intents"].values) == {"count": 1, "intent": "hotline", "most": 1}
        assert found["intents"].sample_ids == ("s",)


def test_canned_answers_come_first():
    remarks = Remarks()
    found = evidence("s9", [row("faithfulness", value=0.5)])
    remarks.add(found, causes_of(found))
    told = list(remarks.notes([Canned("hello", ["s1", "s2", "s3"])]))
    assert [(note.code, note.sample_ids) for note in told] == [("canned_answer", ("s1", "s2", "s3")), ("no_verdicts", ("s9",))]
    assert dict(told[0].values) == {"count": 3, "answer": "hello"}


@pytest.mark.parametrize(
    ("meta", "told"),
    [
        ({"intent_top1": "hotline", "intent": "leave"}, True),
        ({"intent_top1": " Leave ", "intent": "leave"}, False),
        *(({"intent_top1": flag}, False) for flag in (0, 1, True, False, "0", "对", "错误")),
    ],
)
def test_an_intent_that_is_right_or_only_a_flag_is_not_named(meta, told):
    assert ("intents" in notes([row("answer_relevancy", value=0.2)], {"meta": meta})) is told


def test_samples_without_any_context_are_told():
    assert "no_contexts" in notes([{**row("context_precision", value=0.0), "reason": "no_context"}])
    assert notes([row("context_precision", value=0.0)]) == {}
    assert notes([{**row("context_precision", value=0.0), "reason": "no_context"}], {"expected_behavior": "refuse"}) == {}
