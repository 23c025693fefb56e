"""Measure what a chat request costs the client: CPU of a whole `ragstone evaluate`, beside a bare aiohttp client.

    RAGSTONE_MOCK_JUDGE=mock_judge.py RAGSTONE_WIRE_JUDGE=wire_judge.py python benches/cpu.py [--rounds 5] [--profile FILE]

The first two variables are those of README.md. RAGSTONE_FLOOR_CLIENT names a script that takes `--base URL --n N
--conc 16 --only aiohttp --reps 1` and prints `RESULT {"aiohttp": {"cpu_us_per_req_median": …}}`; without it a client of
this file stands in. RAGSTONE_MOCK_PYTHON names the interpreter of the mock (default: this one).

The figure is the slope between two sizes, so that start and end of a run cancel out: (CPU of the larger - CPU of the
smaller) / (chat requests of the larger - of the smaller). CPU is user and system time of the child as the system counts
it, least of all rounds; sizes and floor are measured in turns, the floor over as many requests, for the least of short
measurements is lower than that of long ones. `--profile` writes where the time goes (cProfile, which
doubles it: read the shares).
"""

import argparse
import asyncio
import json
import os
import pstats
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from made import free_port, sample

SIZES = (50, 400)
CONCURRENCY = 16
MOST_TIMES_FLOOR, MOST_MS = 3.5, 1.0
PAD = ("第%d条制度需要两位经理审批。Policy %d covers staff. " * 200)[:4000]
GROUPS = (
    ("our transport", ("ragstone/transport", "ragstone/judge", "ragstone/embed")),
    ("questions", ("ragstone/questions", "ragstone/language", "ragstone/numerals", "ragstone/sentences")),
    ("metrics and plans", ("ragstone/metrics", "ragstone/plans", "ragstone/types")),
    ("driver", ("ragstone/run.py", "ragstone/progress")),
    ("run folder", ("ragstone/session", "ragstone/store", "ragstone/folder", "ragstone/cache", "orjson", "posix.")),
    ("rest of ragstone", ("ragstone/",)),
    ("aiohttp and asyncio", ("aiohttp", "asyncio", "multidict", "yarl", "_socket", "select.epoll", "propcache", "frozenlist", "ssl.py")),
    ("pydantic", ("pydantic",)),
)


# ------------------------------------------------------------------ the server
@contextmanager
def mock(script: str, plugin: str, latency: str = "fixed:0", log: Path | None = None) -> Iterator[str]:
    """Serve the mock judge and yield its base URL."""
    port = free_port()
    command = [os.environ.get("RAGSTONE_MOCK_PYTHON", sys.executable), script, "--port", str(port), "--latency", latency]
    command += ["--plugin", plugin, *(["--log", str(log)] if log else [])]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        try:
            _await_port(server, port, script)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()


