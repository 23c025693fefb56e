"""`ragstone doctor`: what judge and embeddings take and give, the settings that follow, and where each setting comes from."""

# ruff: noqa: ARG001 (the parameters of `command` are read through the context)

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragstone.config import Config, Loaded
    from ragstone.doctor.findings import Examined
    from ragstone.types import Language

Text = str | None


def _option(name: str, value: str | None = None) -> Any:
    """An option of `evaluate`, with its help."""
    return typer.Option(name, metavar=value, help=f"cli.evaluate_{name[2:].replace('-', '_')}")


def command(
    ctx: typer.Context,
    judge: Annotated[Text, _option("--judge", "MODEL|local")] = None,
    base_url: Annotated[Text, _option("--base-url", "URL")] = None,
    embeddings: Annotated[Text, _option("--embeddings", "MODEL|local")] = None,
    embeddings_base_url: Annotated[Text, _option("--embeddings-base-url", "URL")] = None,
    temperature: Annotated[Text, _option("--temperature", "X")] = None,
    max_tokens: Annotated[Text, _option("--max-tokens", "N")] = None,
    extra_body: Annotated[Text, _option("--extra-body", "JSON")] = None,
    thinking: Annotated[Text, _option("--thinking", "off|auto")] = None,
    timeout: Annotated[Text, _option("--timeout", "SECONDS")] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="cli.doctor_no_cache")] = False,
    cache: Annotated[Text, _option("--cache", "DIR")] = None,
    config: Annotated[Path | None, _option("--config", "FILE")] = None,
    json: Annotated[bool, typer.Option("--json", help="cli.doctor_json")] = False,
    lang: Annotated[Text, typer.Option("--lang", metavar="zh|en", help="cli.lang")] = None,
) -> int:
    """Probe the endpoints; the help stands in the catalogue.

    Raises:
        ConfigError: a setting is wrong, or no judge is named; the settings are shown then.
    """
    from ragstone.cli.exits import whisper
    from ragstone.cli.help import language_of
    from ragstone.config import FLAGS, load_config

    given = {name: value for name, value in ctx.params.items() if name in FLAGS}
    environ = ctx.find_root().obj["environ"]
    named = environ.get("RAGSTONE_CONFIG")
    loaded = load_config(given, path=config or (Path(named) if named else None), environ=environ)
    for notice in loaded.notices:
        whisper(notice)
    return _report(loaded, environ, language_of(ctx), json=json)


def _report(loaded: Loaded, environ: Mapping[str, str], lang: Language, *, json: bool) -> int:
    import asyncio

    from ragstone.cache import cache_folder
    from ragstone.cli.doctor_page import Report
    from ragstone.doctor.examine import examine
    from ragstone.doctor.settings import settings_in_force, settings_lines
    from ragstone.errors import ConfigError
    from ragstone.transport.memory import FILE, Memory

    settings = settings_in_force(loaded, environ)
    folder = cache_folder(loaded.config)
    memory = None if loaded.config.no_cache else Memory(folder)
    try:
        judge, embeddings = asyncio.run(examine(loaded.config, environ, lang, memory))
    except ConfigError:
        _print(Report(None, None, settings, ""), loaded.config, environ, lang, json=json)
        raise
    kept = folder / FILE if judge.kept or embeddings.kept else None
    lines = settings_lines(judge, embeddings, loaded, environ)
    _print(Report(judge, embeddings, settings, lines, kept), loaded.config, environ, lang, json=json)
    return _verdict(judge, embeddings)


def _print(report: Any, config: Config, environ: Mapping[str, str], lang: Language, *, json: bool) -> None:
    from ragstone.cli.doctor_page import document, page
    from ragstone.cli.output import print_document
    from ragstone.doctor.settings import scrubbed

    if json:
        print_document(scrubbed(document(report, lang), config, environ))
    else:
        print(scrubbed(page(report, lang), config, environ), flush=True)


def _verdict(judge: Examined, embeddings: Examined) -> int:
    """Return the exit code, and say on stderr why it is not 0."""
    from ragstone.cli.exits import FAILED, FINE, STOPPED, tell

    codes = [tell(examined.trouble, bad) for examined, bad in ((judge, STOPPED), (embeddings, FAILED)) if examined.trouble is not None]
    return codes[0] if codes else FINE
