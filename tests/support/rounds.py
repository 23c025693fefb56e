"""A pipeline in the working folder: a RAG application on 127.0.0.1, a scripted judge, and a file that a test lays settings over.

with Rounds(tmp_path) as rounds:
    rounds.write(gate={"metrics": {"faithfulness": {"min_mean": 0.5}}})
    found = rounds.run()                     # a PipelineResult
    rounds.asked                             # questions that arrived since the last call of `run`
    rounds.answers["warranty"] = "5 years."  # the application answers otherwise from now on
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from support.rag_server import Asked, Reply, ThreadedRagServer, fail, tell

from ragstone.config.writing import toml
from ragstone.pipeline.result import PipelineResult
from ragstone.pipeline.running import run_pipeline

SOURCE = "Warranty: 1 year."
TRUTH = {
    "claims": {
        "It lasts 1 year.": ["The warranty lasts 1 year."],
        "It lasts 5 years.": ["The warranty lasts 5 years."],
        "1 year.": ["The warranty is 1 year."],
    },
    "checks": {
        "The warranty lasts 1 year.": {"supported": [SOURCE]},
        "The warranty lasts 5 years.": {"contradicted": [SOURCE]},
        "The warranty is 1 year.": {"supported": [SOURCE]},
    },
}
GOOD, BAD = "It lasts 1 year.", "It lasts 5 years."
ALL = ["collect", "evaluate", "diagnose", "compare", "gate", "report"]


def gold(number: int, first: int = 0) -> list[dict[str, Any]]:
    """Rows of a gold set; every other one is of the category `a`."""
    numbers = range(first, first + number)
    return [
        {"id": f"q{i}", "question": f"How long is warranty {i}?", "reference": "1 year.", "meta": {"kind": "ab"[i % 2]}} for i in numbers
    ]


class Rounds:
    """A folder with a gold set, a truth table and a pipeline, and the application they are about."""

    def __init__(self, folder: Path, rows: int = 8) -> None:
        self.folder, self.file, self.work = folder, folder / "pipeline.toml", folder / "runs"
        self.answers: dict[str, str] = {}
        self.otherwise = GOOD
        self.notices: list[str] = []
        self._server = ThreadedRagServer(self._application)
        self._seen = 0
        self.write_gold(gold(rows))
        (folder / "truth.json").write_text(json.dumps(TRUTH), encoding="utf-8")

    def __enter__(self) -> Self:
        self._server.__enter__()
        self.write()
        return self

    def __exit__(self, *ended: Any) -> None:
        self._server.__exit__(*ended)

    def _application(self, asked: Asked) -> Reply:
        if asked.path != "/answer":
            return fail(404)
        question = asked.body["q"]
        return tell({"text": self.answers.get(question, self.otherwise), "found": [{"text": SOURCE}]})

    @property
    def url(self) -> str:
        """Where the application is."""
        return self._server.url

    @property
    def asked(self) -> int:
        """Requests the application got since this was read last."""
        before = self._seen
        self.count_anew()
        return self._seen - before

    def count_anew(self) -> None:
        """Count requests from here on."""
        self._seen = len(self._server.seen)

    def write_gold(self, rows: list[dict[str, Any]]) -> None:
        """Write the gold set."""
        (self.folder / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def settings(self) -> dict[str, Any]:
        """The file before anything is laid over it."""
        shape = {"path": "/answer", "body": {"q": "$question"}, "answer": "text", "contexts": "found", "context_text": "text"}
        return {
            "gold": "gold.jsonl",
            "steps": ALL,
            "collect": {"platform": "house", "url": self.url, "retries": 0, **shape},
            "judge": {"model": "scripted:truth.json"},
            "metrics": {"metrics": ["faithfulness", "context_recall"]},
        }

    def write(self, **over: Any) -> None:
        """Write the file: a table is laid over that of its name, None takes a setting away."""
        found = self.settings()
        for name, value in over.items():
            found[name] = {**found.get(name, {}), **value} if isinstance(value, Mapping) else value
        found = {name: value for name, value in found.items() if value is not None}
        plain = [f"{name} = {toml(value)}" for name, value in found.items() if not isinstance(value, Mapping)]
        tables = [line for name, value in found.items() if isinstance(value, Mapping) for line in _table(name, value)]
        self.file.write_text("\n".join([*plain, *tables]) + "\n", encoding="utf-8")

    def run(self, begin: str | None = None, **more: Any) -> PipelineResult:
        """Run the pipeline in English; what is told goes to `notices`."""
        self.notices = []
        told: dict[str, Any] = {"on_notice": self.notices.append, "lang": "en", "environ": {"XDG_CACHE_HOME": str(self.folder)}}
        return run_pipeline(self.file, from_step=begin, **{**told, **more})


def _table(name: str, value: Mapping[str, Any]) -> list[str]:
    return [f"[{name}]", *(f"{key} = {toml(item)}" for key, item in value.items() if item is not None)]


def statuses(found: PipelineResult) -> dict[str, str]:
    """Return how each step ended, with its exit code where that is not 0."""
    return {one.step: one.status + (f" {one.exit_code}" if one.exit_code else "") for one in found.steps}
