import json
import sys
from pathlib import Path

import pytest
from support.benches import load

lab = load("lab")
page = load("page")
rows = load("rows")
run = load("run")
server = load("server")
GOLDEN = Path(__file__).with_name("golden")


# ------------------------------------------------------------------ the command line
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--rows", "requests,tokns"], ["tokns", "answers_changed"]),
        (["--row"], ["--row"]),
        (["--from"], ["--from"]),
        (["--again"], ["--rows"]),
    ],
)
def test_bad_usage_exits_2_and_says_what_there_is(arguments, told, capsys):
    with pytest.raises(SystemExit) as left:
        run.main(arguments)
    assert left.value.code == 2
    shown = capsys.readouterr().err
    assert [word for word in told if word not in shown] == []


@pytest.mark.parametrize(
    ("variable", "value"),
    [("RAGSTONE_BENCH_DIR", "/nowhere"), ("RAGSTONE_MOCK_PYTHON", "/nowhere/python"), ("RAGAS_PYTHON", sys.executable)],
)
def test_a_bad_environment_exits_2_before_anything_is_measured(variable, value, monkeypatch, capsys):
    monkeypatch.setenv(variable, value)
    assert run.main(["--quick", "--rows", "requests"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert variable in err


@pytest.mark.parametrize(("text", "told"), [("{", "line 1"), ('{"rows": {}}', "no figures")], ids=["no JSON", "another file"])
def test_figures_that_cannot_be_read_exit_2(text, told, tmp_path, capsys):
    (tmp_path / "figures.json").write_text(text, encoding="utf-8")
    assert run.main(["--from", str(tmp_path / "figures.json"), "--no-docs"]) == 2
    assert told in capsys.readouterr().err


def test_rows_are_measured_in_the_order_of_the_table():
    assert [row.key for row in run.options(["--rows", "failed, requests"]).chosen] == ["requests", "failed"]


def test_the_command_to_repeat_a_run_names_no_path():
    command = run.command_of(["--quick", "--out", "/home/me/x"], {"RAGAS_PYTHON": "/home/me/venv/bin/python"})
    assert command == 'RAGAS_PYTHON=… make bench ARGS="--quick --out …"'


# ------------------------------------------------------------------ measuring and writing
@pytest.mark.parametrize(("lang", "told"), [("en", "Measured again on 2030-01-02 at commit abc"), ("zh", "2030-01-02 在提交 abc 上重测")])
def test_rows_measured_again_take_the_place_of_theirs_and_are_told(lang, told):
    old = json.loads((GOLDEN / "report.json").read_text(encoding="utf-8"))
    later = {"date": "2030-01-02", "machine": {"commit": "abc", "load": "0.1"}, "rows": {"import": {"ragstone": {"value": 0.07}}}}
    new = run.measured_again(old, later)
    assert new["rows"]["import"]["ragstone"]["value"] == 0.07
    assert {key: rows for key, rows in new["rows"].items() if key != "import"} == {k: r for k, r in old["rows"].items() if k != "import"}
    assert told in page.page(new, lang)
    assert told not in page.page(old, lang)


def test_trouble_with_one_row_is_the_reason_of_that_row():
    def broken(_):
        raise ValueError("no\nsuch thing")

    assert run.attempt(rows.Row("requests", broken, 7), None) == {"ragstone": lab.Figure(why="crashed", detail="ValueError: no")}


def test_pages_and_figures_are_written_and_can_be_made_again(tmp_path, capsys):
    report = {**json.loads((run.ROOT / "docs" / "benchmarks.json").read_text(encoding="utf-8")), "quick": True}
    (tmp_path / "figures.json").write_text(json.dumps(report), encoding="utf-8")
    assert run.main(["--from", str(tmp_path / "figures.json"), "--out", str(tmp_path / "docs")]) == 0
    written = {path.relative_to(tmp_path / "docs").as_posix() for path in (tmp_path / "docs").rglob("*.*")}
    assert written == {"benchmarks.json", "benchmarks.md", "zh/benchmarks.md"}
    assert json.loads((tmp_path / "docs" / "benchmarks.json").read_text(encoding="utf-8")) == report
    assert "chat requests" in capsys.readouterr().out


# ------------------------------------------------------------------ the stand-in
def test_the_stand_in_counts_and_forgets():
    with server.serve(load("given").read_environment({})) as mock:
        mock._call("/v1/embeddings", json.dumps({"input": ["年假", "leave"]}).encode())
        mock._call("/v1/embeddings", json.dumps({"input": ["年假"]}).encode())
        counted = mock.stats()
        assert (counted["emb"], counted["emb_texts_repeat"], counted["emb_repeat"]) == (2, 1, 0)
        mock.behave(0, faults=True)
        assert mock.stats().get("emb", 0) == 0
