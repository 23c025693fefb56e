"""A long run in bad weather: does anything leak, is every cell accounted for?

    python benches/soak.py [--samples 20000] [--folder DIR] [--json]

All five metrics and HTTP embeddings, run folder and cache on disk, against `storm.py` as a process of its own. Memory, open files and
tasks are sampled as cells end; warnings are errors. Exit code 1 where one of the checks fails.
"""

import argparse
import asyncio
import collections
import ctypes
import gc
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import memory
from made import free_port

METRICS = 5
SAMPLINGS = 20
GROWTH = 1.1
"""Last quarter of the memory samples over the second one."""
SPARE_FILES = 4
SPARE_TASKS = 1.25
"""Tasks follow the cells in work, whose number is bounded; chance decides how many of them wait."""
TIMEOUT_S, RETRIES = 1.0, 2
START_S = 20.0
REASONS = re.compile(
    r"timeout|rate_limited|server_error|bad_gateway|connection|empty_reply|bad_reply|truncated|too_long|blocked|verdicts \d+/\d+"
    r"|no_questions|embedding_(missing|zero|dimension)|collect:\w+"
)


# ------------------------------------------------------------------ what is run
def rows(samples: int) -> Iterator[dict[str, Any]]:
    """Yield the samples; some have no contexts, some were not collected, some have an empty answer."""
    for number in range(samples):
        row = memory.sample(number)
        match number % 50:
            case 11:
                row = {**row, "answer": None, "contexts": None, "error": "timeout"}
            case 22:
                row = {**row, "contexts": None}
            case 33:
                row = {**row, "contexts": []}
            case 44:
                row = {**row, "answer": ""}
        yield row


@contextmanager
def weather() -> Iterator[str]:
    """Serve the storm until the block ends; yields its address."""
    port = free_port()
    with subprocess.Popen([sys.executable, str(Path(__file__).with_name("storm.py")), "--port", str(port)]) as process:
        url = f"http://127.0.0.1:{port}"
        try:
            until = time.monotonic() + START_S
            while True:
                try:
                    stats(url)
                    break
                except OSError:
                    if process.poll() is not None or time.monotonic() > until:
                        raise
                    time.sleep(0.05)
            yield url
        finally:
            process.terminate()


def stats(url: str) -> dict[str, Any]:
    """Return what the server has counted."""
    with urllib.request.urlopen(url + "/_stats", timeout=30) as reply:
        return dict(json.loads(reply.read()))


