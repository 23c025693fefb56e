import re
import shlex
import sys
from pathlib import Path

import orjson
import pytest

from ragstone.cli.app import run
from ragstone.cli.demo import _say_what_next
from ragstone.cli.width import width
from ragstone.text import say


@pytest.mark.parametrize("lang", [pytest.param("en", marks=pytest.mark.slow), "zh"])  # the README runs it in English
def test_the_demo_shows_table_sample_and_what_to_type_next(lang, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    Path("ragstone.toml").write_text("[judge]\nmodel = 'not-used'\nbase_url = 'http://127.0.0.1:9/v1'")
    folder = tmp_path / "kept"
    assert run(["demo", "--out", str(folder)], lang, {}) == 0
    out, err = capsys.readouterr()
    assert {"en": "smoke test, not a measurement", "zh": "不是测量"}[lang] in out
    rows = [orjson.loads(line) for line in (folder / "scores.jsonl").read_bytes().splitlines()]
    assert len(rows) == 120
    assert {row["status"] for row in rows} <= {"ok", "not_applicable"}
    opened = say("cli.demo_opened", lang, sample="|").split("|")[0]
    assert re.search(rf"{re.escape(opened)}{lang}-", out), "a sample of this language is opened"
    assert out.rstrip().splitlines()[-6].strip() == f"ragstone show {folder}"
    assert "120/120" in err
    signature = orjson.loads((folder / "manifest.json").read_bytes())["signature"]
    assert all(width(line) <= 80 for line in out.splitlines() if str(folder) not in line and signature not in line)


@pytest.mark.parametrize(
    ("found", "called", "typed"),
    [
        ("/usr/bin/ragstone", "/usr/bin/ragstone", "ragstone"),
        (None, ".venv/bin/ragstone", ".venv/bin/ragstone"),
        (None, "/my tools/ragstone", "'/my tools/ragstone'"),
        (None, "/x/ragstone/__main__.py", f"{shlex.quote(sys.executable)} -m ragstone"),
    ],
)
def test_the_commands_to_type_next_start_with_one_that_works(found, called, typed, monkeypatch, capsys):
    monkeypatch.setattr("shutil.which", lambda name: found)
    monkeypatch.setattr("sys.argv", [called, "demo"])
    _say_what_next(Path("runs/a b"), "en")
    starts = [line for line in capsys.readouterr().out.splitlines() if line.startswith(f"  {typed} ")]
    assert len(starts) == 3
    assert starts[0] == f"  {typed} show 'runs/a b'"


@pytest.fixture(autouse=True)
def working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_folder_that_is_no_run_is_left_alone(tmp_path, capsys):
    (tmp_path / "thesis.docx").write_text("x")
    assert run(["demo", "--out", str(tmp_path), "--quiet"], "en", {}) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "thesis.docx" in err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.docx"]
