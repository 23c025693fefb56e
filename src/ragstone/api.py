"""The Python door: evaluate samples, in a script, a running event loop or a notebook.

What does the work is imported by the first call, so that importing a name from ragstone costs little.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ragstone.errors import ConfigError, Interrupted
from ragstone.text import say, screen_language

if TYPE_CHECKING:
    from ragstone.embed.base import Embedder
    from ragstone.judge.base import Judge
    from ragstone.metrics.base import Metric
    from ragstone.progress import Progress
    from ragstone.rehearsal import Estimate
    from ragstone.results import Run
    from ragstone.types import Sample

    Samples = str | os.PathLike[str] | Iterable[Mapping[str, Any] | Sample] | Any
    """A file, rows, or (Any) a data frame or data set of a library that is not imported here."""


T = TypeVar("T")


def evaluate(
    samples: Samples,
    *,
    metrics: str | Sequence[str | Metric] | None = None,
    judge: str | Judge | None = None,
    embeddings: str | Embedder | None = None,
    out: str | os.PathLike[str] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    on_notice: Callable[[str], None] | None = None,
    **settings: Any,
) -> Run:
    """Evaluate samples and return the run. Works inside a running event loop (Jupyter) too.

    `samples`: a path, rows (dicts or Sample), a pandas or polars frame, or a Hugging Face data set. `metrics`: names
    ("faithfulness,context_recall"), or a list of names and metric objects; default the preset `full`. `judge`: a model name,
    "local", "scripted:FILE" or a Judge object; there is no default, and none is needed where no metric asks one. `embeddings`:
    likewise, default the bundled embedder. `out`: run folder to write or resume; without it nothing
    is kept on disk. `on_notice` hears what a person should know (a metric left out, rows that changed); without it the logger
    `ragstone` says so as a warning. `settings`: any setting of the command line, e.g. base_url=…, concurrency=8.

    Raises ConfigError, DataError, RunFolderError before any request; StoppedError when the run must stop early.
    """
    heard: dict[str, Any] = {"on_progress": on_progress, "on_notice": on_notice}
    return run_sync(aevaluate(samples, metrics=metrics, judge=judge, embeddings=embeddings, out=out, **heard, **settings))


async def aevaluate(
    samples: Samples,
    *,
    metrics: str | Sequence[str | Metric] | None = None,
    judge: str | Judge | None = None,
    embeddings: str | Embedder | None = None,
    out: str | os.PathLike[str] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    on_notice: Callable[[str], None] | None = None,
    **settings: Any,
) -> Run:
    """Evaluate samples inside the running event loop; see `evaluate`."""
    from ragstone.budget import Budget
    from ragstone.config import load_config
    from ragstone.evaluation import backends, evaluate_source, read_samples, select

    given = _listed(metrics)
    named = {name: value for name, value in (("judge", judge), ("embeddings", embeddings)) if isinstance(value, str)}
    config = load_config({**settings, **named}).config
    if config.dry_run:
        raise ConfigError(say("budget.dry_run", screen_language()))
    budget = Budget.of(config)
    answering, vectors = backends(
        config,
        os.environ,
        judge=None if isinstance(judge, str) else judge,
        embedder=None if isinstance(embeddings, str) else embeddings,
        metrics=given,
        budget=budget,
    )
    source = read_samples(samples, config)
    selection = select(config, source, given)
    tell = on_notice or logging.getLogger("ragstone").warning
    if config.lang is not None and config.lang != screen_language():
        tell(say("config.lang_unheard", screen_language(), lang=config.lang))
    for notice in (*source.notices, *selection.notices):
        tell(notice)
    heard: dict[str, Any] = {"on_progress": on_progress, "on_notice": tell}
    ask = partial(evaluate_source, source, selection.metrics, answering, vectors, config=config, budget=budget, **heard)
    if out is not None:
        return await ask(out=Path(out))
    folder = Path(tempfile.mkdtemp(prefix="ragstone-"))
    try:
        return (await ask(out=folder / "run")).in_memory()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def estimate(
    samples: Samples,
    *,
    metrics: str | Sequence[str | Metric] | None = None,
    judge: str | Judge | None = None,
    embeddings: str | Embedder | None = None,
    out: str | os.PathLike[str] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    on_notice: Callable[[str], None] | None = None,
    **settings: Any,
) -> Estimate:
    """Return what `evaluate` would ask and cost: requests and tokens by metric and by kind. Nothing is sent or written.

    Takes what `evaluate` takes, and needs neither a judge nor an address nor a key. What the run folder `out` and the reply cache hold is
    not counted. The requests of the first round are exact, later ones and all tokens are estimates; see `Estimate`.

    Raises ConfigError, DataError, RunFolderError as `evaluate` does.
    """
    return run_sync(_estimate(samples, metrics, judge, embeddings, out, on_progress, on_notice, settings))


async def _estimate(
    samples: Samples,
    metrics: Any,
    judge: Any,
    embeddings: Any,
    out: Any,
    on_progress: Callable[[Progress], None] | None,
    on_notice: Callable[[str], None] | None,
    settings: Mapping[str, Any],
) -> Estimate:
    from ragstone.config import load_config
    from ragstone.evaluation import read_samples, select
    from ragstone.rehearsal import rehearse

    named = {name: value for name, value in (("judge", judge), ("embeddings", embeddings)) if isinstance(value, str)}
    config = load_config({**settings, **named}).config
    source = read_samples(samples, config)
    selection = select(config, source, _listed(metrics))
    tell = on_notice or logging.getLogger("ragstone").warning
    for notice in (*source.notices, *selection.notices):
        tell(notice)
    objects: dict[str, Any] = {
        name: None if isinstance(given, str) else given for name, given in (("judge", judge), ("embedder", embeddings))
    }
    folder = None if out is None else Path(out)
    return await rehearse(source, selection.metrics, config, os.environ, out=folder, on_progress=on_progress, **objects)


def _listed(metrics: Any) -> list[Any]:
    """What was given as `metrics`, as a list; what in it is no metric is told by `select`."""
    if metrics is None:
        return []
    return list(metrics) if isinstance(metrics, Iterable) and not isinstance(metrics, str) else [metrics]


def run_sync(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end from synchronous code; Ctrl-C and SIGTERM stop it in order and raise Interrupted."""
    return _run_in_thread(main) if _is_looping() else _run_here(main)


