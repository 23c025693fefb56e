"""The Python door to collecting: ask an application the questions of a gold set, in a script, a running event loop or a notebook."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from ragstone.api import run_sync
from ragstone.text import say, screen_language

if TYPE_CHECKING:
    from ragstone.api import Samples
    from ragstone.collect.base import Application
    from ragstone.collecting import Collected
    from ragstone.config import Config
    from ragstone.progress import RowProgress
    from ragstone.types import Sample


def collect_samples(
    gold: Samples,
    application: str | Application | Any = None,
    *,
    to: str | os.PathLike[str],
    repeat: int | None = None,
    on_progress: Callable[[RowProgress], None] | None = None,
    on_notice: Callable[[str], None] | None = None,
    **settings: Any,
) -> Collected:
    """Ask an application every question of a gold set and write the samples. Works inside a running event loop (Jupyter) too.

    `gold`: a path, rows (dicts or Sample), a pandas or polars frame, or a Hugging Face data set. `application`: the name of a platform
    ("fastgpt", with url=… and what else `[collect]` holds), "module:function", a Python function (sync or async), a LangChain Runnable, a
    LlamaIndex query engine, or an object with the methods of `ragstone.collect.base.Application`; None = as the settings say. `to`: the
    file of samples; where it stands already the call goes on from there. `repeat`: how often each question is asked; None = as the
    settings say, usually once. `on_notice` hears what a person should know; without it the logger `ragstone` says so as a warning.
    `settings`: any setting of `ragstone collect`, e.g. concurrency=8, retry_failed=True.

    Raises ConfigError, DataError, RunFolderError before any request; StoppedError when every further row would fail.
    """
    heard: dict[str, Any] = {"on_progress": on_progress, "on_notice": on_notice}
    return run_sync(acollect_samples(gold, application, to=to, repeat=repeat, **heard, **settings))


async def acollect_samples(
    gold: Samples,
    application: str | Application | Any = None,
    *,
    to: str | os.PathLike[str],
    repeat: int | None = None,
    on_progress: Callable[[RowProgress], None] | None = None,
    on_notice: Callable[[str], None] | None = None,
    **settings: Any,
) -> Collected:
    """Ask an application every question of a gold set inside the running event loop; see `collect_samples`."""
    from ragstone.collecting import collect_source
    from ragstone.config import load_config
    from ragstone.samples import scan

    platform = {"platform": application} if isinstance(application, str) and ":" not in application else {}
    loaded = load_config({**settings, **platform, "repeat": repeat}, command="collect")
    config = loaded.config
    rows: Any = gold
    source = scan(rows, mapping=config.map, encoding=config.encoding, max_cell_mb=config.max_cell_mb, limit=config.limit, gold=True)
    asked = _application(None if platform else application, source, config, os.environ)
    tell = on_notice or logging.getLogger("ragstone").warning
    if config.lang is not None and config.lang != screen_language():
        tell(say("config.lang_unheard", screen_language(), lang=config.lang))
    for notice in (*loaded.notices, *source.notices):
        tell(notice)
    found = await collect_source(
        source, asked, to=Path(to), config=config, repeat=config.collect.repeat, on_progress=on_progress, on_notice=tell
    )
    for notice in found.notices if on_notice is None else ():
        tell(notice)
    return found


def _application(given: Any, gold: Iterable[Sample], config: Config, environ: Mapping[str, str]) -> Application:
    """What was given as an application that can be asked; what is none of the kinds is told by the last of them."""
    if _is_application(given):
        return given
    lang = screen_language()
    if given is None:
        from ragstone.collect.select import columns_of, make_application

        return make_application(config, environ, lang, columns=columns_of(gold))
    from ragstone.collect.named import from_name
    from ragstone.collect.preset import pace_of
    from ragstone.collect.targets import application_of

    pace = pace_of(config.collect, config.judge, config.concurrency)
    return application_of(from_name(given, lang) if isinstance(given, str) else given, **pace, lang=lang, environ=environ)


def _is_application(given: object) -> TypeGuard[Application]:
    return not isinstance(given, type) and all(hasattr(given, name) for name in ("asked", "mapping", "expect", "ask", "read", "close"))
