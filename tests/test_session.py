import shutil
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import orjson
import pytest
from support.needs import sample

from ragstone.errors import RunFolderError, StoppedError
from ragstone.judge.base import Identity
from ragstone.manifest import Setup
from ragstone.metrics import parse
from ragstone.past import Past
from ragstone.plans import separate
from ragstone.questions.base import ask, system_prompt
from ragstone.questions.rate_contexts import KIND
from ragstone.session import Session, work
from ragstone.types import Sample, Score

SETUP = Setup(Identity("m", "here"), Identity("e", "here"), [parse("faithfulness")], separate, "auto", {})
ROWS = [sample(question="q", answer=f"a{i}", contexts=["c"]).model_copy(update={"id": f"s{i}"}) for i in range(3)]
QUESTION = ask(KIND, "zh", 0, system_prompt(KIND, "zh"), {"contexts": [], "question": "q", "reference": "r"})


def session(folder: Path, **settings: Any) -> Session:
    return Session(folder, SETUP, {}, repeats=settings.pop("repeats", 1), **settings)


def line(error: str | None = None) -> dict[str, Any]:
    return {"key": QUESTION.key, "kind": KIND.name, "raw": None if error else "{}", "usage": None, "attempts": 1, "error": error}


def score(i: int, **columns: Any) -> Score:
    return Score(**{"sample_id": f"s{i}", "metric": "faithfulness", "value": 0.5, "status": "ok", **columns})


def finish(open_session: Session, *, complete: bool = True) -> None:
    open_session.finish(SETUP, complete=complete)
    open_session.close()


def test_a_run_folder_is_private_and_holds_its_files(tmp_path: Path) -> None:
    run = session(tmp_path / "run")
    run.take(ROWS)
    run.keep_reply(QUESTION, line())
    for i in (2, 0, 1):
        run.keep_score(score(i))
    finish(run)
    assert (tmp_path / "run").stat().st_mode & 0o077 == 0
    files = {".lock", "manifest.json", "prompts", "replies.jsonl", "samples.jsonl", "scores.jsonl"}
    assert {p.name for p in (tmp_path / "run").iterdir()} == files
    assert (tmp_path / "run/prompts" / f"{QUESTION.prompt_hash}.txt").read_text().startswith("task: rate_contexts/1\n")
    assert [orjson.loads(x)["sample_id"] for x in (tmp_path / "run/scores.jsonl").read_bytes().splitlines()] == ["s0", "s1", "s2"]


def test_replies_that_failed_are_not_used_again_later_and_are_in_the_same_run(tmp_path: Path) -> None:
    run = session(tmp_path / "run")
    run.take(ROWS)
    run.keep_reply(QUESTION, line("timeout"))
    assert run.held(QUESTION) is not None
    finish(run)
    later = session(tmp_path / "run")
    assert later.held(QUESTION) is None
    later.take(ROWS)
    later.keep_reply(QUESTION, line())
    finish(later)
    last = session(tmp_path / "run")
    assert last.held(QUESTION) == line()
    assert (last.counts.requests, last.counts.unknown_usage) == (2, 2)
    last.close()


def test_only_what_is_missing_is_due(tmp_path: Path) -> None:
    run = session(tmp_path / "run", repeats=2)
    run.take(ROWS)
    run.keep_reply(QUESTION, line())
    run.keep_score(score(0))
    run.keep_score(score(1, value=None, status="failed", reason="timeout"))
    run.keep_score(score(2, value=None, status="failed", reason="interrupted"))
    finish(run, complete=False)
    again = session(tmp_path / "run", repeats=2)
    again.take(ROWS)
    due = [(case.sample.id, case.repeat) for case, _, _ in work(again, SETUP.metrics, lambda s, r: (_case(s, r), {}))]
    assert due == [("s0", 1), ("s1", 1), ("s2", 0), ("s2", 1)]
    assert again.standing(SETUP.metrics) == 2
    again.close()
    retried = session(tmp_path / "run", repeats=2, retry_failed=True)
    retried.take(ROWS)
    assert retried.standing(SETUP.metrics) == 1
    retried.close()


def _case(row: Sample, repeat: int) -> Any:
    from ragstone.plans.base import Case

    return Case(row, "zh", repeat)


def test_changed_and_lost_rows_are_told_and_lose_their_scores(tmp_path: Path) -> None:
    run = session(tmp_path / "run")
    run.take(ROWS)
    run.keep_reply(QUESTION, line())
    for i in range(3):
        run.keep_score(score(i))
    finish(run)
    again = session(tmp_path / "run")
    again.take([ROWS[0], ROWS[1].model_copy(update={"answer": "other"})])
    assert len(again.notices) == 2
    assert again.standing(SETUP.metrics) == 1
    again.close()


