"""One evaluation from settings to a run: samples read, metrics chosen, backends made, the run folder filled."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragstone import plans
from ragstone.analysis.levels import Levels
from ragstone.budget import Account, Budget
from ragstone.cache import cache_folder, open_cache
from ragstone.cached import CachedEmbedder, CachedReplies, takes_part
from ragstone.config import Config
from ragstone.embed.base import Embedder
from ragstone.errors import ConfigError, RagstoneError, ScriptError, StoppedError
from ragstone.folder import set_aside
from ragstone.judge.base import Identity, Judge
from ragstone.lost import Lost
from ragstone.manifest import Setup
from ragstone.metrics import PRESETS, available, parse, split_names
from ragstone.metrics.base import Metric
from ragstone.plans.base import Case
from ragstone.prices import Prices
from ragstone.progress import Progress
from ragstone.results import Run, load
from ragstone.run import Driver
from ragstone.samples import SampleSource, clip, fit, scan
from ragstone.session import Session, work
from ragstone.text import say, screen_language
from ragstone.transport.memory import Memory
from ragstone.transport.retry import Sender
from ragstone.types import Language, Sample

SAMPLES_PER_REQUEST = 3
"""Samples in work for each request allowed, so that the wire never waits for a sample that is between two requests."""
REQUESTS_PER_CELL = 1.4
"""Requests planned a cell, to judge and embedder each: the five metrics take seven of a judge."""


@dataclass(frozen=True)
class Selection:
    """The metrics of a run, and what was left out with the reason."""

    metrics: tuple[Metric, ...]
    notices: tuple[str, ...] = ()


def read_samples(rows: Any, config: Config) -> SampleSource:
    """Check a file or rows as the settings say and return the samples; raises DataError with every problem found."""
    return scan(
        rows,
        mapping=config.map,
        encoding=config.encoding,
        max_cell_mb=config.max_cell_mb,
        limit=config.limit,
        strip_citations=config.strip_citations,
    )


def select(config: Config, source: SampleSource, given: Sequence[str | Metric] = ()) -> Selection:
    """Return the metrics to run: those given, else those the settings name, else the preset's that some row can feed.

    The yardstick of context_precision is chosen here, once for the run: reference if any row has one, else answer.
    Raises ConfigError for unknown names, DataError for a named metric that no row can feed.
    """
    named = given or config.metrics.metrics or ()
    found = {m.text: m for item in (named or PRESETS[config.metrics.preset]) for m in _metrics(item, _run_level(config, source))}
    if not found:
        raise ConfigError(say("metrics.none_named", screen_language(), known=", ".join(available())))
    needs = {m.text: m.needs + ((m.parameters["against"],) if "against" in m.parameters else ()) for m in found.values()}
    kept, notices = fit(source, needs, explicit=bool(named))
    return Selection(tuple(found[text] for text in kept), tuple(notices))


def _metrics(item: str | Metric, run_level: Mapping[str, Mapping[str, Any]]) -> list[Metric]:
    if not isinstance(item, str | Metric):
        raise ConfigError(say("metrics.no_metric", screen_language(), value=repr(item)))
    return [item] if isinstance(item, Metric) else [parse(text, run_level) for text in split_names(item)]


def _run_level(config: Config, source: SampleSource) -> dict[str, dict[str, Any]]:
    """Parameters that the run's settings give to metrics, by metric name."""
    settings = config.metrics
    against = settings.precision_against
    chosen = ("reference" if "reference" in source.columns else "answer") if against == "auto" else against
    return {
        "answer_relevancy": {"strictness": settings.strictness},
        "context_precision": {"against": chosen},
        "context_recall": {"points": settings.recall_points},
    }


