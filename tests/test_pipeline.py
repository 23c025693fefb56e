"""From a gold set to its planted causes, by the command line alone: a FastGPT-shaped server, collect, evaluate, diagnose."""

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from support.rag_server import Asked, Reply, ThreadedRagServer, fail, tell

from ragstone.cli.app import run

GOLD = Path(str(files("ragstone").joinpath("gold")))
PLANTED = [json.loads(line) for line in (GOLD / "samples.jsonl").read_text(encoding="utf-8").splitlines()]
OF_THE_APPLICATION = ("answer", "contexts")
SCRIPTED = ["--judge", f"scripted:{GOLD / 'truth.json'}", "--embeddings", f"scripted:{GOLD / 'truth.json'}"]
KEY = "fastgpt-1f0c2b7e9a"


def quote(row: dict[str, Any], at: int) -> dict[str, Any]:
    """A chunk as FastGPT tells it: question and answer part in two fields, a score of each kind."""
    head, sign, rest = row["contexts"][at].partition("\n")
    score = [{"type": "embedding", "value": 0.9 - at / 10, "index": at}, {"type": "rrf", "value": 0.016, "index": at}]
    return {"id": f"{row['id']}-{at}", "q": head, "a": rest if sign else "", "score": score, "sourceName": f"{row['meta']['category']}.pdf"}


def response(row: dict[str, Any]) -> dict[str, Any]:
    """What the application answers: the planted answer, with a mark of the first chunk at its end where there is one."""
    quotes = [quote(row, at) for at in range(len(row["contexts"]))]
    mark = f"[{quotes[0]['id']}](CITE)" if quotes else ""
    search = {"moduleType": "datasetSearchNode", "moduleName": "search", "quoteList": quotes, "runningTime": 0.2}
    choice = {"message": {"role": "assistant", "content": row["answer"] + mark}, "finish_reason": "stop", "index": 0}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 1}
    return {"id": "", "model": "", "error": None, "usage": usage, "responseData": [search, {"moduleType": "chatNode"}], "choices": [choice]}


def application(asked: Asked) -> Reply:
    """The server: knows the questions of the gold set, and its key."""
    if asked.headers.get("Authorization") != f"Bearer {KEY}":
        return tell({"code": 514, "statusText": "unAuthApiKey", "message": "Key is error", "data": None}, 500)
    if asked.path != "/api/v1/chat/completions" or asked.body["detail"] is not True:
        return fail(404)
    question = asked.body["messages"][-1]["content"]
    return next(tell(response(row)) for row in PLANTED if row["question"] == question)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ThreadedRagServer]:
    monkeypatch.chdir(tmp_path)
    gold = [{name: value for name, value in row.items() if name not in OF_THE_APPLICATION} for row in PLANTED]
    Path("gold.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in gold), encoding="utf-8")
    with ThreadedRagServer(application) as server:
        Path("ragstone.toml").write_text(f'[collect]\nplatform = "fastgpt"\nurl = "{server.url}"\n', encoding="utf-8")
        yield server


def ragstone(*args: str) -> int:
    return run(args, "en", {"RAGSTONE_COLLECT_API_KEY": KEY})


def collected() -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path("samples.jsonl").read_text(encoding="utf-8").splitlines()]


def test_the_planted_causes_are_found(server, capfdbinary):
    assert ragstone("collect", "gold.jsonl", "--to", "samples.jsonl", "--quiet") == 0
    assert ragstone("evaluate", "samples.jsonl", "--out", "run", *SCRIPTED, "--quiet") == 0
    capfdbinary.readouterr()
    assert ragstone("diagnose", "run", "--json") == 0
    found = {one["sample_id"]: one["cause"] for one in json.loads(capfdbinary.readouterr().out)["samples"]}
    assert found == {row["id"]: row["meta"]["cause"] for row in PLANTED}
    assert {name[:2] for name in found} == {"zh", "en"}
    assert len(server.seen) == len(PLANTED)


