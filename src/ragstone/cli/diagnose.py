"""`ragstone diagnose RUN [SAMPLE_ID]`: why a run, or one of its samples, lost its points."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ragstone.results import Run
    from ragstone.shown.diagnosis import Diagnosis
    from ragstone.types import Language


def command(
    ctx: typer.Context,
    run: Annotated[Path, typer.Argument(metavar="RUN", help="diagnose.option_run")],
    sample_id: Annotated[str | None, typer.Argument(metavar="SAMPLE_ID", help="diagnose.option_sample_id")] = None,
    by: Annotated[str | None, typer.Option("--by", metavar="KEY", help="diagnose.option_by")] = None,
    json: Annotated[bool, typer.Option("--json", help="diagnose.option_json")] = False,
    level_high: Annotated[str | None, typer.Option("--level-high", metavar="X", help="cli.evaluate_level_high")] = None,
    level_middle: Annotated[str | None, typer.Option("--level-middle", metavar="X", help="cli.evaluate_level_middle")] = None,
    config: Annotated[Path | None, typer.Option("--config", metavar="FILE", help="show.option_config")] = None,
    lang: Annotated[str | None, typer.Option("--lang", metavar="zh|en", help="cli.lang")] = None,
) -> None:
    """Say why a run lost its points; exits 0 whatever is wrong with the application."""
    del level_high, level_middle, config  # read by `levels_of`
    from ragstone.cli.help import language_of
    from ragstone.cli.levels import levels_of
    from ragstone.errors import ConfigError
    from ragstone.results import load
    from ragstone.shown.diagnosis import diagnose
    from ragstone.text import say, screen_language

    screen = screen_language(lang) if lang else language_of(ctx)
    if sample_id is not None and by is not None:
        raise ConfigError(say("diagnose.by_is_of_the_run", screen) + say("cli.see_help", screen, command=ctx.command_path))
    loaded = load(run)
    found = diagnose(loaded, by=by, levels=levels_of(ctx))
    if sample_id is not None:
        _print_sample(loaded, found, sample_id, screen, json=json)
    else:
        _print_run(found, screen, json=json)


def _print_run(found: Diagnosis, lang: Language, *, json: bool) -> None:
    from ragstone.cli.blocks import screen
    from ragstone.cli.output import print_document

    if json:
        print_document(found.to_dict(lang))
    else:
        print(screen(found.blocks(lang)))


def _print_sample(run: Run, found: Diagnosis, sample_id: str, lang: Language, *, json: bool) -> None:
    from ragstone.cli.arguments import run_hint
    from ragstone.cli.blocks import screen
    from ragstone.cli.output import print_document
    from ragstone.cli.plain import one_line
    from ragstone.errors import ConfigError
    from ragstone.shown.diagnosis import sample_dict
    from ragstone.text import say

    one = found.sample(sample_id)
    if one is None:
        near = say("show.comma", lang).join(one_line(name) for name in run.nearest_ids(sample_id))
        told = say("diagnose.unknown_sample", lang, sample_id=one_line(sample_id), near=near)
        raise ConfigError(told + run_hint(sample_id, run.path, lang))
    if json:
        print_document({"run": found.run.to_dict(), **sample_dict(one)})
    else:
        print(screen(found.sample_blocks(one, lang)))
