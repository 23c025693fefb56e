"""Measure every row of the table, beside the bars and beside other tools, in one run.

    python benches/run.py [--quick] [--rows requests,tokens [--again]] [--no-docs] [--out FOLDER]

README.md of this folder says which environment variables name the mock judge and the interpreters of the others. A whole run
writes docs/benchmarks.json, docs/benchmarks.md, docs/zh/benchmarks.md and the block the READMEs quote. Exit codes: 0 every bar
that was measured is kept (a quick run asks for none), 1 one is missed, 2 the environment or the usage is wrong.
"""

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from given import Given, GivenError, read_environment
from lab import QUICK, Figure, Figures, Lab, Size
from page import LANGUAGES, OURS, Report, block, is_met, page, plain, with_block
from rows import ROWS, Row
from server import MockError, serve
from tools import CONCURRENCY, tools

ROOT = Path(__file__).resolve().parents[1]
READMES = {"en": "README.md", "zh": "README.zh.md"}
NAMED = ("RAGSTONE_BENCH_DIR", "RAGSTONE_MOCK_JUDGE", "RAGSTONE_WIRE_JUDGE", "RAGAS_PYTHON", "DEEPEVAL_PYTHON")


# ------------------------------------------------------------------ measuring
def measure(rows: Sequence[Row], given: Given, size: Size) -> dict[str, Figures]:
    """Return the figures of the rows, by their keys; progress goes to stderr."""
    found = {}
    with tempfile.TemporaryDirectory(prefix="ragstone-bench-") as folder, serve(given) as mock:
        lab = Lab(given, mock, Path(folder), size)
        for row in rows:
            started = time.monotonic()
            found[row.key] = attempt(row, lab)
            values = "  ".join(f"{tool} {figure.value if figure.why is None else figure.why}" for tool, figure in found[row.key].items())
            print(f"{row.key:20} {time.monotonic() - started:6.1f} s  {values}", file=sys.stderr, flush=True)
    return found


def attempt(row: Row, lab: Lab) -> Figures:
    """Measure a row; trouble with one must not take the others along, so it becomes the reason of that row."""
    try:
        return row.measure(lab)
    except Exception as error:
        return {OURS: Figure(why="crashed", detail=f"{type(error).__name__}: {error}".splitlines()[0][:200])}


def machine() -> dict[str, Any]:
    """Return what the figures were measured on."""
    try:
        model = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        model = None
    return {
        "cpu": model[1] if model else platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "load": f"{os.getloadavg()[0]:.1f}",
        "commit": commit(),
    }


def commit() -> str:
    """Return the short name of the checkout's commit, marked where files differ from it."""
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--exclude", "*"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"


def version() -> str:
    """Return ragstone's version as the source has it."""
    text = (ROOT / "src" / "ragstone" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    return found[1] if found else "unknown"


def command_of(arguments: Sequence[str], environ: Mapping[str, str]) -> str:
    """Return the command to repeat the run with, the paths of this machine left out."""
    named = [f"{name}=…" for name in NAMED if environ.get(name)]
    flags = [*arguments] if "--out" not in arguments else [*arguments[: arguments.index("--out") + 1], "…"]
    return " ".join([*named, "make bench", *([f'ARGS="{" ".join(flags)}"'] if flags else [])])


def report_of(rows: Sequence[Row], given: Given, *, quick: bool, command: str) -> dict[str, Any]:
    """Measure, and return everything the pages are made from."""
    size, started, where = QUICK if quick else Size(), time.monotonic(), machine()
    found = measure(rows, given, size)
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "command": command,
        "minutes": round((time.monotonic() - started) / 60, 1),
        "machine": where,
        "versions": {OURS: version(), **{name: rival.version for name, rival in given.rivals.items()}},
        "tools": [tool.name for tool in tools(given)],
        "stand_in": given.stand_in,
        "quick": quick,
        "concurrency": CONCURRENCY,
        "size": json.loads(json.dumps(asdict(size))),
        "bars": {row.key: row.bar for row in rows},
        "rows": {key: {tool: _slim(figure) for tool, figure in figures.items()} for key, figures in found.items()},
    }


