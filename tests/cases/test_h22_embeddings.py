"""H22: an endpoint that takes few texts at once is asked with few, in order, and no vector is ever made up."""

import json

import pytest
from support.fault_server import error, reply
from support.server import DROP, HANG, Answer, refuse, vectors
from support.told_rows import EN, shared_out

METRIC = "answer_relevancy"
ROWS = [shared_out(f"row-{n:02}-", 1, 2, "zh" if n % 2 else "en") for n in range(7)]
"""Seven rows with three questions and one of their own each: 25 or more texts."""
OTHERS = [shared_out(f"row-{n:02}-", 1, 2, "zh" if n % 2 else "en") for n in range(7, 14)]


def evaluate(lab, embed, *args, rows=ROWS, batch=None, **more):
    """Each reverse question has the cosine its own number tells, so that a vector in the wrong place shows."""
    if batch:
        (lab.folder / "ragstone.toml").write_text(f"[embeddings]\nbatch_size = {batch}\n")
    return lab.evaluate(rows, _questions, *args, metrics=METRIC, embed=embed, **more)


def _questions(call):
    number = next(n for n in range(2 * len(ROWS)) if f"row-{n:02}-" in call.seen.user)
    return reply({"questions": [{"question": f"Question {number} {i}?", "noncommittal": False} for i in range(3)]})


def cosine_of(text):
    """A number a text alone decides, from 0.1 to 0.9."""
    if not text.startswith("Question "):
        return 1.0
    row, question = text.removeprefix("Question ").rstrip("?").split()
    return round(0.1 + 0.1 * (int(row) % 7) + 0.02 * int(question), 4)


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
    "qianfan": (7, lambda n: Answer(200, {"error_code": 336003, "error_msg": "embeddings max texts per batch size is 7"})),
    "500": (9, lambda n: error(500, f"input batch size {n} exceeds maximum 9")),
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


@pytest.mark.parametrize(
    ("trouble", "word"), [(error(500, "CUDA error"), "server_error"), (HANG, "timeout"), (DROP, "connection")], ids=["500", "hang", "drop"]
)
def test_h22_one_text_that_always_meets_trouble_costs_its_row_only(lab, trouble, word):
    def embed(seen):
        return trouble if "Question 3 1?" in seen.body["input"] else right(seen)

    done = evaluate(lab, embed, "--retries", "0", "--timeout", "5" if trouble is HANG else "60", batch=1 if trouble is HANG else None)
    assert done.values(METRIC) == [*TRUE[:3], word, *TRUE[4:]]


def test_h22_an_endpoint_that_went_down_is_not_asked_for_every_text(lab):
    done = evaluate(lab, lambda seen: error(500, "gone") if seen.nth else right(seen), "--retries", "0", batch=4)
    assert sum(value != "server_error" for value in done.values(METRIC)) <= 2
    assert len(done.server.asked("embeddings")) <= 1 + 7 * 5


def test_h12_refusals_of_the_embeddings_endpoint_are_counted_too(lab):
    done = evaluate(lab, lambda seen: error(429, "slow", retry_after_ms="1") if seen.nth < 3 else right(seen), cli=True)
    assert done.values(METRIC) == TRUE
    assert done.manifest["counts"]["embedding_rate_limits"] == 3
    assert "embeddings rate limited (429) 3" in done.out


def test_h22_passing_trouble_is_waited_out(lab):
    done = evaluate(lab, lambda seen: right(seen) if seen.nth else error(503, "loading", retry_after_ms="1"))
    assert done.values(METRIC) == TRUE


def again(lab, server, name, rows, *args):
    """A run of its own on the same server, with the cache folder of the others."""
    flags = ["--judge", "m", "--base-url", server.url, "--embeddings", "e", "--metrics", METRIC, "--cache", str(lab.folder / "cache")]
    path = lab.folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(told.row, ensure_ascii=False) + "\n" for told in rows), encoding="utf-8")
    code, _, err = lab.command(["evaluate", str(path), "--out", str(lab.folder / name), *flags, *args])
    manifest = json.loads((lab.folder / name / "manifest.json").read_bytes())
    return code, err, manifest["embedder"]["parameters"]


SMALL = {
    "words": (3, lambda n: error(400, "too many inputs")),
    "bare 413": (3, lambda n: Answer(413, b"")),
    "one": (1, lambda n: error(400, "batch size must be 1")),
    "named": (3, lambda n: error(400, "Value error, batch size is invalid, it should not be larger than 3.: input.contents")),
    "tei": (3, lambda n: Answer(422, {"error": f"batch size {n} > maximum allowed batch size 3", "error_type": "Validation"})),
    "siliconflow": (3, lambda n: Answer(413, {"code": 20042, "message": f"input batch size {n} > maximum allowed batch size 3"})),
    "zhipu": (3, lambda n: error(400, "input数组最大不得超过3条", code="1214")),
    "zh": (3, lambda n: error(400, "单次请求的文本数量不能超过3个")),
    "200": (3, lambda n: Answer(200, {"code": 400, "message": "at most 3 texts per request", "data": None})),
}  # fmt: skip
"""Fewer than the four texts of one row, so that every run meets the limit whatever its batches."""


