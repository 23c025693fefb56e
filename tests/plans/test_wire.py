"""The plans from the command line, against a real server: requests counted, resuming, replaying."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.told_rows import FOUR, shared_out, table
from support.truth_server import TruthServer, kind_of, serving

from ragstone.cli.app import run

ROWS = [*FOUR, *(shared_out(f"{lang}{n}", n, 3, lang) for n in (1, 2) for lang in ("zh", "en"))]
PER_CONTEXT = Counter(split_claims=2, check_claims=2, match_claims=1, invert_answer=1)


@pytest.fixture(autouse=True)
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("samples.jsonl").write_text("".join(json.dumps(told.row, ensure_ascii=False) + "\n" for told in ROWS), encoding="utf-8")


def evaluate(server: TruthServer, *args: str, out: str = "run") -> int:
    return run(["evaluate", "samples.jsonl", "--out", out, "--judge", "m", "--base-url", server.base_url, *args], "en", {})


def scores(out: str) -> list[dict[str, Any]]:
    rows = (json.loads(line) for line in Path(out, "scores.jsonl").read_bytes().splitlines())
    return [{name: value for name, value in row.items() if name != "questions"} for row in rows]


def texts_of(body: dict[str, Any]) -> list[str]:
    return [context["text"] for context in json.loads(body["messages"][1]["content"]).get("contexts", ())]


def test_joint_takes_four_requests_a_sample_and_sends_each_context_once() -> None:
    with serving(table(ROWS)) as server:
        assert evaluate(server, "--plan", "joint") == 0
    assert Counter(map(kind_of, server.chats)) == dict.fromkeys(("split_both", "check_all", "match_claims", "invert_answer"), len(ROWS))
    contexts = [text for told in ROWS for text in told.row["contexts"]]
    assert Counter(text for body in server.chats for text in texts_of(body)) == Counter(contexts)
    bodies = "".join(json.dumps(body, ensure_ascii=False) for body in server.chats)
    assert {
        text: bodies.count(json.dumps(json.dumps(text, ensure_ascii=False), ensure_ascii=False)[1:-1]) for text in contexts
    } == dict.fromkeys(contexts, 1)
    assert len(set(map(json.dumps, server.chats))) == len(server.chats)


def test_per_context_takes_one_rating_a_context() -> None:
    with serving(table(ROWS)) as server:
        assert evaluate(server, "--plan", "per-context") == 0
    expected = Counter({kind: number * len(ROWS) for kind, number in PER_CONTEXT.items()})
    expected["rate_contexts"] = sum(len(told.row["contexts"]) for told in ROWS)
    assert Counter(map(kind_of, server.chats)) == expected


@pytest.mark.parametrize("plan", ["joint", "per-context"])
def test_scores_over_the_wire_are_those_of_separate_and_can_be_replayed(plan: str, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(table(ROWS)) as server:
        assert evaluate(server, out="separate") == 0
        assert evaluate(server, "--plan", plan, out="other") == 0
    assert scores("other") == scores("separate")
    assert run(["replay", "other"], "en", {}) == 0
    capsys.readouterr()
    assert run(["show", "other"], "en", {}) == 0
    assert f"plan {plan}" in capsys.readouterr().out


def test_a_run_under_joint_grows_by_metrics_without_asking_twice() -> None:
    with serving(table(ROWS)) as server:
        for metric in ("context_precision", "faithfulness", "faithfulness,context_recall,answer_correctness"):
            assert evaluate(server, "--plan", "joint", "--metrics", metric) == 0
    assert Counter(map(kind_of, server.chats)) == dict.fromkeys(("split_both", "check_all", "match_claims"), len(ROWS))


@pytest.mark.parametrize(("first", "second"), [("joint", "separate"), ("separate", "per-context"), ("per-context", "joint")])
def test_a_run_is_not_resumed_with_another_plan(first: str, second: str, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(table(ROWS)) as server:
        assert evaluate(server, "--plan", first, "--metrics", "faithfulness") == 0
        asked, before = len(server.chats), Path("run", "scores.jsonl").read_bytes()
        capsys.readouterr()
        assert evaluate(server, "--plan", second, "--metrics", "faithfulness") == 2
        assert len(server.chats) == asked
    said = capsys.readouterr().err
    assert "plan" in said
    assert first in said
    assert second in said
    assert Path("run", "scores.jsonl").read_bytes() == before
