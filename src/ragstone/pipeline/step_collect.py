"""The step `collect`: the questions of the gold set, answered by the application; of a changed gold set only what is new."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ragstone import __version__
from ragstone.errors import ConfigError
from ragstone.pipeline.base import LANGUAGES, Inputs, LeftOut, Listener, Outcome
from ragstone.pipeline.file import Pipeline
from ragstone.pipeline.prints import fingerprint, of_file
from ragstone.text import listing, say

if TYPE_CHECKING:
    from ragstone.collecting import Collected
    from ragstone.pipeline.course import Course
    from ragstone.samples import SampleSource
    from ragstone.types import Language

FOLDER = "samples"
_CHANGING_ROWS = ("map", "encoding", "limit", "max_cell_mb")
"""Settings that decide which rows there are."""


class Asking(Protocol):
    """Where samples come from, and everything that decides what comes."""

    @property
    def key(self) -> str:
        """Names the file of samples: another key, other answers."""
        ...

    @property
    def inputs(self) -> Mapping[str, Any]:
        """JSON values; collecting is due again once one of them changes."""
        ...

    async def collect(self, to: Path, pipeline: Pipeline, hear: Listener) -> Collected:
        """Get what is still missing and write the samples."""
        ...

    def hint(self, lang: Language) -> str | None:
        """Say what no fingerprint can tell; None if there is nothing of the kind."""
        ...

    def told(self, found: Collected, lang: Language) -> str:
        """Say what came of it, in a line."""
        ...

    def now(self, found: Collected, lang: Language) -> str:
        """Say what this call alone has asked."""
        ...


@dataclass(frozen=True, slots=True)
class ApplicationAsking:
    """The application that `[collect]` describes, asked the questions of a gold set."""

    gold: SampleSource
    gold_print: str | None
    asked: Mapping[str, Any]
    """What can change an answer."""
    mapping: Mapping[str, Any]
    """How answers are read."""
    repeat: int

    @property
    def key(self) -> str:
        """One for each application: those who change nothing but the gold set keep the answers they have."""
        return fingerprint({"asked": self.asked, "repeat": self.repeat})

    @property
    def inputs(self) -> Mapping[str, Any]:
        """The gold set, the application, how it is read, and by which version."""
        return {"gold": self.gold_print, "asked": self.asked, "mapping": self.mapping, "repeat": self.repeat, "version": __version__}

    async def collect(self, to: Path, pipeline: Pipeline, hear: Listener) -> Collected:
        """Ask every question that is due."""
        from ragstone.collect.select import columns_of, make_application
        from ragstone.collecting import collect_source

        config = pipeline.config
        application = make_application(config, pipeline.environ, pipeline.lang, columns=columns_of(self.gold))
        heard: Any = {"on_progress": hear.progress, "on_notice": hear.notice}
        return await collect_source(self.gold, application, to=to, config=config, repeat=self.repeat, **heard)

    def hint(self, lang: Language) -> str:
        """A new prompt or new documents behind the same settings cannot be seen."""
        return say("pipeline.collect_hint", lang)

    def told(self, found: Collected, lang: Language) -> str:
        """How many questions were answered."""
        words = listing([f"{word} {rows.count}" for word, rows in found.reasons.items()], lang)
        key = "pipeline.collected_failed" if found.failed else "pipeline.collected"
        return say(key, lang, ok=found.ok, rows=found.rows, failed=found.failed, words=words)

    def now(self, found: Collected, lang: Language) -> str:
        """How many questions this call has asked."""
        return say("pipeline.asked_now", lang, asked=found.asked)


def asking_of(pipeline: Pipeline) -> Asking:
    """Return where the samples of a pipeline come from. Nothing is sent.

    Raises ConfigError for settings that are missing or wrong, DataError if the gold set cannot be used.
    """
    from ragstone.api import run_sync
    from ragstone.collect.select import application_key, columns_of, make_application
    from ragstone.collect.values import plain
    from ragstone.transport.key import Key

    if pipeline.config.collect.platform == "langfuse":
        from ragstone.pipeline.traces import traces_of

        return traces_of(pipeline)
    gold = gold_of(pipeline)
    application = make_application(pipeline.config, pipeline.environ, pipeline.lang, columns=columns_of(gold))
    asked, mapping = plain(dict(application.asked)), plain(dict(application.mapping))
    run_sync(application.close())
    name, key = application_key(pipeline.config.collect, pipeline.environ, pipeline.lang)
    asked["key"] = Key(key, name).mark  # many platforms tell their applications apart by nothing else
    return ApplicationAsking(gold, of_file(Path(gold.name)), asked, mapping, pipeline.config.collect.repeat)


def gold_of(pipeline: Pipeline) -> SampleSource:
    """Return the gold set, checked whole; raises ConfigError if the file names none, DataError if it cannot be used."""
    from ragstone.errors import DataError, Problem
    from ragstone.samples import scan

    config, lang = pipeline.config, pipeline.lang
    if pipeline.gold is None:
        raise ConfigError(say("pipeline.no_gold", lang, path=pipeline.path))
    rows: dict[str, Any] = {"mapping": config.map, "encoding": config.encoding, "max_cell_mb": config.max_cell_mb, "limit": config.limit}
    source = scan(pipeline.gold, **rows, gold=True)
    if "question" not in source.columns:
        raise DataError(source.name, [Problem(say("pipeline.no_question", lang, found=listing(source.found, lang)))])
    return source


class Collect:
    """Ask what is still due; what stands is not asked again."""

    def inputs(self, course: Course) -> Inputs | LeftOut:
        """Rest on the gold set and on everything that can change an answer."""
        asking, config = course.checked.asking, course.pipeline.config
        if asking is None:
            raise ConfigError(say("pipeline.no_gold", course.lang, path=course.pipeline.path))
        rows = {name: getattr(config, name) for name in _CHANGING_ROWS}
        print_ = fingerprint({**asking.inputs, "rows": rows, "min_coverage": config.min_coverage})
        return Inputs(fingerprint=print_, hint=asking.hint(course.lang))

    def work(self, course: Course, hear: Listener) -> Outcome:
        """Ask; where `--from collect` asks anew, what was there is set aside first."""
        from ragstone.api import run_sync
        from ragstone.collect.files import set_aside
        from ragstone.collect.journal import raw_of

        asking, to = course.checked.asking, course.samples
        assert asking is not None
        assert to is not None
        to.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if course.begin == "collect" and to.exists():
            course.forget("collect")
            aside = set_aside(to)
            course.moved(to, aside)
            hear.notice(say("collecting.set_aside", course.lang, path=aside))
        elif to.exists() and to.stat().st_size and not raw_of(to).exists():  # the sentence of `collect` names options that `run` has not
            raise ConfigError(say("pipeline.samples_without_raw", course.lang, path=to, raw=raw_of(to).name))
        found = run_sync(asking.collect(to, course.pipeline, hear))
        limit = course.pipeline.config.min_coverage
        counts = {"ok": found.ok, "rows": found.rows, "failed": found.failed}
        return Outcome(
            exit_code=0 if found.covered(limit) else 1,
            texts={lang: asking.told(found, lang) for lang in LANGUAGES},
            files=(to,),
            numbers={**counts, "asked": found.asked, "requests": found.requests},
            now=asking.now(found, course.lang),
            notices=found.notices,
        )