@pytest.mark.parametrize("name", SMALL)
def test_h22_the_second_run_meets_no_refusal(lab, name):
    most, refusal = SMALL[name]
    (lab.folder / "ragstone.toml").write_text("[embeddings]\nbatch_size = 25\n")
    seen_sizes = []

    def embed(seen):
        seen_sizes.append(len(seen.body["input"]))
        return refusal(seen_sizes[-1]) if seen_sizes[-1] > most else right(seen)

    with lab.server(ROWS, _questions, embed=embed) as server:
        code, err, parameters = again(lab, server, "first", ROWS)
        assert (code, max(seen_sizes) > most) == (0, True)
        found = parameters["batch_size"]
        assert found <= most
        assert err.count(f"takes {found} texts a request, not 25") == 1
        seen_sizes.clear()
        code, err, parameters = again(lab, server, "second", OTHERS)
        assert (code, parameters["batch_size"]) == (0, found)
        assert 0 < max(seen_sizes) <= found, "nothing is refused"
        assert err.count(f"takes {found} texts a request, not 25") == 1
        seen_sizes.clear()
        assert again(lab, server, "third", ROWS, "--no-cache")[0] == 0
        assert max(seen_sizes) > most, "without the cache nothing is known"


def test_h22_a_run_begun_before_the_limit_was_learned_is_resumed(lab):
    (lab.folder / "ragstone.toml").write_text("[embeddings]\nbatch_size = 25\n")

    def embed(seen):
        return refuse(400, "batch size must be at most 3") if len(seen.body["input"]) > 3 else right(seen)

    with lab.server(ROWS, _questions, embed=embed) as server:
        again(lab, server, "run", ROWS)
        code, err, parameters = again(lab, server, "run", [*ROWS, *OTHERS])
    assert (code, parameters["batch_size"]) == (0, 3), err


@pytest.mark.parametrize(
    ("refusal", "word"),
    [
        (error(400, "texts exceed the limit"), "bad_reply"),
        (error(400, "input has 513 tokens, must be less than 512 tokens"), "too_long"),
        (error(400, "输入文本过长，最多 512 token"), "too_long"),
        (Answer(413, b""), "too_long"),
        (error(400, "x", code="data_inspection_failed"), "blocked"),
        (error(400, "odd characters in input"), "bad_reply"),
        (Answer(200, {"code": 400, "message": "invalid input", "data": None}), "bad_reply"),
    ],
    ids=range(7),
)
def test_h22_one_bad_text_among_many_loses_its_own_row_and_no_batch(lab, refusal, word):
    done = evaluate(lab, lambda seen: refusal if "Question 5 2?" in seen.body["input"] else right(seen))
    assert done.values(METRIC) == [*TRUE[:5], word, *TRUE[6:]]
    assert "batch_size" not in done.manifest["embedder"]["parameters"]


def test_h22_cut_texts_are_told_in_the_run_and_under_its_table(lab):
    rows = [shared_out(f"row-{n:02}-", 1, 2, "zh") for n in range(2)]

    def questions(call):
        return reply({"questions": [{"question": f"{i}" + "报销" * 1500, "noncommittal": False} for i in range(3)]})

    def embed(seen):
        tokens = sum(min(512, len(text)) for text in seen.body["input"])
        return Answer(body={**right(seen).body, "usage": {"prompt_tokens": tokens, "total_tokens": tokens}})

    done = lab.evaluate(rows, questions, metrics=METRIC, embed=embed)
    assert done.values(METRIC) == [1.0, 1.0], "the values stand"
    count = done.manifest["embedder"]["parameters"]["cut_texts"]
    assert count == 3
    _, page, _ = lab.command(["show", "run"])
    assert "3 texts were probably cut by the embedder e" in page
    _, page, _ = lab.command(["show", "run"], lang="zh")
    assert "3 条文本很可能被向量模型 e 悄悄截断" in page


@pytest.mark.parametrize(
    "answer",
    [
        Answer(404, {"error": {"message": "no route"}}),
        Answer(405, b""),
        Answer(501, {"error": {"message": "This server does not support embeddings"}}),
        Answer(401, {"error": {"message": "no"}}),
        Answer(200, b"<html><title>Welcome</title></html>"),
        Answer(400, {"error": {"message": "Model m does not support embeddings"}}),
        Answer(404, {"error": {"message": "The model `e` does not exist"}}),
    ],
    ids=range(7),
)
def test_h22_an_address_without_embeddings_ends_the_run_with_what_to_set(lab, answer):
    with lab.server(ROWS, _questions, embed=lambda seen: answer) as server:
        done = lab.ask(server, lab.write(ROWS), metrics=METRIC, finished=False)
    assert done.code == 3
    for said in (server.url, "model e", "--embeddings-base-url", "--embeddings local"):
        assert said in done.err
    assert len(server.asked("embeddings")) <= 3


def test_h22_nothing_is_embedded_where_no_metric_needs_it(lab):
    assert lab.evaluate([EN], None).server.asked("embeddings") == []
