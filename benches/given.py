"""What the environment gives: the scripts of the mock judge, and the interpreters of rival tools."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
STAND_IN = HERE / "stand_in.py"
SCRIPTS = {
    "RAGSTONE_MOCK_JUDGE": "mock_judge.py",
    "RAGSTONE_WIRE_JUDGE": "wire_judge.py",
    "RAGSTONE_FLOOR_CLIENT": "floor_client.py",
    "RAGSTONE_MAKE_DATA": "make_data.py",
    "RAGSTONE_DRIVE_RAGAS": "drive_ragas.py",
    "RAGSTONE_DRIVE_DEEPEVAL": "drive_deepeval.py",
}
RIVALS = {"ragas": ("RAGAS_PYTHON", "RAGSTONE_DRIVE_RAGAS"), "deepeval": ("DEEPEVAL_PYTHON", "RAGSTONE_DRIVE_DEEPEVAL")}


class GivenError(Exception):
    """The environment names something that is not there; the text says which variable, what it holds, and what to do."""


@dataclass(frozen=True)
class Rival:
    """A package of other people: its interpreter, the script that drives it, its version."""

    python: Path
    driver: Path
    version: str


@dataclass(frozen=True)
class Given:
    """The mock judge with its interpreter, the script for samples, and the rivals that can be measured."""

    mock: Path
    mock_python: str
    plugin: Path | None
    make_data: Path | None
    rivals: Mapping[str, Rival]

    @property
    def stand_in(self) -> bool:
        """True if no mock judge was given, so that the one of this folder answers."""
        return self.mock == STAND_IN


def read_environment(environ: Mapping[str, str] = os.environ) -> Given:
    """Return what the variables name (README.md lists them).

    Raises:
        GivenError: a named folder, script or interpreter is missing or unfit.
    """
    scripts = _scripts(environ)
    mock = scripts.get("RAGSTONE_MOCK_JUDGE", STAND_IN)
    mock_python = environ.get("RAGSTONE_MOCK_PYTHON") or sys.executable
    if shutil.which(mock_python) is None:
        raise GivenError(f"RAGSTONE_MOCK_PYTHON is {mock_python}, and there is no such interpreter. Name one that has what the mock needs.")
    rivals = {name: _rival(name, environ, scripts) for name, (variable, _) in RIVALS.items() if environ.get(variable)}
    return Given(
        mock,
        mock_python,
        scripts.get("RAGSTONE_WIRE_JUDGE"),
        scripts.get("RAGSTONE_MAKE_DATA"),
        rivals,
    )


def settle(given: Given, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the single variables that the other benches of this folder read, with what was found behind them."""
    found = {name: str(path) for name, path in _scripts(environ).items()}
    return {"RAGSTONE_MOCK_JUDGE": str(given.mock), "RAGSTONE_WIRE_JUDGE": str(given.plugin or given.mock), **found}


def _scripts(environ: Mapping[str, str]) -> dict[str, Path]:
    found = {}
    if folder := environ.get("RAGSTONE_BENCH_DIR"):
        if not Path(folder).is_dir():
            raise GivenError(f"RAGSTONE_BENCH_DIR is {folder}, and there is no such folder. Name the one that holds mock_judge.py.")
        found = {name: Path(folder) / script for name, script in SCRIPTS.items() if (Path(folder) / script).is_file()}
        if "RAGSTONE_MOCK_JUDGE" not in found:
            raise GivenError(f"RAGSTONE_BENCH_DIR is {folder}, which holds no mock_judge.py. Name the folder that does.")
    for name in SCRIPTS:
        if path := environ.get(name):
            if not Path(path).is_file():
                raise GivenError(f"{name} is {path}, and there is no such file. Name {SCRIPTS[name]}, or unset it.")
            found[name] = Path(path)
    if "RAGSTONE_MOCK_JUDGE" in found and "RAGSTONE_WIRE_JUDGE" not in found:
        raise GivenError("a mock judge is given without RAGSTONE_WIRE_JUDGE, the script that answers ragstone's questions. Name it too.")
    return found


def _rival(name: str, environ: Mapping[str, str], scripts: Mapping[str, Path]) -> Rival:
    variable, driver = RIVALS[name]
    python = environ[variable]
    if driver not in scripts or "RAGSTONE_MOCK_JUDGE" not in scripts:
        raise GivenError(
            f"{variable} is given, but not what {name} is measured with: {SCRIPTS[driver]} and mock_judge.py. "
            "Set RAGSTONE_BENCH_DIR to the folder that holds them."
        )
    ask = f"import {name}; from importlib.metadata import version; print(version({name!r}))"
    try:
        done = subprocess.run([python, "-W", "ignore", "-c", ask], capture_output=True, text=True, check=False, timeout=120)
    except OSError as error:
        raise GivenError(f"{variable} is {python}, which cannot be started: {error.strerror}. Name the interpreter of its venv.") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise GivenError(f"{variable} is {python}, which cannot import {name}: {last}. Name an interpreter that has it.")
    return Rival(Path(python), scripts[driver], done.stdout.split()[-1])
