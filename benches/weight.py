"""Rows of size: what an installation takes on the disk, and memory as the number of samples grows."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from lab import Figure, Figures, Lab
from tools import OURS, child

ROOT = Path(__file__).resolve().parents[1]
TOOLING = ("pip", "setuptools", "wheel")
WEIGH = """
import json, pathlib, sys, sysconfig
from importlib.metadata import distributions
site, tooling = pathlib.Path(sysconfig.get_path("purelib")), set(json.loads(sys.argv[1]))
names = {d.metadata["Name"].lower() for d in distributions(path=[str(site)])} - tooling
apart = {site / name for name in tooling}
size = sum(p.stat().st_size for p in site.rglob("*") if p.is_file() and not apart.intersection(p.parents))
print(json.dumps([len(names), size / 1e6]))
"""


# ------------------------------------------------------------------ installation
def packages(lab: Lab) -> Figures:
    """Installed packages, the tool itself included."""
    return _weights(lab, 0)


def megabytes(lab: Lab) -> Figures:
    """MB of their files, compiled ones included."""
    return _weights(lab, 1)


def _weights(lab: Lab, which: int) -> Figures:
    found = lab.once("weights", lambda: {OURS: _ours(lab.folder / "venv"), **{t.name: weigh(t.python) for t in lab.rivals}})
    return {name: pair if isinstance(pair, Figure) else Figure(round(pair[which], 1)) for name, pair in found.items()}


def weigh(python: str) -> tuple[float, float] | Figure:
    """Return packages and MB in the environment of an interpreter."""
    ran, _, said = child([python, "-c", WEIGH, json.dumps(TOOLING)])
    if ran.problem:
        return Figure(why=ran.problem[0], detail=ran.problem[1])
    count, size = json.loads(said)
    return count, size


def _ours(venv: Path) -> tuple[float, float] | Figure:
    """Weigh a fresh environment made from requirements.lock, with this checkout's package put into it."""
    python = venv / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "-q", "--require-hashes", "-r", str(ROOT / "requirements.lock")]
    for command in ([sys.executable, "-m", "venv", str(venv)], install):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return Figure(why="ended", detail=f"{done.returncode}: {(done.stderr.strip().splitlines() or ['pip'])[-1][:200]}")
    site = next((venv / "lib").glob("python*/site-packages"))
    shutil.copytree(ROOT / "src" / "ragstone", site / "ragstone", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([str(python), "-m", "compileall", "-q", str(site / "ragstone")], check=False)
    found = weigh(str(python))
    return found if isinstance(found, Figure) else (found[0] + 1, found[1])


# ------------------------------------------------------------------ memory
def memory(lab: Lab) -> Figures:
    """Peak memory with many samples over that with few, of the command where it grows most."""
    found = lab.once("memory", lambda: _measure_memory(lab))
    if isinstance(found, Figure):
        return {OURS: found}
    return {OURS: Figure(round(max(peaks[-1] / peaks[0] for peaks in found.values()), 2), parts=found)}


def _measure_memory(lab: Lab) -> dict[str, list[float]] | Figure:
    """Return the peaks in MB by command, for few and for many samples."""
    import memory as bench

    try:
        rows: list[dict[str, Any]] = bench.measure(lab.size.memory, lab.folder)
    except SystemExit as stop:
        return Figure(why="ended", detail=str(stop.code).splitlines()[-1])
    found: dict[str, list[float]] = {}
    for row in sorted(rows, key=lambda row: row["samples"]):
        found.setdefault(row["command"], []).append(round(row["rss_mb"], 1))
    return found
