"""The pytest plugin, in a pytest of its own: the fixture, what a failed assertion says, and that others do not notice it."""

import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import MagicMock, Mock

import pytest

from ragstone.pytest_plugin import pytest_assertrepr_compare

ROWS = [
    {"id": "ok", "question": "How long is the leave?", "answer": "The leave is 7 days.", "contexts": ["The leave is 7 days."]},
    {"id": "made-up", "question": "Who approves it?", "answer": "The mayor approves it.", "contexts": ["The head of unit approves leave."]},
]


@pytest.fixture
def project(tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return tmp_path


def run_pytest(project: Path, code: str, *arguments: str, lang: str = "en") -> subprocess.CompletedProcess[str]:
    (project / "tests" / "test_rag.py").write_text(code, encoding="utf-8")
    known = any(point.value == "ragstone.pytest_plugin" for point in importlib.metadata.entry_points(group="pytest11"))
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-W",
        "error",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:asyncio",
        *([] if known else ["-p", "ragstone.pytest_plugin"]),
    ]
    environ = {**os.environ, "RAGSTONE_LANG": lang, "RAGSTONE_CACHE": str(project / "cache"), "PYTHONUTF8": "1"}
    return subprocess.run([*command, *arguments], cwd=project, env=environ, capture_output=True, encoding="utf-8", check=False)


GOOD = """
def test_fine(ragstone_evaluate):
    result = ragstone_evaluate("samples.jsonl", metrics="faithfulness", judge="local")
    assert result.mean("faithfulness") >= 0.2
    assert 0.2 <= result.mean("faithfulness") < 1
    assert result.run.path is not None
    assert result.gate({"metrics": {"faithfulness": {"min_mean": 0.1}}}).passed
    again = ragstone_evaluate("samples.jsonl", metrics="faithfulness", judge="local")
    assert again.run is result.run
"""
BAD = """
def test_low(ragstone_evaluate):
    result = ragstone_evaluate("samples.jsonl", metrics="faithfulness", judge="local")
    assert result.mean("faithfulness") >= 0.9
"""


@pytest.mark.parametrize("arguments", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_an_assertion_that_holds(project, arguments):
    done = run_pytest(project, GOOD, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
    assert "warning" not in done.stdout.lower()


@pytest.mark.parametrize(
    ("lang", "words"), [("en", ["over 2 of 2 samples", "interval", "lowest scores"]), ("zh", ["2 个有分数", "区间", "最低分"])]
)
def test_an_assertion_that_fails_says_what_stands_behind_it(project, lang, words):
    done = run_pytest(project, BAD, lang=lang)
    assert done.returncode == 1
    assert [word for word in [*words, ">= 0.900", "made-up", "The mayor approves it"] if word not in done.stdout] == []


WRONG = """
def test_metric(ragstone_evaluate):
    ragstone_evaluate("samples.jsonl", metrics="faithfulness", judge="local").mean("faithfullness")
def test_no_judge(ragstone_evaluate):
    ragstone_evaluate("samples.jsonl", metrics="faithfulness")
def test_no_file(ragstone_evaluate):
    ragstone_evaluate("nothing.jsonl", judge="local")
def test_rules(ragstone_evaluate):
    result = ragstone_evaluate("samples.jsonl", metrics="faithfulness", judge="local")
    result.gate({"metrics": {"faithfulness": {"min_mean": 1.0}}, "on_doubt": "fail"})
def test_all_failed(ragstone_evaluate):
    rows = [{"question": "q", "answer": "a", "contexts": [], "error": "timeout"}]
    ragstone_evaluate(rows, metrics="faithfulness", judge="local").mean("faithfulness")
"""


def test_what_goes_wrong_is_said(project):
    done = run_pytest(project, WRONG)
    assert done.returncode == 1
    assert "5 failed" in done.stdout
    for word in ("did you mean faithfulness", 'judge="local"', "nothing.jsonl", "AssertionError: faithfulness: the mean of 2 samples"):
        assert word in done.stdout
    assert "no sample has a score" in done.stdout
    assert "collect:timeout 1" in done.stdout


@pytest.mark.parametrize(("lang", "look"), [("en", "look at the run: ragstone show "), ("zh", "查看这次运行：ragstone show ")])
def test_what_goes_wrong_is_one_clear_failure(project, lang, look):
    done = run_pytest(project, WRONG, lang=lang)
    assert "5 failed" in done.stdout
    for word in ("event loop", "During handling", "--judge", "api.py", "evaluation.py", "tested.py", "gating.py", "pytest_plugin.py:"):
        assert word not in done.stdout
    assert done.stdout.count(look) >= 2  # the rule that is broken, and the metric without a score
    folder = Path(done.stdout.split(look)[1].split()[0])
    assert (folder / "scores.jsonl").is_file()


def test_others_do_not_notice_it(project):
    code = """
import sys
def test_nothing_heavy_is_loaded():
    held = [name for name in ("numpy", "aiohttp", "pydantic", "typer", "ragstone.results") if name in sys.modules]
    assert "ragstone.pytest_plugin" in sys.modules and held == []
def test_comparisons_of_others():
    assert 1.0 >= 2.0
"""
    done = run_pytest(project, code)
    assert "1 failed, 1 passed" in done.stdout
    assert "assert 1.0 >= 2.0" in done.stdout


class Unbound:
    """A proxy outside of the context it belongs to."""

    def __getattr__(self, name):
        raise RuntimeError(name)


@pytest.mark.parametrize("made", [Mock, MagicMock, Unbound])
def test_objects_with_every_attribute_or_with_none_are_not_ours(made):
    assert pytest_assertrepr_compare("==", made(), 3) is None
    assert pytest_assertrepr_compare("==", 3, made()) is None


STALE = """
import json



def write(path, answer):
    row = {"id": answer, "question": "q", "answer": answer, "contexts": ["The leave is 7 days."]}
    path.write_text(json.dumps(row) + "\\n", encoding="utf-8")


def ids(run):
    return [row["id"] for row in run.samples]


def test_a_file_that_has_changed_is_evaluated_again(ragstone_evaluate, tmp_path):
    path = tmp_path / "samples.jsonl"
    for answer in ("The leave is 7 days.", "The leave is 9 weeks."):
        write(path, answer)
        assert ids(ragstone_evaluate(path, metrics="faithfulness", judge="local").run) == [answer]


def test_other_variables_are_another_call(ragstone_evaluate, tmp_path, monkeypatch):
    path = tmp_path / "samples.jsonl"
    write(path, "x")
    one = ragstone_evaluate(path, metrics="faithfulness", judge="local").run
    monkeypatch.setenv("RAGSTONE_TOP_K", "1")
    assert ragstone_evaluate(path, metrics="faithfulness", judge="local").run is not one


"""


def test_a_run_is_used_again_only_for_the_same_call(project):
    done = run_pytest(project, STALE)
    assert "2 passed" in done.stdout, done.stdout


def test_a_refusal_is_told_without_what_went_before(project):
    done = run_pytest(project, WRONG)
    assert "no running event loop" not in done.stdout
