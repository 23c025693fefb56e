"""Where the answers of `ragstone collect` come from: an application, a Python function, or a file. Exactly one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.errors import ConfigError
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.collect.base import Application
    from ragstone.config import Loaded
    from ragstone.types import Language


def application_named(loaded: Loaded, call: str | None, answers: Path | None, environ: Mapping[str, str], lang: Language) -> Application:
    """Return the application the command line and the settings name. Nothing is sent yet.

    Raises:
        ConfigError: none is named, or two are, or the one that is cannot be used.
        DataError: the file of answers cannot be read.
    """
    named = [*_named(loaded, lang), *(["--call"] if call is not None else []), *(["--answers"] if answers is not None else [])]
    if not named:
        from ragstone.collect.spec_files import platforms

        raise ConfigError(say("collect.no_source", lang, platforms=", ".join(platforms())))
    if len(named) > 1:
        raise ConfigError(say("collect.two_sources", lang, first=named[0], second=named[1]))
    if call is not None:
        from ragstone.collect.calling import from_name

        return from_name(call)
    if answers is not None:
        from ragstone.collect.answers import from_file

        return from_file(answers, loaded.config)
    from ragstone.collect.select import make_application

    return make_application(loaded.config, environ, lang)


def _named(loaded: Loaded, lang: Language) -> Iterator[str]:
    """Where platform or address is named, as people wrote it."""
    origins = [loaded.origin[f"collect.{name}"] for name in ("platform", "url")]
    origin = next((one for one in origins if one != "default"), None)
    if origin == "flag":
        yield "--platform" if loaded.origin["collect.platform"] == "flag" else "--url"
    elif origin is not None:
        variable = origin.removeprefix("environment ")
        yield variable if variable != origin else say("collect.file_source", lang, file=origin)
