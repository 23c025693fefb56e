"""Rows of time: CPU of a request, time at a slow server, CPU of a start. Best of several tries; tools by turns."""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from given import settle
from lab import Figure, Figures, Lab, figure
from tools import CONCURRENCY, OURS, Job, Ran, Tool, child, environment

PROBE = """
import sys
opened = []
sys.addaudithook(lambda event, _: opened.append(event) if event in ("socket.connect", "socket.getaddrinfo") else None)
try:
    {statement}
except SystemExit:
    pass
print("\\nHEAVY", len({{"numpy", "aiohttp"}} & set(sys.modules)) + len(opened))
"""
IMPORT = "from ragstone import evaluate"
HELP = "import runpy; sys.argv = ['ragstone', '--help']; runpy.run_module('ragstone', run_name='__main__')"


# ------------------------------------------------------------------ CPU of a request
def request_cpu(lab: Lab) -> Figures:
    """Milliseconds of client CPU a chat request costs: the slope between two sizes, so that start and end cancel out."""
    return {OURS: _ours(lab, "ms"), **{tool.name: _slope(lab, tool) for tool in lab.rivals}}


def request_cpu_over_floor(lab: Lab) -> Figures:
    """The same over the CPU of a bare aiohttp client in the same run."""
    bare = _ours(lab, "floor_ms")
    found = {OURS: _ours(lab, "ratio")}
    for tool in lab.rivals:
        slope = _slope(lab, tool)
        found[tool.name] = slope if slope.value is None or not bare.value else Figure(round(slope.value / bare.value, 3))
    return found


def bare_cpu(lab: Lab) -> Figures:
    """Milliseconds of CPU a request costs a bare aiohttp client."""
    return {OURS: _ours(lab, "floor_ms")}


def _ours(lab: Lab, name: str) -> Figure:
    found = lab.once("request cpu", lambda: _measure_ours(lab))
    return found if isinstance(found, Figure) else replace(_above_zero(found[name]), parts=found)


def _above_zero(value: float) -> Figure:
    return Figure(round(value, 3)) if value > 0 else Figure(why="noise")


def _measure_ours(lab: Lab) -> dict[str, Any] | Figure:
    import cpu

    single = settle(lab.given)
    os.environ.update(single)
    try:
        return dict(cpu.measure(single["RAGSTONE_MOCK_JUDGE"], single["RAGSTONE_WIRE_JUDGE"], rounds=lab.size.best_of, sizes=lab.size.cpu))
    except (SystemExit, subprocess.CalledProcessError) as stop:
        return Figure(why="crashed", detail=str(stop).splitlines()[-1][:200])


def _slope(lab: Lab, tool: Tool) -> Figure:
    small, big = (Job(lab.plain(), samples) for samples in lab.size.rival_cpu)
    runs = lab.once("rival cpu", lambda: _rival_runs(lab, small, big))
    few, many = runs[tool.name]
    cheap, dear = figure(few, lambda ran: ran.cpu_s), figure(many, lambda ran: ran.cpu_s)
    if cheap.value is None or dear.value is None:
        return cheap if cheap.value is None else dear
    return _above_zero((dear.value - cheap.value) * 1000 / (many[0].stats["chat"] - few[0].stats["chat"]))


def _rival_runs(lab: Lab, small: Job, big: Job) -> dict[str, tuple[list[Ran], list[Ran]]]:
    turns = dict.fromkeys(lab.rivals, 1)
    found: dict[str, tuple[list[Ran], list[Ran]]] = {tool.name: ([], []) for tool in lab.rivals}
    for turn in range(lab.size.rival_best_of if turns else 0):
        for tool in turns:
            for runs, job in zip(found[tool.name], (small, big), strict=True):
                runs.append(lab.run(tool, job, turn))
    return found


