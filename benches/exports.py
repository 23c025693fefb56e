"""Measure how time and memory of exports grow with the number of samples.

    python benches/exports.py [--sizes 100 100000] [--formats csv jsonl json] [--folder DIR]

The run folder is written directly, five metrics a sample with the verdict lines a judge would give, half of it Chinese: nobody is
asked, since an export reads what is there. Each export is a process of its own and goes through the exporter, to a file; peak
memory (max RSS), wall and CPU time are what the system says of it when it ends.
"""

import argparse
import itertools
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from memory import BAR, WORDS, peak, sample

SIZES = (100, 100_000)
FORMATS = ("csv", "jsonl", "json")
SECONDS = {"csv": 20, "jsonl": 20}
"""Most seconds of the largest size."""
METRICS = ("faithfulness", "answer_relevancy", "context_precision", "context_recall", "answer_correctness")
SIGNATURE = "ragstone | made by rule | judge none"


def scores(number: int) -> Iterator[dict[str, Any]]:
    """Yield the five score lines of a sample; one in twenty failed."""
    words = WORDS["zh" if number % 2 else "en"]
    rules = [words["rule"].format(n=number, k=k, m=number % 90 + k) for k in range(1, 5)]
    for place, metric in enumerate(METRICS):
        failed = (number + place) % 20 == 0
        kinds = {"faithfulness": "answer_claim", "context_recall": "reference_claim", "context_precision": "context"}
        good, bad = ("useful", "not_useful") if metric == "context_precision" else ("supported", "not_found")
        lines = [
            {"kind": kinds.get(metric, "question"), "id": f"{'acr'[place % 3]}{k}", "text": rule, "verdict": bad if k == 3 else good}
            | {"evidence": [f"c{k}"], "reason": rule[:40]}
            for k, rule in enumerate(rules, 1)
        ]
        yield {"sample_id": f"s{number:06}", "metric": metric, "repeat": 0, "value": None if failed else 0.75} | {
            "status": "failed" if failed else "ok",
            "reason": "timeout" if failed else None,
            "verdicts": [] if failed else lines,
            "questions": [f"{number:032x}", f"{place:032x}"],
            "detail": {},
        }


def write_run(folder: Path, size: int) -> Path:
    """Write a run folder line by line."""
    folder.mkdir(parents=True)
    manifest = {"run_id": "made", "signature": SIGNATURE, "metrics": {name: {"version": 1, "parameters": {}} for name in METRICS}}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    for name, rows in (("samples", map(sample, range(size))), ("scores", itertools.chain.from_iterable(map(scores, range(size))))):
        with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return folder


def export(run: str, to: str, path: str) -> None:
    """Export in this process."""
    from ragstone.export.base import FileExporter, Order
    from ragstone.export.content import Content
    from ragstone.export.registry import exporter
    from ragstone.results import load

    found = exporter(to)
    if not isinstance(found, FileExporter):
        sys.exit(f"{to} writes no file")
    with open(path, "wb") as file:
        found.write(Content(load(run)), file, Order())


def measure(sizes: Sequence[int] = SIZES, formats: Sequence[str] = FORMATS, folder: Path | None = None) -> list[dict[str, Any]]:
    """Return one row a format and size: format, samples, mb (of the file), rss_mb, wall_s, cpu_s."""
    rows = []
    for size in sizes:
        inside = Path(tempfile.mkdtemp(prefix="ragstone-exports-", dir=folder))
        try:
            run = write_run(inside / "run", size)
            for name in formats:
                out = inside / f"out.{name}"
                found = peak([sys.executable, __file__, "--child", str(run), name, str(out)])
                found.pop("out")
                rows.append({"format": name, "samples": size, "mb": out.stat().st_size / 1e6, **found})
        finally:
            shutil.rmtree(inside, ignore_errors=True)
    return rows


def show(rows: list[dict[str, Any]]) -> None:
    """Print small and large side by side."""
    small, large = min(row["samples"] for row in rows), max(row["samples"] for row in rows)
    print(f"{'':8} {'file MB':>9} {'peak MB':>17} {'':10} {'wall s':>15} {'CPU s':>15}")
    print(f"{'samples':8} {large:>9} {small:>8} {large:>8} {'ratio':10} {small:>7} {large:>7} {small:>7} {large:>7}")
    for name in dict.fromkeys(row["format"] for row in rows):
        one, other = (next(row for row in rows if (row["format"], row["samples"]) == (name, size)) for size in (small, large))
        ratio, most = other["rss_mb"] / one["rss_mb"], SECONDS.get(name, 0)
        fast = "" if not most else f"{'met' if other['wall_s'] <= most else 'MISS'} (<= {most} s)"
        print(
            f"{name:8} {other['mb']:9.1f} {one['rss_mb']:8.1f} {other['rss_mb']:8.1f} {ratio:5.2f} {'met ' if ratio <= BAR else 'MISS'} "
            f"{one['wall_s']:7.2f} {other['wall_s']:7.2f} {one['cpu_s']:7.2f} {other['cpu_s']:7.2f}  {fast}"
        )


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of samples; smallest and largest are compared")
    options.add_argument("--formats", nargs="+", default=FORMATS, help="exporters by name")
    options.add_argument("--folder", type=Path, help="where to put run folders and exports (about 10 kB a sample)")
    given = options.parse_args()
    show(measure(given.sizes, given.formats, given.folder))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        export(*sys.argv[2:])
    else:
        main()
