"""H22: an endpoint that takes few texts at once is asked with few, in order, and no vector is ever made up."""

import pytest
from support.fault_server import error, reply
from support.server import Answer, refuse, vectors
from support.told_rows import EN, shared_out

METRIC = "answer_relevancy"
ROWS = [shared_out(f"row-{n:02}-", 1, 2, "zh" if n % 2 else "en") for n in range(7)]
"""Seven rows with three questions and one of their own each: 25 or more texts."""


def evaluate(lab, embed, *args, rows=ROWS, batch=None, **more):
    """Each reverse question has the cosine its own number tells, so that a vector in the wrong place shows."""
    if batch:
        (lab.folder / "ragstone.toml").write_text(f"[embeddings]\nbatch_size = {batch}\n")
    return lab.evaluate(rows, _questions, *args, metrics=METRIC, embed=embed, **more)


def _questions(call):
    number = next(n for n in range(len(ROWS)) if f"row-{n:02}-" in call.seen.user)
    return reply({"questions": [{"question": f"Question {number} {i}?", "noncommittal": False} for i in range(3)]})


def cosine_of(text):
    """A number a text alone decides, from 0.1 to 0.9."""
    if not text.startswith("Question "):
        return 1.0
    row, question = text.removeprefix("Question ").rstrip("?").split()
    return round(0.1 + 0.1 * int(row) + 0.02 * int(question), 4)


def right(seen):
    rows = [[c, (1 - c * c) ** 0.5] for c in map(cosine_of, seen.body["input"])]
    return vectors(*rows)


TRUE = [pytest.approx(sum(cosine_of(f"Question {n} {i}?") for i in range(3)) / 3, abs=1e-6) for n in range(7)]

LIMITS = {
    "dashscope": (10, lambda n: error(400, "Value error, batch size is invalid, it should not be larger than 10.")),
    "input.contents": (20, lambda n: error(400, f"Range of input.contents should be [1, 20], but got {n}")),
    "siliconflow": (6, lambda n: Answer(413, {"code": 20042, "message": f"input batch size {n} > maximum allowed batch size 6"})),
    "bare 413": (5, lambda n: Answer(413, b"Payload Too Large")),
    "no number": (3, lambda n: error(400, "too many inputs")),
    "zh": (4, lambda n: error(400, "输入条数超过限制，最多 4 条", code="1214")),
    "one": (1, lambda n: error(400, "array input is not supported: batch size must be 1")),
    "422": (8, lambda n: Answer(422, {"detail": [{"loc": ["body", "input"], "msg": "List should have at most 8 items"}]})),
}  # fmt: skip


@pytest.mark.parametrize("name", LIMITS)
def test_h22_the_batch_shrinks_to_what_is_taken_and_order_is_kept(lab, name):
    most, refusal = LIMITS[name]
    refused = []

    def embed(seen):
        count = len(seen.body["input"])
        if count > most:
            refused.append(count)
            return refusal(count)
        return right(seen)

    done = evaluate(lab, embed, batch=25)
    assert done.values(METRIC) == TRUE
    sizes = [len(seen.body["input"]) for seen in done.server.asked("embeddings")]
    assert len(refused) <= 4, "the limit is remembered"
    assert sizes[-1] <= most
    assert done.code == 0


def test_h22_the_default_batch_is_ten(lab):
    done = evaluate(
        lab,
        lambda seen: refuse(400, "batch size is invalid, it should not be larger than 10") if len(seen.body["input"]) > 10 else right(seen),
    )
    sizes = [len(seen.body["input"]) for seen in done.server.asked("embeddings")]
    assert max(sizes) <= 10
    assert sum(sizes) == 7 * 4
    assert done.values(METRIC) == TRUE


@pytest.mark.parametrize("way", ["reversed", "shuffled index", "base"])
def test_h22_vectors_belong_to_their_index(lab, way):
    def embed(seen):
        answer = right(seen)
        data = answer.body["data"]
        if way == "reversed":
            data.reverse()
        if way == "shuffled index":
            data.sort(key=lambda item: (item["index"] * 7) % 10)
        return Answer(body={"object": "list", "data": data, "model": "e", "usage": {"prompt_tokens": 3, "total_tokens": 3}})

    assert evaluate(lab, embed).values(METRIC) == TRUE


def test_h22_requests_hold_strings_none_of_them_blank(lab):
    done = evaluate(lab, right)
    for seen in done.server.asked("embeddings"):
        assert seen.body["encoding_format"] == "float"
        assert all(isinstance(text, str) and text.strip() for text in seen.body["input"])


def test_h22_one_text_that_is_not_taken_costs_its_row_only(lab):
    def embed(seen):
        if any(text == "Question 3 1?" for text in seen.body["input"]):
            return error(400, "input is too long: 513 tokens, must be less than 512 tokens")
        return right(seen)

    done = evaluate(lab, embed)
    assert [value for n, value in enumerate(done.values(METRIC)) if n != 3] == [value for n, value in enumerate(TRUE) if n != 3]
    assert done.values(METRIC)[3] == "too_long"


@pytest.mark.parametrize(
    "missing",
    [
        lambda items: items[:-1],
        lambda items: [],
        lambda items: [{**items[0], "embedding": None}, *items[1:]],
        lambda items: [{**items[0], "embedding": []}, *items[1:]],
    ],
    ids=["one short", "none", "null", "empty"],
)
def test_h22_vectors_that_do_not_come_are_never_zeros(lab, missing):
    def embed(seen):
        answer = right(seen)
        return Answer(body={"data": missing(answer.body["data"])})

    done = evaluate(lab, embed)
    values = done.values(METRIC)
    assert any(str(value).startswith("embedding_") for value in values)
    assert all(value == true or str(value).startswith("embedding_") for value, true in zip(values, TRUE, strict=True))


def test_h22_a_batch_that_comes_short_once_is_asked_for_what_is_missing(lab):
    def embed(seen):
        answer = right(seen)
        return Answer(body={"data": answer.body["data"][:-1]}) if seen.nth == 0 and len(seen.body["input"]) > 1 else answer

    assert evaluate(lab, embed).values(METRIC) == TRUE


def test_h22_passing_trouble_is_waited_out(lab):
    done = evaluate(lab, lambda seen: right(seen) if seen.nth else error(503, "loading", retry_after_ms="1"))
    assert done.values(METRIC) == TRUE


def test_h22_nothing_is_embedded_where_no_metric_needs_it(lab):
    assert lab.evaluate([EN], None).server.asked("embeddings") == []
