"""Every reason a cell may fail for, made to happen: it is counted, listed with what came back, and asked again alone."""

from dataclasses import dataclass

import orjson
import pytest
from support.fault_server import error, reply
from support.server import CUT, DROP, HANG, Answer, say, vectors
from support.told_rows import shared_out

ROWS = [shared_out("keep-1", 2, 2), shared_out("lost", 2, 2, "zh"), shared_out("keep-2", 2, 2), shared_out("keep-3", 2, 2, "zh")]
ONCE = ("--retries", "0")


def on(kind, answer):
    """A fault that one kind of question about one row always meets; `answer` may be made from the call."""
    return lambda call: (answer(call) if callable(answer) else answer) if call.kind == kind and call.about("lost") else None


def embedding(**bad):
    """An embeddings endpoint that goes wrong for texts of one row."""

    def embed(seen):
        texts = seen.body["input"]
        if bad["mode"] == "missing" and any("lost" in text for text in texts):
            kept = [i for i, text in enumerate(texts) if "lost" not in text]
            return vectors(*([1.0, 0.0] for _ in kept), indices=kept)
        return vectors(*(bad["vector"] if "lost" in text else [1.0, 0.0] for text in texts))

    return embed


@dataclass(frozen=True)
class Case:
    """A reason, what brings it about, and what `show --failed` must say of it."""

    reason: str
    fault: object = None
    said: str = ""
    metric: str = "faithfulness"
    flags: tuple[str, ...] = ()
    embed: object = None
    again: tuple[str, ...] = ("check_claims",)
    """The kinds of the requests that --retry-failed sends."""


CHECK = "check_claims"
CASES = [
    Case("timeout", on(CHECK, HANG), "within 5 s", flags=(*ONCE, "--timeout", "5")),
    Case("rate_limited", on(CHECK, error(429, "slow down, please")), "slow down, please", flags=ONCE),
    Case("server_error", on(CHECK, error(500, "the GPU is on fire")), "the GPU is on fire", flags=ONCE),
    Case("bad_gateway", on(CHECK, Answer(502, b"<html><title>Nobody home</title></html>")), "Nobody home", flags=ONCE),
    Case("bad_gateway", on(CHECK, error(504, "upstream is asleep")), "upstream is asleep", flags=ONCE),
    Case("connection", on(CHECK, DROP), "connection", flags=ONCE),
    Case("connection", on(CHECK, CUT), "connection", flags=ONCE),
    Case("empty_reply", on(CHECK, say("  ")), "empty_reply", flags=ONCE),
    Case("bad_reply", on(CHECK, reply("Ich kann das nicht beurteilen.")), "Ich kann das nicht beurteilen."),
    Case("truncated", on(CHECK, lambda call: reply(call.good[:20], finish="length")), "truncated"),
    Case("too_long", on(CHECK, error(400, "maximum context length is 8 tokens", "context_length_exceeded")), "maximum context length is 8"),
    Case("blocked", on(CHECK, error(400, "您的输入包含敏感内容", "content_filter")), "您的输入包含敏感内容"),
    Case(
        "verdicts 1/2", on(CHECK, lambda call: reply({"verdicts": [v for v in call.parsed["verdicts"] if v["id"] == 1]})), '"verdicts":[]'
    ),
    Case(
        "no_questions",
        on("invert_answer", reply({"questions": [{"question": " ", "noncommittal": False}] * 3})),
        "invert_answer",
        metric="answer_relevancy",
        again=("invert_answer",),
    ),
    Case("embedding_missing", metric="answer_relevancy", embed=embedding(mode="missing"), said="embedding_missing", again=()),
    Case("embedding_zero", metric="answer_relevancy", embed=embedding(mode="v", vector=[0.0, 0.0]), said="embedding_zero", again=()),
    Case(
        "embedding_dimension", metric="answer_relevancy", embed=embedding(mode="v", vector=[1.0] * 3), said="embedding_dimension", again=()
    ),
]
IDS = [f"{case.reason}-{n}" for n, case in enumerate(CASES)]


def listed(lab, folder, lang):
    code, out, err = lab.command(["show", str(folder), "--failed"], lang=lang)
    assert (code, err) == (0, "")
    return out


def shown(lab, folder):
    code, out, _ = lab.command(["show", str(folder), "--json", "--failed"])
    assert code == 0
    return orjson.loads(out)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_reason_is_counted_listed_and_asked_again_alone(lab, case):
    more = {"embed": case.embed} if case.embed else {}
    with lab.server(ROWS, case.fault, **more) as server:
        done = lab.ask(server, lab.write(ROWS), *case.flags, metrics=case.metric, cli=True)
        assert (done.code, done.cell("lost", case.metric)) == (1, case.reason)
        assert [done.cell(f"keep-{n}", case.metric) for n in (1, 2, 3)] == [1.0] * 3
        assert f"{case.reason} 1" in done.out
        hold_shown(lab, done.folder, case)

        before = len(server.seen)
        lab.ask(server, lab.folder / "samples.jsonl", metrics=case.metric)
        assert len(server.seen) == before, "failed cells stay unless they are asked for"

        server.fault, server.embeddings = None, server._embed
        calls, embedded = len(server.calls), len(server.asked("embeddings"))
        again = lab.ask(server, lab.folder / "samples.jsonl", "--retry-failed", metrics=case.metric)
        assert tuple(call.kind for call in server.calls[calls:]) == case.again
        assert all(call.about("lost") for call in server.calls[calls:])
        asked = [text for seen in server.asked("embeddings")[embedded:] for text in seen.body["input"]]
        assert all("lost" in text for text in asked)
        assert case.again or asked
    assert (again.code, again.values(case.metric)) == (0, [1.0] * 4)
    assert "failed_cells" in shown(lab, again.folder)
    assert shown(lab, again.folder)["failed_cells"] == []


