"""Measure how memory and time grow with the number of samples, command by command.

    python benches/memory.py [--sizes 100 100000] [--folder DIR]

Each command is a process of its own; peak memory (max RSS), wall and CPU time are what the system says of it when it ends.
The judge and the embedder are the scripted ones, in the same process and with the whole path around them: reading, asking,
storing, scoring. A truth table of all samples would be the largest thing in memory and is no part of a run with a real
judge, so the tables are made when a question about a sample comes, and only the latest are kept (`OnDemand`).
`evaluate` goes through `ragstone.evaluate`, since the command line takes no judge object; the other commands are the command line.
"""

import argparse
import functools
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

SIZES = (100, 100_000)
BAR = 1.5
COMMANDS = ("evaluate", "nothing left", "half left", "show", "show --json", "replay")
KEPT = 256
"""Truth tables held at a time; more than samples in work at once."""

WORDS = {
    "en": {
        "question": "What does rule #{n} of the handbook say about its deadlines?",
        "rule": "Rule #{n}.{k} of the handbook allows {m} working days for the answer to a request.",
        "asked": "Which {k} deadlines does rule #{n} set?",
        "filler": " Requests are filed in the portal, and the desk confirms them by mail.",
    },
    "zh": {
        "question": "员工手册第#{n}条对期限是怎么规定的？",
        "rule": "员工手册第#{n}条第{k}款规定，申请应当在{m}个工作日内答复。",
        "asked": "第#{n}条规定了哪{k}个期限？",
        "filler": "申请在平台上提交，由窗口发邮件确认。",
    },
}


# ------------------------------------------------------------------ samples and their truth
def sample(number: int) -> dict[str, Any]:
    """Return one row, Chinese and English by turns; every text carries the number."""
    words = WORDS["zh" if number % 2 else "en"]
    rules = [words["rule"].format(n=number, k=k, m=number % 90 + k) for k in range(1, 5)]
    return {
        "id": f"s{number:06}",
        "question": words["question"].format(n=number),
        "answer": " ".join(rules[:3]),
        "contexts": [rules[0] + words["filler"], rules[1] + words["filler"] * 2, words["filler"].strip() + f" #{number}"],
        "reference": " ".join([rules[0], rules[3]]),
        "meta": {"part": number % 7},
    }


def truth(number: int) -> dict[str, Any]:
    """Return the truth table of one sample."""
    row, words = sample(number), WORDS["zh" if number % 2 else "en"]
    rules = [words["rule"].format(n=number, k=k, m=number % 90 + k) for k in range(1, 5)]
    asked = [words["asked"].format(n=number, k=k) for k in range(2, 5)]
    return {
        "claims": {row["answer"]: rules[:3], row["reference"]: [rules[0], rules[3]]},
        "checks": {rule: {"supported": row["contexts"][k : k + 1] if k < 2 else []} for k, rule in enumerate(rules)},
        "useful": {row["question"]: row["contexts"][:2]},
        "matches": {rule: {"supported": rules[:1] if k == 0 else []} for k, rule in enumerate(rules)},
        "questions": {row["answer"]: asked},
        "cosines": {row["question"]: dict.fromkeys(asked, 0.75), row["answer"]: {row["reference"]: 0.5}},
    }


def number_in(text: str) -> int:
    """Return the number of the sample that a text belongs to."""
    found = re.search(r"#(\d+)", text)
    if found is None:
        raise ValueError(text)
    return int(found[1])


class OnDemand:
    """Stands in front of scripted judges (or embedders), one a sample, made when the sample is first asked about."""

    requests = 0

    def __init__(self, make: Callable[[dict[str, Any]], Any]) -> None:
        self._of = functools.lru_cache(KEPT)(lambda number: make(truth(number)))
        self.identity = make({}).identity

    async def complete(self, question: Any) -> Any:
        return await self._at(question.body.decode()).complete(question)

    async def embed(self, texts: Sequence[str]) -> Any:
        return await self._at(texts[0]).embed(texts)

    async def close(self) -> None:
        pass

    def _at(self, text: str) -> Any:
        return self._of(number_in(text))


def evaluate(data: str, run: str) -> None:
    """Evaluate in this process and print how long each tenth of the cells took, as JSON."""
    from ragstone import evaluate
    from ragstone.embed.scripted import ScriptedEmbedder
    from ragstone.judge.scripted import ScriptedJudge

    marks = [time.monotonic()]

    def progress(now: Any) -> None:
        if now.done * 10 >= now.total * len(marks):
            marks.append(time.monotonic())

    evaluate(
        data,
        judge=OnDemand(ScriptedJudge.from_dict),
        embeddings=OnDemand(ScriptedEmbedder.from_dict),
        out=run,
        on_progress=progress,
        on_notice=lambda _: None,
    )
    print(json.dumps([round(after - before, 4) for before, after in itertools.pairwise(marks)]))


