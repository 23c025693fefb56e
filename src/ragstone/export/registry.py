"""Which exporters there are: those of this folder by name, then those of entry points, loaded when they are asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING

from ragstone.errors import ConfigError
from ragstone.export.base import Exporter
from ragstone.text import listing, say, screen_language

if TYPE_CHECKING:
    from ragstone.types import Language

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

MEANT: Mapping[str, str] = {
    **dict.fromkeys(("excel", "xls", "spreadsheet"), "xlsx"),
    **dict.fromkeys(("markdown", "mdown"), "md"),
    **dict.fromkeys(("ndjson", "jsonlines", "lines"), "jsonl"),
    **dict.fromkeys(("xml", "xunit"), "junit"),
    **dict.fromkeys(("arrow", "pq"), "parquet"),
    **dict.fromkeys(("opentelemetry", "otlp", "traces"), "otel"),
    **dict.fromkeys(("df", "dataframe", "frame"), "pandas"),
    **dict.fromkeys(("datasets", "huggingface", "hf"), "dataset"),
}
"""Other names of formats -> the one that is meant."""


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
    point = _points().get(name)
    if point is None:
        raise _unknown(name)
    found = _loaded(point)
    if not (isinstance(found, type) and issubclass(found, Exporter)):
        raise ConfigError(say("export.no_exporter", screen_language(), name=name, group=ENTRY_POINTS, value=point.value))
    try:
        return found()
    except Exception as bad:
        raise _broken(point, bad) from bad


def known_names(lang: Language) -> str:
    """Return every name, with the extra that installs what it needs, as a person reads it."""
    return listing((one + (say("show.why", lang, text=f"ragstone[{EXTRAS[one]}]") if one in EXTRAS else "") for one in names()), lang)


def origin_of(found: Exporter) -> str | None:
    """Return the entry point of an exporter that comes from another package; None for those of ragstone."""
    kind = type(found)
    return None if kind.__module__.startswith("ragstone.") else f"{kind.__module__}:{kind.__qualname__}"


def _points() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=ENTRY_POINTS)}


def _loaded(point: EntryPoint) -> object:
    try:
        found: object = point.load()
    except Exception as bad:
        raise _broken(point, bad) from bad
    return found


def _broken(point: EntryPoint, bad: Exception) -> ConfigError:
    reason = f"{type(bad).__name__}: {bad}"
    return ConfigError(
        say("export.does_not_load", screen_language(), name=point.name, value=point.value, group=ENTRY_POINTS, reason=reason)
    )


def _unknown(name: str) -> ConfigError:
    lang = screen_language()
    given = name.lower().removeprefix(".")
    meant = MEANT.get(given) or next(iter(get_close_matches(given, names(), 1, 0.5)), None)
    hint = say("export.nearest", lang, name=meant) if meant else ""
    return ConfigError(say("export.unknown", lang, name=name, nearest=hint, known=known_names(lang)))
