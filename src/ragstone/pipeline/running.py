"""A pipeline from its file to its end: checked whole, then step by step, each recorded as soon as it is done."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.errors import Interrupted, RagstoneError, RunFolderError, StoppedError, reason_of
from ragstone.pipeline.base import Hearing, LeftOut, Listener, Outcome, Step, StepResult
from ragstone.pipeline.checks import check_pipeline
from ragstone.pipeline.course import Course
from ragstone.pipeline.decisions import GOES_ON, begun, unchanged
from ragstone.pipeline.file import Pipeline, check_step, read_pipeline
from ragstone.pipeline.index import StepRecord, read_index
from ragstone.pipeline.step_analysis import Compare, Diagnose, Report
from ragstone.pipeline.step_collect import FOLDER as SAMPLES
from ragstone.pipeline.step_collect import ApplicationAsking, Collect
from ragstone.pipeline.step_evaluate import Evaluate
from ragstone.pipeline.step_export import Export
from ragstone.pipeline.step_gate import Gate
from ragstone.text import say, screen_language

if TYPE_CHECKING:
    from ragstone.pipeline.result import PipelineResult
    from ragstone.progress import Progress, RowProgress
    from ragstone.types import Language

WORK_OF: Mapping[str, Step] = {
    "collect": Collect(),
    "evaluate": Evaluate(),
    "diagnose": Diagnose(),
    "compare": Compare(),
    "gate": Gate(),
    "report": Report(),
    "export": Export(),
}
ASKS_AGAIN = ("collect", "evaluate")
"""Steps that `--retry-failed` does again."""
NEEDED = ("collect", "evaluate")
"""Steps whose outcome the later ones cannot do without."""
PAGES = ("diagnose", "compare", "gate", "report")
"""Steps that write about the run into its folder, each resting on those before it."""


def run_pipeline(
    path: str | os.PathLike[str],
    *,
    from_step: str | None = None,
    retry_failed: bool = False,
    dry_run: bool = False,
    lang: Language | None = None,
    environ: Mapping[str, str] | None = None,
    on_progress: Callable[[Progress | RowProgress], None] | None = None,
    on_notice: Callable[[str], None] | None = None,
) -> PipelineResult:
    """Run the pipeline of a file: collect, evaluate, diagnose, compare, gate, report, export. Works inside a running event loop too.

    A step whose inputs have not changed since it ended with 0 is skipped. Killed at any moment and called again, it goes on.

    Args:
        path: the file, a `ragstone.toml` with `gold`, `work`, `baseline`, `steps` besides the usual tables.
        from_step: the step to begin with: those before it are taken as they are, it and the later ones are done again.
        retry_failed: ask failed rows and cells again.
        dry_run: check everything and say which steps would be done; nothing is sent or written.
        lang: language of pages and texts; None = that of the file, else the screen's.
        environ: where keys are looked up; None = the environment of the process.
        on_progress: hears how far collecting and evaluating are.
        on_notice: hears what a person should know; without it the logger `ragstone` says so as a warning.

    Returns what became of each step. A step that fails is told there and raises nothing.

    Raises:
        ConfigError, DataError, RunFolderError: something is wrong with the file, the gold set or the work folder; nothing was asked.
    """
    listener = _Told(on_progress or (lambda _: None), on_notice or logging.getLogger("ragstone").warning)
    flags = {"retry_failed": retry_failed, "lang": lang}
    said: dict[str, Any] = {"from_step": from_step, "dry_run": dry_run, "hearing": lambda: nullcontext(listener)}
    return run_file(Path(path), flags, os.environ if environ is None else environ, **said)


class _Told:
    """Hands on to two functions."""

    def __init__(self, progress: Callable[[Progress | RowProgress], None], notice: Callable[[str], None]) -> None:
        self.progress, self.notice = progress, notice


def run_file(
    path: Path,
    flags: Mapping[str, Any],
    environ: Mapping[str, str],
    *,
    hearing: Hearing,
    from_step: str | None = None,
    dry_run: bool = False,
    lang: Language | None = None,
) -> PipelineResult:
    """Run the pipeline of a file; see `run_pipeline`. `flags`: settings that go ahead of those of the file."""
    with _stoppable():
        pipeline = _read(path, flags, environ, lang)
        begin, dry_run = check_step(from_step, pipeline), dry_run or pipeline.config.dry_run
        before, after = begun(pipeline.steps, begin)
        checked = check_pipeline(pipeline, after, read_index(pipeline.work))
        with _locked(pipeline, write=not dry_run):
            index = read_index(pipeline.work)
            course = Course(pipeline, index, checked, begin, pipeline.config.retry_failed, written=not dry_run)
            course.samples = _samples(course, before)
            with hearing() as hear:
                for notice in pipeline.notices:
                    hear.notice(notice)
            results = [_taken(course, step) for step in before]
            results += _rehearsed(course, after) if dry_run else _done(course, after, hearing)
            return _ended(course, results, dry_run=dry_run)


def _read(path: Path, flags: Mapping[str, Any], environ: Mapping[str, str], lang: Language | None) -> Pipeline:
    given = {name: value for name, value in flags.items() if value is not None}
    found = read_pipeline(path, given, environ, lang or screen_language(given.get("lang")))
    if lang is None and not given.get("lang") and found.config.lang is not None:
        return read_pipeline(path, given, environ, found.config.lang)
    return found


def _samples(course: Course, before: Sequence[str]) -> Path | None:
    """Where the samples are, or are to be. Once a run is taken as it is, they are those it judged, whatever `[collect]` says now."""
    asking, work, latest = course.checked.asking, course.work, course.index.latest
    if asking is not None:
        return work / SAMPLES / f"{asking.key}.jsonl"
    return work / latest.samples if "collect" in before and latest is not None and latest.samples is not None else None


@contextmanager
def _locked(pipeline: Pipeline, *, write: bool) -> Iterator[None]:
    """Keep a second pipeline out of the work folder; one that only looks needs no folder."""
    from ragstone.folder import FolderLock, create

    work = pipeline.work
    if work.exists() and not work.is_dir():
        raise RunFolderError(say("pipeline.work_is_a_file", pipeline.lang, path=work))
    if not write:
        yield
        return
    create(work)
    try:
        lock = FolderLock(work)
    except RunFolderError as bad:
        if isinstance(bad.__cause__, BlockingIOError | PermissionError) and os.access(work, os.W_OK):
            raise RunFolderError(say("pipeline.locked", pipeline.lang, path=work)) from bad
        raise
    try:
        yield
    finally:
        lock.release()


# ------------------------------------------------------------------ the steps
def _taken(course: Course, step: str) -> StepResult:
    """A step before the one that `--from` names: as it is, whatever has changed; raises ConfigError if it never came to its end."""
    from ragstone.errors import ConfigError

    held = course.held(step) if step == "collect" or course.index.latest is not None else None
    if held is None:
        if step in NEEDED:
            raise ConfigError(say("pipeline.not_done_yet", course.lang, step=step, begin=course.begin, path=course.pipeline.path))
        return StepResult(step=step, status="skipped", exit_code=None, text=say("pipeline.never_done", course.lang))
    gone = [name for name, print_ in course.now(held).items() if print_ is None]
    if gone and step in NEEDED:
        raise ConfigError(say("pipeline.files_gone", course.lang, step=step, begin=course.begin, file=gone[0]))
    text = say("pipeline.taken", course.lang, text=held.texts.get(course.lang, ""))
    return StepResult(step=step, status="skipped", exit_code=held.exit_code, text=text, **_as_held(held, course))


def _as_held(held: StepRecord, course: Course, *hints: str) -> dict[str, Any]:
    """What a step that is not done left behind when it was."""
    told = held.notices.get(course.lang) or next(iter(held.notices.values()), ())  # better in another language than not at all
    notices = (*told, *hints)
    return {"files": tuple(held.files), "numbers": held.numbers, "notices": notices}


def _done(course: Course, steps: Sequence[str], hearing: Hearing) -> Iterator[StepResult]:
    """Yield what becomes of each step; one that fails keeps the later ones from running."""
    why: str | None = None
    for step in steps:
        if why is not None:
            yield StepResult(step=step, status="not_run", exit_code=None, text=why)
            continue
        result = _step(course, step, hearing)
        if result.status == "failed":
            key = "pipeline.not_run_empty" if result.exit_code in GOES_ON else "pipeline.not_run"
            why = say(key, course.lang, step=step)
        yield result


def _step(course: Course, step: str, hearing: Hearing) -> StepResult:
    begun_at = time.monotonic()
    try:
        with _stoppable(), hearing() as hear:
            hear.notice(say("pipeline.begins", course.lang, step=step))
            return _decided(course, step, hear, begun_at)
    except RagstoneError as bad:
        code, text = bad.exit_code, str(bad)
    except KeyboardInterrupt:
        code, text = Interrupted.exit_code, say("store.interrupted", course.lang)
    except OSError as bad:
        code, text = (2 if bad.filename is not None else 3), f"{bad.filename or ''}: {reason_of(bad, course.lang)}".removeprefix(": ")
    for page in PAGES[PAGES.index(step) :] if step in PAGES else ():
        course.withdraw(page)  # what they said before must not pass for what is so now
    return StepResult(step=step, status="failed", exit_code=code, text=text, seconds=time.monotonic() - begun_at)


def _decided(course: Course, step: str, hear: Listener, begun_at: float) -> StepResult:
    """Skip the step or do it."""
    inputs = WORK_OF[step].inputs(course)
    if isinstance(inputs, LeftOut):
        return StepResult(step=step, status="skipped", exit_code=None, text=inputs.text)
    held = course.held(step)
    again = course.begin is not None or (course.retry_failed and step in ASKS_AGAIN)
    if held is not None and not again and unchanged(held, inputs.fingerprint, course.now(held)):
        text = say("pipeline.unchanged", course.lang, text=held.texts.get(course.lang, ""))
        hints = [inputs.hint] if inputs.hint else []
        plain = _as_held(held, course, *hints)
        return StepResult(step=step, status="skipped", exit_code=0, text=text, seconds=time.monotonic() - begun_at, **plain)
    if step == "export":
        course.forget(step)  # should it fail now, what it came to before must not pass for its outcome
    outcome = WORK_OF[step].work(course, hear)
    course.keep(step, inputs.fingerprint, outcome)
    return _result(step, outcome, course, time.monotonic() - begun_at)


def _result(step: str, outcome: Outcome, course: Course, seconds: float) -> StepResult:
    files = tuple(course.named(path) for path in outcome.files)
    plain: dict[str, Any] = {"seconds": seconds, "files": files, "numbers": outcome.numbers, "notices": outcome.notices}
    return StepResult(step=step, status="done", exit_code=outcome.exit_code, text=outcome.texts[course.lang] + outcome.now, **plain)


@contextmanager
def _stoppable() -> Iterator[None]:
    """Let SIGTERM stop a step as Ctrl-C does, also between two waits; asking installs its own and takes it away again."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


