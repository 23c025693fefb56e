"""A gold set, a FastGPT on a socket and the command `collect`, for tests of the command line."""

import json
import os
import re
from pathlib import Path
from typing import Any

from support.rag_server import Asked, Reply, ThreadedRagServer, tell

from ragstone.cli.app import run
from ragstone.cli.width import width

KEY = "fastgpt-7d1e40ac55"
GOLD = [
    {"id": "leave", "question": "入职满一年有几天年假？", "reference": "12 天。", "team": "hr"},
    {"id": "warranty", "question": "How long is the warranty?", "reference": "1 year.", "team": "service"},
    {"id": "parking", "question": "Where can visitors park?", "reference": "On level 2.", "team": "service"},
]
RAG = """
PAGES = {"How long is the warranty?": "Standard warranty: 1 year.", "入职满一年有几天年假？": "年假：满一年 12 天。"}

def answer(question):
    text = PAGES.get(question)
    return {"answer": f"{text} [1]" if text else "Nothing found.", "contexts": [text] if text else []}

def broken(question):
    raise ValueError("the index is closed")

def bare(question):
    return "Yes."
"""
TO = ("gold.jsonl", "--to", "samples.jsonl")


def write(rows: list[dict[str, Any]], name: str = "gold.jsonl") -> None:
    """Write rows as JSON lines into the working folder."""
    Path(name).write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def samples(name: str = "samples.jsonl") -> list[dict[str, Any]]:
    """Return what was collected."""
    return [json.loads(line) for line in Path(name).read_text(encoding="utf-8").splitlines()]


def files() -> set[str]:
    """Return the names in the working folder."""
    return {path.name for path in Path().iterdir()} - {"__pycache__"}


def settings(text: str) -> None:
    """Write the settings file."""
    Path("ragstone.toml").write_text(text, encoding="utf-8")


def golden(name: str, lang: str, text: str, server: ThreadedRagServer) -> None:
    """Compare with a file, address and durations evened out; WRITE_GOLDEN=1 writes it."""
    path = Path(__file__).parents[1] / "cli" / "golden" / f"{name}.{lang}.txt"
    text = re.sub(r"\b\d+\.\d\d (s|秒)", r"0.12 \1", text).replace(server.url, "http://127.0.0.1:8000")
    assert max(map(width, text.split("\n"))) <= 80
    if "WRITE_GOLDEN" in os.environ:
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


# ------------------------------------------------------------------ a FastGPT
def quote(name: str, text: str, score: float | None = 0.83, source: str = "handbook.pdf") -> dict[str, Any]:
    """A chunk as FastGPT tells it."""
    scores = [] if score is None else [{"type": "embedding", "value": score, "index": 0}]
    return {"id": name, "q": text, "a": "", "score": scores, "sourceName": source}


def fastgpt(answer: Any, *quotes: dict[str, Any]) -> dict[str, Any]:
    """A response of FastGPT with its chunks."""
    nodes = [{"moduleType": "datasetSearchNode", "quoteList": list(quotes)}, {"moduleType": "chatNode"}]
    return {"responseData": nodes, "error": None, "choices": [{"message": {"role": "assistant", "content": answer}}]}


def failed(message: str, code: int = 500, status: int = 200, name: str = "") -> Reply:
    """FastGPT's way to say that it failed."""
    return tell({"code": code, "statusText": name, "message": message, "data": None}, status)


LEAVE, WARRANTY, PARKING = (row["question"] for row in GOLD)
ANSWERS: dict[str, Any] = {
    LEAVE: fastgpt("有 12 天年假。[c1](CITE)", quote("c1", "年假：满一年 12 天，满五年 15 天。", source="员工手册.pdf")),
    WARRANTY: fastgpt("<think>Look at page 3.</think>It lasts 1 year [w](CITE).", quote("w", "Standard warranty: 1 year.")),
    PARKING: fastgpt("I could not find that."),
}


def question(asked: Asked) -> str:
    """Return what was asked."""
    return str(asked.body["messages"][-1]["content"])


def by_question(other: dict[str, Reply] | None = None) -> Any:
    """Return a script that answers as told, but for the questions in `other`."""
    return lambda asked: (other or {}).get(question(asked)) or tell(ANSWERS[question(asked)])


def collect(server: ThreadedRagServer | None, *args: str, lang: str = "en") -> int:
    """Run the command against the server, which is named by flags; None: where the arguments or the settings say."""
    where = [] if server is None else ["--platform", "fastgpt", "--url", server.url]
    return run(["collect", *args, *where], lang, {"RAGSTONE_COLLECT_API_KEY": KEY})  # type: ignore[arg-type]
