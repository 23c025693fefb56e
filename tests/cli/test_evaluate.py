import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from support.server import HANG, Answer, Seen, ThreadedServer, refuse, say

from ragstone.cli.app import run

SAMPLES = [
    {"id": "s1", "question": "How long is the warranty?", "answer": "Two years. It is free.", "contexts": ["The warranty runs two years."]},
    {"id": "s2", "question": "保修多久？", "answer": "保修两年。", "contexts": ["保修期为两年。"], "reference": "保修两年。"},
]
TRUTH = {
    "claims": {"Two years. It is free.": ["The warranty is two years", "The warranty is free"], "保修两年。": ["保修期是两年"]},
    "checks": {
        "The warranty is two years": {"supported": ["The warranty runs two years."]},
        "The warranty is free": {},
        "保修期是两年": {"supported": ["保修期为两年。"]},
    },
}


@pytest.fixture(autouse=True)
def working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("samples.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in SAMPLES), encoding="utf-8")
    Path("truth.json").write_text(json.dumps(TRUTH, ensure_ascii=False), encoding="utf-8")


SCRIPTED = ["--judge", "scripted:truth.json", "--embeddings", "scripted:truth.json", "--preset", "fast"]


def ragstone(*args: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ragstone", *args]
    return subprocess.run(command, capture_output=True, encoding="utf-8", env={**os.environ, **environ}, check=False, timeout=300)


def files() -> set[str]:
    return {path.as_posix() for path in Path().rglob("*")}


# ------------------------------------------------------------------ a run
@pytest.mark.parametrize(("lang", "word", "cells"), [("en", "faithfulness", "2/2 cells"), ("zh", "忠实度", "2/2 项")])
def test_the_table_goes_to_stdout_and_progress_to_stderr(lang, word, cells):
    done = ragstone("evaluate", "samples.jsonl", "--out", "runs/a", *SCRIPTED, "--lang", lang)
    assert done.returncode == 0, done.stderr
    assert word in done.stdout
    assert "0.750" in done.stdout
    assert cells in done.stderr
    assert cells not in done.stdout
    assert {"runs/a/scores.jsonl", "runs/a/manifest.json", "runs/a/replies.jsonl", "runs/a/samples.jsonl"} <= files()


def test_the_table_has_the_levels_of_the_settings(capfd):
    Path("ragstone.toml").write_text("[levels]\nmiddle = 0.1\nhigh = 0.75\n", encoding="utf-8")

    def level(*more: str) -> str:
        assert run(["evaluate", "samples.jsonl", "--out", "runs/a", *SCRIPTED, *more], "en", {}) == 0
        return next(line for line in capfd.readouterr().out.split("\n") if line.startswith("faithfulness ")).split()[-1]

    assert (level(), level("--level-high", "0.76")) == ("high", "middle")


@pytest.mark.parametrize("quiet", [[], pytest.param(["--quiet"], marks=pytest.mark.slow)])
def test_metrics_left_out_are_told_again_below_the_table(quiet):
    Path("samples.jsonl").write_text(json.dumps(SAMPLES[0]), encoding="utf-8")
    command = [sys.executable, "-m", "ragstone", "evaluate", "samples.jsonl", "--judge", "local", "--out", "runs/a", "--lang", "en", *quiet]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=True, timeout=300)
    above, _, below = done.stdout.partition("plan separate\n")
    for part in (above, below):
        assert part.count("context_recall is left out") == part.count("answer_correctness is left out") == (0 if quiet else 1)


def test_json_is_one_document_on_stdout_and_nothing_else():
    done = ragstone("evaluate", "samples.jsonl", "--out", "run", *SCRIPTED, "--json", "--quiet", PYTHONIOENCODING="gbk")
    assert done.stderr == ""
    document = json.loads(done.stdout)
    assert (document["samples"], document["covered"], document["metrics"][0]["mean"]) == (2, True, 0.75)


def test_the_same_command_again_goes_on_and_asks_nothing():
    command = ["evaluate", "samples.jsonl", "--out", "run", *SCRIPTED, "--quiet"]
    assert run(command, "en", {}) == 0
    before = {name: Path("run", name).read_bytes() for name in ("scores.jsonl", "replies.jsonl", "samples.jsonl")}
    assert run(command, "en", {}) == 0
    assert {name: Path("run", name).read_bytes() for name in before} == before


def test_another_setup_in_the_same_folder_exits_2_and_force_begins_anew(capsys):
    run(["evaluate", "samples.jsonl", "--out", "run", *SCRIPTED], "en", {})
    capsys.readouterr()
    other = ["evaluate", "samples.jsonl", "--out", "run", *SCRIPTED, "--language", "zh"]
    assert run(other, "en", {}) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "--force" in err
    assert run([*other, "--force"], "en", {}) == 0
    assert "run." in " ".join(files())


def test_settings_come_from_file_and_environment_too(capsys):
    Path("ragstone.toml").write_text(
        "[judge]\nmodel = 'scripted:nowhere.json'\n[embeddings]\nmodel = 'scripted:truth.json'\n[metrics]\npreset = 'fast'"
    )
    Path("other.toml").write_text("limit = 1")
    assert (
        run(
            ["evaluate", "samples.jsonl", "--out", "run"],
            "en",
            {"RAGSTONE_JUDGE": "scripted:truth.json", "RAGSTONE_LIMIT": "1", "RAGSTONE_ODD": "x"},
        )
        == 0
    )
    out, err = capsys.readouterr()
    assert "1/1" in out
    assert "RAGSTONE_ODD sets nothing" in err
    assert run(["evaluate", "samples.jsonl", "--out", "run2", *SCRIPTED, "--json"], "en", {"RAGSTONE_CONFIG": "other.toml"}) == 0
    assert json.loads(capsys.readouterr().out)["samples"] == 1


# ------------------------------------------------------------------ known before any request
@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["samples.jsonl", *SCRIPTED], "--out is missing"),
        (["samples.jsonl", "--out", "run"], "--judge local"),
        (["samples.jsonl", "--out", "run", "--judge", "m"], "--base-url"),
        (["gone.jsonl", "--out", "run", *SCRIPTED], "gone.jsonl"),
        (["samples.jsonl", "--out", "run", *SCRIPTED, "--concurrency", "0"], "--concurrency = 0: must be a whole number from 1 to 1000"),
        (["samples.jsonl", "--out", "run", *SCRIPTED, "--extra-body", "{"], '--extra-body = "{": must be a JSON object'),
        (["samples.jsonl", "--out", "run", "--judge", "m", "--base-url", "http://127.0.0.1:9/v1", "--max-cost", "1"], '[prices."m"]'),
        (["samples.jsonl", "--out", "run", *SCRIPTED, "--config", "gone.toml"], "gone.toml"),
        (["samples.jsonl", "--out", "run", *SCRIPTED[:4], "--metrics", "faithfullness"], "faithfulness"),
        (["samples.jsonl", "--out", "run", *SCRIPTED[:4], "--metrics", "faithfulness", "--preset", "fast"], "either metrics or a preset"),
        (["samples.jsonl", "--out", "run", *SCRIPTED, "--map", "reference"], "--map"),
        (["samples.jsonl", "--out", "run", "--judge", "scripted:gone.json"], "gone.json"),
        (["samples.jsonl", "--out", "run", "--judge", "m", "--base-url", "http://u:geheim@127.0.0.1:9/v1"], "RAGSTONE_JUDGE_API_KEY"),
        (["samples.jsonl", "--out", "samples.jsonl", *SCRIPTED], "samples.jsonl"),
        (["samples.jsonl", "--out", ".", *SCRIPTED], "not a run folder"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_written(args, said, capsys):
    before = files()
    assert run(["evaluate", *args], "en", {}) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert "Traceback" not in err
    assert "geheim" not in err
    assert files() == before


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_table_that_lacks_a_text_leaves_no_run(lang, capsys):
    """The first sample is answered, the second is not in the table: half a run must not look like one."""
    lacking = {"question": "q", "answer": "Nobody wrote this down.", "contexts": ["c"]}
    Path("samples.jsonl").write_text(json.dumps(SAMPLES[0]) + "\n" + json.dumps(lacking) + "\n", encoding="utf-8")
    before = files()
    assert run(["evaluate", "samples.jsonl", "--out", "run", *SCRIPTED, "--concurrency", "1"], lang, {}) == 2
    assert "Nobody wrote this down." in capsys.readouterr().err
    assert files() == before


def test_a_run_that_stood_before_a_mistake_stands_after_it(capsys):
    Path("samples.jsonl").write_text(json.dumps(SAMPLES[0]) + "\n", encoding="utf-8")
    assert run(["evaluate", "samples.jsonl", "--out", "run", *SCRIPTED], "en", {}) == 0
    scores = Path("run/scores.jsonl").read_bytes()
    lacking = {"question": "q", "answer": "Nobody wrote this down.", "contexts": ["c"]}
    Path("samples.jsonl").write_text(json.dumps(SAMPLES[0]) + "\n" + json.dumps(lacking) + "\n", encoding="utf-8")
    assert run(["evaluate", "samples.jsonl", "--out", "run", *SCRIPTED], "en", {}) == 2
    assert Path("run/scores.jsonl").read_bytes() == scores
    assert "Nobody" in capsys.readouterr().err


def test_all_wrong_settings_are_told_at_once(capsys):
    run(["evaluate", "samples.jsonl", "--out", "run", "--repeat", "x", "--retries", "-1", "--preset", "ful"], "zh", {"RAGSTONE_LANG": "zh"})
    assert len(capsys.readouterr().err.splitlines()) == 3


def test_no_judge_is_told_in_the_language_of_the_screen():
    done = ragstone("evaluate", "samples.jsonl", "--out", "run", "--lang", "zh")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--judge local" in done.stderr
    assert any("\u4e00" <= letter <= "\u9fff" for letter in done.stderr)


# ------------------------------------------------------------------ against a server
def test_a_refused_key_stops_with_3_and_the_key_is_never_shown():
    with ThreadedServer(lambda _: refuse(401, "bad key sk-verysecretverysecret")) as server:
        done = ragstone(
            *("evaluate", "samples.jsonl", "--out", "run", "--preset", "fast", "--judge", "m", "--base-url", server.url),
            RAGSTONE_JUDGE_API_KEY="sk-verysecretverysecret",
        )
    assert (done.returncode, done.stdout) == (3, "")
    assert server.url in done.stderr
    assert "verysecret" not in done.stderr
    assert "Traceback" not in done.stderr
    assert not [path for path in Path("run").rglob("*") if path.is_file() and b"verysecret" in path.read_bytes()]


def half_refused(seen: Seen) -> Answer:
    """Answers all but what is asked about the second sample."""
    if "保修" in seen.user:
        return refuse(400, "the prompt was filtered")
    if seen.body["messages"][0]["content"].startswith("task: split_claims"):
        return say('{"claims": [{"text": "The warranty is two years"}]}')
    return say('{"verdicts": [{"id": 1, "evidence": [1], "verdict": "supported"}]}')


@pytest.mark.parametrize(
    ("lang", "collect", "judge"), [("en", "ragstone collect with", "judged again"), ("zh", "请用 ragstone collect", "重新评判")]
)
def test_rows_that_were_not_collected_are_sent_back_to_collect(lang, collect, judge, capsys):
    rows = [*SAMPLES, {"id": "s3", "question": "x", "error": "timeout: no answer"}]
    Path("part.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert run(["evaluate", "part.jsonl", "--out", "runs/a", *SCRIPTED], lang, {}) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert collect in last
    assert judge not in last


def test_failed_cells_below_the_coverage_exit_1_and_the_table_is_still_shown():
    with ThreadedServer(half_refused) as server:
        command = ["evaluate", "samples.jsonl", "--out", "run", "--preset", "fast", "--judge", "m", "--base-url", server.url]
        done = ragstone(*command, "--concurrency", "1")
        lenient = ragstone(*command, "--min-coverage", "0.5")
    assert done.returncode == 1, done.stderr
    assert "50.0%" in done.stdout
    assert done.stderr.splitlines()[-1].startswith("Too many cells failed: the coverage of faithfulness is below 95%.")
    assert done.stderr.splitlines()[-1].endswith("With --retry-failed the failed cells are judged again.")
    assert lenient.returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="no such signals there")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_the_work_and_exits_3(how):
    def answer_once(seen: Seen) -> Answer:
        arrived.set()
        return half_refused(seen) if seen.nth < 1 else HANG

    arrived = threading.Event()
    with ThreadedServer(answer_once) as server:
        command = ["evaluate", "samples.jsonl", "--out", "run", "--preset", "fast", "--judge", "m", "--base-url", server.url]
        process = subprocess.Popen(
            [sys.executable, "-m", "ragstone", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
        )
        assert arrived.wait(300)
        while len(Path("run/replies.jsonl").read_bytes().splitlines()) < 1:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(how)
        out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (3, "")
    assert "Traceback" not in err
    assert len(Path("run/replies.jsonl").read_bytes().splitlines()) == 1


@pytest.mark.parametrize(("lang", "name"), [("en", "keyword_recall"), ("zh", "关键词召回率")])
def test_keyword_recall_runs_without_a_judge_and_opens_up_in_show(lang, name, capsys):
    row = {"id": "s1", "问题": "谁值班？", "检索片段": ["值班表：王工", "食堂菜单"], "标准片段": ["值班表", "菜单", "电话"]}
    Path("samples.jsonl").write_text(json.dumps(row, ensure_ascii=False), encoding="utf-8")
    assert run(["evaluate", "samples.jsonl", "--out", "r", "--metrics", name], lang, {}) == 0
    out = capsys.readouterr().out
    assert "0.667" in out
    assert "judge none" in out
    assert run(["show", "r", "s1"], lang, {}) == 0
    out = capsys.readouterr().out
    assert [f"k{i}" in out for i in (1, 2, 3)] == [True] * 3
    assert "(c2)" in out
    assert run(["replay", "r"], lang, {}) == 0
