"""Answers collected elsewhere are joined by id or by question; what does not fit is told."""

import asyncio
import csv
import io
import unicodedata

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.collect.answers_file import AnswersApplication, joined
from ragstone.collect.base import Chunk, Found, Row, Trouble
from ragstone.errors import ConfigError, DataError
from ragstone.samples import scan

GOLD = [
    {"id": "q1", "question": "Where is the mill?", "reference": "by the river"},
    {"id": "q2", "question": "磨坊几点开门？", "reference": "八点"},
    {"id": "q3", "question": "Who owns the café?", "reference": "Ann"},
]


def join(answers, gold=GOLD, lang="en", **read):
    return joined(scan(gold, lang=lang), scan(answers, lang=lang, **read), lang)


def read(found, gold=GOLD, repeat=None):
    """The readings of all gold rows."""
    application = AnswersApplication(found, "en")

    async def all_rows():
        return [await application.ask(Row(sample, repeat)) for sample in scan(gold)]

    return [application.read(kept) for kept in asyncio.run(all_rows())]


def answers(found, **other):
    return [reading.found.answer if reading.found else reading.trouble.word for reading in read(found, **other)]


def refused(rows, lang="en", gold=GOLD):
    with pytest.raises(DataError) as raised:
        join(rows, gold, lang)
    return str(raised.value)


# ------------------------------------------------------------------ joining
def test_answers_are_joined_by_id_in_any_order():
    found = join([{"id": "q3", "answer": "c"}, {"id": "q1", "answer": "a"}, {"id": "q2", "answer": "b"}])
    assert answers(found) == ["a", "b", "c"]
    assert (found.repeat, found.notices) == (None, ())


def test_the_fingerprint_covers_every_column_that_reaches_the_samples():
    row = {"id": "q1", "answer": "a", "contexts": ["one"], "context_ids": ["c1"]}
    changes = {
        "answer": "b",
        "contexts": ["two"],
        "context_ids": ["c2"],
        "context_scores": [0.5],
        "context_sources": ["f.pdf"],
        "usage": {"total_tokens": 3},
        "latency_s": 1.5,
        "error": "timeout: late",
    }
    found = [join([{**row, **change}]).fingerprint for change in ({}, *({name: value} for name, value in changes.items()))]
    assert len(set(found)) == len(changes) + 1
    assert join([{**row, "reference": "of nobody's interest"}]).fingerprint == join([row]).fingerprint == found[0]
    two = [row, {**row, "id": "q2"}]
    assert join(two).fingerprint == join(two[::-1]).fingerprint


@pytest.mark.parametrize(
    "question",
    ["Who owns the café?", unicodedata.normalize("NFD", "Who owns the café?"), "  Who\towns  the\u3000café? \n"],
)
def test_answers_are_joined_by_their_question(question):
    found = join([{"question": question, "answer": "Ann"}, {"问题": " 磨坊几点开门？", "answer": "八点"}])
    assert answers(found) == ["not_found", "八点", "Ann"]
    assert found.notices == (
        "Answers joined by their question: 2.",
        "Gold questions without an answer in the file, which count as failed: 1 (q1).",
    )


def test_ids_that_the_gold_set_does_not_know_leave_the_question():
    found = join([{"id": n, "question": row["question"], "answer": str(n)} for n, row in enumerate(GOLD, 1)])
    assert answers(found) == ["1", "2", "3"]


def test_a_gold_set_without_ids_is_joined_by_question_and_by_its_made_ids():
    gold = [{"question": row["question"]} for row in (*GOLD, GOLD[0])]
    ids = [sample.id for sample in scan(gold)]
    assert answers(join([{"id": name, "answer": name} for name in ids], gold), gold=gold) == ids
    assert answers(join([{"question": row["question"], "answer": str(n)} for n, row in enumerate(gold)], gold), gold=gold) == list("0123")


@given(st.permutations(range(3)), st.sampled_from(["id", "question"]), st.booleans())
def test_the_order_and_the_way_of_joining_change_no_answer(order, key, with_both):
    rows = [
        {key: GOLD[n][key], "answer": f"a{n}"} | ({"id": GOLD[n]["id"], "question": GOLD[n]["question"]} if with_both else {})
        for n in order
    ]
    assert answers(join(rows)) == ["a0", "a1", "a2"]


