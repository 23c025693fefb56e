"""H23: 0 and 1 arrive as such, what is not measured does not arrive, and nothing arrives twice, today or tomorrow."""

import csv
import io
import json
import os
import shutil
from pathlib import Path

import openpyxl
import pytest
from pyarrow import parquet
from support.langfuse_server import SCORES, ThreadedLangfuseServer

import ragstone
from ragstone.cli.app import run as command

METRIC = "faithfulness"
GENERATIONS = ["v5", "v4", "dual", "v3"]
FIVE = {"q-zero": "0", "问-一": "1", "q-half": "0.5", "问-失败": "null", "q-nan": "NaN"}
DELIVERED = {"q-zero": 0, "问-一": 1, "q-half": 0.5}
WRITING = ("POST", "PUT", "PATCH", "DELETE")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The five rows, as files: a value that is no number has to be forced."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "cache"))
    run = tmp_path / "run"
    run.mkdir()
    lines = [_line(name, value) for name, value in FIVE.items()]
    (run / "scores.jsonl").write_text("".join(lines), encoding="utf-8")
    samples = [{"id": name, "question": f"问 {name}?", "answer": "答", "contexts": ["文"], "reference": "参"} for name in FIVE]
    (run / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in samples), encoding="utf-8")
    facts = {"run_id": "run-h23", "created_at": "2026-11-30T23:59:58+00:00", "signature": "by hand", "gold_fingerprint": "0123456789abcdef"}
    (run / "manifest.json").write_text(json.dumps({**facts, "metrics": {METRIC: {"version": 1}}}), encoding="utf-8")
    return run


def _line(name: str, value: str) -> str:
    status = '"failed", "reason": "timeout"' if value == "null" else '"ok"'
    return f'{{"sample_id": "{name}", "metric": "{METRIC}", "value": {value}, "status": {status}}}\n'


def exported(run: Path, server: ThreadedLangfuseServer, lang: str = "en") -> int:
    return command(["export", str(run), "--to", "langfuse", "--quiet"], lang, {**os.environ, **server.environ})


def arrived(server: ThreadedLangfuseServer) -> dict[str, float]:
    """Values by sample, as the server holds them; a score that stands there twice shows as an error."""
    scores = [one for one in server.langfuse.scores() if "traceId" in one]
    assert len({one["id"] for one in scores}) == len(scores)
    return {one["metadata"]["sample_id"]: one["value"] for one in scores}


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("generation", GENERATIONS)
def test_h23_nought_and_one_arrive_and_what_is_not_measured_does_not(folder, generation, lang):
    with ThreadedLangfuseServer(generation) as server:
        assert exported(folder, server, lang) == 0
        assert arrived(server) == DELIVERED
        (mean,) = (one for one in server.langfuse.scores() if "datasetRunId" in one)
    assert (mean["value"], mean["metadata"]["n"], mean["metadata"]["total"]) == (0.5, 3, 5)


@pytest.mark.parametrize("generation", GENERATIONS)
def test_h23_again_and_the_next_day_and_without_its_list_nothing_is_there_twice(folder, generation, monkeypatch):
    with ThreadedLangfuseServer(generation) as server:
        exported(folder, server)
        before, held = server.langfuse.scores(), server.langfuse.held()
        seen = len(server.seen)
        assert exported(folder, server) == 0
        assert not [asked for asked in server.seen[seen:] if asked.method in WRITING]
        for path in [folder, *folder.rglob("*")]:
            os.utime(path, (2e9, 2e9))  # another day
        assert exported(folder, server) == 0
        shutil.rmtree(folder / "exports")
        assert exported(folder, server) == 0
        assert server.asked(SCORES) or generation != "v5"
        assert (server.langfuse.scores(), server.langfuse.held()) == (before, held)
    assert {one["timestamp"][:10] for one in before} == {"2026-11-30"}


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_h23_the_receipt_tells_what_was_sent_and_what_was_not(folder, lang, capfd):
    with ThreadedLangfuseServer("v5") as server:
        code = command(["export", str(folder), "--to", "langfuse", "--json"], lang, {**os.environ, **server.environ})
    told = json.loads(capfd.readouterr().out)
    assert (code, told["missing"], told["rejected"]) == (0, 0, [])
    assert (told["accepted"]["score"], told["accepted"]["mean"]) == (3, 1)
    assert told["unmeasured"] == {"timeout": 1, "not_a_number": 1}