def _is_looping() -> bool:
    """True in a thread that runs an event loop; asked apart, so that no error of the run is told as one that followed from the asking."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _run_here(main: Coroutine[Any, Any, T]) -> T:
    done: list[T] = []
    heeds = threading.current_thread() is threading.main_thread() and os.name != "nt"
    before = signal.getsignal(signal.SIGTERM) if heeds else None

    async def guarded() -> None:
        task = asyncio.current_task()
        if task and heeds:
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        done.append(await main)  # as the task's result it would be shown as a text at the end, which reads all scores

    try:
        asyncio.run(guarded())
        return done[0]
    except (KeyboardInterrupt, asyncio.CancelledError) as stopped:
        raise Interrupted(say("store.interrupted", screen_language())) from stopped
    finally:
        if before is not None:  # the loop leaves the system's own behind
            signal.signal(signal.SIGTERM, before)


def _run_in_thread(main: Coroutine[Any, Any, T]) -> T:
    """A running loop cannot be entered again, so the work gets a loop of its own in a thread; Ctrl-C is passed on to it."""
    from concurrent.futures import ThreadPoolExecutor

    loop = asyncio.new_event_loop()
    task = loop.create_task(main)
    with ThreadPoolExecutor(1, thread_name_prefix="ragstone") as pool:
        future = pool.submit(loop.run_until_complete, task)
        try:
            return future.result()
        except KeyboardInterrupt as stopped:
            loop.call_soon_threadsafe(task.cancel)
            raise Interrupted(say("store.interrupted", screen_language())) from stopped
        finally:
            pool.shutdown(wait=True)
            loop.close()
