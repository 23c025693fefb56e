import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.reading.fingerprints import Fingerprint, gold_row, judged_row, repeat_of
from ragstone.samples import scan
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


@pytest.mark.parametrize(
    ("name", "question", "wanted"),
    [
        ("q1#0", "q1", ("q1", 0)),
        ("q1#12", "q1", ("q1", 12)),
        ("问#1", "问", ("问", 1)),
        ("a#b#1", "a#b", ("a#b", 1)),
        ("q1#1", None, ("q1#1", 0)),
        ("q1#1", "q2", ("q1#1", 0)),
        ("q1#x", "q1", ("q1#x", 0)),
        ("q1#01", "q1", ("q1#01", 0)),
        ("q1#²", "q1", ("q1#²", 0)),
        ("q1", "q1", ("q1", 0)),
        ("1#1", 1, ("1#1", 0)),
    ],
)
def test_which_gold_row_a_sample_was_collected_for(name, question, wanted):
    assert repeat_of(Sample(id=name, meta={} if question is None else {"question_id": question})) == wanted


@given(st.lists(st.text("ab#0", min_size=1, max_size=3), min_size=1, max_size=6, unique=True), st.integers(1, 4))
def test_repeats_leave_the_fingerprint_of_the_gold_set_as_it_is(names, repeats):
    gold = [{"id": name, "question": f"{name}?", "reference": f"{name}."} for name in names]
    collected = [
        {**row, "id": f"{row['id']}#{k}", "meta": {"question_id": row["id"]}, "answer": f"answer {k}", "contexts": []}
        for row in gold
        for k in range(repeats)
    ]
    assert scan(collected).gold_fingerprint == scan(gold).gold_fingerprint


def test_each_of_several_answers_counts_for_the_samples_fingerprint():
    rows = [{"id": f"q#{k}", "question": "q", "meta": {"question_id": "q"}, "answer": f"a{k}"} for k in range(2)]
    assert scan(rows).gold_fingerprint == scan(rows[:1]).gold_fingerprint
    assert scan(rows).samples_fingerprint != scan(rows[:1]).samples_fingerprint
