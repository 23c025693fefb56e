"""`ragstone collect --from langfuse --to SAMPLES`: production traces become samples; no application is asked."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragstone.config import Config, Loaded
    from ragstone.monitoring import Monitored
    from ragstone.types import Language

SOURCE = "langfuse"
TRACES = ("since", "until", "tag", "rate", "seed")
"""Options that only traces have."""
NO_USE = (
    *("try_", "platform", "url", "app", "stream", "call", "answers", "repeat", "map", "encoding", "max_cell_mb"),
    *("concurrency", "timeout", "retries", "min_coverage", "retry_failed"),
)
"""Options that are about an application or a gold set."""
COLUMNS = 80


def meant(params: Mapping[str, Any], loaded: Loaded, lang: Language) -> bool:
    """Return True if production traces are to be read: `--from langfuse`, or `[collect] platform = "langfuse"` and no other source by flag.

    Raises ConfigError for an unknown source, and for flags that do not go together.
    """
    from ragstone.errors import ConfigError
    from ragstone.text import listing, say

    source = params["from_"]
    if source is not None and source.strip().lower() != SOURCE:
        raise ConfigError(say("monitored.unknown_source", lang, name=source))
    named = loaded.config.collect.platform == SOURCE and params["call"] is None and params["answers"] is None
    if source is None and not named:
        if strange := _given(params, TRACES):
            raise ConfigError(say("monitored.only_traces", lang, flags=listing(strange, lang)))
        return False
    besides = [name for name in NO_USE if not (name == "platform" and params[name] == SOURCE)]
    if strange := _given(params, besides):
        raise ConfigError(say("monitored.no_use", lang, flags=listing(strange, lang)))
    if params["gold"] is not None:
        raise ConfigError(say("monitored.no_gold", lang, gold=params["gold"]))
    if params["to"] is None:
        raise ConfigError(say("monitored.to_missing", lang))
    return True


def _given(params: Mapping[str, Any], names: Any) -> list[str]:
    return [f"--{name.rstrip('_').replace('_', '-')}" for name in names if params[name] not in (None, False, [], ())]


def collect_back(params: Mapping[str, Any], loaded: Loaded, environ: Mapping[str, str], lang: Language) -> int:
    """Read the traces, write their samples, print the page and return the exit code."""
    from ragstone.api import run_sync
    from ragstone.cli.exits import tell
    from ragstone.cli.output import print_document
    from ragstone.cli.progress import reporter
    from ragstone.monitoring import collect_traces

    config = _config(params, loaded.config, lang)
    with reporter(lang, quiet=params["quiet"]) as report:
        for notice in loaded.notices:
            report.notice(notice)
        heard: Any = {"on_progress": report.progress, "on_notice": report.notice}
        found = run_sync(collect_traces(to=Path(params["to"]), config=config, environ=environ, **heard))
    if params["json"]:
        print_document(found.to_dict())
    elif found.rows:
        print("\n".join(_page(found, config, lang)), flush=True)
    return found.exit_code if found.rows else tell(_none(found, config, lang), found.exit_code)


def _config(params: Mapping[str, Any], config: Config, lang: Language) -> Config:
    """Lay the options over `[collect.langfuse]`."""
    given = {name: params[name] for name in ("since", "until") if params[name] is not None}
    if params["tag"]:
        given["tags"] = tuple(params["tag"])
    if params["rate"] is not None:
        given["rate"] = _rate(params["rate"], lang)
    wanted = config.collect.langfuse.model_copy(update=given)
    return config.model_copy(update={"collect": config.collect.model_copy(update={"langfuse": wanted})})


def _rate(text: str, lang: Language) -> float:
    from ragstone.errors import ConfigError
    from ragstone.text import say

    try:
        rate = float(text)
    except ValueError:
        rate = 0.0
    if not 0 < rate <= 1:
        raise ConfigError(say("monitored.bad_rate", lang, found=repr(text)[:40]))
    return rate


# ------------------------------------------------------------------ the page
def _page(found: Monitored, config: Config, lang: Language) -> Iterator[str]:
    from ragstone.cli.plain import folded
    from ragstone.text import say

    counts = found.counts
    sampling = {"rate": f"{config.collect.langfuse.rate:g}", "seed": config.seed}
    yield from folded(say("monitored.done", lang, rows=found.rows, **found.window.to_dict()), COLUMNS)
    numbers = {name: counts[name] for name in ("listed", "own", "sampled")}
    yield from folded(say("monitored.counted", lang, **numbers, **sampling), COLUMNS)
    told = found.rows - counts["hidden"]
    yield from folded(say("monitored.exposed", lang, told=told, rows=found.rows, empty=counts["empty"]), COLUMNS)
    for notice in found.notices:
        yield from ("", *folded(notice, COLUMNS))
    yield from ("", say("monitored.files", lang, samples=found.samples), say("monitored.files_raw", lang, raw=found.raw))
    run = shlex.quote(f"runs/{found.samples.stem}")
    yield from ("", say("monitored.next", lang), say("monitored.next_evaluate", lang, samples=shlex.quote(str(found.samples)), run=run))
    yield say("monitored.next_export", lang, run=run)


def _none(found: Monitored, config: Config, lang: Language) -> str:
    from ragstone.text import listing, say

    tags = listing(config.collect.langfuse.tags, lang) or say("monitored.any_tag", lang)
    counts = {name: found.counts[name] for name in ("listed", "own", "sampled")}
    rate, place = f"{config.collect.langfuse.rate:g}", {"project": found.project, "host": found.host}
    told = say("monitored.none", lang, **found.window.to_dict(), tags=tags, rate=rate, **counts, **place)
    return "\n".join((told, *found.notices))
