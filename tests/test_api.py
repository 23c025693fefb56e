"""Runs through the Python door: single flight, resume, stops, repeats, failures as values."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any

import orjson
import pytest
from support.judges import Counting
from support.scores import reply_rows, score_rows

import ragstone
from ragstone.embed.scripted import ScriptedEmbedder
from ragstone.errors import AuthError, ConfigError, DataError, RunFolderError, StoppedError
from ragstone.judge.base import RawReply
from ragstone.judge.scripted import ScriptedJudge
from ragstone.questions.base import Question

GOLD = Path(str(files("ragstone").joinpath("gold")))
TRUTH = orjson.loads((GOLD / "truth.json").read_bytes())
ROWS: list[dict[str, Any]] = [orjson.loads(line) for line in (GOLD / "samples.jsonl").read_bytes().splitlines()]
SOME = [r for name in ("zh-list-1", "zh-emergency-2", "zh-contact-1", "en-list-1") for r in ROWS if r["id"] == name]
KINDS = {"split_claims", "check_claims", "rate_contexts", "match_claims", "invert_answer"}


def judge(answer: Any = None) -> Counting:
    return Counting(ScriptedJudge.from_dict(TRUTH), **({"answer": answer} if answer else {}))


def evaluate(rows: Iterable[dict[str, Any]] = SOME, counting: Counting | None = None, **settings: Any) -> ragstone.Run:
    return ragstone.evaluate(list(rows), judge=counting or judge(), embeddings=ScriptedEmbedder.from_dict(TRUTH), **settings)


@pytest.mark.parametrize(("lang", "told"), [("zh", 1), ("en", 0), (None, 0)])
def test_a_language_of_the_screen_that_a_call_cannot_set_is_told(lang: str | None, told: int) -> None:
    notices: list[str] = []
    evaluate(SOME[:1], metrics="faithfulness", on_notice=notices.append, **({"lang": lang} if lang else {}))
    assert [("RAGSTONE_LANG=zh" in notice) for notice in notices] == [True] * told


def failing(kind: str, word: str) -> Counting:
    return judge(lambda question, number: RawReply(error=word) if question.kind.name == kind else None)


# ------------------------------------------------------------------ asking
def test_at_most_seven_requests_a_sample_and_none_twice(tmp_path: Path) -> None:
    counting = judge()
    evaluate(counting=counting, out=tmp_path / "run")
    assert sum(counting.asked.values()) <= 7 * len(SOME)
    assert max(counting.asked.values()) == 1
    assert len(counting.bodies) == len(set(counting.bodies))
    assert set(counting.kinds) == KINDS
    assert counting.closed


def test_equal_rows_are_asked_once_whatever_the_concurrency(tmp_path: Path) -> None:
    row = {k: v for k, v in SOME[0].items() if k != "id"}
    twins = [{**row, "id": f"twin{i}"} for i in range(3)]
    for concurrency in (1, 16):
        counting = judge()
        evaluate(twins, counting, out=tmp_path / str(concurrency), concurrency=concurrency)
        assert max(counting.asked.values()) == 1
        shuffled_per_sample = counting.kinds.pop("rate_contexts")
        assert shuffled_per_sample <= 3
        assert sum(counting.kinds.values()) <= 6


def test_a_finished_run_is_not_summed_up_unless_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summed: list[ragstone.Run] = []
    monkeypatch.setattr(ragstone.Run, "__repr__", lambda run: summed.append(run) or "Run")
    evaluate(out=tmp_path / "run")
    assert not summed


def test_a_run_without_a_folder_keeps_everything_in_memory() -> None:
    run = evaluate()
    assert len(run.scores) == 5 * len(SOME)
    assert {s["id"] for s in run.samples} == {r["id"] for r in SOME}
    assert "judge scripted" in run.signature


def test_it_works_inside_a_running_event_loop() -> None:
    async def notebook() -> ragstone.Run:
        return evaluate(SOME[:1])

    assert len(asyncio.run(notebook()).scores) == 5


async def test_the_async_door() -> None:
    run = await ragstone.aevaluate(SOME[:1], judge=judge(), embeddings=ScriptedEmbedder.from_dict(TRUTH), metrics="faithfulness")
    assert [s.metric for s in run.scores] == ["faithfulness"]


def test_metric_objects_and_texts_name_their_scores(tmp_path: Path) -> None:
    run = evaluate(SOME[:1], metrics=[ragstone.AnswerCorrectness(weights=(1, 0)), "answer_relevancy(strictness=1)", "faithfulness"])
    assert {s.metric for s in run.scores} == {"answer_correctness(weights=[1,0])", "answer_relevancy(strictness=1)", "faithfulness"}


def test_repeats_are_asked_apart_and_stand_apart(tmp_path: Path) -> None:
    counting = judge()
    evaluate(SOME[:1], counting, out=tmp_path / "run", repeat=3, metrics="faithfulness")
    assert [r["repeat"] for r in score_rows(tmp_path / "run")] == [0, 1, 2]
    assert sum(counting.asked.values()) == 3 * 2


# ------------------------------------------------------------------ failures are values
@pytest.mark.parametrize(
    ("kind", "failed"),
    [
        ("check_claims", {"faithfulness", "context_recall"}),
        ("rate_contexts", {"context_precision"}),
        ("match_claims", {"answer_correctness"}),
        ("invert_answer", {"answer_relevancy"}),
        ("split_claims", {"faithfulness", "context_recall", "answer_correctness"}),
    ],
)
def test_a_failed_question_fails_only_the_cells_that_need_it(kind: str, failed: set[str], tmp_path: Path) -> None:
    evaluate([SOME[0]], failing(kind, "timeout"), out=tmp_path / "run")
    rows = {r["metric"]: r for r in score_rows(tmp_path / "run")}
    assert {m for m, r in rows.items() if r["status"] == "failed"} == failed
    assert {rows[m]["reason"] for m in failed} == {"timeout"}
    assert b"NaN" not in (tmp_path / "run/scores.jsonl").read_bytes()


def test_one_failed_row_never_changes_another(tmp_path: Path) -> None:
    evaluate(out=tmp_path / "good")
    bad = judge(lambda question, number: RawReply(error="server_error") if SOME[1]["answer"] in question.body.decode() else None)
    evaluate(counting=bad, out=tmp_path / "bad")
    good, spoiled = score_rows(tmp_path / "good"), score_rows(tmp_path / "bad")
    assert [r for r in good if r["sample_id"] != SOME[1]["id"]] == [r for r in spoiled if r["sample_id"] != SOME[1]["id"]]
    assert {r["status"] for r in spoiled if r["sample_id"] == SOME[1]["id"]} == {"failed", "ok"}


def test_a_reply_that_is_no_answer_is_asked_again_four_times_in_all(tmp_path: Path) -> None:
    sorry = judge(lambda question, number: RawReply(text="sorry") if question.kind.name == "rate_contexts" else None)
    evaluate([SOME[0]], sorry, out=tmp_path / "run")
    assert sorry.kinds["rate_contexts"] == 4
    (row,) = [r for r in score_rows(tmp_path / "run") if r["metric"] == "context_precision"]
    assert (row["status"], row["reason"], len(row["questions"])) == ("failed", "bad_reply", 4)
    kept = [r for r in reply_rows(tmp_path / "run") if r["kind"] == "rate_contexts"]
    assert [(r["raw"], r["parsed"], r["error"]) for r in kept] == [("sorry", None, "bad_reply")] * 4


# ------------------------------------------------------------------ resume
def test_running_again_asks_nothing_and_changes_nothing(tmp_path: Path) -> None:
    evaluate(out=tmp_path / "run")
    before = (tmp_path / "run/scores.jsonl").read_bytes()
    again = judge()
    evaluate(counting=again, out=tmp_path / "run")
    assert not again.asked
    assert (tmp_path / "run/scores.jsonl").read_bytes() == before


def test_new_metrics_use_what_is_held(tmp_path: Path) -> None:
    evaluate(out=tmp_path / "whole")
    evaluate(out=tmp_path / "run", metrics="faithfulness")
    added = judge()
    evaluate(counting=added, out=tmp_path / "run", metrics="answer_correctness,context_recall,context_precision,answer_relevancy")
    assert "split_claims" in added.kinds
    assert added.kinds["split_claims"] == len(SOME), "the answers' claims are held, only the references are split"
    whole = {orjson.dumps(r) for r in score_rows(tmp_path / "whole")}
    assert {orjson.dumps(r) for r in score_rows(tmp_path / "run")} == whole


def test_new_rows_are_added_and_kept_in_file_order(tmp_path: Path) -> None:
    evaluate(SOME[1:], out=tmp_path / "run")
    counting = judge()
    evaluate(SOME, counting, out=tmp_path / "run")
    assert sum(counting.asked.values()) <= 7
    assert [r["sample_id"] for r in score_rows(tmp_path / "run")][::5] == [r["id"] for r in SOME]


def test_a_row_whose_text_changed_is_asked_again_and_the_others_are_not(tmp_path: Path) -> None:
    evaluate(out=tmp_path / "run")
    changed = [{**SOME[0], "contexts": SOME[0]["contexts"][:1]}, *SOME[1:]]
    counting = judge()
    evaluate(changed, counting, out=tmp_path / "run")
    assert set(counting.kinds) == {"check_claims", "rate_contexts"}
    evaluate(changed, out=tmp_path / "fresh")
    assert (tmp_path / "run/scores.jsonl").read_bytes() == (tmp_path / "fresh/scores.jsonl").read_bytes()


def test_rows_that_are_gone_leave_the_run_and_their_replies_stay(tmp_path: Path) -> None:
    evaluate(out=tmp_path / "run")
    evaluate(SOME[:2], out=tmp_path / "run")
    assert {r["sample_id"] for r in score_rows(tmp_path / "run")} == {r["id"] for r in SOME[:2]}
    back = judge()
    evaluate(counting=back, out=tmp_path / "run")
    assert not back.asked


def test_failed_cells_stay_unless_they_are_asked_for(tmp_path: Path) -> None:
    evaluate(out=tmp_path / "whole")
    evaluate(counting=failing("match_claims", "timeout"), out=tmp_path / "run")
    idle = judge()
    evaluate(counting=idle, out=tmp_path / "run")
    assert not idle.asked
    retried = judge()
    evaluate(counting=retried, out=tmp_path / "run", retry_failed=True)
    assert set(retried.kinds) == {"match_claims"}
    assert (tmp_path / "run/scores.jsonl").read_bytes() == (tmp_path / "whole/scores.jsonl").read_bytes()


@pytest.mark.parametrize("reason", ["interrupted", "budget"])
def test_interrupted_and_budget_cells_are_always_asked_again(reason: str, tmp_path: Path) -> None:
    evaluate(counting=failing("match_claims", reason), out=tmp_path / "run")
    again = judge()
    evaluate(counting=again, out=tmp_path / "run")
    assert set(again.kinds) == {"match_claims"}


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"strictness": 1}, "answer_relevancy"),
        ({"language": "zh"}, "language"),
        ({"top_k": 2}, "top_k"),
        ({"precision_against": "answer"}, "context_precision"),
        ({"recall_points": "facts"}, "context_recall"),
    ],
)
def test_another_setup_is_refused_and_named_before_anything_is_asked(settings: dict[str, Any], named: str, tmp_path: Path) -> None:
    evaluate(out=tmp_path / "run")
    before = {p.name: p.read_bytes() for p in (tmp_path / "run").iterdir() if p.is_file()}
    counting = judge()
    with pytest.raises(RunFolderError, match=named):
        evaluate(counting=counting, out=tmp_path / "run", **settings)
    assert not counting.asked
    assert {p.name: p.read_bytes() for p in (tmp_path / "run").iterdir() if p.is_file()} == before


def test_force_sets_the_old_run_aside(tmp_path: Path) -> None:
    evaluate(out=tmp_path / "run")
    counting = judge()
    evaluate(counting=counting, out=tmp_path / "run", strictness=1, force=True)
    assert counting.asked
    assert len(list(tmp_path.iterdir())) == 2


def test_a_folder_that_is_no_run_is_refused_untouched(tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers/thesis.txt").write_text("mine")
    with pytest.raises(RunFolderError, match="thesis"):
        evaluate(out=tmp_path / "papers")
    assert [p.name for p in (tmp_path / "papers").iterdir()] == ["thesis.txt"]
    with pytest.raises(RunFolderError):
        evaluate(out=tmp_path / "papers/thesis.txt")


# ------------------------------------------------------------------ stopping
def test_a_refused_key_stops_the_run_and_what_was_finished_is_kept(tmp_path: Path) -> None:
    seen = 0

    def refuse(question: Question, number: int) -> RawReply | Exception | None:
        nonlocal seen
        seen += 1
        return AuthError("401") if seen > 12 else None

    counting = judge(refuse)
    with pytest.raises(AuthError):
        evaluate(ROWS, counting, out=tmp_path / "run", concurrency=4)
    assert counting.closed
    assert seen <= 12 + 3 * 4 * 5
    held = len(reply_rows(tmp_path / "run"))
    assert held >= 12
    assert orjson.loads((tmp_path / "run/manifest.json").read_bytes())["complete"] is False
    rest = judge()
    evaluate(ROWS, rest, out=tmp_path / "run")
    evaluate(ROWS, out=tmp_path / "whole")
    assert (tmp_path / "run/scores.jsonl").read_bytes() == (tmp_path / "whole/scores.jsonl").read_bytes()


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_in_order_with_exit_3_and_the_run_goes_on_later(sign: signal.Signals, tmp_path: Path) -> None:
    from support.truth_server import serving

    with serving(TRUTH, delay_s=0.05) as server:

        def fall_silent(_body: object) -> None:
            server.delay_s = 0.05 if len(server.chats) < 8 else 600  # however late the signal comes, the run has not ended

        server.instead = fall_silent
        command = [
            sys.executable,
            "-m",
            "ragstone",
            "evaluate",
            str(GOLD / "samples.jsonl"),
            "--out",
            str(tmp_path / "run"),
            "--concurrency",
            "2",
        ]
        process = subprocess.Popen(
            [*command, "--judge", "m", "--base-url", server.base_url],
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "RAGSTONE_LANG": "en"},
        )
        while len(server.chats) < 8:
            assert process.poll() is None, process.stderr and process.stderr.read()
            time.sleep(0.01)
        process.send_signal(sign)
        _, stderr = process.communicate(timeout=300)
        assert process.returncode == 3, stderr
        assert b"Traceback" not in stderr
        assert b"same command" in stderr
        held = len(reply_rows(tmp_path / "run"))
        assert held
        assert orjson.loads((tmp_path / "run/manifest.json").read_bytes())["counts"]["requests"] >= held - 1


# ------------------------------------------------------------------ mistakes
def test_there_is_no_default_judge() -> None:
    with pytest.raises(ConfigError, match="--judge local"):
        ragstone.evaluate(SOME)


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"metrics": "faithfullness"}, ConfigError, "faithfulness"),
        ({"concurency": 3}, ConfigError, "concurrency"),
        ({"preset": "ful"}, ConfigError, "full"),
        ({"concurrency": 0}, ConfigError, "concurrency"),
    ],
)
def test_mistakes_in_settings_are_named(settings: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        evaluate(**settings)


def test_a_named_metric_that_no_row_can_feed_is_refused_and_a_preset_leaves_it_out(tmp_path: Path) -> None:
    rows = [{"id": "1", "question": SOME[0]["question"], "answer": SOME[0]["answer"], "contexts": SOME[0]["contexts"]}]
    with pytest.raises(DataError, match="reference"):
        evaluate(rows, metrics="context_recall")
    heard: list[str] = []
    run = evaluate(rows, preset="full", out=tmp_path / "run", on_notice=heard.append)
    assert {s.metric for s in run.scores} == {"faithfulness", "answer_relevancy", "context_precision"}
    assert len([text for text in heard if "context_recall" in text]) == 1


def test_what_a_person_should_know_is_logged_as_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    row = {k: SOME[0][k] for k in ("id", "question", "answer", "contexts")}
    evaluate([row], metrics="faithfulness")
    assert caplog.messages == []
    evaluate([row], preset="full")
    assert any("answer_correctness" in message for message in caplog.messages)


def test_what_ended_a_run_is_told_and_not_what_follows_from_it(tmp_path: Path) -> None:
    def vanish(question: Question, number: int) -> None:
        shutil.rmtree(tmp_path / "run", ignore_errors=True)

    counting = judge(vanish)
    with pytest.raises(StoppedError, match="prompts: No such file"):
        evaluate(counting=counting, out=tmp_path / "run")
    assert counting.closed


@pytest.mark.parametrize("change", [b"garbage\n", b"", b'{"question": "another", "answer": "a", "contexts": ["c"]}\n'])
def test_a_source_that_changes_while_the_run_goes_on_changes_nothing(change: bytes, tmp_path: Path) -> None:
    source = tmp_path / "samples.jsonl"
    source.write_bytes(b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in ROWS))
    counting = judge(lambda question, number: source.write_bytes(change) and None)
    settings: dict[str, Any] = {"embeddings": ScriptedEmbedder.from_dict(TRUTH), "metrics": "faithfulness", "concurrency": 1}
    run = ragstone.evaluate(source, judge=counting, **settings)
    assert [s.sample_id for s in run.scores] == [row["id"] for row in ROWS]
    assert {s.status for s in run.scores} <= {"ok", "not_applicable"}


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"metrics": 5}, ConfigError, "5 is no metric"),
        ({"metrics": [None]}, ConfigError, "None is no metric"),
        ({"metrics": ""}, ConfigError, "no metric is named; there are: faithfulness"),
        ({"judge": 5}, ConfigError, "5 is no judge"),
        ({"embeddings": 5}, ConfigError, "5 is no embedder"),
        ({"samples": None}, DataError, "a list of rows is expected"),
        ({"samples": SOME[0]}, DataError, "one dict per row"),
        ({"samples": b"a,b"}, DataError, "a list of rows is expected"),
    ],
)
def test_misuse_is_answered_with_what_to_give_instead(given: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        ragstone.evaluate(**{"samples": SOME, "judge": judge(), "metrics": "faithfulness", **given})


def test_rows_may_come_from_a_generator() -> None:
    run = ragstone.evaluate((row for row in SOME), judge=judge(), metrics="faithfulness")
    assert len(run.scores) == len(SOME)


def test_a_judge_that_says_nothing_at_all_fails_its_cells_only() -> None:
    run = evaluate(
        counting=judge(lambda question, number: RawReply() if question.kind.name == "check_claims" else None), metrics="faithfulness"
    )
    assert {(s.status, s.reason) for s in run.scores if s.status == "failed"} == {("failed", "empty_reply")}


def test_verdicts_nobody_asked_for_are_ignored_and_noted(tmp_path: Path) -> None:
    extra = RawReply(
        text='{"verdicts":[{"id":1,"verdict":1},{"id":2,"verdict":0},{"id":3,"verdict":0},{"id":4,"verdict":0},{"id":99,"verdict":1}]}'
    )
    row = {k: SOME[0][k] for k in ("id", "question", "reference")} | {"contexts": ["a", "b", "c", "d"]}
    evaluate([row], judge(lambda question, number: extra), metrics="context_precision", out=tmp_path / "run")
    assert score_rows(tmp_path / "run")[0]["value"] == 1.0
    assert reply_rows(tmp_path / "run")[0]["notes"] == ["verdicts: unknown id 99"]


# ------------------------------------------------------------------ metrics that ask nobody
KEYWORDS = [{"question": "谁值班？", "answer": "王工。", "contexts": ["值班表：王工"], "reference_contexts": ["值班表", "电话"]}]


def test_a_metric_that_asks_nobody_needs_no_judge(tmp_path: Path) -> None:
    run = ragstone.evaluate(KEYWORDS, metrics="keyword_recall", out=tmp_path / "run")
    assert [(s.metric, s.value) for s in run.scores] == [("keyword_recall", 0.5)]
    assert "judge none | emb none" in run.signature
    assert run.notice is None
    assert reply_rows(tmp_path / "run") == []


def test_a_judge_that_is_never_asked_is_not_named_either() -> None:
    run = ragstone.evaluate(KEYWORDS, metrics=[ragstone.KeywordRecall()], judge="local")
    assert "judge none" in run.signature
    assert not run.smoke_test


@pytest.mark.parametrize("metrics", ["keyword_recall,faithfulness", None])
def test_beside_a_metric_that_asks_the_judge_is_needed(metrics: str | None) -> None:
    with pytest.raises(ConfigError, match="--judge"):
        ragstone.evaluate(KEYWORDS, metrics=metrics)


def test_judged_metrics_are_added_to_a_run_without_judge_and_the_other_way_round(tmp_path: Path) -> None:
    out = tmp_path / "run"
    ragstone.evaluate(KEYWORDS, metrics="keyword_recall", out=out)
    added = ragstone.evaluate(KEYWORDS, metrics="faithfulness", judge="local", out=out)
    again = ragstone.evaluate(KEYWORDS, metrics="keyword_recall", out=out, retry_failed=True)
    for run in (added, again):
        assert {(s.metric, s.status) for s in run.scores} == {("keyword_recall", "ok"), ("faithfulness", "ok")}
        assert "judge local | emb use-m3" in run.signature
        assert run.smoke_test
    with pytest.raises(RunFolderError):
        ragstone.evaluate(KEYWORDS, metrics="faithfulness", judge=judge(), out=out)


def test_changed_keywords_are_looked_up_again(tmp_path: Path) -> None:
    ragstone.evaluate(KEYWORDS, metrics="keyword_recall", out=tmp_path / "run")
    run = ragstone.evaluate([KEYWORDS[0] | {"reference_contexts": ["值班表"]}], metrics="keyword_recall", out=tmp_path / "run")
    assert [s.value for s in run.scores] == [1.0]


def test_a_metric_that_breaks_its_word_is_told_to_its_author() -> None:
    class Sly(ragstone.Faithfulness):
        judged = False

    with pytest.raises(ConfigError, match="judged"):
        ragstone.evaluate(KEYWORDS, metrics=[Sly()])


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_what_a_program_does_on_sigterm_is_as_before_when_a_call_returns():
    from ragstone.api import run_sync

    async def nothing() -> int:
        return 1

    def own(*_: object) -> None:
        pass

    before = signal.signal(signal.SIGTERM, own)
    try:
        assert run_sync(nothing()) == 1
        assert signal.getsignal(signal.SIGTERM) is own
    finally:
        signal.signal(signal.SIGTERM, before)
