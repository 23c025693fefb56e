"""A pipeline with everything it talks to on this machine: a FastGPT, a judge and embeddings over the wire, a Langfuse."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from support.collected import fastgpt, question, quote
from support.langfuse_server import ThreadedLangfuseServer
from support.rag_server import Asked, Reply, ThreadedRagServer, fail, tell
from support.truth_server import TruthServer, answering, kind_of

from ragstone.cli.app import run
from ragstone.judge.local import LocalJudge

Row = dict[str, Any]
SAMPLES = Path(__file__).resolve().parents[2] / "src" / "ragstone" / "gold" / "samples.jsonl"
IDS = ("zh-list-1", "zh-contact-2", "zh-warranty-1", "en-list-2", "en-returns-1", "en-warranty-1")
STEPS = ("collect", "evaluate", "diagnose", "compare", "gate", "report", "export")
FILE = """
gold = "gold.jsonl"
work = "work"
concurrency = 4
{top}

[collect]
platform = "fastgpt"
url = "{app}"
concurrency = 2
retries = 0
{collect}

[judge]
model = "judge-1"
base_url = "{judge}"
retries = 0

[gate]
min_coverage = 0.95
{gate}

[export]
to = {to}
"""


@dataclass
class Application:
    """A FastGPT: answers by question, counts who asked what, and refuses other keys."""

    rows: dict[str, Row]
    prompt: str = ""
    """Put behind every answer: another prompt, other answers, the same chunks."""
    asked: Counter[str] = field(default_factory=Counter)
    before: Callable[[str], None] = lambda _: None
    """Called with every question before it is answered."""
    key: str = "fastgpt-key-1"

    def __call__(self, asked: Asked) -> Reply:
        if asked.headers.get("Authorization") != f"Bearer {self.key}":
            return fail(403, {"code": 403, "statusText": "unAuthApiKey", "message": "Key is error", "data": None})
        said = question(asked)
        self.asked[said] += 1
        self.before(said)
        row = self.rows[said]
        chunks = [quote(f"c{at}", text) for at, text in enumerate(row["contexts"], 1)]
        return tell(fastgpt(row["answer"] + self.prompt, *chunks))


@dataclass
class Lab:
    """The folder of a pipeline, and what it talks to."""

    folder: Path
    app: ThreadedRagServer
    application: Application
    judge: TruthServer
    langfuse: ThreadedLangfuseServer
    gold: list[Row]

    @property
    def file(self) -> Path:
        return self.folder / "pipeline.toml"

    @property
    def work(self) -> Path:
        return self.folder / "work"

    @property
    def environ(self) -> dict[str, str]:
        """What a shell would have set."""
        keys = {"RAGSTONE_COLLECT_API_KEY": self.application.key, "RAGSTONE_JUDGE_API_KEY": "sk-judge-1"}
        return {**keys, **self.langfuse.environ, "RAGSTONE_CACHE": str(self.folder / "replies")}

    def write(self, *, to: str = '["csv", "junit", "langfuse"]', collect: str = "", gate: str = "", top: str = "") -> None:
        """Write gold set and file."""
        lines = b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in self.gold)
        (self.folder / "gold.jsonl").write_bytes(lines)
        slots = {"app": self.app.url, "judge": self.judge.base_url, "to": to, "collect": collect, "gate": gate, "top": top}
        self.file.write_text(FILE.format(**slots), encoding="utf-8")

    def run(self, *args: str, environ: dict[str, str] | None = None) -> int:
        """Run the pipeline in this process."""
        return run(["run", str(self.file), *args], "en", self.environ if environ is None else environ)

    def start(self, code: str, *args: str) -> "subprocess.Popen[bytes]":
        """Run it in a process of its own, after some Python code."""
        program = f"{code}\nfrom ragstone.cli.app import main\nraise SystemExit(main())"
        command = [sys.executable, "-c", program, "run", str(self.file), "--quiet", *args]
        return subprocess.Popen(command, env={**os.environ, **self.environ}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def index(self) -> Row:
        return orjson.loads((self.work / "runs.json").read_bytes())

    def runs(self) -> list[Path]:
        """The run folders, oldest first."""
        return [self.work / run["name"] for run in self.index()["runs"]]

    def requests(self) -> "Requests":
        """How many requests everything had so far."""
        return Requests(len(self.app.seen), len(self.judge.chats), len(self.langfuse.seen))

    def kinds(self, since: "Requests") -> Counter[str]:
        """What the judge was asked since then, by kind."""
        return Counter(kind_of(body) for body in self.judge.chats[since.judge :])


@dataclass(frozen=True)
class Requests:
    app: int
    judge: int
    langfuse: int


@contextmanager
def judging() -> Iterator[TruthServer]:
    """Start a judge; one is enough for many labs."""
    with answering(LocalJudge()) as judge:
        yield judge


@contextmanager
def lab(folder: Path, judge: TruthServer) -> Iterator[Lab]:
    """Start the rest; the answers are those of the bundled gold set."""
    rows = [orjson.loads(line) for line in SAMPLES.read_bytes().splitlines()]
    known = {row["id"]: row for row in rows}
    chosen = [known[name] for name in IDS]
    application = Application({row["question"]: row for row in chosen})
    gold = [{name: row[name] for name in ("id", "question", "reference")} | {"team": row["id"][:2]} for row in chosen]
    judge.chats.clear()
    judge.instead = lambda body: None
    with ThreadedRagServer(application) as app, ThreadedLangfuseServer("v5") as langfuse:
        made = Lab(folder, app, application, judge, langfuse, gold)
        made.write()
        yield made
