"""The tools that are measured, and one run of one of them as a process of its own."""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from given import Given

CONCURRENCY = 16
METRICS = 5
OURS = "ragstone"
FINISHED = (0, 1)  # 1: finished, but some cells failed
NOT_OURS = ("RAGSTONE_", "OPENAI_")


@dataclass(frozen=True)
class Job:
    """What a tool is given to do."""

    data: Path
    samples: int
    latency_ms: float = 0
    faults: bool = False
    extra: tuple[str, ...] = ()
    """Further flags of `ragstone evaluate`."""


@dataclass(frozen=True)
class Ran:
    """What a run took. `stats` is what the server counted; `problem` a key of texts.toml with its detail if it did not finish."""

    wall_s: float
    cpu_s: float
    import_s: float | None = None
    failed: int | None = None
    stats: Mapping[str, Any] = field(default_factory=dict)
    problem: tuple[str, str] | None = None


@dataclass(frozen=True)
class Tool:
    """A tool by the name of its column; `path` is how a rival is driven."""

    name: str
    python: str = sys.executable
    driver: Path | None = None
    flags: tuple[str, ...] = ()

    def command(self, job: Job, base_url: str, out: Path) -> list[str]:
        """Return the command line of a job."""
        if self.driver:
            command = [self.python, str(self.driver), str(job.data), "--n", str(job.samples), "--base", base_url]
            return [*command, "--workers", str(CONCURRENCY), *self.flags]
        command = [self.python, "-m", "ragstone", "evaluate", str(job.data), "--out", str(out), "--quiet", "--judge", "mock"]
        command += ["--base-url", base_url, "--embeddings", "mock", "--concurrency", str(CONCURRENCY), "--limit", str(job.samples)]
        return [*command, *(job.extra if "--cache" in job.extra else ("--no-cache", *job.extra))]


def tools(given: Given) -> list[Tool]:
    """Return ragstone and every way to drive a rival whose interpreter is given."""
    found = [Tool(OURS)]
    ways = {"ragas": ("legacy", "collections"), "deepeval": ("local",)}
    for name, rival in given.rivals.items():
        switch = "--path" if name == "ragas" else "--model"
        found += [Tool(f"{name}-{way}", str(rival.python), rival.driver, (switch, way)) for way in ways[name]]
    return found


def environment(base_url: str) -> dict[str, str]:
    """Return the environment of a child: nobody's settings, no proxy on the loopback, no telemetry."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(NOT_OURS)}
    keys = dict.fromkeys(("OPENAI_API_KEY", "RAGSTONE_JUDGE_API_KEY"), "none")
    silent = {"NO_PROXY": "127.0.0.1", "RAGAS_DO_NOT_TRACK": "true", "DEEPEVAL_TELEMETRY_OPT_OUT": "1", "RAGSTONE_LANG": "en"}
    return {**own, **keys, **silent, "OPENAI_BASE_URL": base_url}


def child(command: Sequence[str], env: Mapping[str, str] | None = None, timeout_s: float = 600) -> tuple[Ran, int, str]:
    """Run a command and return what it took, its exit code (negative: the signal) and its output."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=err, env=env, cwd=tempfile.gettempdir())
        timer = threading.Timer(timeout_s, process.kill)
        timer.start()
        _, status, used = os.wait4(process.pid, 0)
        late = not timer.is_alive()
        timer.cancel()
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        said, complained = (_text(file) for file in (out, err))
    problem = ("timeout", f"{timeout_s:g}") if late else None
    if process.returncode not in FINISHED and not late:
        problem = ("ended", f"{process.returncode}: {_last_line(complained or said)}")
    return Ran(wall, used.ru_utime + used.ru_stime, problem=problem), process.returncode, said


def _text(file: Any) -> str:
    file.seek(0)
    text: str = file.read().decode("utf-8", "replace")
    return text


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "no message"


def result_line(text: str) -> dict[str, Any]:
    """Return what a driver says in its last line `RESULT {json}`; nothing if there is none."""
    lines = [line.removeprefix("RESULT ") for line in text.splitlines() if line.startswith("RESULT ")]
    found: dict[str, Any] = json.loads(lines[-1]) if lines else {}
    return found


def failed_cells(run: Path, samples: int) -> int:
    """Return how many of the promised cells have no value because something went wrong; one that is missing failed too."""
    cells = [json.loads(line) for line in (run / "scores.jsonl").read_text(encoding="utf-8").splitlines()]
    return samples * METRICS - len([cell for cell in cells if cell["status"] != "failed"])