def hold_shown(lab, folder, case):
    """The reason in the table and the list, in both languages, and in the document."""
    for lang in ("en", "zh"):
        out = listed(lab, folder, lang)
        assert f"{case.reason} 1" in out, "counted in the table"
        tail = out.partition("Failed cells (1)" if lang == "en" else "失败的项（1 个）")[2]
        assert f"{case.reason} (1)" in tail or f"{case.reason}（1）" in tail
        assert "  lost · " in tail
        assert "  → " in tail
        assert case.said in tail.replace("\n     ", ""), tail
    document = shown(lab, folder)
    assert [m["reasons"] for m in document["metrics"]] == [{case.reason: 1}]
    (cell,) = document["failed_cells"]
    assert (cell["sample_id"], cell["metric"], cell["reason"]) == ("lost", case.metric, case.reason)


def test_a_row_that_was_not_collected_is_counted_and_never_asked(lab):
    rows = [*ROWS[2:], ROWS[1].but(error="HTTP 504", answer=None, contexts=None)]
    with lab.server(rows) as server:
        done = lab.ask(server, lab.write(rows), cli=True)
        assert (done.code, done.server.calls and done.cell("lost")) == (1, done.row("lost")["reason"])
        reason = done.row("lost")["reason"]
        assert reason.startswith("collect:")
        before = len(server.calls)
        lab.ask(server, lab.folder / "samples.jsonl", "--retry-failed")
        assert len(server.calls) == before
    assert not any(call.about("lost") for call in done.server.calls)
    assert shown(lab, done.folder)["metrics"][0]["reasons"] == {reason: 1}
    for lang in ("en", "zh"):
        assert "  lost · " in listed(lab, done.folder, lang)


def test_only_the_failed_cells_of_a_row_are_asked_again(lab):
    fault = on("match_claims", error(500, "x"))
    with lab.server(ROWS, fault) as server:
        lab.ask(server, lab.write(ROWS), *ONCE, metrics="all")
        server.fault, before, embedded = None, len(server.calls), len(server.asked("embeddings"))
        again = lab.ask(server, lab.folder / "samples.jsonl", "--retry-failed", metrics="all")
        assert [call.kind for call in server.calls[before:]] == ["match_claims"]
        assert len(server.asked("embeddings")) == embedded
    assert again.code == 0


def test_what_fails_again_keeps_its_new_reason(lab):
    with lab.server(ROWS, on(CHECK, error(500, "x"))) as server:
        lab.ask(server, lab.write(ROWS), *ONCE)
        server.fault = on(CHECK, error(400, "flagged", "content_filter"))
        again = lab.ask(server, lab.folder / "samples.jsonl", *ONCE, "--retry-failed")
    assert (again.code, again.cell("lost")) == (1, "blocked")
    assert shown(lab, again.folder)["metrics"][0]["reasons"] == {"blocked": 1}


# ------------------------------------------------------------------ the limit
@pytest.mark.parametrize(
    ("good", "bad", "limit", "code"),
    [(3, 1, "0.75", 0), (3, 1, "0.7501", 1), (3, 1, "0", 0), (3, 1, "1", 1), (4, 0, "1", 0), (19, 1, None, 0), (18, 1, None, 1)],
)
def test_coverage_at_the_limit_is_enough(lab, good, bad, limit, code):
    rows = [shared_out(f"{'lost' if n < bad else 'keep'}-{n:02}", 1, 1) for n in range(good + bad)]
    flags = ("--min-coverage", limit) if limit is not None else ()
    done = lab.evaluate(rows, on(CHECK, error(500, "x")), *ONCE, *flags, cli=True)
    assert done.code == code
    assert ("faithfulness" in done.err.splitlines()[-1]) == bool(code)


def test_a_metric_that_applies_to_no_row_has_no_coverage_and_fails_nothing(lab):
    def refusals(call):
        return reply({"claims": []}) if call.kind == "split_claims" else None

    done = lab.evaluate(ROWS, refusals, "--min-coverage", "1", cli=True)
    assert done.code == 0
    (metric,) = shown(lab, done.folder)["metrics"]
    assert (metric["coverage"], metric["n"], metric["not_applicable"], metric["reasons"]) == (None, 0, 4, {"no_claims": 4})


def test_only_the_metrics_below_the_limit_are_named(lab):
    done = lab.evaluate(ROWS, on("rate_contexts", error(500, "x")), *ONCE, metrics="all", cli=True)
    assert done.code == 1
    last = done.err.splitlines()[-1]
    assert "context_precision" in last
    assert not any(name in last for name in ("faithfulness", "answer_relevancy", "context_recall", "answer_correctness"))
