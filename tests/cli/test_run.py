"""`ragstone run` on the command line: the page, the document, exit codes."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.rounds import ALL, BAD, Rounds

from ragstone.cli.app import run
from ragstone.cli.width import width

LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])


@pytest.fixture
def rounds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Rounds(tmp_path) as found:
        yield found


@pytest.fixture
def call(rounds, capfd, monkeypatch):
    def go(*args, lang="en", file="pipeline.toml"):
        monkeypatch.setenv("RAGSTONE_LANG", lang)
        code = run(["run", file, *args], lang, {})
        return code, *capfd.readouterr()

    return go


@LANGUAGES
def test_the_page_fits_the_screen_and_stands_as_markdown_in_the_run_folder(rounds, call, lang):
    code, out, err = call(lang=lang)
    assert code == 0
    lines = out.splitlines()
    assert [line for line in lines if width(line) > 80 and " | " not in line and not line.startswith("Everything")] == []
    for step in ALL:
        assert any(line.startswith(step) for line in lines), step
        assert any(step in line for line in err.splitlines()), step
    words = {
        "en": ["done", "skipped", "1.000", "8/8", "There is no earlier run"],
        "zh": ["完成", "略过", "1.000", "8/8", "还没有更早的运行"],
    }
    assert [word for word in words[lang] if word not in out] == []
    (folder,) = (path for path in rounds.work.iterdir() if (path / "manifest.json").exists())
    page = (folder / "summary.md").read_text(encoding="utf-8")
    assert page.startswith("### ")
    assert "| 1.000 |" in page


@LANGUAGES
def test_json_is_one_document(rounds, call, lang):
    code, out, _ = call("--json", lang=lang)
    document = json.loads(out)
    assert document["exit_code"] == code == 0
    assert [one["step"] for one in document["steps"]] == ALL
    assert {tuple(one) for one in document["steps"]} == {("step", "status", "exit_code", "text", "seconds", "numbers", "files", "notices")}
    assert document["steps"][0]["numbers"] == {"ok": 8, "rows": 8, "failed": 0, "asked": 8, "requests": 8}
    assert {m["metric"]: (m["mean"], m["n"], m["total"]) for m in document["metrics"]} == {
        "faithfulness": (1.0, 8, 8),
        "context_recall": (1.0, 8, 8),
    }
    assert (rounds.work / document["run"] / "manifest.json").is_file()


def test_quiet_says_nothing_on_stderr(rounds, call):
    assert call("--quiet")[2] == ""


def test_a_failing_gate_is_a_1_and_what_is_written_says_why(rounds, call):
    rounds.otherwise = BAD
    rounds.write(gate={"metrics": {"faithfulness": {"min_mean": 0.9}}})
    code, out, err = call("--quiet")
    assert (code, err) == (1, "")
    assert "gate" in next(line for line in out.splitlines() if "exit code 1" in line)
    assert call("--quiet")[0] == 1


def test_a_step_that_fails_is_told_on_stderr_too(rounds, call):
    rounds.write(collect={"path": "/nowhere"})
    code, out, err = call("--quiet")
    assert code == 3
    assert err.startswith("collect: ")
    assert "not run" in out
    assert call("--json", "--quiet")[0] == 3


@pytest.mark.parametrize(
    ("args", "named"), [(["--from", "gat"], "gate"), (["--form", "gate"], "--from"), (["--from"], "--from")], ids=lambda value: str(value)
)
def test_usage_is_2_and_names_the_nearest(rounds, call, args, named):
    code, out, err = call(*args)
    assert (code, out) == (2, "")
    assert named in err
    assert rounds.asked == 0


def test_a_file_that_is_none_is_2(call, tmp_path):
    for file in ("gone.toml", str(tmp_path), "truth.json"):
        code, out, err = call(file=file)
        assert (code, out) == (2, "")
        assert Path(file).name in err


def test_what_the_file_says_in_chinese_is_said_in_chinese(rounds, capfd, monkeypatch):
    monkeypatch.delenv("RAGSTONE_LANG", raising=False)
    assert run(["run", "pipeline.toml", "--lang", "zh", "--quiet"], "en", {}) == 0
    assert "流水线" in capfd.readouterr().out


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_stopped_while_it_asks_and_called_again_it_goes_on(rounds, how):
    from support.rag_server import HANG

    answer = rounds._server.script
    rounds._server.script = lambda asked: HANG if "warranty 5" in asked.body["q"] else answer(asked)
    rounds.write(concurrency=1)
    environ = {**os.environ, "RAGSTONE_LANG": "en"}
    process = subprocess.Popen(
        [sys.executable, "-m", "ragstone", "run", str(rounds.file), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environ,
    )
    rounds._server.arrived(6)
    process.send_signal(how)
    out, _ = process.communicate()
    assert process.returncode == (-how if how == signal.SIGKILL else 3)
    if how != signal.SIGKILL:
        assert [one["status"] for one in json.loads(out)["steps"]] == ["failed", *["not_run"] * 5]
    rounds._server.script = answer
    assert rounds.asked == 6
    found = rounds.run()
    assert (found.exit_code, rounds.asked) == (0, 3)