# ------------------------------------------------------------------ a dry run
def _rehearsed(course: Course, steps: Sequence[str]) -> Iterator[StepResult]:
    """Say which steps would be done: the first that has changed, and all after it, as far as can be told."""
    due: str | None = None
    for step in steps:
        if due is not None:
            yield StepResult(step=step, status="not_run", exit_code=None, text=say("pipeline.would_follow", course.lang, step=due))
            continue
        why = _would(course, step)
        due = step if why is None else None
        text = _plan(course, step) if why is None else why
        yield StepResult(step=step, status="not_run" if why is None else "skipped", exit_code=None, text=text)


def _plan(course: Course, step: str) -> str:
    """What a step that is due would do, as far as it is known beforehand."""
    asking = course.checked.asking
    if step == "collect" and isinstance(asking, ApplicationAsking):
        return say("pipeline.would_ask", course.lang, count=len(asking.gold) * asking.repeat)
    return say("pipeline.would_be_done", course.lang)


def _would(course: Course, step: str) -> str | None:
    """Why a step would be skipped; None if it would be done."""
    inputs = WORK_OF[step].inputs(course)
    if isinstance(inputs, LeftOut):
        return inputs.text
    held = course.held(step)
    again = course.begin is not None or (course.retry_failed and step in ASKS_AGAIN)
    if held is None or again or not unchanged(held, inputs.fingerprint, course.now(held)):
        return None
    return say("pipeline.unchanged", course.lang, text=held.texts.get(course.lang, ""))


# ------------------------------------------------------------------ the end
def _ended(course: Course, results: Sequence[StepResult], *, dry_run: bool) -> PipelineResult:
    from ragstone.pipeline.result import result_of
    from ragstone.store import write_atomically

    found = result_of(course, results, dry_run=dry_run)
    if found.folder is not None and Path(found.folder).is_dir() and not dry_run:
        try:
            write_atomically(Path(found.folder) / "summary.md", [found.to_markdown().encode()])
        except StoppedError as bad:  # what the steps came to must be told all the same
            return found if any(one.status == "failed" for one in results) else _ended_by(found, bad)
    return found


def _ended_by(found: PipelineResult, bad: StoppedError) -> PipelineResult:
    """The last step fails where the page of the call cannot be written."""
    last = replace(found.steps[-1], status="failed", exit_code=bad.exit_code, text=str(bad))
    return replace(found, steps=(*found.steps[:-1], last))