def test_h23_one_that_is_refused_is_named_and_sent_alone_later(folder, capfd):
    with ThreadedLangfuseServer("v5") as server:
        exported(folder, server)
        refused = next(one["id"] for one in server.langfuse.scores() if one.get("value") == 1)
    with ThreadedLangfuseServer("v5") as server:
        server.langfuse.refused.add(refused)
        shutil.rmtree(folder / "exports")
        assert command(["export", str(folder), "--to", "langfuse", "--json"], "en", {**os.environ, **server.environ}) == 1
        (lost,) = json.loads(capfd.readouterr().out)["rejected"]
        assert (lost["id"], lost["sample_id"], lost["metric"]) == (refused, "问-一", METRIC)
        assert arrived(server) == {name: value for name, value in DELIVERED.items() if name != "问-一"}
        server.langfuse.refused.clear()
        assert exported(folder, server) == 0
        assert arrived(server) == DELIVERED


# ------------------------------------------------------------------ the same kind, wherever else a run goes
def test_h23_files_hold_nought_and_one_and_no_number_for_what_was_not_measured(folder):
    for name in ("csv", "jsonl", "json", "xlsx", "parquet", "md", "junit"):
        assert command(["export", str(folder), "--to", name, "-o", f"out.{name}", "--quiet"], "en", {}) == 0
        assert name == "md" or b"NaN" not in Path(f"out.{name}").read_bytes()  # there a sentence says what was left out
    text = Path("out.csv").read_text(encoding="utf-8-sig")
    table = {row["id"]: row[METRIC] for row in csv.DictReader(io.StringIO(text, newline=""))}
    assert {name: float(value) for name, value in table.items() if value} == DELIVERED
    cells = [json.loads(line) for line in Path("out.jsonl").read_text(encoding="utf-8").splitlines()]
    whole = {name: DELIVERED.get(name) for name in FIVE}
    assert {row["sample_id"]: row["value"] for row in cells} == whole
    assert {one.sample_id: one.value for one in ragstone.load("out.json").scores} == whole
    held = parquet.read_table("out.parquet").to_pylist()
    assert {row["id"]: row[METRIC] for row in held} == whole
    head, *rows = openpyxl.load_workbook("out.xlsx")["samples"].iter_rows(values_only=True)
    assert {row[head.index("id")]: row[head.index(METRIC)] for row in rows} == whole


@pytest.mark.parametrize("values", [(0.0, 0.0), (1.0, 1.0), (0.0, 1.0)])
def test_h23_the_mean_of_repeats_arrives_once(folder, values):
    rows = [{"sample_id": "q-zero", "metric": METRIC, "repeat": n, "value": value, "status": "ok"} for n, value in enumerate(values)]
    (folder / "scores.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with ThreadedLangfuseServer("v5") as server:
        exported(folder, server)
        assert arrived(server) == {"q-zero": sum(values) / 2}


def test_h23_another_gold_set_touches_nothing_of_the_run_before(folder):
    with ThreadedLangfuseServer("v5") as server:
        exported(folder, server)
        spans, items = server.langfuse.spans(), server.langfuse.items()
        other = shutil.copytree(folder, folder.with_name("other"), ignore=shutil.ignore_patterns("exports"))
        manifest = json.loads((other / "manifest.json").read_text(encoding="utf-8"))
        manifest |= {"run_id": "run-other", "gold_fingerprint": "fedcba9876543210"}
        (other / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        text = (other / "samples.jsonl").read_text(encoding="utf-8")
        (other / "samples.jsonl").write_text(text.replace('"reference": "\\u53c2"', '"reference": "changed"'), encoding="utf-8")
        exported(other, server)
        assert [one for one in server.langfuse.items() if one in items] == items
        assert [one for one in server.langfuse.spans() if one in spans] == spans
        new = [one for one in server.langfuse.items() if one not in items]
    assert {one["expectedOutput"] for one in new} == {"changed"}
    assert {one["metadata"]["gold_fingerprint"] for one in new} == {"fedcba9876543210"}
