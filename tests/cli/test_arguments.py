"""Which run is meant by an id that is a folder."""

from pathlib import Path

import pytest

from ragstone.cli.app import run
from ragstone.cli.arguments import run_hint


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        (tmp_path / "r" / name).mkdir(parents=True)
        line = '{"sample_id": "s", "metric": "faithfulness", "value": 0.5, "status": "ok"}\n'
        (tmp_path / "r" / name / "scores.jsonl").write_text(line, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("command", ["show", "diagnose"])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_second_run_where_a_sample_is_wanted(runs, command, lang, capsys):
    assert run([command, "r/a", "r/b"], lang, {}) == 2
    assert "`ragstone compare r/a r/b`" in capsys.readouterr().err
    assert run([command, "r/a", "s2"], lang, {}) == 2
    assert "compare" not in capsys.readouterr().err


@pytest.mark.parametrize("args", [["show", "r"], ["diagnose", "r"], ["compare", "r", "r/b"], ["gate", "r"], ["plan", "--from", "r"]])
@pytest.mark.parametrize(("lang", "words"), [("en", "is no run itself"), ("zh", "本身不是一次运行")])
def test_a_folder_of_runs_where_a_run_is_wanted(runs, args, lang, words, capsys, monkeypatch):
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    assert run(args, lang, {}) == 2
    told = capsys.readouterr().err
    assert words in told
    assert str(Path("r") / "a") in told
    assert "`ragstone history r`" in told


def test_an_id_longer_than_a_path_can_be():
    assert run_hint("x" * 10_000, Path("r"), "en") == ""
    assert run_hint("a\0b", Path("r"), "en") == ""
