"""From settings to an application: one behind HTTP, described by a platform's file and `[collect]`, or an outside package's."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from ragstone.collect.preset import platforms, spec_of
from ragstone.errors import ConfigError
from ragstone.text import say, screen_language
from ragstone.transport.key import Secret

if TYPE_CHECKING:
    from ragstone.collect.base import Application
    from ragstone.config.model import CollectSettings, Config
    from ragstone.types import Language, Sample

GROUP = "ragstone.collectors"
"""Entry points of outside packages: name -> a callable like `make_application`, chosen by `--platform NAME`."""
KEY_NAME = "RAGSTONE_COLLECT_API_KEY"


def make_application(
    config: Config, environ: Mapping[str, str], lang: Language | None = None, *, columns: Collection[str] | None = None, **pace: Any
) -> Application:
    """Return the application `[collect]` describes; nothing is sent yet.

    Args:
        config: all settings; timeout and retries fall back on the judge's, concurrency on the top level's.
        environ: where the key and `$env.NAME` are looked up.
        lang: language of error texts; None = the screen's.
        columns: names the slots `$row.…` may have (see `columns_of`); None = they are not looked at.
        pace: handed on to the application, such as a limit of requests a minute.

    Raises:
        ConfigError: the platform is unknown, something it needs is missing, an expression or pattern cannot be used, a named
            variable is not set, or the address is bad.
    """
    lang = lang or screen_language()
    settings = config.collect
    if (outside := _installed(settings.platform)) is not None:
        return outside(config, environ, lang, **pace)
    from ragstone.collect import expressions, slot_checks
    from ragstone.collect.http import HttpApplication

    spec = spec_of(settings, config.judge, lang, concurrency=config.concurrency)
    expressions.check(spec, lang)
    if columns is not None:
        slot_checks.check(spec, columns, environ, lang)
    key_name, key = application_key(settings, environ, lang)
    return HttpApplication(spec, key, key_name=key_name, environ=environ, lang=lang, **pace)


def columns_of(gold: Iterable[Sample]) -> frozenset[str]:
    """Return the columns of a gold set that some row fills, keys of `meta` among them."""
    return frozenset(name for sample in gold for name in (*sample.meta, *sample.to_dict()))


def application_key(settings: CollectSettings, environ: Mapping[str, str], lang: Language) -> tuple[str, str | None]:
    """Return the variable the application's key stands in, and the key; None = none is sent: there are servers without keys.

    Raises:
        ConfigError: `api_key_env` names a variable that is not set or empty.
    """
    name = settings.api_key_env or KEY_NAME
    if key := environ.get(name, "").strip():
        return name, Secret(key)
    if settings.api_key_env:
        raise ConfigError(say("platforms.empty_key", lang, name=name))
    return name, None


def _installed(platform: str | None) -> Callable[..., Application] | None:
    """What an outside package registered under a name that is no platform of ours; None if nobody did."""
    if platform is None or platform in platforms():
        return None
    found = next(iter(entry_points(group=GROUP, name=platform)), None)
    return found.load() if found else None
