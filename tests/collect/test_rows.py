"""Lines of the samples file: gold columns and all columns of collecting, null where there is nothing."""

import orjson
import pytest

from ragstone.collect.base import Chunk, Found, Kept, Reading, Row, Trouble
from ragstone.collect.rows import COLUMNS, row_of
from ragstone.types import Context, Sample

GOLD = Sample(id="g1", question="年假几天？", reference="五天", meta={"dept": "hr"})
KEPT = Kept("g1", latency_s=1.25, attempts=1)


def line(found: Found | None = None, trouble: Trouble | None = None, row: Row | None = None) -> dict:
    made = row_of(row or Row(GOLD), KEPT, Reading(found, trouble))
    assert set(COLUMNS) <= made.keys()
    return orjson.loads(orjson.dumps(made))


def test_a_good_row():
    chunks = (Chunk("年假五天", "c1", 0.5, "手册"), Chunk("", "c2", None, None))
    made = line(Found("五天。[c1](CITE)", chunks, {"total_tokens": 7}))
    assert made == {
        "id": "g1",
        "question": "年假几天？",
        "reference": "五天",
        "expected_behavior": "answer",
        "language": "en",
        "meta": {"dept": "hr"},
        "answer": "五天。",
        "answer_raw": "五天。[c1](CITE)",
        "contexts": ["年假五天", ""],
        "context_ids": ["c1", "c2"],
        "context_scores": [0.5, None],
        "context_sources": ["手册", None],
        "citations": [{"at": 3, "context": "c1"}],
        "latency_s": 1.25,
        "usage": {"total_tokens": 7},
        "error": None,
    }


@pytest.mark.parametrize(
    ("chunks", "contexts", "ids", "scores", "sources"),
    [
        (None, None, None, None, None),
        ((), [], None, None, None),
        ((Chunk("a"),), ["a"], None, None, None),
        ((Chunk("a", "1"), Chunk("b", None, 0.0)), ["a", "b"], None, [None, 0.0], None),
        ((Chunk("a", "1", None, "s"), Chunk("b", "1")), ["a", "b"], ["1", "1"], None, ["s", None]),
    ],
)
def test_null_against_empty(chunks, contexts, ids, scores, sources):
    made = line(Found("x", chunks))
    assert (made["contexts"], made["context_ids"], made["context_scores"], made["context_sources"]) == (contexts, ids, scores, sources)
    assert (made["answer"], made["answer_raw"], made["citations"], made["usage"]) == ("x", "x", None, None)


def test_an_application_that_only_retrieves():
    made = line(Found(None, (Chunk("a"),)))
    assert (made["answer"], made["answer_raw"], made["contexts"]) == (None, None, ["a"])


def test_a_failed_row():
    made = line(None, Trouble("timeout", "120 s 内没有回答"))
    assert made["error"] == "timeout: 120 s 内没有回答"
    assert [name for name in COLUMNS if made[name] is not None] == ["latency_s", "error"]
    made = line(Found("**ERROR**: boom [1]", (Chunk("a", "1"),)), Trouble("platform_error", "boom"))
    assert (made["answer"], made["answer_raw"]) == ("**ERROR**: boom", "**ERROR**: boom [1]")
    assert all(made[name] is None for name in ("contexts", "context_ids", "context_scores", "citations"))


def test_a_repeat_keeps_the_id_of_its_question():
    made = line(Found("x", None), row=Row(GOLD, 1))
    assert (made["id"], made["meta"]) == ("g1#1", {"dept": "hr", "question_id": "g1"})
    assert line(Found("x", None), row=Row(Sample(id="g2", question="q"), 0))["meta"] == {"question_id": "g2"}


def test_answers_the_gold_set_had_are_not_taken_for_collected_ones():
    old = Sample(
        id="o", question="q", answer="old", contexts=(Context(text="old"),), citations=(), usage={"n": 1}, latency_s=9.0, error="e"
    )
    made = line(None, Trouble("timeout", "t"), Row(old))
    assert (made["answer"], made["contexts"], made["citations"], made["usage"], made["latency_s"]) == (None, None, None, None, 1.25)
    assert line(Found("new", None), row=Row(old))["error"] is None