# ------------------------------------------------------------------ what comes along
FULL = {
    "answer": "by the river [1]",
    "contexts": ["The mill stands by the river.", "路"],
    "context_ids": ["c1", "c2"],
    "context_scores": [0.5, None],
    "context_sources": ["m.md", None],
    "latency_s": 1.5,
    "usage": {"tokens": 3},
}


def test_every_column_comes_along():
    found = join([{"id": "q1", **FULL}])
    chunks = (Chunk("The mill stands by the river.", "c1", 0.5, "m.md"), Chunk("路", "c2"))
    assert read(found)[0].found == Found("by the river [1]", chunks, {"tokens": 3})
    kept = asyncio.run(AnswersApplication(found, "en").ask(Row(next(iter(scan(GOLD))))))
    assert kept.latency_s == 1.5
    assert orjson.loads(orjson.dumps(kept.received[0].body)) == kept.received[0].body


@pytest.mark.parametrize(
    ("row", "word", "message"),
    [
        ({"error": "timeout: nothing in 30 s"}, "timeout", "nothing in 30 s"),
        ({"error": "HTTP 500: boom"}, "platform_error", "HTTP 500: boom"),
        ({"error": "boom", "answer": "**boom**"}, "platform_error", "boom"),
        ({"answer": "", "contexts": []}, "empty_answer", "the answer is empty"),
        ({"question": "Where is the mill?"}, "no_answer", "there is no answer (null)"),
    ],
)
def test_a_row_that_failed_elsewhere_fails_here(row, word, message):
    found = join([{"id": "q1", **row}, {"id": "q2", "answer": "八点"}])
    assert read(found)[0].trouble == Trouble(word, message)


def test_a_file_of_contexts_only_is_read():
    reading = read(join([{"id": "q1", "contexts": ["x"]}]))[0]
    assert (reading.found, reading.trouble) == (Found(None, (Chunk("x"),)), None)


# ------------------------------------------------------------------ files
@pytest.mark.parametrize(("name", "encoding"), [("a.csv", "utf-8-sig"), ("a.tsv", "gbk"), ("a.jsonl", "utf-8"), ("a.json", "utf-8")])
def test_files_are_read_with_mapping_and_encoding(tmp_path, name, encoding):
    rows = [{"问题": GOLD[1]["question"], "系统回答": "八点，见下", "片段": '["路", "河"]'}]
    if name.endswith(("csv", "tsv")):
        held = io.StringIO()
        table = csv.DictWriter(held, list(rows[0]), delimiter="," if name.endswith("csv") else "\t")
        table.writeheader()
        table.writerows(rows)
        content = held.getvalue()
    else:
        one = orjson.dumps(rows[0] | {"片段": ["路", "河"]}).decode()
        content = one if name.endswith("jsonl") else f"[{one}]"
    (tmp_path / name).write_text(content, encoding=encoding)
    mapping = {"answer": "系统回答", "contexts": "片段"}
    found = join(tmp_path / name, lang="zh", mapping=mapping, encoding=encoding.removesuffix("-sig"))
    application = AnswersApplication(found, "zh")
    kept = asyncio.run(application.ask(Row(list(scan(GOLD))[1])))
    assert application.read(kept).found == Found("八点，见下", (Chunk("路"), Chunk("河")))
    assert application.notices[0] == "1 条回答是按问题匹配的。"


def test_other_answers_are_another_application():
    def asked(answer):
        return AnswersApplication(join([{"id": "q1", "answer": answer}]), "en").asked

    assert asked("a") == asked("a") != asked("b")
    assert AnswersApplication(join([{"id": "q1", "answer": "a"}]), "en").mapping == {}


# ------------------------------------------------------------------ several answers
REPEATED = [
    [{"id": f"q{q}#{r}", "answer": f"{q}{r}"} for r in (1, 0) for q in (1, 2, 3)],
    [{"question": GOLD[q - 1]["question"], "answer": f"{q}{r}"} for r in (0, 1) for q in (1, 2, 3)],
]


