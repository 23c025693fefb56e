"""H01 and H02: cells that failed are shown as such; they are no zeros, they do not vanish, they spoil nobody else's number."""

import json

import pytest
from support.fault_server import error, reply
from support.server import DROP, Answer, say
from support.told_rows import EN, FOUR, ZH, shared_out

QUICK = ("--retries", "0")


def ten(language):
    """Rows 1 to 6 wholly supported, 7 to 10 by half: the true mean is 0.8."""
    return [shared_out(f"no-{n:02}", 2 if n <= 6 else 1, 2, language) for n in range(1, 11)]


def last_four(answer):
    return lambda call: answer if call.about("no-07", "no-08", "no-09", "no-10") else None


@pytest.mark.parametrize(
    ("answer", "word", "language"),
    [
        (error(500, "internal error"), "server_error", "en"),
        (error(500, "internal error"), "server_error", "zh"),
        (error(503, "upstream"), "bad_gateway", "en"),
        (Answer(502, b"<html><head><title>502 Bad Gateway</title></head></html>"), "bad_gateway", "zh"),
        (error(400, "The response was filtered", code="content_filter"), "blocked", "zh"),
        (error(429, "slow down"), "rate_limited", "en"),
        (DROP, "connection", "zh"),
    ],
)
def test_h01_the_mean_stands_beside_n_coverage_and_bounds(lab, language, answer, word):
    done = lab.evaluate(ten(language), last_four(answer), *QUICK, cli=word == "server_error")
    (shown,) = lab.summary(done).values()
    assert (shown["mean"], shown["n"], shown["total"], shown["failed"], shown["coverage"]) == (1.0, 6, 10, 4, 0.6)
    assert shown["bounds"] == {"low": pytest.approx(0.6), "high": 1.0}
    assert shown["reasons"] == {word: 4}
    assert [row["reason"] for row in done.scores] == [None] * 6 + [word] * 4
    assert done.code == 1
    assert "6/10" in done.out
    assert "60.0%" in done.out
    assert "0.600–1.000" in done.out
    assert f"{word} 4" in done.out
    assert word != "server_error" or "faithfulness" in done.err.splitlines()[-1]


@pytest.mark.parametrize(("limit", "code"), [("0.6", 0), ("0.61", 1), ("0", 0)], ids=lambda value: str(value))
def test_h01_the_coverage_limit_decides_the_exit_code(lab, limit, code):
    assert lab.evaluate(ten("en"), last_four(error(500, "x")), *QUICK, "--min-coverage", limit).code == code


def test_h01_the_honest_mean_comes_once_the_judge_answers(lab):
    rows = ten("zh")
    with lab.server(rows, last_four(error(500, "x"))) as server:
        assert lab.ask(server, lab.write(rows), *QUICK).code == 1
        server.fault, before = None, len(server.calls)
        again = lab.ask(server, lab.write(rows), "--retry-failed")
    assert (again.code, lab.summary(again)["faithfulness"]["mean"]) == (0, pytest.approx(0.8))
    assert all(call.about("no-07", "no-08", "no-09", "no-10") for call in server.calls[before:])


def test_h01_all_failed_has_no_mean_and_is_not_covered(lab):
    done = lab.evaluate(ten("en"), lambda call: error(500, "x") if call.kind == "check_claims" else None, *QUICK)
    (shown,) = lab.summary(done).values()
    assert (shown["mean"], shown["n"], shown["coverage"], shown["bounds"]) == (None, 0, 0.0, {"low": 0.0, "high": 1.0})
    assert done.code == 1


@pytest.mark.parametrize("flags", [QUICK, ("--retries", "1")], ids=["no repeat", "one repeat"])
def test_h01_an_endpoint_that_never_answered_anything_stops_the_run(lab, flags):
    done = lab.evaluate(ten("en"), lambda call: error(500, "the GPU is on fire"), *flags, finished=False)
    assert done.code == 3
    for word in (done.server.url, "HTTP 500: the GPU is on fire", "[judge] base_url (--base-url)"):
        assert word in done.err
    assert len(done.server.calls) <= 22


@pytest.mark.parametrize("concurrency", ["2", "16"])
@pytest.mark.parametrize("answer", [error(500, "x"), DROP, error(429, "slow down")], ids=["500", "drop", "429"])
def test_h01_the_first_rows_may_be_the_only_bad_ones(lab, answer, concurrency):
    bad = ("no-01", "no-02", "no-03", "no-04")
    done = lab.evaluate(ten("zh"), lambda call: answer if call.about(*bad) else None, *QUICK, "--concurrency", concurrency)
    assert [row["status"] for row in done.scores] == ["failed"] * 4 + ["ok"] * 6


