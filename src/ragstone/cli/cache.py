"""`ragstone cache info|clear`: what the reply cache holds, and how to be rid of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ragstone.cache_file import CacheInfo
    from ragstone.config import Config
    from ragstone.types import Language

ACTIONS = ("info", "clear")


def command(
    ctx: typer.Context,
    action: Annotated[str, typer.Argument(metavar="info|clear", help="cli.cache_action")] = "info",
    cache: Annotated[str | None, typer.Option("--cache", metavar="DIR", help="cli.evaluate_cache")] = None,
    json: Annotated[bool, typer.Option("--json", help="cli.cache_json")] = False,
    config: Annotated[Path | None, typer.Option("--config", metavar="FILE", help="cli.evaluate_config")] = None,
    lang: Annotated[str | None, typer.Option("--lang", metavar="zh|en", help="cli.lang")] = None,  # noqa: ARG001 (read at the start)
) -> None:
    """Show or empty the cache; the help stands in the catalogue.

    Raises:
        ConfigError: the action is neither, or the cache cannot be read.
    """
    import sqlite3

    from ragstone import cache_file
    from ragstone.cache import cache_folder
    from ragstone.cli.help import language_of
    from ragstone.config import load_config
    from ragstone.errors import ConfigError
    from ragstone.text import say
    from ragstone.transport.memory import Memory

    said = language_of(ctx)
    if action not in ACTIONS:
        raise ConfigError(say("cache.no_such_action", said, action=action, known=", ".join(ACTIONS)))
    environ = ctx.find_root().obj["environ"]
    named = environ.get("RAGSTONE_CONFIG")
    settings = load_config({"cache": cache}, path=config or (Path(named) if named else None), environ=environ).config
    folder = cache_folder(settings)
    try:
        info = cache_file.look(folder) if action == "info" else cache_file.clear(folder)
        memory = Memory(folder)
        taught = memory.count() if action == "info" else memory.forget()
    except (sqlite3.Error, OSError) as bad:
        raise ConfigError(say("cache.unusable", said, path=folder, problem=bad)) from bad
    if json:
        _print_json(info, settings, taught)
    elif action == "info":
        print(_told(info, settings, said) + (say("cache.endpoints", said, n=taught) if taught else ""))
    else:
        print(say("cache.cleared", said, **_figures(info)) + (say("cache.forgotten", said, n=taught) if taught else ""))


def _told(info: CacheInfo, settings: Config, lang: Language) -> str:
    from ragstone.text import say

    if not info.path.exists():
        return say("cache.none_yet", lang, path=info.path)
    since = "" if info.oldest is None else say("cache.oldest", lang, date=_date(info.oldest))
    return say("cache.info", lang, path=info.path, most=f"{settings.cache_mb:g}", **_figures(info)) + since


def _figures(info: CacheInfo) -> dict[str, Any]:
    size = f"{info.bytes / 1e6:.1f} MB" if info.bytes >= 1e6 else f"{info.bytes / 1e3:.0f} kB"
    return {"replies": f"{info.replies:,}", "vectors": f"{info.vectors:,}", "size": size}


def _date(moment: float) -> str:
    from datetime import datetime

    return datetime.fromtimestamp(moment).astimezone().isoformat(" ", "minutes")


def _print_json(info: CacheInfo, settings: Config, taught: int) -> None:
    import orjson

    row = {"path": str(info.path), "exists": info.path.exists(), "replies": info.replies, "vectors": info.vectors}
    row |= {"bytes": info.bytes, "most_bytes": int(settings.cache_mb * 1_000_000), "oldest_use": info.oldest, "endpoints": taught}
    print(orjson.dumps(row).decode())
