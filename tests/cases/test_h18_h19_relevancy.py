"""H18 and H19: relevancy stays between 0 and 1 whatever the vectors, and one stray flag or blank question does not decide it."""

import base64
import math
import struct

import pytest
from support.fault_server import reply
from support.server import Answer, vectors
from support.told_rows import EN, ZH, shared_out

METRIC = "answer_relevancy"
BASES = [EN, ZH]


def asked_back(lab, base, questions, vectors, *args, **more):
    """Evaluate one row whose reverse questions are these; `vectors` by text."""
    lines = [q if isinstance(q, dict) else {"question": q, "noncommittal": False} for q in questions]
    return lab.evaluate([base], lambda call: reply({"questions": lines}), *args, metrics=METRIC, vectors=vectors, **more)


def raw_cosines(done):
    (row,) = [row for row in done.replies if row["kind"] == "cosine"]
    return row["parsed"]["cosines"]


@pytest.mark.parametrize("base", BASES, ids=["en", "zh"])
@pytest.mark.parametrize("length", [1.0, 10.0, 1e-3, 1e6])
def test_h18_opposite_vectors_give_zero_and_the_raw_cosine_is_kept(lab, base, length):
    v = [0.6 * length, 0.8 * length, 0.0]
    done = asked_back(lab, base, ["A?", "B?", "C?"], {base.row["question"]: v, "A?": (w := [-x for x in v]), "B?": w, "C?": w})
    assert done.cell(base.id, METRIC) == 0.0
    assert raw_cosines(done) == [-1.0] * 3
    assert [line["cosine"] for line in done.row(base.id, METRIC)["verdicts"]] == [-1.0] * 3


@pytest.mark.parametrize("length", [1.0, 10.0, 1e4, 7e-4])
def test_h18_long_vectors_give_no_more_than_one(lab, length):
    v = [length * x for x in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)]
    done = asked_back(lab, EN, ["A?", "B?", "C?"], {EN.row["question"]: v, "A?": v, "B?": [3 * x for x in v], "C?": [x / 9 for x in v]})
    assert done.cell(EN.id, METRIC) == 1.0
    assert all(c <= 1.0 for c in raw_cosines(done))


@pytest.mark.parametrize("base", BASES, ids=["en", "zh"])
@pytest.mark.parametrize("written", ["floats", "base64", "turned", "from one", "embeddings", "texts"])
def test_h18_however_the_vectors_are_written_the_value_is_the_same(lab, base, written):
    known = {base.row["question"]: [1.0, 0.0], "A?": [0.6, 0.8], "B?": [-3.0, 4.0], "C?": [20.0, 0.0]}

    def embed(seen):
        rows = [known[text] for text in seen.body["input"]]
        if written == "base64":
            return vectors(*(base64.b64encode(struct.pack(f"<{len(row)}f", *row)).decode() for row in rows))
        if written == "texts":
            return vectors(*([str(x) for x in row] for row in rows))
        if written == "embeddings":
            return Answer(body={"model": "e", "embeddings": rows})
        if written == "floats":
            return vectors(*rows)
        return vectors(*rows[::-1], indices=[i + (written == "from one") for i in reversed(range(len(rows)))])

    done = asked_back(lab, base, ["A?", "B?", "C?"], {}, embed=embed)
    assert done.cell(base.id, METRIC) == pytest.approx(1.6 / 3, abs=1e-6)
    assert raw_cosines(done) == [0.6, -0.6, 1.0]


@pytest.mark.parametrize(
    ("cosines", "value"),
    [((0.55, 0.50, 0.52), 1.57 / 3), ((-1, 1, 1), 2 / 3), ((-0.2, -0.9, 0.3), 0.1), ((0, 0, 0), 0.0), ((1, 1, 1), 1.0)],
)
def test_h18_each_cosine_is_clamped_before_the_mean(lab, cosines, value):
    known = {f"q{i}?": [10 * c, 10 * math.sqrt(1 - c * c)] for i, c in enumerate(cosines)}
    done = asked_back(lab, ZH, list(known), {ZH.row["question"]: [5.0, 0.0], **known})
    assert done.cell(ZH.id, METRIC) == pytest.approx(value, abs=1e-6)
    assert raw_cosines(done) == pytest.approx(list(cosines), abs=1e-6)


