"""A rehearsal beside the run it foretells, on real sockets: what it calls exact is exact, the rest lies within its stated error."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from support.fault_server import Call, FaultServer
from support.made_rows import made
from support.server import Answer, say

import ragstone
from ragstone import rehearsal, tokens
from ragstone.errors import ConfigError, RunFolderError
from ragstone.judge.pretending import FRAME

GOLD = Path(str(files("ragstone").joinpath("gold")))
FIVE = ["faithfulness", "answer_relevancy", "context_precision", "context_recall", "answer_correctness"]


def counted(call: Call) -> Answer:
    """A good reply with its tokens as the estimate has them: what differs then is what was asked."""
    prompt = sum(tokens.estimate(message["content"]) for message in call.seen.body["messages"]) + FRAME
    return say(call.good, usage={"prompt_tokens": prompt, "completion_tokens": tokens.estimate(call.good)})


def gold() -> tuple[Any, Any]:
    return [json.loads(line) for line in (GOLD / "samples.jsonl").read_bytes().splitlines()], json.loads((GOLD / "truth.json").read_bytes())


def drawn() -> tuple[Any, Any]:
    rows, truth = made(40, 5)
    return [row for row in rows if {"question", "answer", "contexts"} & set(row)], truth


def settings(server: FaultServer, **more: Any) -> dict[str, Any]:
    return {"judge": "m", "base_url": server.url, "embeddings": "e", "no_cache": True, "metrics": FIVE, **more}


@pytest.mark.parametrize("plan", ["separate", "joint", "per-context"])
@pytest.mark.parametrize("rows", [gold, drawn])
def test_what_is_exact_comes_true_and_the_rest_within_its_error(tmp_path: Path, rows: Any, plan: str) -> None:
    samples, truth = rows()
    with FaultServer(truth, counted) as server:
        told = settings(server, plan=plan)
        found = ragstone.estimate(samples, **told)
        assert not server.seen
        run = ragstone.evaluate(samples, out=tmp_path / "run", **told)
        embeddings = len(server.asked("embeddings"))
    real, counts = run.manifest["tokens"], run.manifest["counts"]
    assert found.totals["exact"] > 0
    for kind, spent in found.by_kind.items():
        came = real["by_kind"].get(kind, {"requests": 0, "prompt": 0})
        assert spent["exact"] <= came["requests"]
        if spent["exact"] == spent["requests"] and kind != "invert_answer":
            assert (spent["requests"], spent["prompt"]) == (came["requests"], came["prompt"])
    assert found.totals["requests"] == pytest.approx(counts["requests"], rel=rehearsal.REQUEST_ERROR)
    assert found.totals["prompt"] == pytest.approx(real["prompt"], rel=0.1)
    assert found.totals["completion"] == pytest.approx(real["completion"], rel=rehearsal.REPLY_ERROR)
    assert list(found.by_metric) == FIVE
    for name in ("requests", "exact", "prompt", "completion"):
        assert sum(spent[name] for spent in found.by_kind.values()) == found.totals[name]
    assert found.embeddings is not None
    assert found.embeddings["requests"] >= embeddings


def test_every_request_that_is_called_exact_is_sent_in_those_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    samples, truth = drawn()
    first: list[str] = []

    class Noting(rehearsal.PretendingJudge):
        async def complete(self, question: Any) -> Any:
            raw = await super().complete(question)
            if question.key in self.first:
                first.append(question.body.decode())
            return raw

    monkeypatch.setattr(rehearsal, "PretendingJudge", Noting)
    with FaultServer(truth, counted) as server:
        ragstone.estimate(samples, **settings(server))
        ragstone.evaluate(samples, out=tmp_path / "run", **settings(server))
        sent = {call.seen.user for call in server.calls}
    assert len(first) > 100
    assert set(first) <= sent


def test_nothing_is_written_and_neither_judge_nor_address_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    samples, _ = gold()
    counts = {
        ragstone.estimate(samples, out="run", **who).totals["requests"]
        for who in (
            {},
            {"judge": "m"},
            {"judge": "m", "base_url": "http://127.0.0.1:9/v1", "embeddings": "e"},
            {"judge": "m", "base_url": "http://127.0.0.1:9/v1", "embeddings": "e", "embeddings_base_url": "http://127.0.0.1:9/v1"},
            {"judge": "local"},
        )
    }
    assert len(counts) == 1
    assert counts != {0}
    assert list(tmp_path.iterdir()) == []


def held(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and not path.name.endswith(("-wal", "-shm"))}


def test_what_the_run_folder_and_the_cache_hold_is_not_counted(tmp_path: Path) -> None:
    samples, truth = gold()
    with FaultServer(truth, counted) as server:
        apart = settings(server)
        together = settings(server, no_cache=False, cache=str(tmp_path / "cache"))
        ragstone.evaluate(samples[:8], out=tmp_path / "run", **together)
        asked, before = len(server.calls), held(tmp_path)
        whole = ragstone.estimate(samples, **apart)
        resumed = ragstone.estimate(samples, out=tmp_path / "run", **apart)
        cached = ragstone.estimate(samples, **together)
        other = ragstone.estimate(samples[:8], out=tmp_path / "run", **{**apart, "metrics": ["answer_relevancy(strictness=2)"]})
        assert held(tmp_path) == before
        ragstone.evaluate(samples, out=tmp_path / "run", **apart)
        rest = len(server.calls) - asked
        done = ragstone.estimate(samples, out=tmp_path / "run", **apart)
    assert resumed.standing == 40
    assert whole.totals["requests"] - resumed.totals["requests"] == pytest.approx(asked, abs=4)
    assert resumed.totals["requests"] == pytest.approx(rest, rel=rehearsal.REQUEST_ERROR)
    assert cached.from_cache == asked
    assert cached.totals == resumed.totals
    assert other.totals["requests"] > 0
    assert (done.cells, done.totals["requests"], done.standing) == (0, 0, 120)


def test_replies_that_are_held_are_used_though_their_cell_is_due(tmp_path: Path) -> None:
    samples, truth = gold()
    with FaultServer(truth, counted) as server:
        ragstone.evaluate(samples, out=tmp_path / "run", **settings(server, metrics="faithfulness"))
        found = ragstone.estimate(samples, out=tmp_path / "run", **settings(server, metrics="answer_correctness"))
        alone = ragstone.estimate(samples, **settings(server, metrics="answer_correctness"))
        asked = len(server.calls)
        ragstone.evaluate(samples, out=tmp_path / "run", **settings(server, metrics="answer_correctness"))
    assert found.held > 0
    assert found.totals["requests"] + found.held == pytest.approx(alone.totals["requests"], abs=2)
    assert found.totals["requests"] == pytest.approx(len(server.calls) - asked, abs=2)


def test_a_folder_that_could_not_be_used_is_told_before_the_run(tmp_path: Path) -> None:
    samples, truth = gold()
    with FaultServer(truth, counted) as server:
        ragstone.evaluate(samples[:2], out=tmp_path / "run", **settings(server))
        with pytest.raises(RunFolderError, match="plan"):
            ragstone.estimate(samples[:2], out=tmp_path / "run", **settings(server, plan="joint"))
        assert ragstone.estimate(samples[:2], out=tmp_path / "run", **settings(server, plan="joint", force=True)).cells == 10
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(RunFolderError):
        ragstone.estimate(samples, out=tmp_path / "file")


def test_limits_are_held_against_the_estimate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    samples, _ = gold()
    limits = {"max_calls": 10, "max_tokens_total": 10**9, "max_cost": 0.5}
    found = ragstone.estimate(samples, judge="m", **limits)
    assert [(limit["limit"], limit["fits"]) for limit in found.limits] == [
        ("--max-calls", False),
        ("--max-tokens-total", True),
        ("--max-cost", None),
    ]
    (tmp_path / "ragstone.toml").write_text("[prices.m]\ninput = 1\noutput = 10\n", encoding="utf-8")
    found = ragstone.estimate(samples, judge="m", **limits)
    assert found.cost is not None
    assert found.cost["total"] == pytest.approx((found.totals["prompt"] + 10 * found.totals["completion"]) / 1e6)
    assert found.limits[-1]["fits"] is (found.cost["total"] <= 0.5)


def test_repeats_are_counted_and_equal_questions_once() -> None:
    samples, _ = gold()
    once = ragstone.estimate(samples).totals["requests"]
    assert ragstone.estimate(samples, repeat=3).totals["requests"] == 3 * once
    assert (
        ragstone.estimate([*samples, *({**row, "id": f"{row['id']}-again"} for row in samples)]).by_kind["split_claims"]["requests"]
        == (ragstone.estimate(samples).by_kind["split_claims"]["requests"])
    )


def test_metrics_that_ask_no_judge_need_nothing() -> None:
    rows = [{"question": "q", "contexts": ["a b"], "reference_contexts": ["b"]}]
    assert ragstone.estimate(rows, metrics="keyword_recall").totals["requests"] == 0


def test_evaluate_says_where_a_dry_run_is_to_be_had() -> None:
    with pytest.raises(ConfigError, match=r"ragstone\.estimate"):
        ragstone.evaluate([{"question": "q", "answer": "a"}], judge="local", dry_run=True)
