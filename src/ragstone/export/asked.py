"""What is asked of an export in Python: keywords made into an order, with what the settings file says."""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.config.base import Settings
from ragstone.config.delivery import ExportSettings
from ragstone.errors import ConfigError
from ragstone.export.base import Exporter, FileExporter, Order
from ragstone.text import say, screen_language

if TYPE_CHECKING:
    from pydantic import ValidationError

    from ragstone.config import Config

OWN = ("lang", "dry_run", "on_notice")
"""Keywords that are no settings of an exporter."""


def order_of(found: Exporter, wanted: Mapping[str, Any], path: Path | None = None, environ: Mapping[str, str] | None = None) -> Order:
    """Return the order that keywords make: `lang`, `dry_run`, `on_notice`, and the settings of `[export.<name>]`.

    The settings file is read for what is sent elsewhere alone, or if `path` names one. Raises ConfigError for a setting there is not.
    """
    environ = os.environ if environ is None else environ
    own = {name: value for name, value in wanted.items() if name not in OWN}
    known: dict[str, Any] = {"lang": screen_language(wanted.get("lang")), "dry_run": bool(wanted.get("dry_run")), "environ": environ}
    if (tell := wanted.get("on_notice")) is not None:
        known["tell"] = tell
    if isinstance(found, FileExporter) and path is None:
        return Order(settings=_with(found, ExportSettings(), own), **known)
    config = _config(path, environ)
    return Order(settings=_with(found, config.export, own), cache=_cache(config), **known)


def _config(path: Path | None, environ: Mapping[str, str]) -> Config:
    from ragstone.config import load_config

    named = environ.get("RAGSTONE_CONFIG")
    return load_config({}, path=path or (Path(named) if named else None), environ=environ).config


def _cache(config: Config) -> str | None:
    from ragstone.cache import cache_folder

    return None if config.no_cache else str(cache_folder(config))


def _with(found: Exporter, settings: ExportSettings, own: Mapping[str, Any]) -> ExportSettings:
    """The settings with some of the exporter's own table changed."""
    if not own:
        return settings
    from pydantic import ValidationError

    table: object = getattr(settings, found.name, None)
    fields = tuple(type(table).model_fields) if isinstance(table, Settings) else ()
    if strange := [name for name in own if name not in fields]:
        raise _unknown(found.name, strange[0], fields)
    assert isinstance(table, Settings)
    try:
        changed = type(table).model_validate({**table.model_dump(), **own})
    except ValidationError as bad:
        raise ConfigError(_refused(bad, table)) from bad
    return settings.model_copy(update={found.name: changed})


def _refused(bad: ValidationError, table: Settings) -> str:
    from ragstone.config.problems import allowed, show_value

    first, lang = bad.errors()[0], screen_language()
    name = str(first["loc"][0])
    wanted = allowed(type(table).model_fields[name], lang)
    return say("config.refused", lang, name=name, at="", value=show_value(first["input"]), allowed=wanted)


def _unknown(name: str, strange: str, fields: tuple[str, ...]) -> ConfigError:
    lang = screen_language()
    known = (*OWN, *fields)
    near = get_close_matches(strange, known, 1)
    hint = say("export.nearest", lang, name=near[0]) if near else ""
    return ConfigError(say("export.no_setting", lang, name=name, setting=strange, nearest=hint, known=", ".join(known)))