# ------------------------------------------------------------------ measuring
def peak(command: Sequence[str]) -> dict[str, Any]:
    """Run a command and return what the system says it took: MB at the peak, seconds on the wall and on the CPU; and its output.

    A process starts with the peak of the one that started it, so a small process stands in between.
    """
    done = subprocess.run([sys.executable, __file__, "--peak", *command], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: failed")
    return dict(json.loads(done.stdout))


def peak_from_here(command: Sequence[str]) -> dict[str, Any]:
    """Do what `peak` says, as the process in between."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("RAGSTONE_")}
    with tempfile.TemporaryFile() as out:
        started = time.monotonic()
        child = subprocess.Popen(command, stdout=out, env={**own, "RAGSTONE_LANG": "en"})
        _, status, used = os.wait4(child.pid, 0)
        wall = time.monotonic() - started
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            sys.exit(f"exit code {child.returncode}")
        out.seek(0)
        text = out.read().decode()
    unit = 1e6 if sys.platform == "darwin" else 1024
    return {"rss_mb": used.ru_maxrss / unit, "wall_s": wall, "cpu_s": used.ru_utime + used.ru_stime, "out": text}


def write_samples(path: Path, size: int) -> None:
    """Write the rows one by one."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(sample(number), ensure_ascii=False) + "\n" for number in range(size))


def cut(run: Path, size: int) -> None:
    """Take away the scores of the second half of the samples and the replies of the last quarter."""
    for name, kept in (("scores.jsonl", size // 2), ("replies.jsonl", size * 3 // 4)):
        with (run / name).open(encoding="utf-8") as old, (run / "draft").open("w", encoding="utf-8") as new:
            new.writelines(line for line in old if number_in(line) < kept)
        (run / "draft").replace(run / name)


def measure_size(size: int, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield one row a command for one number of samples."""
    data, run = folder / "samples.jsonl", folder / "run"
    write_samples(data, size)
    evaluating = [sys.executable, __file__, "--child", str(data), str(run)]
    cli = [sys.executable, "-m", "ragstone"]
    commands = {
        "show": [*cli, "show", str(run)],
        "show --json": [*cli, "show", str(run), "--json"],
        "replay": [*cli, "replay", str(run)],
    }
    for name in COMMANDS:
        if name == "half left":
            cut(run, size)
        found = peak(commands.get(name, evaluating))
        tenths = json.loads(found.pop("out")) if name in ("evaluate", "half left") else []
        yield {"command": name, "samples": size, **found, "tenths_s": tenths}


def measure(sizes: Sequence[int] = SIZES, folder: Path | None = None) -> list[dict[str, Any]]:
    """Return one row a command and size: command, samples, rss_mb, wall_s, cpu_s, tenths_s (seconds of each tenth of the cells)."""
    rows = []
    for size in sizes:
        inside = Path(tempfile.mkdtemp(prefix="ragstone-memory-", dir=folder))
        try:
            for row in measure_size(size, inside):
                print(f"{size:>8} {row['command']:14} {row['rss_mb']:7.1f} MB {row['wall_s']:8.1f} s", file=sys.stderr, flush=True)
                rows.append(row)
        finally:
            shutil.rmtree(inside, ignore_errors=True)
    return rows


def show(rows: list[dict[str, Any]]) -> None:
    """Print small and large side by side."""
    small, large = min(row["samples"] for row in rows), max(row["samples"] for row in rows)
    print(f"{'':14} {'peak MB':>17} {'':5}      {'wall s':>15} {'CPU s':>15}   last tenth")
    print(f"{'samples':14} {small:>8} {large:>8} ratio      {small:>7} {large:>7} {small:>7} {large:>7}   / first")
    for name in COMMANDS:
        one, other = (next(row for row in rows if (row["command"], row["samples"]) == (name, size)) for size in (small, large))
        ratio, tenths = other["rss_mb"] / one["rss_mb"], other["tenths_s"]
        pace = f"{tenths[-1] / tenths[0]:10.2f}" if len(tenths) >= 10 else ""
        print(
            f"{name:14} {one['rss_mb']:8.1f} {other['rss_mb']:8.1f} {ratio:5.2f} {'met ' if ratio <= BAR else 'MISS'} "
            f"{one['wall_s']:7.1f} {other['wall_s']:7.1f} {one['cpu_s']:7.1f} {other['cpu_s']:7.1f} {pace}"
        )


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of samples; smallest and largest are compared")
    options.add_argument("--folder", type=Path, help="where to put the run folders (about 10 kB a sample)")
    given = options.parse_args()
    show(measure(given.sizes, given.folder))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peak"]:
        print(json.dumps(peak_from_here(sys.argv[2:])))
    elif sys.argv[1:2] == ["--child"]:
        evaluate(*sys.argv[2:])
    else:
        main()
