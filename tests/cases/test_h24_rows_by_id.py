"""H24: a score stays with its row, whatever the order of replies and whoever fails."""

import json

import pytest
from support.fault_server import error, reply
from support.server import Answer, vectors
from support.told_rows import Told, shared_out

FIVE = [shared_out(f"item-{n}", n, 5, "zh" if n % 2 else "en") for n in range(1, 6)]
TRUE = {row.id: n / 5 for n, row in enumerate(FIVE, 1)}
LONG = [
    error(400, "This model's maximum context length is 4096 tokens, however you requested 5000.", code="context_length_exceeded"),
    error(400, "Range of input length should be [1, 30720]", code="InvalidParameter"),
    error(413, "Request entity too large"),
    error(400, "输入内容过长，超过模型上下文长度限制", code="1261"),
    error(500, "the request exceeds the available context size", code="exceed_context_size_error"),
    Answer(400, {"code": 20015, "message": "length of prompt_tokens (40000) must be less than max_seq_len (32768).", "data": None}),
    error(400, "请求的文本长度超过模型限制"),
    error(400, "input length too long"),
]


def backwards(call):
    """The earlier a row stands, the later its reply comes."""
    place = next(n for n, row in enumerate(FIVE) if call.about(row.id))
    return reply(call.good, after=0.03 * (5 - place))


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (4, 3, 2, 1, 0), (2, 4, 0, 3, 1)])
def test_h24_replies_in_reverse_order_reach_their_rows(lab, order):
    rows = [FIVE[i] for i in order]
    done = lab.evaluate(rows, backwards)
    assert {row["sample_id"]: row["value"] for row in done.scores} == TRUE
    assert [row["sample_id"] for row in done.scores] == [row.id for row in rows]


@pytest.mark.parametrize(
    ("refusal", "lost"), list(zip(LONG, ["item-2", "item-1", "item-5", "item-2", "item-3"] + ["item-4"] * 3, strict=True)), ids=range(8)
)
def test_h24_one_row_too_long_leaves_the_others_theirs(lab, refusal, lost):
    done = lab.evaluate(FIVE, lambda call: refusal if call.about(lost) else None)
    assert {row.id: done.cell(row.id) for row in FIVE} == {**TRUE, lost: "too_long"}
    assert sum(call.about(lost) for call in done.server.calls) == 1, "waiting does not make it shorter"
    assert done.code == 1


@pytest.mark.parametrize("lost", ["item-1", "item-3", "item-5"])
@pytest.mark.parametrize("refusal", LONG, ids=range(8))
def test_h24_one_text_too_long_for_the_embedder_leaves_the_others_theirs(lab, refusal, lost):
    """Rows share a request for vectors; replies come last first, and with their rows turned around."""
    metric, truth = "answer_relevancy", {row.id: n / 10 for n, row in enumerate(FIVE, 1)}

    def questions(call):
        name = next(row.id for row in FIVE if call.about(row.id))
        return reply({"questions": [{"question": f"{name}?", "noncommittal": False}] * 3}, after=backwards(call).after)

    def embed(seen):
        if f"{lost}?" in seen.body["input"]:
            return refusal
        cosines = [truth.get(text.rstrip("?"), 1.0) for text in seen.body["input"]]
        rows = [[c, (1 - c * c) ** 0.5] for c in cosines]
        return vectors(*rows[::-1], indices=list(range(len(rows)))[::-1])

    done = lab.evaluate(FIVE, questions, metrics=metric, embed=embed)
    told = {row.id: done.cell(row.id, metric) for row in FIVE}
    assert told == {name: pytest.approx(value, abs=1e-6) for name, value in truth.items()} | {lost: "too_long"}


def test_h24_reverse_order_and_a_lost_row_together(lab):
    done = lab.evaluate(FIVE, lambda call: LONG[0] if call.about("item-2") else backwards(call), "--concurrency", "3")
    assert {row.id: done.cell(row.id) for row in FIVE} == {**TRUE, "item-2": "too_long"}


def test_h24_concurrency_order_and_company_change_no_bit(lab):
    seen = {}
    for name, rows, flags, fault in (
        ("one", FIVE, ("--concurrency", "1"), None),
        ("many", FIVE[::-1], ("--concurrency", "32"), backwards),
    ):
        with lab.server(FIVE, fault) as server:
            done = lab.ask(server, lab.write(rows), *flags, metrics="all", out=name)
        seen[name] = sorted((done.folder / "scores.jsonl").read_bytes().splitlines())
    with lab.server(FIVE) as server:
        alone = lab.ask(server, lab.write(FIVE), out="alone")
    assert seen["one"] == seen["many"]
    assert set((alone.folder / "scores.jsonl").read_bytes().splitlines()) <= set(seen["one"])


def test_h24_a_row_whose_collection_failed_is_never_judged(lab):
    broken = Told({**FIVE[1].row, "error": "timeout"}, FIVE[1].truth)
    done = lab.evaluate([FIVE[0], broken, *FIVE[2:]], None, metrics="faithfulness,context_precision")
    assert {row.id: done.cell(row.id) for row in FIVE} == {**TRUE, "item-2": "collect:timeout"}
    assert not any(call.about("item-2") for call in done.server.calls)


def test_h24_rows_without_ids_get_stable_ones_from_the_question(lab):
    bare = [{name: value for name, value in row.row.items() if name != "id"} for row in FIVE]
    path = lab.folder / "bare.jsonl"
    ids = []
    for name, rows in (("once", bare), ("again", [{**row, "answer": row["answer"]} for row in bare[::-1]])):
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        with lab.server(FIVE) as server:
            done = lab.ask(server, path, out=name)
        ids.append({row["sample_id"]: row["value"] for row in done.scores})
    assert ids[0] == ids[1]
    assert sorted(ids[0].values()) == sorted(TRUE.values())


def test_h24_equal_questions_stay_apart(lab):
    rows = [FIVE[0], FIVE[3], FIVE[4]]
    same = [{**row.row, "question": "Which rules are there?"} for row in rows]
    for row in same:
        del row["id"]
    path = lab.folder / "same.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in same), encoding="utf-8")
    done = lab.evaluate(rows, None, source=path)
    ids = [row["sample_id"] for row in done.scores]
    assert (done.values(), ids[1:]) == ([0.2, 0.8, 1.0], [f"{ids[0]}-2", f"{ids[0]}-3"])
