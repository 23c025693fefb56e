"""Which exporters there are: those of this folder by name, then those of entry points, loaded when they are asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points

from ragstone.errors import ConfigError
from ragstone.export.base import Exporter
from ragstone.text import say, screen_language

ENTRY_POINTS = "ragstone.exporters"

BUILT_IN: Mapping[str, str] = {
    "csv": "ragstone.export.csv:CsvExporter",
    "json": "ragstone.export.json:JsonExporter",
    "jsonl": "ragstone.export.jsonl:JsonlExporter",
    "xlsx": "ragstone.export.xlsx:XlsxExporter",
    "parquet": "ragstone.export.parquet:ParquetExporter",
    "md": "ragstone.export.md:MdExporter",
    "junit": "ragstone.export.junit:JunitExporter",
    "langfuse": "ragstone.export.langfuse:LangfuseSink",
}
"""Name in `--to` -> module and class."""

EXTRAS: Mapping[str, str] = {"xlsx": "xlsx", "parquet": "parquet", "mlflow": "mlflow", "pandas": "pandas", "dataset": "datasets"}
"""Which extra installs what a known exporter needs."""


def names() -> tuple[str, ...]:
    """Return every name that `--to` takes: built-in ones first."""
    return tuple(dict.fromkeys([*BUILT_IN, *sorted(_points())]))


def exporter(name: str) -> Exporter:
    """Return an exporter by its name.

    Raises:
        ConfigError: there is none of that name (the text lists those there are, with the extra to install), or it does not load.
    """
    if name in BUILT_IN:
        module, _, kind = BUILT_IN[name].partition(":")
        made: Exporter = getattr(importlib.import_module(module), kind)()
        return made
    if name not in _points():
        raise _unknown(name)
    found = _points()[name].load()
    if not (isinstance(found, type) and issubclass(found, Exporter)):
        raise ConfigError(say("export.no_exporter", screen_language(), name=name, group=ENTRY_POINTS, value=_points()[name].value))
    return found()


def _points() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=ENTRY_POINTS)}


def _unknown(name: str) -> ConfigError:
    lang = screen_language()
    near = get_close_matches(name.lower(), names(), 1, 0.5)
    hint = say("export.nearest", lang, name=near[0]) if near else ""
    known = ", ".join(f"{one} (ragstone[{EXTRAS[one]}])" if one in EXTRAS else one for one in names())
    return ConfigError(say("export.unknown", lang, name=name, nearest=hint, known=known))
