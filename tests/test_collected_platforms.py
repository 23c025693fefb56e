"""Every platform by the command line, over a socket, in its own shape: samples without one mismatch."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.rag_platforms import FACTS, KEY, LEAVE, NEEDS, NOTHING, PARKING, UNKNOWN, platform
from support.rag_server import ThreadedRagServer

from ragstone.cli.app import run
from ragstone.collect.preset import platforms, preset

QUESTIONS = {"leave": LEAVE, "parking": PARKING, "cup": UNKNOWN}
RETRIEVES = ("fastgpt-search", "dify-retrieval", "ragflow-retrieval")
HIDES = (("openai", None), ("openai", "event-sse"), ("open-webui", "none"))
"""Platforms that tell no chunks, by the setting of `stream`."""


def streams(name: str) -> list[str | None]:
    known = preset(name)
    return [None, *(["event-sse"] if known.streaming is not None else ["none"] if known.streams else [])]


def toml(value: Any) -> str:
    return "{" + ", ".join(f"{key} = {toml(held)}" for key, held in value.items()) + "}" if isinstance(value, dict) else json.dumps(value)


def wanted(name: str, stream: str | None, question: str) -> dict[str, Any]:
    """The collected columns of a row, as the platform's facts have them."""
    fact = FACTS.get(question, NOTHING)
    ids, texts, scores, sources = ([chunk[at] for chunk in fact.chunks] for at in range(4))
    told = (name, stream) not in HIDES
    columns = {"context_ids": ids, "context_scores": scores, "context_sources": sources}
    row: dict[str, Any] = {column: (held or None) if told else None for column, held in columns.items()}
    return row | {"contexts": texts if told else None, "answer": None if name in RETRIEVES else fact.answer, "error": None}


@pytest.mark.parametrize(("name", "stream"), [(name, stream) for name in platforms() for stream in streams(name)])
def test_samples_are_the_facts_of_the_platform(name, stream, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    gold = [{"id": key, "question": question, "reference": "x", "team": "hr"} for key, question in QUESTIONS.items()]
    Path("gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold), encoding="utf-8")
    with ThreadedRagServer(platform(name)) as server:
        table = {"platform": name, "url": server.url, **NEEDS[name], **({"stream": stream} if stream else {})}
        Path("ragstone.toml").write_text(
            "[collect]\n" + "".join(f"{key} = {toml(value)}\n" for key, value in table.items()), encoding="utf-8"
        )
        command = ["collect", "gold.jsonl", "--to", "samples.jsonl", "--quiet", "--concurrency", "1"]
        assert run(command, "en", {"RAGSTONE_COLLECT_API_KEY": KEY}) == 0
    rows = [json.loads(line) for line in Path("samples.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["id"] for row in rows] == list(QUESTIONS)
    for row in rows:
        expected = wanted(name, stream, row["question"])
        assert {column: row[column] for column in expected} == expected
        assert row["meta"]["team"] == "hr"
    assert KEY not in "".join(path.read_text(encoding="utf-8") for path in tmp_path.iterdir())