@pytest.mark.parametrize("kind", ["invert_answer", "rate_contexts", "match_claims"])
def test_h01_only_the_metrics_that_need_the_failed_request_lose_the_cell(lab, kind):
    metric = {"invert_answer": "answer_relevancy", "rate_contexts": "context_precision", "match_claims": "answer_correctness"}[kind]
    done = lab.evaluate(
        FOUR, lambda call: error(500, "x") if call.kind == kind and call.about("VPN", "token") else None, *QUICK, metrics="all"
    )
    lost = [(row["sample_id"], row["metric"]) for row in done.scores if row["status"] != "ok"]
    assert lost == [("zh-en-vpn", metric)]


def test_h01_a_text_request_shows_the_failed_cells_with_the_endpoints_words(lab):
    done = lab.evaluate(ten("en"), last_four(error(500, "the GPU is on fire")), *QUICK)
    code, out, _ = lab.command(["show", str(done.folder), "--failed"])
    assert code == 0
    assert out.count("server_error") >= 4
    assert "the GPU is on fire" in out


# ------------------------------------------------------------------ H02
SORRY = ["sorry", "对不起，我无法完成这项任务。", "I am sorry, but as a language model I cannot judge this.", "0", "null", "{}"]
SORRY += ['{"error": "sorry"}', "NaN", '"supported"', "yes", "{'verdicts': [}"]


@pytest.mark.parametrize("base", [EN, ZH], ids=["en", "zh"])
def test_h02_a_judge_that_only_says_sorry_measures_nothing(lab, base):
    middle = [shared_out(f"middle-{n:02}-", 1, 2) for n in range(len(SORRY))]
    words = dict(zip((row.id for row in middle), SORRY, strict=True))
    rows = [base, *middle, shared_out("last", 2, 2, "zh")]

    def fault(call):
        return next((reply(text) for id, text in words.items() if call.about(id)), None)

    done = lab.evaluate(rows, fault, metrics="all")
    for metric, shown in lab.summary(done).items():
        assert {text: done.cell(id, metric) for id, text in words.items()} == dict.fromkeys(SORRY, "bad_reply"), metric
        assert (shown["n"], shown["failed"]) == (2, len(SORRY))
        assert shown["mean"] == sum(done.cell(id, metric) for id in (base.id, "last")) / 2
    assert done.code == 1


def test_h02_a_bad_reply_is_asked_again_shown_and_kept(lab):
    done = lab.evaluate([EN, ZH], lambda call: reply("sorry") if call.about("Pinebrook", "locker", "Locker") else None)
    asked = [call for call in done.server.calls if call.about("Pinebrook")]
    assert len(asked) == 4
    assert [call.input.get("previous_reply") for call in asked] == [None, "sorry", "sorry", "sorry"]
    assert len({call.seen.user for call in asked}) == 4, "no request twice"
    assert [row["raw"] for row in done.replies if row["error"] == "bad_reply"] == ["sorry"] * 4


@pytest.mark.parametrize("bad", [1, 2, 3])
def test_h02_a_judge_that_comes_round_is_taken_at_its_word(lab, bad):
    seen = []

    def fault(call):
        if call.kind == "check_claims" and len(seen) < bad:
            seen.append(call)
            return reply("sorry")
        return None

    done = lab.evaluate([ZH], fault)
    assert (done.code, done.values()) == (0, [1.0])


@pytest.mark.parametrize("body", [{"choices": []}, {"choices": [{"message": None, "finish_reason": "stop"}]}, {"choices": None}])
def test_h02_a_reply_without_a_choice_is_no_zero(lab, body):
    done = lab.evaluate([EN, ZH], lambda call: Answer(body=body) if call.about("locker", "Locker") else None, *QUICK)
    assert done.values() == ["empty_reply", 1.0]


def test_h02_a_blank_reply_is_asked_once_more(lab):
    done = lab.evaluate([EN, ZH], lambda call: say("  \n") if call.nth == 0 else None)
    assert (done.code, done.values()) == (0, [1.0, 1.0])


def test_h02_the_other_rows_are_the_same_to_the_bit_whoever_fails(lab):
    rows = [shared_out(f"r{n}", n, 3, "zh") for n in range(4)]
    whole = lab.evaluate(rows, None)
    kept = {row["sample_id"]: json.dumps(row) for row in whole.scores}
    for lost in ("r0", "r3"):
        with lab.server(rows, lambda call, lost=lost: reply("sorry") if call.about(lost) else None) as server:
            done = lab.ask(server, lab.write(rows), out=lost)
        assert {row["sample_id"] for row in done.scores if json.dumps(row) != kept[row["sample_id"]]} == {lost}
