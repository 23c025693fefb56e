"""`ragstone check FILE`: what may be wrong with a gold set. Exits 0; with --strict 1 if there is any error or warning."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ragstone.config import Config, Loaded
    from ragstone.shown.check import Checked


def command(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="cli.check_file")],
    strict: Annotated[bool, typer.Option("--strict", help="cli.check_strict")] = False,
    json: Annotated[bool, typer.Option("--json", help="cli.check_json")] = False,
    every: Annotated[bool, typer.Option("--all", help="cli.check_all")] = False,
    cluster: Annotated[str | None, typer.Option("--cluster", metavar="KEY", help="cli.check_cluster")] = None,
    map: Annotated[list[str] | None, typer.Option("--map", metavar="NAME=COLUMN", help="cli.check_map")] = None,
    encoding: Annotated[str | None, typer.Option("--encoding", metavar="NAME", help="cli.check_encoding")] = None,
    max_cell_mb: Annotated[str | None, typer.Option("--max-cell-mb", metavar="X", help="cli.check_max_cell_mb")] = None,
    limit: Annotated[str | None, typer.Option("--limit", metavar="N", help="cli.check_limit")] = None,
    config: Annotated[Path | None, typer.Option("--config", metavar="FILE", help="cli.evaluate_config")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="cli.check_quiet")] = False,
    lang: Annotated[str | None, typer.Option("--lang", metavar="zh|en", help="cli.lang")] = None,
) -> int:
    """Check a gold set; the help stands in the catalogue."""
    from ragstone.cli.blocks import screen
    from ragstone.cli.exits import FAILED, FINE, whisper
    from ragstone.cli.help import language_of
    from ragstone.cli.output import print_document
    from ragstone.text import screen_language

    said = screen_language(lang) if lang else language_of(ctx)
    given = {"map": map, "encoding": encoding, "max_cell_mb": max_cell_mb, "limit": limit}
    loaded = _settings(ctx, given, config)
    found = _checked(file, loaded.config, cluster)
    for notice in () if quiet else (*loaded.notices, *found.notices):
        whisper(notice)
    if json:
        print_document(found.to_dict(said))
    else:
        print(screen(found.blocks(said, every=every)))
    return FAILED if strict and not found.clean else FINE


def _settings(ctx: typer.Context, given: Mapping[str, object], config: Path | None) -> Loaded:
    from ragstone.config import load_config

    environ = ctx.find_root().obj["environ"]
    named = environ.get("RAGSTONE_CONFIG")
    return load_config(given, path=config or (Path(named) if named else None), environ=environ)


def _checked(file: Path, read: Config, cluster: str | None) -> Checked:
    from ragstone.shown.check import check

    return check(file, mapping=read.map, encoding=read.encoding, max_cell_mb=read.max_cell_mb, limit=read.limit, cluster=cluster)
