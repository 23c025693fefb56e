"""Where measuring happens: the mock judge, the samples, and every run that a row asked for, made once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from given import Given
from made import answered_anew, floor, large_sample, read_rows, sample, write_rows
from server import Mock
from tools import OURS, Job, Ran, Tool, child, environment, failed_cells, result_line, tools

T = TypeVar("T")


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    counted: int = 200
    """Samples of ours where requests and tokens are counted."""
    rival: int = 50
    """Samples a rival gets."""
    large: int = 20
    faulty: int = 50
    span: int = 200
    slow_ms: float = 500
    quick_ms: float = 50
    best_of: int = 5
    cpu: tuple[int, int] = (50, 400)
    rival_cpu: tuple[int, int] = (10, 50)
    rival_best_of: int = 3
    memory: tuple[int, int] = (100, 100_000)
    timeout_s: float = 300


QUICK = Size(
    counted=4,
    rival=4,
    large=2,
    faulty=4,
    span=16,
    slow_ms=50,
    quick_ms=5,
    best_of=2,
    cpu=(2, 8),
    rival_cpu=(2, 8),
    rival_best_of=1,
    memory=(10, 50),
)


@dataclass(frozen=True)
class Figure:
    """A measured number, or the reason (`why`, a key of texts.toml, and its detail) why there is none."""

    value: float | None = None
    why: str | None = None
    detail: str = ""
    every: tuple[float, ...] = ()
    """The number of every try."""
    failed: int = 0
    """Cells without a value in the same runs, where the server had no faults: less work was done than the number says."""
    parts: Mapping[str, Any] = field(default_factory=dict)
    """What the number was made from."""


Figures = dict[str, Figure]
"""Figures by the name of the tool."""


@dataclass
class Lab:
    """Everything a row may measure with."""

    given: Given
    mock: Mock
    folder: Path
    size: Size = field(default_factory=Size)
    _runs: dict[tuple[str, Job, int], Ran] = field(default_factory=dict)
    _held: dict[str, Any] = field(default_factory=dict)

    # ------------------------------------------------------------------ who and what
    @property
    def ours(self) -> Tool:
        """Ragstone, as a tool."""
        return self.all[0]

    @property
    def all(self) -> list[Tool]:
        """Ragstone first, then the rivals."""
        return tools(self.given)

    @property
    def rivals(self) -> list[Tool]:
        """The tools of others."""
        return self.all[1:]

    def samples_of(self, tool: Tool) -> int:
        """Return how many samples a tool is given for counts."""
        return self.size.counted if tool.name == OURS else self.size.rival

    def plain(self) -> Path:
        """Return the samples most rows are measured on: 5 contexts each, half Chinese, half English."""
        return self.once("plain", self._make_plain)

    def _make_plain(self) -> Path:
        path, most = self.folder / "plain.jsonl", max(self.size.counted, self.size.span, self.size.rival, self.size.faulty)
        if self.given.make_data is None:
            return write_rows(path, (sample(number) for number in range(most)))
        ran, code, said = child([self.given.mock_python, str(self.given.make_data), str(most), str(path)])
        if code or ran.problem:
            raise RuntimeError(f"{self.given.make_data} ended with exit code {code}: {said}")
        return path

    def large(self, claims: int) -> Path:
        """Return samples with 12 contexts, and answers and references of so many claims."""
        path = self.folder / f"large-{claims}.jsonl"
        return self.once(path.name, lambda: write_rows(path, (large_sample(number, claims) for number in range(self.size.large))))

    def answered_anew(self) -> Path:
        """Return the plain samples with other answers."""
        path = self.folder / "anew.jsonl"
        return self.once("anew", lambda: write_rows(path, (answered_anew(row, i) for i, row in enumerate(read_rows(self.plain())))))

    def floor(self, samples: int) -> float:
        """Return the content floor of the first plain samples: tokens a sample."""
        return sum(map(floor, read_rows(self.plain())[:samples])) / samples

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Return what `make` returned when it was first called under this name."""
        if name not in self._held:
            self._held[name] = make()
        held: T = self._held[name]
        return held

    # ------------------------------------------------------------------ runs
    def run(self, tool: Tool, job: Job, turn: int = 0, *, begin: bool = True) -> Ran:
        """Return what a job took a tool; the same turn of the same job is run once. `begin` false: the server remembers earlier ones."""
        key = (tool.name, job, turn)
        if key not in self._runs:
            if begin:
                self.mock.behave(job.latency_ms, faults=job.faults)
            self._runs[key] = self._run(tool, job, self.folder / f"run-{len(self._runs)}")
        return self._runs[key]

    def _run(self, tool: Tool, job: Job, out: Path) -> Ran:
        command = tool.command(job, self.mock.base_url, out)
        ran, _, said = child(command, environment(self.mock.base_url), self.size.timeout_s)
        told = {} if tool.name == OURS else result_line(said)
        failed = told.get("failed")
        if tool.name == OURS and not ran.problem:
            failed = failed_cells(out, job.samples)
        problem = ran.problem if failed is not None or ran.problem else ("silent", "")
        return replace(ran, stats=self.mock.stats(), import_s=told.get("import_s"), failed=failed, problem=problem)

    def by_turns(self, jobs: Mapping[Tool, Job], turns: Mapping[Tool, int]) -> dict[str, list[Ran]]:
        """Run every job as often as said, the tools by turns, so that the machine's moods hit all alike."""
        runs: dict[str, list[Ran]] = {tool.name: [] for tool in jobs}
        for turn in range(max(turns.values())):
            for tool, job in jobs.items():
                if turn < turns[tool] and not any(ran.problem for ran in runs[tool.name]):
                    runs[tool.name].append(self.run(tool, job, turn))
        return runs


def figure(runs: Sequence[Ran], value: Callable[[Ran], Any]) -> Figure:
    """Return the least value over the runs of a tool, or the first problem one of them had."""
    problem = next((ran.problem for ran in runs if ran.problem), None)
    if problem:
        return Figure(why=problem[0], detail=problem[1])
    values = tuple(round(float(value(ran)), 4) for ran in runs)
    failed = max(ran.failed or 0 for ran in runs)
    return Figure(min(values), every=values if len(values) > 1 else (), failed=failed)
