import os
from importlib.resources import files
from pathlib import Path

import orjson
import pytest
from support.judges import Counting, Sure
from support.scores import reply_rows, score_rows

import ragstone
from ragstone.embed.scripted import ScriptedEmbedder
from ragstone.errors import RunFolderError
from ragstone.judge.base import RawReply
from ragstone.judge.scripted import ScriptedJudge
from ragstone.replay import replay

GOLD = Path(str(files("ragstone").joinpath("gold")))
TRUTH = orjson.loads((GOLD / "truth.json").read_bytes())


@pytest.fixture
def run(tmp_path: Path) -> Path:
    judge = ScriptedJudge.from_dict(TRUTH)
    ragstone.evaluate(GOLD / "samples.jsonl", judge=judge, embeddings=ScriptedEmbedder.from_dict(TRUTH), out=tmp_path / "run")
    return tmp_path / "run"


def rewrite(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_bytes(b"".join(orjson.dumps(r, option=orjson.OPT_APPEND_NEWLINE) for r in rows))


def test_replaying_an_untouched_run_changes_nothing(run: Path) -> None:
    before = (run / "scores.jsonl").read_bytes()
    result = replay(run)
    assert (result.cells, result.changed) == (120, [])
    assert replay(run, write=True).changed == []
    assert (run / "scores.jsonl").read_bytes() == before


def test_how_sure_the_judge_was_comes_back_with_the_replies(tmp_path: Path) -> None:
    def evaluate() -> list[bytes]:
        judge = Counting(Sure(ScriptedJudge.from_dict(TRUTH)))
        ragstone.evaluate(GOLD / "samples.jsonl", judge=judge, embeddings=ScriptedEmbedder.from_dict(TRUTH), out=tmp_path / "run")
        asked.append(sum(judge.asked.values()))
        return sorted((tmp_path / "run" / "scores.jsonl").read_bytes().splitlines())

    asked: list[int] = []
    first = evaluate()
    assert sum(b'"confidence":0.' in line for line in first) > 60
    assert replay(tmp_path / "run").changed == []
    (tmp_path / "run" / "scores.jsonl").unlink()
    assert evaluate() == first
    assert asked[0] > asked[1] == 0
    rows = reply_rows(tmp_path / "run")
    for row in rows:
        row["confidence"] = {"verdicts/1": 7, "answer/1": "?", "claims/1": None}
    rewrite(tmp_path / "run" / "replies.jsonl", rows)
    assert {change.old == change.new for change in replay(tmp_path / "run").changed} == {True}


def test_a_score_that_was_tampered_with_is_found_and_can_be_put_right(run: Path) -> None:
    before = (run / "scores.jsonl").read_bytes()
    rows = score_rows(run)
    victim = next(r for r in rows if r["metric"] == "faithfulness" and r["value"] == 1.0)
    victim["value"] = 0.5
    rewrite(run / "scores.jsonl", rows)
    (change,) = replay(run).changed
    assert (change.sample_id, change.metric, change.old, change.new) == (victim["sample_id"], "faithfulness", 0.5, 1.0)
    assert (run / "scores.jsonl").read_bytes() != before
    replay(run, write=True)
    assert (run / "scores.jsonl").read_bytes() == before


def test_a_reply_that_was_tampered_with_changes_its_scores(run: Path) -> None:
    rows = reply_rows(run)
    victim = next(r for r in rows if r["kind"] == "rate_contexts" and '"verdict":1' in r["raw"])
    victim["raw"] = victim["raw"].replace('"verdict":1', '"verdict":0')
    rewrite(run / "replies.jsonl", rows)
    assert {c.metric for c in replay(run).changed} == {"context_precision"}


def test_a_missing_reply_is_reported_and_never_written(run: Path) -> None:
    before = (run / "scores.jsonl").read_bytes()
    rewrite(run / "replies.jsonl", [r for r in reply_rows(run) if r["kind"] != "invert_answer"])
    changed = replay(run, write=True).changed
    assert {(c.metric, c.new) for c in changed} == {("answer_relevancy", "reply_missing")}
    assert (run / "scores.jsonl").read_bytes() == before


def test_failures_and_re_asks_replay_as_they_were(tmp_path: Path) -> None:
    def weather(question: object, number: int) -> RawReply | None:
        kind = question.kind.name  # type: ignore[attr-defined]
        if kind == "match_claims":
            return RawReply(error="timeout")
        if kind == "rate_contexts":
            return RawReply(text="sorry")
        if kind == "check_claims" and "problem" not in question.input:  # type: ignore[attr-defined]
            return RawReply(text='{"verdicts":[]}')
        return None

    judge = Counting(ScriptedJudge.from_dict(TRUTH), weather)
    ragstone.evaluate(GOLD / "samples.jsonl", judge=judge, embeddings=ScriptedEmbedder.from_dict(TRUTH), out=tmp_path / "run", limit=6)
    assert {r["reason"] for r in score_rows(tmp_path / "run")} >= {"timeout", "bad_reply", None}
    assert replay(tmp_path / "run").changed == []


def test_what_a_replay_needs_is_named(run: Path, tmp_path: Path) -> None:
    (run / "replies.jsonl").unlink()
    with pytest.raises(RunFolderError, match=r"replies\.jsonl"):
        replay(run)
    with pytest.raises(RunFolderError):
        replay(tmp_path / "nowhere")


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="rights differ there")
def test_a_run_that_may_only_be_read_can_be_replayed(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (run / ".lock").unlink()
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert replay(run).changed == []
    assert not (run / ".lock").exists()
