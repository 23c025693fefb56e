"""Where the answers of `ragstone collect` come from: an application, a Python function, or a file. Exactly one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.config.sources import COMMANDS, OF_COLLECT, from_file
from ragstone.errors import ConfigError
from ragstone.text import listing, say

if TYPE_CHECKING:
    from ragstone.collect.base import Application
    from ragstone.config import Config, Loaded
    from ragstone.samples import SampleSource
    from ragstone.types import Language

_OF_GOLD = frozenset({"reference", "reference_points", "reference_alternatives", "reference_contexts", "reference_context_ids"})
_OF_BOTH = frozenset({"id", "question"})
_PACE = frozenset(COMMANDS["collect"])
"""Settings of `[collect]` that fit any application."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What the command line names; the settings may name an application besides."""

    call: str | None
    answers: Path | None

    def check(self, loaded: Loaded, lang: Language) -> tuple[str, ...]:
        """Return notices: a function or file that a flag names goes ahead of the application that the settings name.

        Raises ConfigError if no source of answers is named, or two are by flags.
        """
        own = [name for name, value in (("--call", self.call), ("--answers", self.answers)) if value is not None]
        flags = [*_flags(loaded), *own]
        if own and len(flags) > 1:
            raise ConfigError(say("collected.two_sources", lang, first=flags[0], second=flags[1]))
        named = _application_named(loaded, lang)
        if not own and named is None:
            from ragstone.collect.preset import platforms

            raise ConfigError(say("collected.no_source", lang, platforms=listing(platforms(), lang)))
        if own:
            return (say("collected.flag_wins", lang, flag=own[0], other=named),) if named else ()
        return _of_another(loaded, lang)

    def gold(self, path: Path, config: Config, limit: int | None, lang: Language) -> SampleSource:
        """Check the gold set and return its rows; `limit` goes ahead of the settings' own.

        Raises DataError if it cannot be read, or no row has a question.
        """
        from ragstone.errors import DataError, Problem

        mapping = config.map if self.answers is None else _part(config.map, _OF_GOLD | _OF_BOTH)
        source = _scan(path, config, mapping, limit or config.limit, gold=True)
        if "question" not in source.columns:
            raise DataError(source.name, [Problem(say("collected.no_question", lang, found=listing(source.found, lang)))])
        return source

    def application(self, gold: SampleSource, config: Config, environ: Mapping[str, str], lang: Language) -> Application:
        """Return the application that answers. Nothing is sent yet.

        Raises ConfigError if it cannot be used, DataError if the file of answers cannot, or does not fit the gold set.
        """
        if self.call is not None:
            from ragstone.collect.named import from_name
            from ragstone.collect.preset import pace_of
            from ragstone.collect.targets import application_of

            pace = pace_of(config.collect, config.judge, config.concurrency)
            return application_of(from_name(self.call, lang), **pace, lang=lang, environ=environ)
        if self.answers is not None:
            from ragstone.collect.answers_file import AnswersApplication, joined

            return AnswersApplication(joined(gold, _answers(self.answers, config), lang), lang)
        from ragstone.collect.select import columns_of, make_application

        return make_application(config, environ, lang, columns=columns_of(gold))


def _of_another(loaded: Loaded, lang: Language) -> tuple[str, ...]:
    """A notice where flag or variable name one platform, and the file describes another: its other settings hold all the same."""
    collect, file = loaded.config.collect, loaded.path
    if file is None or loaded.origin["collect.platform"] in (str(file), "default"):
        return ()
    meant = from_file(file, lang).get(("collect", "platform"))
    held = [name for name in type(collect).model_fields if name not in _PACE and loaded.origin.get(f"collect.{name}") == str(file)]
    if meant is None or meant.value == collect.platform or not held:
        return ()
    names = {"platform": collect.platform, "file": file, "other": meant.value, "held": listing(held, lang)}
    return (say("collected.of_another", lang, **names),)


def _flags(loaded: Loaded) -> list[str]:
    """The first flag that is about an application; none if there is no such flag."""
    return [f"--{name}" for name in OF_COLLECT if loaded.origin[f"collect.{name}"] == "flag"][:1]


def _application_named(loaded: Loaded, lang: Language) -> str | None:
    """Where platform or address is named, as people wrote it; None if nowhere."""
    origins = (loaded.origin[f"collect.{name}"] for name in ("platform", "url"))
    origin = next((origin for origin in origins if origin != "default"), None)
    if origin is None or origin == "flag":
        return origin
    variable = origin.removeprefix("environment ")
    return variable if variable != origin else say("collected.file_source", lang, file=origin)


def _answers(path: Path, config: Config) -> SampleSource:
    """The file of answers; a column of the gold set's id or question may have the same name there, or the usual one."""
    mapping = {name: column for name, column in config.map.items() if name not in _OF_GOLD | _OF_BOTH}
    source = _scan(path, config, mapping)
    both = {name: column for name, column in _part(config.map, _OF_BOTH).items() if column in source.found}
    return _scan(path, config, mapping | both) if both else source


def _part(mapping: Mapping[str, str], names: frozenset[str]) -> dict[str, str]:
    return {name: column for name, column in mapping.items() if name in names}


def _scan(path: Path, config: Config, mapping: Mapping[str, str], limit: int | None = None, *, gold: bool = False) -> SampleSource:
    from ragstone.samples import scan

    return scan(path, mapping=mapping, encoding=config.encoding, max_cell_mb=config.max_cell_mb, limit=limit, gold=gold)
