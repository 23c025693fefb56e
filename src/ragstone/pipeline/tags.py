"""Names for runs that others are held against: given, moved to another run, taken away."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ragstone.config.problems import nearest
from ragstone.errors import ConfigError, RunFolderError
from ragstone.folder import FolderLock
from ragstone.pipeline.file import LAST
from ragstone.pipeline.index import INDEX, Index, RunEntry, read_index, write_index
from ragstone.text import say
from ragstone.types import Language

_NAME = re.compile(r"[^\W_][\w.-]{0,63}")
LATEST = "latest"
"""Means the latest run wherever a run is named."""


def can_be_tag(name: str, index: Index) -> bool:
    """True if a run can be given this name."""
    return _NAME.fullmatch(name) is not None and name not in (LAST, LATEST) and index.run(name) is None


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
            index = _without(index, untag, work, lang)
        if tag is not None:
            index = _with(index, tag, work, lang)
        write_index(work, index)
        return index
    finally:
        lock.release()


def _with(index: Index, tag: str, work: Path, lang: Language) -> Index:
    name, sign, wanted = tag.partition("=")
    if not can_be_tag(name, index):
        raise ConfigError(say("pipeline.bad_tag", lang, name=name))
    run = None if sign and not wanted else _named(index, wanted)
    if run is None:
        hint = _hint(wanted, [one.name for one in index.runs], lang)
        raise ConfigError(say("pipeline.no_such_run", lang, name=wanted or LATEST, hint=hint, work=work))
    return replace(index, tags={**index.tags, name: run.name})


def _named(index: Index, wanted: str) -> RunEntry | None:
    return index.latest if wanted in ("", LATEST) else index.run(index.tags.get(wanted, Path(wanted).name))


def _without(index: Index, name: str, work: Path, lang: Language) -> Index:
    if name not in index.tags:
        raise ConfigError(say("pipeline.no_such_tag", lang, name=name, hint=_hint(name, list(index.tags), lang), work=work))
    return replace(index, tags={tag: run for tag, run in index.tags.items() if tag != name})


def _hint(name: str, known: Sequence[str], lang: Language) -> str:
    near = nearest(name, [one.lower() for one in known])
    meant = next((one for one in known if one.lower() == near), None)
    return say("config.nearest", lang, name=meant) if meant else say("pipeline.no_hint", lang)
