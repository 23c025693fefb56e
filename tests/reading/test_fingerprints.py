import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.reading.fingerprints import Fingerprint, gold_row, judged_row
from ragstone.types import Context, Sample

SAMPLE = Sample(id="s", question="问", answer="答", contexts=(Context(text="c", score=0.5),), reference="参考", reference_contexts=("词",))
GOLD = {"question": "q2", "reference": "r2", "reference_points": ("p",), "reference_contexts": ("k",)}
ANSWERED = {
    "answer": "",
    "contexts": (),
    "error": "timeout",
    "reference_alternatives": ("x",),
    "expected_behavior": "refuse",
    "context_ids": ("1",),
}
UNJUDGED = {"meta": {"a": 1}, "latency_s": 2.0, "usage": {"n": 1}, "answer_raw": "raw", "context_scores": (1.0,)}


def of(rows):
    fingerprint = Fingerprint()
    for row in rows:
        fingerprint.add(row)
    return fingerprint.hex()


@given(st.lists(st.text(max_size=5), max_size=8).flatmap(lambda rows: st.tuples(st.just(rows), st.permutations(rows))))
def test_the_order_of_rows_does_not_matter(rows):
    assert of(rows[0]) == of(rows[1])


def test_rows_that_are_there_twice_count_twice():
    assert len({of([]), of(["a"]), of(["a", "a"]), of(["a", "b"]), of(["ab"])}) == 5


def test_sixteen_hex_digits():
    assert len(of(["a"])) == 16
    assert int(of(["a"]), 16) > 0


@pytest.mark.parametrize("column", GOLD)
def test_the_gold_side_changes_both(column):
    other = SAMPLE.model_copy(update={column: GOLD[column]})
    assert gold_row(other) != gold_row(SAMPLE)
    assert judged_row(other) != judged_row(SAMPLE)


@pytest.mark.parametrize("column", ANSWERED)
def test_the_answer_side_never_changes_the_gold_fingerprint(column):
    other = SAMPLE.model_copy(update={column: ANSWERED[column]})
    assert gold_row(other) == gold_row(SAMPLE)
    assert judged_row(other) != judged_row(SAMPLE)


@pytest.mark.parametrize("column", UNJUDGED)
def test_what_no_judge_sees_changes_nothing(column):
    other = SAMPLE.model_copy(update={column: UNJUDGED[column]})
    assert judged_row(other) == judged_row(SAMPLE)


def test_missing_and_empty_differ():
    rows = [SAMPLE.model_copy(update={"contexts": value}) for value in (None, (), (Context(text=""),))]
    assert len({of([judged_row(row)]) for row in rows}) == 3
