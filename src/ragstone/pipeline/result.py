"""What became of a pipeline: one document, one page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.errors import RagstoneError
from ragstone.figures import interval, metric_name, number
from ragstone.pipeline.base import LeftOut, StepResult
from ragstone.pipeline.decisions import exit_code_of
from ragstone.shown.blocks import Block, Code, Heading, Items, Table, Text, to_html, to_markdown
from ragstone.store import SCORES
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.pipeline.course import Course
    from ragstone.shown.summary import ShownSummary
    from ragstone.types import Language


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineResult:
    """What became of each step of a pipeline, and the numbers of its run."""

    path: str
    """The file."""
    run: str | None
    """Name of the run; None if there is none yet."""
    folder: str | None
    """Its folder."""
    baseline: str | None
    steps: tuple[StepResult, ...]
    summary: ShownSummary | None
    """The run in numbers; None before its evaluation came to its end."""
    lang: Language
    dry_run: bool = False

    @property
    def exit_code(self) -> int:
        """The first exit code of a step that is not 0: 1 = finished, with something missing; 2 = wrong; 3 = stopped early."""
        return exit_code_of(self.steps)

    def step(self, name: str) -> StepResult | None:
        """Return what became of a step; None if the pipeline does not have it."""
        return next((one for one in self.steps if one.step == name), None)

    def to_dict(self, lang: Language | None = None) -> dict[str, Any]:
        """Return the document of `run --json`; `lang` changes nothing: texts are in the language the pipeline ran in."""
        del lang
        plain = {"pipeline": self.path, "run": self.run, "folder": self.folder, "baseline": self.baseline, "dry_run": self.dry_run}
        metrics = self.summary.to_dict()["metrics"] if self.summary is not None else []
        kept = ("metric", "mean", "ci", "n", "total", "failed", "not_applicable", "coverage")
        run = self.summary.run if self.summary is not None else None
        facts = {"signature": run and run.signature, "notice": run and run.notice}
        means = [{name: metric[name] for name in kept} for metric in metrics]
        return {**plain, **facts, "exit_code": self.exit_code, "steps": [one.to_dict() for one in self.steps], "metrics": means}

    def blocks(self) -> list[Block]:
        """Return the page as blocks: how it ended, the numbers, each step, the files."""
        return list(_page(self))

    def to_markdown(self) -> str:
        """Return the page as Markdown, as it stands in `summary.md`."""
        return to_markdown(self.blocks())

    def _repr_html_(self) -> str:
        """Return the page for a notebook."""
        return to_html(self.blocks(), self.lang)

    def __repr__(self) -> str:
        """One line: the run, and how each step ended."""
        steps = (f"{one.step}={one.status if one.exit_code in (None, 0) else one.exit_code}" for one in self.steps)
        return f"PipelineResult({', '.join((str(self.run), *steps))})"


def result_of(course: Course, results: Sequence[StepResult], *, dry_run: bool = False) -> PipelineResult:
    """Return what became of a call."""
    name = course.entry or (course.index.latest.name if course.index.latest and "evaluate" not in _failed(results) else None)
    if name is not None and dry_run and not (course.work / name).is_dir():  # it would only begin
        name = None
    folder = course.work / name if name is not None else None
    return PipelineResult(
        path=str(course.pipeline.path),
        run=name,
        folder=str(folder) if folder is not None else None,
        baseline=_baseline(course) if name is not None else None,
        steps=tuple(results),
        summary=_summary(course, folder),
        lang=course.lang,
        dry_run=dry_run,
    )


def _baseline(course: Course) -> str | None:
    try:
        base = course.baseline()
    except RagstoneError:  # a run that was stopped before it had a score
        return None
    return None if isinstance(base, LeftOut) else base.name


def _failed(results: Sequence[StepResult]) -> list[str]:
    return [one.step for one in results if one.status in ("failed", "not_run")]


def _summary(course: Course, folder: Path | None) -> ShownSummary | None:
    if folder is None or not (folder / SCORES).is_file():
        return None
    try:
        return course.run().summary(by="", worst=0, min_coverage=course.pipeline.config.min_coverage)
    except RagstoneError:  # whichever step read it has told what is wrong
        return None


# ------------------------------------------------------------------ the page
_WIDE = ("。", "：", "；", "！", "？")
_MARKS = (".", ":", ";", "!", "?", "…", *_WIDE)


def _page(found: PipelineResult) -> Iterator[Block]:
    lang = found.lang
    yield Heading(say("pipeline.title", lang, run=found.run or found.path))
    notice = found.summary.run.notice if found.summary is not None else None
    if notice:
        yield Text(say("judges.smoke_test", lang), warning=True)
    yield Text(_ending(found), warning=found.exit_code != 0)
    yield _steps(found)
    yield Items(tuple(say("pipeline.line", lang, step=one.step, text=_short(one, lang)) for one in found.steps))
    for one in found.steps:
        told = (text for text in one.notices if not (notice and text == say("judges.smoke_test", lang)))  # it stands at the top
        yield from (Text(say("pipeline.line", lang, step=one.step, text=text), warning=True) for text in told)
    if found.summary is not None:
        yield _means(found.summary, lang)
        if found.summary.run.signature:
            yield Code(found.summary.run.signature)
    if found.folder is not None:
        yield Code(say("pipeline.where", lang, folder=found.folder))  # a path that is broken in two cannot be copied


def _ending(found: PipelineResult) -> str:
    lang = found.lang
    if found.dry_run:
        return say("pipeline.ended_dry", lang)
    failing = next((one for one in found.steps if one.exit_code), None)
    if failing is None:
        return say("pipeline.ended_fine", lang)
    key = {1: "pipeline.ended_1", 2: "pipeline.ended_2", 3: "pipeline.ended_3"}.get(failing.exit_code or 0, "pipeline.ended_2")
    return say(key, lang, step=failing.step)


def _steps(found: PipelineResult) -> Table:
    lang = found.lang
    head = tuple(say(f"pipeline.column_{name}", lang) for name in ("step", "status", "code", "seconds"))
    rows = tuple((one.step, _status(one, found), _code(one), f"{one.seconds:.1f}" if one.seconds else "–") for one in found.steps)
    return Table(head, rows, "llrr")


def _status(one: StepResult, found: PipelineResult) -> str:
    return say("pipeline.status_planned" if found.dry_run and one.status == "not_run" else f"pipeline.status_{one.status}", found.lang)


def _code(one: StepResult) -> str:
    return "–" if one.exit_code is None else str(one.exit_code)


def _short(one: StepResult, lang: Language) -> str:
    """In one paragraph; a line that ends without a mark gets one, or two sentences would run into each other."""
    *lines, last = [" ".join(line.split()) for line in one.text.splitlines() if line.strip()] or [""]
    stop = say("pipeline.no_hint", lang)
    ended = (line if line.endswith(_MARKS) else line + stop for line in lines)
    return "".join(line + ("" if line.endswith(_WIDE) else " ") for line in ended) + last


def _means(summary: ShownSummary, lang: Language) -> Table:
    head = tuple(say(f"pipeline.column_{name}", lang) for name in ("metric", "mean", "interval", "n"))
    rows = tuple((metric_name(m.metric, lang), number(m.mean), interval(m), f"{m.n}/{m.total}") for m in summary.metrics)
    return Table(head, rows, "lrrr")
