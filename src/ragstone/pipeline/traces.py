"""The step `collect` of a pipeline that judges what users asked: production traces in place of a gold set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone import __version__
from ragstone.errors import ConfigError
from ragstone.langfuse.window import is_fixed, window_of
from ragstone.pipeline.base import NothingToJudge
from ragstone.pipeline.prints import fingerprint
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.collecting import Collected
    from ragstone.monitoring import Monitored
    from ragstone.pipeline.base import Listener
    from ragstone.pipeline.file import Pipeline
    from ragstone.types import Language


@dataclass(frozen=True, slots=True)
class TracesAsking:
    """The traces that `[collect.langfuse]` names."""

    asked: Mapping[str, Any]
    """Server, window, tags and sampling; of a window that moves with the time, the day (UTC) of the call."""

    @property
    def key(self) -> str:
        """One for each window and sampling: a window that ends now is read once a day, and goes on with the same file till then."""
        return fingerprint({"asked": self.asked})

    @property
    def inputs(self) -> Mapping[str, Any]:
        """What is asked for, and by which version it is read."""
        return {"asked": self.asked, "version": __version__}

    def hint(self, lang: Language) -> str | None:
        """What a window that moves leaves out of the rest of its day; None for one that stands."""
        return say("monitored.once_a_day", lang) if "day" in self.asked else None

    def told(self, found: Collected, lang: Language) -> str:
        """How many samples there are, and how many of them can be judged by what was retrieved."""
        return say("monitored.became", lang, rows=found.ok, told=found.exposed)

    def now(self, found: Collected, lang: Language) -> str:
        """How many traces this call has read."""
        return say("monitored.read_now", lang, read=found.asked)

    async def collect(self, to: Path, pipeline: Pipeline, hear: Listener) -> Collected:
        """Read every trace that is due. Raises NothingToJudge if none became a sample.

        Of a window without a sample no file is kept: a trace may be told late, and a later call of the day looks again.
        """
        from ragstone.monitoring import collect_traces

        heard: Any = {"on_progress": hear.progress, "on_notice": hear.notice}
        found = await collect_traces(to=to, config=pipeline.config, environ=pipeline.environ, **heard)
        if not found.rows:
            window = found.window.to_dict()
            for path in (found.samples, found.raw):
                path.unlink(missing_ok=True)
            raise NothingToJudge(say("monitored.nothing", pipeline.lang, **window, project=found.project, host=found.host))
        return _collected(found)


def traces_of(pipeline: Pipeline) -> TracesAsking:
    """Return what is asked for; nothing is sent.

    Raises ConfigError if the file names a gold set besides, keys or address are missing, or the window cannot be.
    """
    from ragstone.langfuse.access import host_of
    from ragstone.monitoring import asked_of

    if pipeline.gold is not None:
        raise ConfigError(say("monitored.no_gold", pipeline.lang, gold=pipeline.gold))
    now = datetime.now(UTC)
    asked = asked_of(pipeline.config, host_of(pipeline.environ, pipeline.lang))
    times = asked["since"], asked["until"]
    window_of(*times, now, pipeline.lang)
    return TracesAsking(asked if is_fixed(*times) else {**asked, "day": now.date().isoformat()})


def _collected(found: Monitored) -> Collected:
    """What was read, in the terms of answers that were collected."""
    from ragstone.collecting import Collected

    counts = found.counts
    return Collected(
        samples=found.samples,
        raw=found.raw,
        rows=found.rows + counts["failed"],
        ok=found.rows,
        failed=counts["failed"],
        reasons={},
        asked=counts["read"],
        kept=counts["kept"],
        requests=found.requests,
        wall_s=found.wall_s,
        exposed=found.rows - counts["hidden"],
        empty=counts["empty"],
        notices=found.notices,
    )