def test_the_samples_are_the_planted_ones_and_the_gold_columns_stay(server):
    assert ragstone("collect", "gold.jsonl", "--to", "samples.jsonl", "--quiet") == 0
    rows = collected()
    assert [row["id"] for row in rows] == [row["id"] for row in PLANTED]
    for row, planted in zip(rows, PLANTED, strict=True):
        assert {name: row[name] for name in planted if name != "meta"} == {name: planted[name] for name in planted if name != "meta"}
        assert row["meta"].items() >= planted["meta"].items()
        assert row["context_ids"] == ([f"{row['id']}-{i}" for i in range(len(row["contexts"]))] or None)
        assert row["answer_raw"].endswith("(CITE)") is bool(row["contexts"])
        assert row["error"] is None


def test_both_ways_give_the_same_scores(server):
    """Collected samples and the bundled ones, which were written by hand, are judged alike: same cells, same values, same reasons."""
    assert ragstone("collect", "gold.jsonl", "--to", "samples.jsonl", "--quiet") == 0
    assert ragstone("evaluate", "samples.jsonl", "--out", "collected", *SCRIPTED, "--quiet") == 0
    assert ragstone("evaluate", str(GOLD / "samples.jsonl"), "--out", "bundled", *SCRIPTED, "--quiet") == 0
    assert cells("collected") == cells("bundled")


def cells(run: str) -> list[tuple[Any, ...]]:
    rows = [json.loads(line) for line in Path(run, "scores.jsonl").read_text(encoding="utf-8").splitlines()]
    return [(row["sample_id"], row["metric"], row["value"], row["status"], row["reason"]) for row in rows]


def test_a_failed_row_counts_against_coverage_and_is_asked_again(server):
    broken = PLANTED[3]["question"]

    def without_one(asked: Asked) -> Reply:
        if asked.body["messages"][-1]["content"] == broken:
            return tell({"code": 500, "statusText": "unknownError", "message": "the node was cut off", "data": None})
        return application(asked)

    server.script = without_one
    assert ragstone("collect", "gold.jsonl", "--to", "samples.jsonl", "--min-coverage", "0.9", "--retries", "0", "--quiet") == 0
    assert collected()[3]["error"].startswith("platform_error: ")
    assert ragstone("evaluate", "samples.jsonl", "--out", "run", *SCRIPTED, "--quiet", "--min-coverage", "0.9") == 0
    assert [cell[2:] for cell in cells("run") if cell[0] == PLANTED[3]["id"]] == [(None, "failed", "collect:platform_error")] * 5

    server.script = application
    asked = len(server.seen)
    assert ragstone("collect", "gold.jsonl", "--to", "samples.jsonl", "--retry-failed", "--quiet") == 0
    assert len(server.seen) == asked + 1
    assert ragstone("evaluate", "samples.jsonl", "--out", "run", *SCRIPTED, "--quiet") == 0
    assert ragstone("evaluate", str(GOLD / "samples.jsonl"), "--out", "bundled", *SCRIPTED, "--quiet") == 0
    assert cells("run") == cells("bundled")


def test_a_wrong_key_stops_before_anything_is_judged(server, capsys):
    assert run(["collect", "gold.jsonl", "--to", "samples.jsonl"], "zh", {"RAGSTONE_COLLECT_API_KEY": "fastgpt-wrong-key"}) == 3
    told = "".join(capsys.readouterr())
    assert "RAGSTONE_COLLECT_API_KEY" in told
    assert "fastgpt-wrong-key" not in told + "".join(path.read_text(encoding="utf-8") for path in Path().iterdir() if path.is_file())
    assert len(server.seen) <= 16 + 1

    assert ragstone("collect", "gold.jsonl", "--to", "samples.jsonl", "--quiet") == 0
    assert all(row["error"] is None for row in collected())