class Watch:
    """Samples memory, open files and tasks whenever another part of the samples is done."""

    def __init__(self, samples: int) -> None:
        self.every = max(1, min(1000, samples // SAMPLINGS))
        self.taken: list[dict[str, Any]] = []

    def progress(self, now: Any) -> None:
        """Take note."""
        if now.done >= (len(self.taken) + 1) * self.every * METRICS:
            self.taken.append({"samples": now.done // METRICS, **state()})
            told = self.taken[-1]
            print(f"{told['samples']:>7} {told['rss_mb']:7.1f} MB {told['files']:4} files {told['tasks']:4} tasks", file=sys.stderr)


def state() -> dict[str, Any]:
    """Return memory, open files and tasks of this process just now."""
    return {"rss_mb": rss_mb(), "files": len(os.listdir("/dev/fd")), "tasks": len(asyncio.all_tasks())}


def rss_mb() -> float:
    """Return the memory in use now, without what the allocator keeps for later; where the system does not tell, the peak."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    held = Path("/proc/self/statm")
    if held.exists():
        return int(held.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


async def soak(samples: int, folder: Path, url: str) -> dict[str, Any]:
    """Run, and return what was seen."""
    from ragstone import aevaluate

    data, watch, lost = folder / "samples.jsonl", Watch(samples), list[str]()
    with data.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows(samples))
    sys.unraisablehook = lambda args: lost.append(repr(args.exc_value))
    asyncio.get_running_loop().set_exception_handler(lambda _, context: lost.append(str(context)))
    before, started = state(), time.monotonic()
    run = await aevaluate(
        data,
        judge="storm",
        embeddings="storm",
        base_url=url + "/v1",
        out=folder / "run",
        cache=str(folder / "cache"),
        timeout=TIMEOUT_S,
        retries=RETRIES,
        on_progress=watch.progress,
        on_notice=lambda text: print(text, file=sys.stderr),
    )
    wall = time.monotonic() - started
    await asyncio.sleep(0.3)
    gc.collect()
    summary = run.summary(worst=0)
    return {
        "samples": samples,
        "wall_s": round(wall, 1),
        "before": before,
        "after": state(),
        "taken": watch.taken,
        "lost": lost,
        "counts": dict(summary.run.counts),
        "server": stats(url),
        **cells(folder / "run" / "scores.jsonl"),
    }


def cells(scores: Path) -> dict[str, Any]:
    """Count the cells by status, and the failed ones by reason."""
    statuses, reasons, seen = collections.Counter[str](), collections.Counter[str](), set[tuple[str, str]]()
    with scores.open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            seen.add((row["sample_id"], row["metric"]))
            statuses[row["status"]] += 1
            if row["status"] == "failed":
                reasons[row["reason"]] += 1
    return {"cells": dict(statuses), "different": len(seen), "reasons": dict(reasons.most_common())}


# ------------------------------------------------------------------ what must hold
def checks(found: dict[str, Any]) -> dict[str, bool]:
    """Return every check by what it says, True where it holds."""
    taken = found["taken"]
    quarter = len(taken) // 4
    second, last = taken[quarter : 2 * quarter], taken[-quarter:]
    growth = mean(last, "rss_mb") / mean(second, "rss_mb")
    files, tasks = ((peak(second, name), peak(last, name)) for name in ("files", "tasks"))
    left, there, total = found["after"], found["before"], found["samples"] * METRICS
    counted = sum(found["cells"].values())
    return {
        f"memory is flat: last quarter / second quarter {growth:.3f} <= {GROWTH}": growth <= GROWTH,
        f"open files are flat: {files[1]} <= {files[0]} + {SPARE_FILES}": files[1] <= files[0] + SPARE_FILES,
        f"tasks are flat: {tasks[1]} <= {SPARE_TASKS} x {tasks[0]}": tasks[1] <= SPARE_TASKS * tasks[0],
        f"no file is left open: {left['files']} <= {there['files']}": left["files"] <= there["files"],
        f"no task is left: {left['tasks']} = {there['tasks']}": left["tasks"] == there["tasks"],
        f"every cell is there once: {found['different']} = {counted} = {total}": found["different"] == counted == total,
        f"every failed cell has a known reason: {', '.join(found['reasons'])}": all(map(REASONS.fullmatch, found["reasons"])),
        f"no warning, no lost exception: {len(found['lost'])}": not found["lost"],
    }


def mean(taken: Sequence[dict[str, Any]], name: str) -> float:
    """Return the mean of what was sampled."""
    return float(sum(row[name] for row in taken) / len(taken))


def peak(taken: Sequence[dict[str, Any]], name: str) -> int:
    """Return the largest of what was sampled."""
    return int(max(row[name] for row in taken))


def measure(samples: int, folder: Path | None = None) -> dict[str, Any]:
    """Soak in a folder of its own, which is gone afterwards; returns what was seen and the checks."""
    inside = Path(tempfile.mkdtemp(prefix="ragstone-soak-", dir=folder))
    try:
        with weather() as url:
            found = asyncio.run(soak(samples, inside, url))
    finally:
        shutil.rmtree(inside, ignore_errors=True)
    return {**found, "checks": checks(found)}


def show(found: dict[str, Any]) -> None:
    """Print what was seen and how the checks came out."""
    server = found["server"]
    troubles = {name.removeprefix("trouble "): n for name, n in sorted(server.items()) if name.startswith("trouble ")}
    rate = server["chat"] / found["wall_s"]
    print(
        f"{found['samples']} samples in {found['wall_s']} s: {server['chat']} chat requests ({rate:.0f}/s), {server['emb']} of embeddings"
    )
    print("troubles: " + ", ".join(f"{name} {n}" for name, n in troubles.items()))
    print("cells: " + ", ".join(f"{name} {n}" for name, n in found["cells"].items()))
    print("failed: " + ", ".join(f"{name} {n}" for name, n in found["reasons"].items()))
    for name, holds in found["checks"].items():
        print(f"{'holds' if holds else 'FAILS'}  {name}")
    for text in found["lost"][:5]:
        print(text)


def main() -> None:
    """Soak, print, and say by the exit code whether everything holds."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--samples", type=int, default=20_000)
    options.add_argument("--folder", type=Path, help="where the run folder and the cache go (about 15 kB a sample)")
    options.add_argument("--json", action="store_true", help="print one JSON document")
    given = options.parse_args()
    warnings.simplefilter("error")
    found = measure(given.samples, given.folder)
    print(json.dumps(found, indent=2)) if given.json else show(found)
    sys.exit(not all(found["checks"].values()))


if __name__ == "__main__":
    main()
