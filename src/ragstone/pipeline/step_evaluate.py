"""The step `evaluate`: the samples judged in the folder of their run; a new run begins when anything that can change a score did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.errors import ConfigError
from ragstone.figures import metric_name, number
from ragstone.pipeline.base import LANGUAGES, Inputs, LeftOut, Listener, Outcome
from ragstone.pipeline.decisions import taken_up
from ragstone.pipeline.file import Pipeline
from ragstone.pipeline.prints import fingerprint, of_file
from ragstone.store import MANIFEST, SAMPLES, SCORES
from ragstone.text import listing, say

if TYPE_CHECKING:
    from ragstone.config import Config
    from ragstone.judge.base import Identity
    from ragstone.metrics.base import Metric
    from ragstone.pipeline.course import Course
    from ragstone.samples import SampleSource
    from ragstone.shown.summary import ShownSummary

_OF_JUDGE = ("temperature", "top_p", "max_tokens", "seed", "extra_body", "thinking")


class Evaluate:
    """Judge every cell that is due."""

    def inputs(self, course: Course) -> Inputs | LeftOut:
        """Rest on the samples and on everything that can change a score; enters the run that holds just these, or a new one."""
        samples, config = _samples(course), judged(course)
        source = _read(samples, config)
        rests_on = _setup(course, source)
        identity = fingerprint({**rests_on, "samples": source.samples_fingerprint})
        held = taken_up(course.index, identity)
        begun = replace(held, samples=course.named(samples)) if held is not None else None
        course.enter(begun or course.new_entry(identity, source.gold_fingerprint, samples))
        return Inputs(fingerprint=fingerprint({"identity": identity, "file": of_file(samples), "min_coverage": config.min_coverage}))

    def work(self, course: Course, hear: Listener) -> Outcome:
        """Judge; what the run folder holds is not asked again."""
        from ragstone.api import run_sync
        from ragstone.budget import Budget
        from ragstone.evaluation import backends, evaluate_source, select

        config, pipeline = judged(course), course.pipeline
        budget = Budget.of(config)
        judge, embedder = backends(config, pipeline.environ, pipeline.lang, budget=budget)
        source = _read(_samples(course), config)
        selection = select(config, source)
        for notice in (*source.notices, *selection.notices):
            hear.notice(notice)
        heard: Any = {"on_progress": hear.progress, "on_notice": hear.notice}
        made = {"out": course.folder, "config": config, "budget": budget, **heard}
        run = run_sync(evaluate_source(source, selection.metrics, judge, embedder, **made))
        summary = run.summary(by="", worst=0, min_coverage=config.min_coverage)
        return Outcome(
            exit_code=0 if summary.covered else 1,
            texts={lang: _text(summary, lang) for lang in LANGUAGES},
            files=tuple(course.folder / name for name in (SCORES, SAMPLES, MANIFEST)),
            numbers={"samples": summary.samples, "means": {m.metric: m.mean for m in summary.metrics}},
            notices=selection.notices,
        )


def judged(course: Course) -> Config:
    """Return the settings the samples are judged by: a file that was collected has ragstone's own columns, in UTF-8."""
    config = course.pipeline.config
    if course.samples is None:
        return config
    limit = None if config.limit is None else config.limit * config.collect.repeat
    return config.model_copy(update={"map": {}, "encoding": "utf-8", "limit": limit})


def _samples(course: Course) -> Path:
    """What is judged: what was collected; without a step `collect` and an application, the file `gold`, which holds the answers then."""
    samples = course.samples if course.samples is not None else course.pipeline.gold
    if samples is None:
        raise ConfigError(say("pipeline.no_gold", course.lang, path=course.pipeline.path))
    if course.samples is not None and not samples.exists():
        raise ConfigError(say("pipeline.no_samples", course.lang, path=samples))
    return samples


def _read(samples: Path, config: Config) -> SampleSource:
    from ragstone.evaluation import read_samples

    return read_samples(samples, config)


def _setup(course: Course, source: SampleSource) -> dict[str, Any]:
    """Everything besides the samples that can change a score, in JSON; pace, cache and budget cannot."""
    from ragstone.evaluation import select, setup_of

    config = course.pipeline.config
    judge, embedder = identities(course.pipeline)
    metrics: Sequence[Metric] = select(judged(course), source).metrics
    fields = setup_of(judge, embedder, metrics, config).fields
    asked = config.judge.model_dump(include=set(_OF_JUDGE))
    plain = {name: fields[name] for name in ("prompts", "prompt_hashes", "metrics", "plan", "language", "limits")}
    who = {"judge": [*_who(judge), asked], "embedder": _who(embedder)}
    rest = {"repeat": config.repeat, "seed": config.seed, "strip_citations": config.strip_citations, "limit": config.limit}
    return {**plain, **who, **rest}


def _who(identity: Identity) -> list[Any]:
    """Who is asked. What one behind an endpoint is sent in the end is learned by asking, and stays out; a truth table is known before."""
    from ragstone.budget import UNSENT

    return [identity.model, identity.endpoint, identity.parameters if identity.endpoint in UNSENT else None]


def identities(pipeline: Pipeline) -> tuple[Identity, Identity]:
    """Return who judges and who embeds; nothing is sent.

    Raises ConfigError where a judge, an address or a key is missing or wrong, or a limit could not be kept.
    """
    from ragstone.api import run_sync
    from ragstone.evaluation import backends

    judge, embedder = backends(pipeline.config, pipeline.environ, pipeline.lang)
    found = judge.identity, embedder.identity

    async def close() -> None:
        await judge.close()
        await embedder.close()

    run_sync(close())
    return found


def _text(summary: ShownSummary, lang: Any) -> str:
    means = listing((f"{metric_name(m.metric, lang)} {number(m.mean)}" for m in summary.metrics), lang)
    text = say("pipeline.evaluated", lang, samples=summary.samples, means=means)
    low = [metric_name(m.metric, lang) for m in summary.metrics if m.coverage is not None and m.coverage < summary.min_coverage]
    return text + (say("pipeline.not_covered", lang, metrics=listing(low, lang), limit=f"{summary.min_coverage:.0%}") if low else "")