def _await_port(server: subprocess.Popen[bytes], port: int, script: str) -> None:
    import socket

    for _ in range(200):
        if server.poll() is not None:
            sys.exit(f"{script} ended with exit code {server.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    sys.exit(f"{script} does not listen on port {port}")


# ------------------------------------------------------------------ the runs
def rows_file(folder: Path, count: int) -> Path:
    """Write samples and return their file."""
    path = folder / f"samples-{count}.jsonl"
    path.write_text("".join(json.dumps(sample(number), ensure_ascii=False) + "\n" for number in range(count)), encoding="utf-8")
    return path


def evaluate(data: Path, base_url: str, run: Path, python: tuple[str, ...] = (), *, cached: bool = True) -> float:
    """Run `ragstone evaluate` with everything over HTTP and a cache still empty; return seconds of CPU of the whole child."""
    cache = ["--cache", f"{run}-cache"] if cached else ["--no-cache"]
    command = [sys.executable, *python, "-m", "ragstone", "evaluate", str(data), "--out", str(run), "--judge", "mock"]
    command += ["--base-url", base_url, "--embeddings", "mock", "--concurrency", str(CONCURRENCY), *cache]
    own = {name: value for name, value in os.environ.items() if not name.startswith("RAGSTONE_")}
    environment = {**own, "RAGSTONE_JUDGE_API_KEY": "none", "NO_PROXY": "127.0.0.1"}
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(command, env=environment, stdout=said, stderr=said)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            said.seek(0)
            sys.exit(f"ragstone evaluate: exit {child.returncode}\n{said.read().decode()}")
    return used.ru_utime + used.ru_stime


def chat_requests(run: Path) -> int:
    """Return how many requests the judge of a finished run was sent."""
    counts: dict[str, int] = json.loads((run / "manifest.json").read_text(encoding="utf-8"))["counts"]
    return counts["requests"]


def floor(base_url: str, count: int) -> float:
    """Return milliseconds of CPU a bare aiohttp client needs for one of `count` requests."""
    script = os.environ.get("RAGSTONE_FLOOR_CLIENT", __file__)
    command = [sys.executable, script, "--base", base_url, "--n", str(count), "--conc", str(CONCURRENCY)]
    command += ["--only", "aiohttp", "--reps", "1"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    line = next(line for line in said.splitlines() if line.startswith("RESULT "))
    return float(json.loads(line.removeprefix("RESULT "))["aiohttp"]["cpu_us_per_req_median"]) / 1000


def measure(script: str, plugin: str, *, rounds: int = 5, sizes: tuple[int, int] = SIZES, cached: bool = True) -> dict[str, Any]:
    """Return milliseconds of CPU a chat request costs (`ms`), those of the bare client (`floor_ms`), and the `ratio`."""
    cpu: dict[int, list[float]] = defaultdict(list)
    floors: list[float] = []
    requests = dict.fromkeys(sizes, 0)
    with tempfile.TemporaryDirectory() as name, mock(script, plugin) as base_url:
        data = {size: rows_file(Path(name), size) for size in sizes}
        for turn in range(rounds):
            for size in sizes:
                run = Path(name) / f"run-{size}-{turn}"
                cpu[size].append(evaluate(data[size], base_url, run, cached=cached))
                requests[size] = chat_requests(run)
            floors.append(floor(base_url, requests[sizes[1]] - requests[sizes[0]]))
    small, large = sizes
    ms = (min(cpu[large]) - min(cpu[small])) * 1000 / (requests[large] - requests[small])
    least = min(floors)
    every = {"cpu_s": {str(size): [round(s, 3) for s in cpu[size]] for size in sizes}, "floor_ms_all": [round(f, 3) for f in floors]}
    return {"ms": round(ms, 4), "floor_ms": round(least, 4), "ratio": round(ms / least, 3), **every}


# ------------------------------------------------------------------ where the time goes
def profile(script: str, plugin: str, size: int) -> str:
    """Return a table of the time of one profiled run of `size` samples: by part, and the functions that take most."""
    with tempfile.TemporaryDirectory() as name, mock(script, plugin) as base_url:
        folder = Path(name)
        evaluate(rows_file(folder, size), base_url, folder / "run", ("-m", "cProfile", "-o", str(folder / "profile")))
        stats: dict[tuple[str, int, str], tuple[int, int, float, float, Any]] = pstats.Stats(str(folder / "profile")).stats  # type: ignore[attr-defined]
        count = chat_requests(folder / "run")
    parts: dict[str, float] = defaultdict(float)
    for function, (_, _, own, _, _) in stats.items():
        parts[_part(function)] += own
    total = sum(parts.values())
    lines = [f"{size} samples, {count} chat requests; microseconds of a request, profiler included", ""]
    lines += [f"{us / count * 1e6:8.1f} {us / total:6.1%}  {part}" for part, us in sorted(parts.items(), key=lambda p: -p[1])]
    lines += ["", "     own    calls  function"]
    for function, (_, calls, own, _, _) in sorted(stats.items(), key=lambda f: -f[1][2])[:100]:
        lines.append(f"{own / count * 1e6:8.1f} {calls / count:8.2f}  {_name(function)}")
    return "\n".join(lines) + "\n"


def _part(function: tuple[str, int, str]) -> str:
    where = f"{function[0]} {function[2]}"
    return next((name for name, marks in GROUPS if any(mark in where for mark in marks)), "everything else")


def _name(function: tuple[str, int, str]) -> str:
    path, line, name = function
    return name if path == "~" else f"{'/'.join(Path(path).parts[-2:])}:{line} {name}"


# ------------------------------------------------------------------ the bare client
async def _bare(base_url: str, count: int, concurrency: int) -> float:
    import aiohttp

    numbers = iter(range(count))
    schema = {"type": "object", "properties": {"verdict": {"type": "integer"}}, "required": ["verdict"]}
    wanted = {"type": "json_schema", "json_schema": {"name": "v", "schema": schema}}

    async def work(session: aiohttp.ClientSession, first: bool = False) -> None:
        for number in [-1] if first else numbers:
            messages = [{"role": "user", "content": f"{number}\n{PAD}"}]
            body = {"model": "m", "temperature": 0, "messages": messages, "response_format": wanted}
            async with session.post(base_url + "/chat/completions", json=body, headers={"Authorization": "Bearer x"}) as response:
                json.loads((await response.json())["choices"][0]["message"]["content"])

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=concurrency)) as session:
        await work(session, first=True)
        began = time.process_time()
        await asyncio.gather(*(work(session) for _ in range(concurrency)))
        return (time.process_time() - began) / count


def bare_client() -> None:
    """Be the client that `floor` starts where no other is named."""
    options = argparse.ArgumentParser()
    for name, kind in (("--base", str), ("--n", int), ("--conc", int), ("--only", str), ("--reps", int)):
        options.add_argument(name, type=kind)
    given = options.parse_args()
    took = asyncio.run(_bare(given.base, given.n, given.conc))
    print("RESULT " + json.dumps({"aiohttp": {"cpu_us_per_req_median": took * 1e6}}))


def main() -> None:
    """Measure and print, or profile."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--no-cache", action="store_true", help="leave the reply cache out")
    options.add_argument("--profile", type=Path, help="write where the time goes to this file instead")
    given = options.parse_args()
    script, plugin = os.environ.get("RAGSTONE_MOCK_JUDGE"), os.environ.get("RAGSTONE_WIRE_JUDGE")
    if not (script and plugin):
        print("set RAGSTONE_MOCK_JUDGE and RAGSTONE_WIRE_JUDGE to the scripts of a mock judge (see README.md)", file=sys.stderr)
        sys.exit(2)
    if given.profile:
        given.profile.write_text(profile(script, plugin, SIZES[1]), encoding="utf-8")
        return
    found = measure(script, plugin, rounds=given.rounds, cached=not given.no_cache)
    for name, most in (("ms", MOST_MS), ("ratio", MOST_TIMES_FLOOR)):
        print(f"{name:10} {found[name]:8.3f}   bar {most:g}: {'met' if found[name] <= most else 'MISSED'}")
    print(json.dumps(found))


if __name__ == "__main__":
    bare_client() if "--base" in sys.argv else main()