@pytest.mark.parametrize(
    ("bad", "word"),
    [([0.0, 0.0], "embedding_zero"), ([1.0, 0.0, 0.0], "embedding_dimension"), ([], "embedding_"), ([float("nan"), 1.0], "embedding_")],
)
def test_h18_a_vector_that_is_none_is_a_reason_not_a_number(lab, bad, word):
    def embed(seen):
        return vectors(*(bad if text == "B?" else [1.0, 0.0] for text in seen.body["input"]))

    done = asked_back(lab, EN, ["A?", "B?", "C?"], {}, embed=embed)
    assert str(done.cell(EN.id, METRIC)).startswith(word)
    assert done.code == 1


# ------------------------------------------------------------------ H19
def flagged(flags):
    return [{"question": f"What did the traders think ({n})?", "noncommittal": flag} for n, flag in enumerate(flags)]


@pytest.mark.parametrize("base", BASES, ids=["en", "zh"])
@pytest.mark.parametrize(
    ("flags", "value"), [([1, 0, 0], 1.0), ([0, 0, 1], 1.0), ([1, 1, 0], 1.0), ([0, 0, 0], 1.0), ([1, 1, 1], 0.0), ([True] * 3, 0.0)]
)
def test_h19_only_all_flags_together_make_it_zero(lab, base, flags, value):
    done = asked_back(lab, base, flagged(flags), {})
    row = done.row(base.id, METRIC)
    assert row["value"] == value
    assert row["detail"]["noncommittal"] == [bool(flag) for flag in flags]
    assert [line["verdict"] for line in row["verdicts"]] == ["noncommittal" if flag else "committal" for flag in flags]
    _, page, _ = lab.command(["show", "run", base.id])
    assert page.count("noncommittal") + page.count("evasive") >= sum(map(bool, flags)), page


BLANKS = ["", "   ", "\n", "\u3000", None]


def test_h19_a_blank_question_is_asked_for_again(lab):
    rows = [shared_out(f"row-{n}-", 1, 2) for n in range(len(BLANKS))]

    def fault(call):
        n = next(n for n in range(len(BLANKS)) if f"row-{n}-" in call.seen.user)
        first = BLANKS[n] if "problem" not in call.input else "Again?"
        return reply({"questions": [{"question": q, "noncommittal": False} for q in ("One?", first, "Two?")]})

    done = lab.evaluate(rows, fault, metrics=METRIC)
    assert done.values(METRIC) == [1.0] * len(rows)
    assert len(done.server.calls) == 2 * len(rows)
    assert all(len(row["verdicts"]) == 3 for row in done.scores)
    assert not [text for seen in done.server.asked("embeddings") for text in seen.body["input"] if not text.strip()]


def test_h19_a_question_that_stays_blank_is_left_out_with_its_flag(lab):
    known = {"One?": [1.0, 0.0], "Two?": [0.6, 0.8]}
    lines = [
        {"question": "One?", "noncommittal": False},
        {"question": " ", "noncommittal": True},
        {"question": "Two?", "noncommittal": False},
    ]
    done = asked_back(lab, EN, lines, known)
    assert done.cell(EN.id, METRIC) == pytest.approx(0.8, abs=1e-6)
    assert done.row(EN.id, METRIC)["detail"]["noncommittal"] == [False, False]
    assert len(done.server.calls) == 2


@pytest.mark.parametrize("base", BASES, ids=["en", "zh"])
@pytest.mark.parametrize("lines", [[], [""], ["", "", ""]])
def test_h19_no_question_at_all_is_no_number(lab, base, lines):
    done = asked_back(lab, base, lines, {})
    assert done.cell(base.id, METRIC) in ("no_questions", "bad_reply")
    assert done.code == 1


@pytest.mark.parametrize("count", [1, 2, 5])
def test_h19_too_few_are_asked_again_and_too_many_cut(lab, count):
    done = asked_back(lab, ZH, [f"第{n}问？" for n in range(count)], {})
    assert done.cell(ZH.id, METRIC) == 1.0
    assert len(done.row(ZH.id, METRIC)["verdicts"]) == min(count, 3)
    assert len(done.server.calls) == (1 if count >= 3 else 2)


def test_h19_equal_questions_are_kept(lab):
    done = asked_back(lab, EN, ["Same?"] * 3, {"Same?": [0.6, 0.8]})
    assert done.cell(EN.id, METRIC) == pytest.approx(0.6, abs=1e-6)
    assert len(done.server.calls) == 1


def test_h19_all_evasive_is_zero_whatever_the_embeddings_do(lab):
    done = asked_back(lab, EN, flagged([1, 1, 1]), {}, embed=lambda seen: vectors(*([0.0] for _ in seen.body["input"])))
    assert done.cell(EN.id, METRIC) == 0.0