async def evaluate_source(
    source: SampleSource,
    metrics: Sequence[Metric],
    judge: Judge,
    embedder: Embedder,
    *,
    out: Path,
    config: Config,
    budget: Budget | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    on_notice: Callable[[str], None] | None = None,
) -> Run:
    """Evaluate everything that is still due in `out` and return the run. `budget`: what judge and embedder were made with.

    Raises RunFolderError before any request if the folder cannot be used; StoppedError (AuthError, EndpointError) when
    the run must stop, BudgetError at its end if the budget left something out; what was finished is on disk, and the same call
    goes on from there.
    """
    tell = on_notice or (lambda _: None)
    if config.force and (moved := set_aside(out)):
        tell(say("store.set_aside", screen_language(), path=moved))
    async with AsyncExitStack() as closing:
        for backend in (judge, embedder):
            closing.push_async_callback(backend.close)
        if (hear := getattr(judge, "hear", None)) is not None:
            hear(tell)
        recalled = await _recalled(judge, embedder, config, tell, closing)
        setup = setup_of(judge.identity, embedder.identity, metrics, config)
        facts = _facts(source, config)
        limited = config.limit is not None
        session = Session(out, setup, facts, repeats=config.repeat, retry_failed=config.retry_failed, limited=limited)
        closing.callback(session.close)

        def finish(*, complete: bool) -> None:
            asked = (recalled.replies or judge).identity
            embedded = _embedded(embedder, getattr(embedder, "purse", None))
            prices = Prices(config.prices.get(asked.model), config.prices.get(embedder.identity.model))
            session.finish(setup_of(asked, embedder.identity, metrics, config), complete=complete, embedded=embedded, prices=prices)
            for notice in getattr(recalled.embedder, "notices", ()):
                tell(notice)

        try:
            session.take(source)
            for notice in session.notices:
                tell(notice)
            asked = recalled.replies or judge
            driver = Driver(setup.plan, asked, recalled.embedder, session, session.counts, recalled.replies, lost=Lost())
            due = work(session, metrics, cases(config))
            cells = source.count * len(metrics) * session.repeats - session.standing(metrics)
            if not cells:
                tell(say("store.nothing_due", screen_language(), path=out))
            for backend in (judge, embedder):
                if isinstance(backend, Sender):
                    backend.expect(round(REQUESTS_PER_CELL * cells), tell)
            async with _within(config.deadline, cells, on_progress) as told:
                await driver.run(due, workers=SAMPLES_PER_REQUEST * config.concurrency, total=cells, on_progress=told)
            finish(complete=True)
        except BaseException as ended:
            with suppress(RagstoneError):  # what ended the run is told, not what follows from it (a folder that is gone)
                finish(complete=False)
            if isinstance(ended, ScriptError) and not any(isinstance(backend, Sender) for backend in (judge, embedder)):
                session.withdraw()  # nobody was asked, so nothing is lost
            raise
        if driver.unpaid and budget is not None and budget.refused_by:
            raise budget.stopped(driver.unpaid, source.count * len(metrics) * session.repeats)
    run = load(out)
    run.levels = Levels(**config.levels.model_dump())
    return run


def _embedded(embedder: Embedder, account: Account | None) -> dict[str, int]:
    told = {"embedding_requests": embedder.requests}
    told |= {"embedding_rate_limits": refused} if (refused := getattr(embedder, "rate_limits", 0)) else {}
    return told | ({"embedding_tokens": account.prompt, "unknown_embedding_usage": account.unknown} if account else {})


@asynccontextmanager
async def _within(
    seconds: float | None, cells: int, on_progress: Callable[[Progress], None] | None
) -> AsyncIterator[Callable[[Progress], None] | None]:
    """Give the block so many seconds; it hands the listener on. Raises StoppedError that says how far it came."""
    if seconds is None:
        yield on_progress
        return
    done = 0

    def count(progress: Progress) -> None:
        nonlocal done
        done = progress.done
        if on_progress is not None:
            on_progress(progress)

    try:
        async with asyncio.timeout(seconds) as limit:
            yield count
    except TimeoutError:
        if not limit.expired():
            raise
        raise StoppedError(say("store.deadline", screen_language(), seconds=f"{seconds:g}", done=done, total=cells)) from None