def _slim(figure: Figure) -> dict[str, Any]:
    return {"value": figure.value, **{name: value for name, value in asdict(figure).items() if value and name != "value"}}


def measured_again(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return a whole run's figures with some rows of a later run in place of theirs; the page tells which, when and at what commit."""
    note = {"rows": list(new["rows"]), "date": new["date"], "commit": new["machine"]["commit"], "load": new["machine"]["load"]}
    return {**old, "rows": {**old["rows"], **new["rows"]}, "again": [*old.get("again", []), note]}


# ------------------------------------------------------------------ writing
def texts(report: Report, docs: Path) -> dict[Path, str]:
    """Return the files of a documentation folder by path."""
    pages = {docs / ("" if lang == "en" else lang) / "benchmarks.md": page(report, lang) for lang in LANGUAGES}
    return {docs / "benchmarks.json": json.dumps(report, ensure_ascii=False, indent=1) + "\n", **pages}


def readmes(report: Report, root: Path) -> dict[Path, str]:
    """Return the READMEs with the block that quotes the figures."""
    found = {root / name: (root / name).read_text(encoding="utf-8") for name in READMES.values()}
    return {root / name: with_block(found[root / name], block(report, lang), name) for lang, name in READMES.items()}


def write(files: Mapping[Path, str]) -> None:
    """Write files, and tell which."""
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        print(path, file=sys.stderr)


def read_report(path: Path) -> dict[str, Any]:
    """Return the figures of an earlier run.

    Raises:
        OSError, ValueError: there are none in the file.
    """
    try:
        report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is no JSON: {error}") from None
    if missing := {"date", "machine", "rows", "size", "tools", "versions"} - report.keys():
        raise ValueError(f"{path} holds no figures of this bench: {', '.join(sorted(missing))} missing")
    return report


# ------------------------------------------------------------------ the command
def options(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="very few samples: does the bench work? Writes nothing into docs/")
    parser.add_argument(
        "--rows", metavar="A,B", help="measure these rows only; writes nothing into docs/: " + ", ".join(r.key for r in ROWS)
    )
    parser.add_argument("--again", action="store_true", help="with --rows: put these rows into the pages of the last whole run, marked")
    parser.add_argument("--no-docs", action="store_true", help="print the table and write nothing")
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="write the pages and the JSON here instead of into docs/ and the READMEs"
    )
    parser.add_argument("--from", dest="source", type=Path, metavar="JSON", help="measure nothing; write the pages of these figures")
    given = parser.parse_args(arguments)
    wanted = [name.strip() for name in given.rows.split(",")] if given.rows else [row.key for row in ROWS]
    if unknown := set(wanted) - {row.key for row in ROWS}:
        parser.error(f"there is no row {', '.join(sorted(unknown))}. The rows are {', '.join(row.key for row in ROWS)}")
    if given.again and not given.rows:
        parser.error("--again needs --rows: which ones are measured again?")
    given.chosen = [row for row in ROWS if row.key in wanted]
    return given


def main(arguments: Sequence[str]) -> int:
    """Measure, print, write; return the exit code."""
    asked = options(arguments)
    try:
        if asked.source:
            report = read_report(asked.source)
        else:
            report = report_of(asked.chosen, read_environment(), quick=asked.quick, command=command_of(arguments, os.environ))
        if asked.again:
            report = measured_again(read_report(ROOT / "docs" / "benchmarks.json"), report)
    except (GivenError, MockError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    print(plain(report))
    if asked.out:
        write(texts(report, asked.out))
    elif not (asked.no_docs or asked.quick or (asked.rows and not asked.again)):
        write({**texts(report, ROOT / "docs"), **readmes(report, ROOT)})
    missed = [row.key for row in ROWS if is_met(row, report["rows"].get(row.key, {}).get(OURS)) is False]
    return int(bool(missed) and not report["quick"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