# ------------------------------------------------------------------ time at a slow server
def _spans(lab: Lab, latency_ms: float) -> dict[str, list[Ran]]:
    jobs = {tool: Job(lab.plain(), lab.size.span if tool.name == OURS else lab.size.rival, latency_ms) for tool in lab.all}
    turns = {tool: lab.size.best_of if tool.name == OURS else 1 for tool in lab.all}
    return lab.once(f"span {latency_ms}", lambda: lab.by_turns(jobs, turns))


def ideal_s(ran: Ran) -> float:
    """Return the seconds the chat requests take if CONCURRENCY of them are always under way."""
    return float(ran.stats["chat_latency_s"]) / CONCURRENCY


def slow_excess(lab: Lab) -> Figures:
    """Server-side span beyond the ideal, in latencies."""
    runs = _spans(lab, lab.size.slow_ms)[OURS]
    return {OURS: figure(runs, lambda ran: (ran.stats["span_s"] - ideal_s(ran)) * 1000 / lab.size.slow_ms)}


def slow_span(lab: Lab) -> Figures:
    """Server-side span over the ideal at the slow server."""
    return _over_ideal(lab, lab.size.slow_ms)


def quick_span(lab: Lab) -> Figures:
    """Server-side span over the ideal at the quick server."""
    return _over_ideal(lab, lab.size.quick_ms)


def _over_ideal(lab: Lab, latency_ms: float) -> Figures:
    return {name: figure(runs, lambda ran: ran.stats["span_s"] / ideal_s(ran)) for name, runs in _spans(lab, latency_ms).items()}


# ------------------------------------------------------------------ CPU of a start
def import_cpu(lab: Lab) -> Figures:
    """Seconds of CPU of a process that imports the tool's way to evaluate and ends."""
    return {name: figure(runs, lambda ran: ran.cpu_s) for name, runs in _starts(lab).items() if name not in ("help", "show")}


def help_cpu(lab: Lab) -> Figures:
    """Seconds of CPU of `ragstone --help`."""
    return {OURS: figure(_starts(lab)["help"], lambda ran: ran.cpu_s)}


def show_cpu(lab: Lab) -> Figures:
    """Seconds of CPU of `ragstone show RUN --json`."""
    return {OURS: figure(_starts(lab)["show"], lambda ran: ran.cpu_s)}


def _starts(lab: Lab) -> dict[str, list[Ran]]:
    return lab.once("starts", lambda: _measure_starts(lab))


def _measure_starts(lab: Lab) -> dict[str, list[Ran]]:
    run = lab.folder / "demo"
    commands: dict[str, Sequence[str]] = {
        OURS: [sys.executable, "-c", IMPORT],
        "help": [sys.executable, "-m", "ragstone", "--help"],
        "show": [sys.executable, "-m", "ragstone", "show", str(run), "--json"],
        **{tool.name: [tool.python, "-W", "ignore", "-c", _rival_import(tool)] for tool in lab.rivals},
    }
    env = environment(lab.mock.base_url)
    child([sys.executable, "-m", "ragstone", "demo", "--out", str(run)], env)
    found: dict[str, list[Ran]] = {name: [] for name in commands}
    for turn in range(lab.size.best_of + 1):
        for name, command in commands.items():
            ran, _, _ = child(command, env)
            found[name] += [ran] if turn else []  # the first one writes compiled files
    return found


def _rival_import(tool: Tool) -> str:
    ways = {
        "ragas-legacy": "from ragas import evaluate",
        "ragas-collections": "from ragas.metrics import collections; from ragas.llms import llm_factory",
    }
    return ways.get(tool.name, "from deepeval import evaluate")


def heavy_modules(lab: Lab) -> Figures:
    """How many of numpy and aiohttp the import and --help load, plus connections they open."""
    env, found = environment(lab.mock.base_url), []
    for statement in (IMPORT, HELP):
        ran, _, said = child([sys.executable, "-c", PROBE.format(statement=statement)], env)
        if ran.problem or "HEAVY" not in said:
            why, detail = ran.problem or ("silent", "")
            return {OURS: Figure(why=why, detail=detail)}
        found.append(float(said.split()[-1]))
    return {OURS: Figure(sum(found))}
