import json
import sys
from pathlib import Path

import pytest
from support.benches import load

given = load("given")
tools = load("tools")


# ------------------------------------------------------------------ what a child says
@pytest.mark.parametrize(
    ("said", "found"),
    [
        ('noise\nRESULT {"failed": 3, "import_s": 1.5}\n', {"failed": 3, "import_s": 1.5}),
        ('RESULT {"failed": 1}\nRESULT {"failed": 2}\nbye\n', {"failed": 2}),
        ("进度 100%\n", {}),
        ("", {}),
    ],
)
def test_the_last_result_line_counts(said, found):
    assert tools.result_line(said) == found


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("print('fine')", None),
        ("raise SystemExit(1)", None),  # finished, some cells failed
        ("import sys; sys.exit('no such\\nmodel: gpt')", None),
        ("import sys; print('没有模型', file=sys.stderr); sys.exit(2)", ("ended", "2: 没有模型")),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", ("ended", "-9: no message")),
        ("import time; time.sleep(60)", ("timeout", "0.5")),
    ],
)
def test_how_a_child_ended_is_told(code, problem):
    ran, _, _ = tools.child([sys.executable, "-c", code], timeout_s=0.5 if problem and problem[0] == "timeout" else 300)
    assert ran.problem == problem


def test_time_and_output_of_a_child_are_taken():
    ran, code, said = tools.child([sys.executable, "-c", "print('好')"])
    assert (code, said) == (0, "好\n")
    assert ran.cpu_s > 0
    assert ran.wall_s > 0


@pytest.mark.parametrize(
    ("statuses", "failed"),
    [(["ok"] * 10, 0), (["ok"] * 8 + ["failed"] * 2, 2), (["not_applicable"] * 10, 0), (["ok"] * 7, 3)],  # the last: three are missing
)
def test_failed_cells_are_those_without_an_outcome(statuses, failed, tmp_path):
    (tmp_path / "scores.jsonl").write_text("".join(json.dumps({"status": s}) + "\n" for s in statuses), encoding="utf-8")
    assert tools.failed_cells(tmp_path, samples=2) == failed


# ------------------------------------------------------------------ commands
def test_a_job_of_ours_is_a_command_line():
    job = tools.Job(Path("rows.jsonl"), 20, extra=("--plan", "joint"))
    command = tools.Tool("ragstone").command(job, "http://127.0.0.1:1/v1", Path("run"))
    assert command[1:4] == ["-m", "ragstone", "evaluate"]
    assert command[-3:] == ["--no-cache", "--plan", "joint"]
    assert command[command.index("--limit") + 1] == "20"


def test_a_job_with_a_cache_is_not_told_to_do_without():
    job = tools.Job(Path("rows.jsonl"), 20, extra=("--cache", "here"))
    assert "--no-cache" not in tools.Tool("ragstone").command(job, "http://127.0.0.1:1/v1", Path("run"))


def test_ragas_is_driven_in_two_ways():
    rival = given.Rival(Path("/venv/bin/python"), Path("drive.py"), "0.4.3")
    found = tools.tools(given.Given(given.STAND_IN, sys.executable, None, None, {"ragas": rival}))
    assert [tool.name for tool in found] == ["ragstone", "ragas-legacy", "ragas-collections"]
    command = found[2].command(tools.Job(Path("rows.jsonl"), 20), "http://127.0.0.1:1/v1", Path("run"))
    assert command[:3] == ["/venv/bin/python", "drive.py", "rows.jsonl"]
    assert command[-2:] == ["--path", "collections"]


def test_a_child_gets_nobodys_settings(monkeypatch):
    monkeypatch.setenv("RAGSTONE_PLAN", "joint")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    env = tools.environment("http://127.0.0.1:1/v1")
    assert "RAGSTONE_PLAN" not in env
    assert env["OPENAI_API_KEY"] == "none"
