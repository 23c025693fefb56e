"""H07: whatever a judge has room for, the scores are those of a judge without limits, and what was judged in parts says so."""

import json

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.fault_server import FaultServer, error, reply
from support.server import Answer
from support.small_judge import DENIALS, SENTENCES, SmallJudge, long_row, reply_to, tokens
from support.told_rows import Told

import ragstone
from ragstone.embed.scripted import ScriptedEmbedder
from ragstone.replay import replay

METRICS = ["faithfulness", "answer_relevancy", "context_precision", "context_recall", "answer_correctness"]
PLANS = ("separate", "joint", "per-context")
LANGUAGES = ("zh", "en")


def told(cell):
    """What a cell measured: the score, and every claim with its verdict and evidence."""
    lines = [(v["kind"], v["id"], v["text"], v["verdict"], tuple(v.get("evidence") or ()), v.get("anchor")) for v in cell["verdicts"]]
    return cell["value"], cell["reason"], lines


def inside(judge, rows, plan="separate", **more):
    """Evaluate in this process."""
    texts = {text: [1.0, 0.2 * n] for n, row in enumerate(rows) for text in (row["question"], row["answer"], row["reference"])}
    asked_back = {f"第{n}问？": [0.5, 1.0 + n] for n in range(3)}
    embedder = ScriptedEmbedder.from_dict({"vectors": texts | asked_back})
    run = ragstone.evaluate(rows, metrics=METRICS, judge=judge, embeddings=embedder, plan=plan, on_notice=lambda _: None, **more)
    return {(score.sample_id, score.metric): score.to_dict() for score in run.scores}


def same(found, wanted):
    assert found.keys() == wanted.keys()
    for cell, row in found.items():
        assert told(row) == told(wanted[cell]), cell


ROWS = [long_row("zh"), long_row("en")]
WHOLE = {plan: inside(SmallJudge(), ROWS, plan) for plan in PLANS}


def test_the_row_is_as_long_as_the_case_says():
    row = ROWS[0]
    assert 2500 <= len(row["reference"]) <= 2900
    whole = reply_to("split_claims", {"of": "reference", "question": "", "text": row["reference"]})
    assert tokens(whole) > 3000
    values = [WHOLE["separate"][row["id"], metric]["value"] for metric in METRICS]
    assert all(0 < value < 1 for value in values), "each metric has something to lose"
    assert len(WHOLE["separate"][row["id"], "context_recall"]["verdicts"]) == 60
    assert {v["verdict"] for v in WHOLE["separate"][row["id"], "faithfulness"]["verdicts"]} == {"supported", "contradicted", "not_found"}


# ------------------------------------------------------------------ replies of so many tokens
@pytest.mark.parametrize(("plan", "largest"), [*((plan, None) for plan in PLANS), ("separate", 1024)])
def test_h07_sixty_sentences_against_1024_tokens(lab, plan, largest):
    """A larger limit does nothing, or is refused."""
    judge = SmallJudge(output=1024, largest=largest)
    rows = [Told(row, {}) for row in ROWS]
    small = lab.evaluate(rows, judge, "--plan", plan, metrics="all")
    with lab.server(rows, SmallJudge()) as server:
        large = lab.ask(server, lab.write(rows), "--plan", plan, metrics="all", out="large")
    same({(row["sample_id"], row["metric"]): row for row in small.scores}, {(row["sample_id"], row["metric"]): row for row in large.scores})
    assert judge.cut
    assert "in_parts" in small.row(ROWS[0]["id"], "context_recall")["detail"]
    assert not any("in_parts" in row["detail"] for row in large.scores)
    assert replay(small.folder).changed == []


@pytest.mark.parametrize(("limit", "plan"), [(512, "separate"), (512, "joint"), (256, "joint"), (256, "per-context")])
def test_h07_smaller_limits_too(plan, limit):
    judge = SmallJudge(output=limit)
    same(inside(judge, ROWS, plan), WHOLE[plan])
    assert judge.cut


