"""Names for runs that others are held against: given, moved to another run, taken away."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from ragstone.config.problems import nearest
from ragstone.errors import ConfigError, RunFolderError
from ragstone.folder import FolderLock
from ragstone.pipeline.file import LAST
from ragstone.pipeline.index import INDEX, Index, read_index, write_index
from ragstone.text import say
from ragstone.types import Language

_NAME = re.compile(r"[^\W_][\w.-]{0,63}")
LATEST = "latest"
"""Means the latest run wherever a run is named."""


def known(work: Path, lang: Language) -> Index:
    """Return the index of a work folder; raises RunFolderError if no pipeline has worked there."""
    if not (work / INDEX).is_file():
        raise RunFolderError(say("pipeline.no_index", lang, path=work))
    return read_index(work)


def changed(work: Path, tag: str | None, untag: str | None, lang: Language) -> Index:
    """Give a tag (`NAME` to the latest run, `NAME=RUN`) or take one away, and return the index as it is now.

    Raises ConfigError for a name that cannot be a tag, a tag or run there is not; RunFolderError if there is no index, or a pipeline is
    at work in the folder.
    """
    known(work, lang)
    lock = FolderLock(work)
    try:
        index = read_index(work)
        if untag is not None:
            index = _without(index, untag, lang)
        if tag is not None:
            index = _with(index, tag, lang)
        write_index(work, index)
        return index
    finally:
        lock.release()


def _with(index: Index, tag: str, lang: Language) -> Index:
    name, sign, wanted = tag.partition("=")
    if not _NAME.fullmatch(name) or name in (LAST, LATEST) or index.run(name) is not None:
        raise ConfigError(say("pipeline.bad_tag", lang, name=name))
    if sign and not wanted:
        raise ConfigError(say("pipeline.no_such_run", lang, name=wanted, hint=""))
    run = index.latest if wanted in ("", LATEST) else index.run(index.tags.get(wanted, Path(wanted).name))
    if run is None:
        near = nearest(wanted, [one.name.lower() for one in index.runs])
        hint = next((say("config.nearest", lang, name=one.name) for one in index.runs if one.name.lower() == near), "")
        raise ConfigError(say("pipeline.no_such_run", lang, name=wanted or LATEST, hint=hint))
    return replace(index, tags={**index.tags, name: run.name})


def _without(index: Index, name: str, lang: Language) -> Index:
    if name not in index.tags:
        near = nearest(name, list(index.tags))
        hint = say("config.nearest", lang, name=near) if near else ""
        raise ConfigError(say("pipeline.no_such_tag", lang, name=name, hint=hint))
    return replace(index, tags={tag: run for tag, run in index.tags.items() if tag != name})