@pytest.mark.parametrize("rows", REPEATED)
def test_as_many_answers_to_each_question_are_repeats(rows):
    found = join(rows)
    assert found.repeat == AnswersApplication(found, "en").repeat == 2
    assert [answers(found, repeat=r) for r in (0, 1)] == [["10", "20", "30"], ["11", "21", "31"]]
    assert answers(found, repeat=2) == ["not_found"] * 3


def test_repeats_are_not_taken_for_single_answers():
    with pytest.raises(ConfigError, match="--repeat 2"):
        answers(join(REPEATED[0]))


def test_one_numbered_answer_each_is_one_repeat():
    assert join([{"id": "q1#0", "answer": "a"}]).repeat == 1


def test_an_id_of_the_gold_set_may_look_like_a_repeat():
    gold = [{"id": "q1#0", "question": "a?"}, {"id": "q1", "question": "b?"}]
    assert answers(join([{"id": "q1#0", "answer": "a"}, {"id": "q1", "answer": "b"}], gold), gold=gold) == ["a", "b"]


UNEVEN = [
    [{"id": "q1#0", "answer": "a"}, {"id": "q1#1", "answer": "b"}, {"id": "q2", "answer": "c"}, {"id": "q3", "answer": "d"}],
    [{"id": "q1#0", "answer": "a"}, {"id": "q1", "answer": "b"}, {"id": "q2", "answer": "c"}, {"id": "q3", "answer": "d"}],
    [*({"id": f"q{n}", "answer": "c"} for n in (2, 3)), *({"question": GOLD[0]["question"], "answer": a} for a in "ab")],
]


@pytest.mark.parametrize("rows", UNEVEN)
@pytest.mark.parametrize(
    ("lang", "told"),
    [("en", "Answers to most questions: 1; questions with another number: 1 "), ("zh", "多数问题有 1 条回答，但有 1 个问题不同")],
)
def test_more_answers_to_some_questions_are_refused(rows, lang, told):
    text = refused(rows, lang)
    assert told in text
    assert "q1 (2)" in text


def test_a_gap_in_the_numbers_is_refused():
    assert "q1 (2)" in refused([{"id": "q1#0", "answer": "a"}, {"id": "q1#2", "answer": "b"}])


# ------------------------------------------------------------------ what does not fit
def test_rows_that_nobody_asked_for_are_told_with_their_ids():
    rows = [{"id": "q1", "answer": "a"}, *({"id": f"x{n}", "answer": "b"} for n in range(7))]
    assert join(rows).notices[0] == "Rows of the file that are not in the gold set and were left out: 7 (x0, x1, x2, x3, x4 and 2 more)."
    assert join(rows, lang="zh").notices[0] == "文件中有 7 行不在金标准集里，已忽略：x0、x1、x2、x3、x4 等，另有 2 个。"


def test_a_row_without_an_id_is_told_by_its_question():
    rows = [{"id": "q1", "answer": "a"}, {"question": "谁付款", "answer": "b"}, {"question": "w" * 60, "answer": "c"}]
    assert join(rows).notices[0].endswith(f"left out: 2 (谁付款, {'w' * 39}…).")


def test_a_question_in_other_words_is_joined_by_its_id_and_told():
    found = join([{"id": "q1", "question": "Where does the mill stand?", "answer": "a"}])
    assert answers(found)[0] == "a"
    assert "worded differently: 1 (q1)." in found.notices[-1]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([{"id": "x", "answer": "a"}], "no row (1) fits the gold set, neither by id nor by question; its ids: x; those"),
        ([{"id": "q1", "question": GOLD[1]["question"], "answer": "a"}], "the id says q1, but the question is that of q2"),
        ([{"id": "q1", "question": "Where is the mill?"}], "no row has an answer or contexts; columns: id, question"),
        ([{"id": "q1", "answer": "a"}, {"id": "q1", "answer": "b"}], "q1"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(rows, told):
    assert told in refused(rows)


def test_a_question_asked_twice_needs_an_id():
    gold = [{"id": "a", "question": "same?"}, {"id": "b", "question": "same?"}]
    assert "several rows (a, b)" in refused([{"question": "same?", "answer": "x"}], gold=gold)