ITEM = max(
    *(tokens(reply_to("split_claims", {"text": DENIALS[0] + text.format(n=60)})) for text in SENTENCES.values()),
    tokens(reply_to("match_claims", {"answer_claims": [{"id": 60, "text": "x"}], "reference_claims": [{"id": 60, "text": "x"}]})),
    tokens(reply_to("check_claims", {"contexts": [{"id": n, "text": "x"} for n in range(1, 7)], "claims": [{"id": 60, "text": "x"}]})),
    tokens(reply_to("invert_answer", {"answer": "x", "count": 3})),
)
"""Tokens of the largest reply about a single claim or context."""


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(ITEM + 16, 1500), st.integers(1, 40), st.sampled_from(LANGUAGES), st.sampled_from(PLANS))
def test_h07_any_limit_that_fits_one_item_gives_the_same_scores(limit, count, language, plan):
    rows = [long_row(language, count)]
    same(inside(SmallJudge(output=limit), rows, plan), inside(SmallJudge(), rows, plan))


def test_h07_what_is_in_vain_is_little():
    """Of 60 claims on each side: the parts that fit, and for each group one branch of halvings that did not."""
    for plan, most in (("separate", 40), ("joint", 36)):
        judge = SmallJudge(output=1024)
        inside(judge, ROWS[:1], plan)
        assert len(judge.asked) <= most
        assert judge.cut <= len(judge.asked) / 3


def test_h07_a_sentence_that_never_fits_ends_soon():
    judge = SmallJudge(output=5)
    found = inside(judge, ROWS[:1])
    assert {cell["reason"] for (_, metric), cell in found.items()} == {"truncated"}
    assert len(judge.asked) < 40


# ------------------------------------------------------------------ prompts of so many tokens
WORDINGS = {
    "openai": lambda most: error(400, f"This model's maximum context length is {most} tokens.", "context_length_exceeded"),
    "llama.cpp 400": lambda most: error(400, "request (9999 tokens) exceeds the available context size, try increasing it", None),
    "llama.cpp 500": lambda most: Answer(
        500, {"error": {"code": 500, "message": "the request exceeds the available context size.", "type": "exceed_context_size_error"}}
    ),
    "zh": lambda most: error(400, "输入过长，超出模型上下文长度"),
    "413": lambda most: Answer(413, b"Request Entity Too Large"),
    "dashscope": lambda most: Answer(400, {"code": "InvalidParameter", "message": "Range of input length should be [1, 30720]"}),
}


@pytest.mark.parametrize("wording", WORDINGS)
def test_h07_a_prompt_too_long_is_judged_in_parts_whatever_the_wording(lab, wording):
    rows = [Told(long_row("zh", 24), {}), Told(long_row("en", 3), {})]
    judge = SmallJudge(window=2000, refuse=WORDINGS[wording])
    small = lab.evaluate(rows, judge, metrics="all")
    with lab.server(rows, SmallJudge()) as server:
        large = lab.ask(server, lab.write(rows), metrics="all", out="large")
    same({(row["sample_id"], row["metric"]): row for row in small.scores}, {(row["sample_id"], row["metric"]): row for row in large.scores})
    assert judge.refused
    assert {row["sample_id"] for row in small.scores if "in_parts" in row["detail"]} == {"zh-24"}, "the short row was asked whole"


@pytest.mark.parametrize(("window", "plan"), [(4000, "separate"), (4000, "per-context"), (3600, "joint")])
def test_h07_a_prompt_too_long_loses_nothing(plan, window):
    judge = SmallJudge(window=window)
    same(inside(judge, ROWS, plan), WHOLE[plan])
    assert judge.refused


@pytest.mark.parametrize("plan", PLANS)
def test_h07_only_the_hopeless_cells_fail(plan):
    """The yardstick and the answer cannot be cut: precision and relevancy fail alone, for the reason that holds."""
    found = inside(SmallJudge(window=1500), ROWS[:1], plan)
    for metric in METRICS:
        cell, wanted = found[ROWS[0]["id"], metric], WHOLE[plan][ROWS[0]["id"], metric]
        if metric in ("context_precision", "answer_relevancy"):
            assert (cell["status"], cell["reason"]) == ("failed", "too_long")
            assert "in_parts" not in cell["detail"]
        else:
            assert told(cell) == told(wanted)