@dataclass(frozen=True, slots=True)
class _Recalled:
    """The backends' replies of earlier runs: those of the judge, and the embedder that looks up before it asks."""

    replies: CachedReplies | None
    embedder: Embedder


async def _recalled(judge: Judge, embedder: Embedder, config: Config, tell: Callable[[str], None], closing: AsyncExitStack) -> _Recalled:
    """Open the reply cache where the settings want one and a backend takes part in it."""
    takes = takes_part(judge), takes_part(embedder)
    cache = open_cache(config, tell) if any(takes) else None
    if cache is None:
        return _Recalled(None, embedder)
    closing.push_async_callback(cache.close)
    return _Recalled(CachedReplies(cache, judge) if takes[0] else None, CachedEmbedder(cache, embedder) if takes[1] else embedder)


def _facts(source: SampleSource, config: Config) -> dict[str, Any]:
    """What the manifest keeps of the samples and of settings that change no score."""
    return {
        "gold_fingerprint": source.gold_fingerprint,
        "samples_fingerprint": source.samples_fingerprint,
        "seed": config.seed,
        "min_coverage": config.min_coverage,
    }


def backends(
    config: Config,
    environ: Mapping[str, str],
    lang: Language | None = None,
    *,
    judge: Judge | None = None,
    embedder: Embedder | None = None,
    metrics: Sequence[str | Metric] = (),
    budget: Budget | None = None,
) -> tuple[Judge, Embedder]:
    """Return judge and embedder of a run: those given, else those the settings name. Nothing is sent yet.

    If none of the metrics (those given, else those the settings name) asks a judge, nobody stands in their place. `budget`
    pays for what is sent; without one what the settings say.

    Raises ConfigError where a setting, an address or a key is missing or wrong, or a limit could not be kept.
    """
    from ragstone.embed.select import make_embedder
    from ragstone.judge.nobody import Nobody
    from ragstone.judge.select import make_judge

    for role, given, needed in (("judge", judge, "complete"), ("embeddings", embedder, "embed")):
        if given is not None and not (hasattr(given, needed) and hasattr(given, "identity")):
            raise ConfigError(say(f"judges.no_{role}", screen_language(), value=repr(given)))
    named = metrics or config.metrics.metrics or PRESETS[config.metrics.preset]
    if not any(metric.judged for item in named for metric in _metrics(item, {})):
        return judge or Nobody(), embedder or Nobody()
    budget = budget or Budget.of(config)
    chats, texts = Account(budget), Account(budget, replies=False)
    pace: dict[str, Any] = {"concurrency": config.concurrency, "rpm": config.rpm, "tpm": config.tpm, "environ": environ, "lang": lang}
    memory = None if config.no_cache else Memory(cache_folder(config))
    vectors = embedder or make_embedder(config.embeddings, config.judge, **pace, memory=memory, purse=texts)
    asked = judge or make_judge(config.judge, **pace, embedder=vectors, memory=memory, purse=chats if budget.limited else None)
    for backend, account in ((asked, chats), (vectors, texts)):
        budget.open(backend, account, config.prices)
    return asked, vectors


def setup_of(judge: Identity, embedder: Identity, metrics: Sequence[Metric], config: Config) -> Setup:
    """Return everything of a run that can change a score."""
    limits = {name: value for name, value in config.limits.model_dump().items() if value is not None}
    return Setup(judge, embedder, metrics, plans.get(config.metrics.plan), config.language, limits)


def cases(config: Config) -> Callable[[Sample, int], tuple[Case, dict[str, Any]]]:
    """Return what makes a case of a sample and a repeat: texts clipped, the judge's language chosen."""
    limits = {name: value for name, value in config.limits.model_dump().items() if value is not None}

    def case_of(sample: Sample, repeat: int) -> tuple[Case, dict[str, Any]]:
        judged, clipped = clip(sample, **limits)
        return Case(judged, sample.language if config.language == "auto" else config.language, repeat), clipped

    return case_of