@pytest.mark.parametrize(("lang", "words"), [("en", "their earlier scores are replaced"), ("zh", "原来的分数会被替换")])
def test_changed_answers_are_told_how_to_keep_both_versions(tmp_path: Path, lang: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    run = session(tmp_path / "run")
    run.take(ROWS)
    run.keep_reply(QUESTION, line())
    finish(run)
    again = session(tmp_path / "run")
    again.take([row.model_copy(update={"answer": "other"}) for row in ROWS])
    again.close()
    assert words in again.notices[0]
    assert "--out" in again.notices[0]


def test_two_writers_are_refused_and_a_failed_start_lets_go(tmp_path: Path) -> None:
    run = session(tmp_path / "run")
    with pytest.raises(RunFolderError):
        session(tmp_path / "run")
    run.take(ROWS)
    run.keep_reply(QUESTION, line())
    run.close()
    (tmp_path / "run/manifest.json").write_text("{broken")
    for _ in range(2):
        with pytest.raises(RunFolderError, match="manifest"):
            session(tmp_path / "run")


def test_a_session_that_never_took_samples_ends_quietly(tmp_path: Path) -> None:
    run = session(tmp_path / "run")
    with pytest.raises(RuntimeError):
        run.keep_score(score(0))
    finish(run, complete=False)


def test_a_full_disk_is_told_and_nothing_is_left_half_written(tmp_path: Path) -> None:
    run = session(tmp_path / "run")

    def rows() -> Any:
        yield ROWS[0]
        raise OSError(28, "No space left on device")

    with pytest.raises(StoppedError, match="No space"):
        run.take(rows())
    assert not (tmp_path / "run/samples.jsonl").exists()
    run.close()


def test_scores_are_kept_when_the_samples_are_deleted_under_a_run(tmp_path: Path) -> None:
    run = session(tmp_path / "run")
    run.take(ROWS)
    run.keep_score(score(0))
    (tmp_path / "run/samples.jsonl").unlink()
    before = (tmp_path / "run/scores.jsonl").read_bytes()
    with pytest.raises(StoppedError, match=r"samples\.jsonl was deleted"):
        run.finish(SETUP, complete=True)
    finish(run, complete=False)
    assert (tmp_path / "run/scores.jsonl").read_bytes() == before != b""


def test_a_folder_deleted_under_a_run_stops_it_at_the_next_line(tmp_path: Path) -> None:
    run = session(tmp_path / "run")
    run.take(ROWS)
    shutil.rmtree(tmp_path / "run")
    with pytest.raises(StoppedError, match=r"scores\.jsonl was deleted"):
        run.keep_score(score(0))
    run.close()


def test_the_samples_of_a_run_are_those_that_were_taken(tmp_path: Path) -> None:
    rows = list(ROWS)
    run = session(tmp_path / "run")
    run.take(rows)
    rows.clear()
    assert list(run.samples()) == ROWS
    run.close()


@pytest.mark.parametrize("name", ["x" * 300, "file/below"])
def test_a_folder_that_cannot_be_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunFolderError, match=name):
        session(tmp_path / name)


def test_a_run_that_was_never_answered_starts_over_with_any_setup(tmp_path: Path) -> None:
    run = session(tmp_path / "run")
    run.take(ROWS)
    run.keep_score(score(0, value=None, status="not_applicable", reason="no_claims"))
    finish(run, complete=False)
    other = Setup(Identity("other", "elsewhere"), SETUP.embedder, SETUP.metrics, separate, "zh", {})
    again = Session(tmp_path / "run", other, {}, repeats=1)
    again.take([ROWS[0].model_copy(update={"id": "new"})])
    assert again.standing(SETUP.metrics) == 0
    assert again.manifest["judge"]["model"] == "other"
    again.close()


@pytest.mark.parametrize(
    ("kind", "error", "allowed"), [("split_claims", None, True), ("cosine", None, False), ("cosine", "timeout", False)]
)
def test_embeddings_may_change_until_a_reply_rests_on_them(tmp_path: Path, kind: str, error: str | None, allowed: bool) -> None:
    run = session(tmp_path / "run")
    run.take(ROWS)
    run.keep_reply(QUESTION, {**line(error), "kind": kind})
    run.keep_score(score(0))
    finish(run, complete=False)
    other = Setup(SETUP.judge, Identity("other", "elsewhere"), SETUP.metrics, SETUP.plan, SETUP.language, {})
    with nullcontext() if allowed else pytest.raises(RunFolderError, match="embedder"):
        Past(tmp_path / "run", other, ROWS, repeats=1, retry_failed=False)
    with nullcontext() if allowed else pytest.raises(RunFolderError, match="embedder"):
        again = Session(tmp_path / "run", other, {}, repeats=1)
        again.take(ROWS)
        assert again.standing(SETUP.metrics) == 1
        again.close()
        assert again.manifest["embedder"]["model"] == "other"
        assert "emb other" in again.manifest["signature"]


def test_a_limited_call_leaves_the_other_rows_as_they_are(tmp_path: Path) -> None:
    run = session(tmp_path / "run")
    run.take(ROWS)
    run.keep_reply(QUESTION, line())
    for i in range(3):
        run.keep_score(score(i))
    finish(run)
    quick = session(tmp_path / "run", limited=True)
    quick.take([ROWS[0].model_copy(update={"answer": "changed"})])
    assert [case.sample.id for case, _, _ in work(quick, SETUP.metrics, lambda s, r: (_case(s, r), {}))] == ["s0"]
    assert quick.standing(SETUP.metrics) == 0
    quick.keep_score(score(0, value=1.0))
    finish(quick)
    rows = [orjson.loads(x) for x in (tmp_path / "run/scores.jsonl").read_bytes().splitlines()]
    assert [(r["sample_id"], r["value"]) for r in rows] == [("s0", 1.0), ("s1", 0.5), ("s2", 0.5)]
    after = session(tmp_path / "run")
    assert [s.id for s in after.samples()] == ["s0", "s1", "s2"]
    after.close()