def test_h07_one_context_too_long_by_itself_is_cut_and_keeps_its_id():
    row = long_row("zh", 12)
    row["contexts"] = ["".join(SENTENCES["zh"].format(n=n) for n in range(1, 200)), "食堂的安排。", *row["contexts"]]
    judge = SmallJudge(window=3000)
    same(inside(judge, [row]), inside(SmallJudge(), [row]))
    found = inside(SmallJudge(window=3000), [row])
    assert found[row["id"], "faithfulness"]["detail"]["in_parts"] == ["check_claims"]
    assert found[row["id"], "context_precision"]["detail"]["in_parts"] == ["rate_contexts"]
    assert "in_parts" not in found[row["id"], "answer_relevancy"]["detail"]


@settings(max_examples=10, deadline=None)
@given(st.integers(1700, 6000), st.integers(1, 16), st.sampled_from(LANGUAGES), st.sampled_from(PLANS), st.integers(0, 120))
def test_h07_any_window_that_fits_the_yardstick_gives_the_same_scores(window, count, language, plan, more):
    row = long_row(language, count)
    row["contexts"][1] = "".join(SENTENCES[language].format(n=n) for n in range(1, more + 1)) + row["contexts"][1]
    same(inside(SmallJudge(window=window), [row], plan), inside(SmallJudge(), [row], plan))


def test_h07_a_hopeless_window_ends_soon():
    judge = SmallJudge(window=100)
    found = inside(judge, ROWS[:1])
    assert {cell["reason"] for cell in found.values()} == {"too_long"}
    assert len(judge.asked) < 40


# ------------------------------------------------------------------ both, and the telling of it
def test_h07_cut_and_too_long_at_once(lab):
    judge = SmallJudge(output=400, window=3600)
    same(inside(judge, ROWS), WHOLE["separate"])
    assert judge.cut
    assert judge.refused


def test_h07_the_run_says_how_many_cells_were_judged_in_parts(lab):
    rows = [Told(long_row("zh", 24), {}), Told(long_row("en", 2), {})]
    path = lab.write(rows)
    with lab.server(rows, SmallJudge(output=400)) as server:
        done = lab.ask(server, path, metrics="all", cli=True)
    count = sum("in_parts" in row["detail"] for row in done.scores)
    assert 0 < count < len(done.scores)
    assert f"! {count} cells did not fit into one request" in done.out
    assert f"有 {count} 项一次请求放不下" in lab.command(["show", str(done.folder)], lang="zh")[1]
    page = lab.command(["show", str(done.folder), "zh-24"], lang="zh")[1]
    assert "一次请求放不下，已分段评判：" in page
    assert "split_claims" in page


def test_h07_a_run_resumed_in_the_middle_says_the_same(lab):
    rows = [Told(long_row("zh", 24), {})]
    path = lab.write(rows)
    with lab.server(rows, SmallJudge(output=400)) as server:
        first = lab.ask(server, path, metrics="all", out="first")
        second = lab.ask(server, path, metrics="faithfulness", out="second")
        again = lab.ask(server, path, metrics="all", out="second")
    by_cell = [{(r["sample_id"], r["metric"]): r for r in run.scores} for run in (first, again)]
    assert by_cell[0] == by_cell[1]
    assert orjson.dumps(second.scores[0]) == orjson.dumps(by_cell[0]["zh-24", "faithfulness"])


@pytest.mark.parametrize("word", ["truncated", "too_long"])
def test_h07_a_joint_request_asked_again_for_what_was_missing_may_not_fit_either(lab, word):
    """The second ask carries more than the first did; what it could not get is asked for by the separate kinds."""
    rows = [Told(long_row("zh", 6), {})]

    def fault(call):
        good = json.loads(reply_to(call.kind, call.input))
        if call.kind != "check_all":
            return reply(good)
        if "problem" not in call.input:
            return reply({**good, "claims": good["claims"][:-1]})
        return reply("{", finish="length") if word == "truncated" else WORDINGS["openai"](9)

    done = lab.evaluate(rows, fault, "--plan", "joint", metrics="all")
    same({(r["sample_id"], r["metric"]): r for r in done.scores}, served(rows))
    assert done.row("zh-6")["detail"]["in_parts"] == ["check_all"]


def served(rows):
    """The scores of a judge without limits on a socket."""
    with FaultServer({}, SmallJudge()) as server:
        judge = {"judge": "m", "base_url": server.url, "embeddings": "e", "no_cache": True}
        run = ragstone.evaluate([row.row for row in rows], metrics=METRICS, on_notice=lambda _: None, **judge)
    return {(score.sample_id, score.metric): score.to_dict() for score in run.scores}
