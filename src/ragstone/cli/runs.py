"""`ragstone runs [DIR|PIPELINE.toml]`: the runs a pipeline made, which is the latest, and which have a tag."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ragstone.pipeline.index import Index
    from ragstone.types import Language


def command(
    ctx: typer.Context,
    where: Annotated[Path, typer.Argument(metavar="DIR|PIPELINE.toml", help="pipeline.option_where", show_default=False)] = Path("runs"),
    tag: Annotated[str | None, typer.Option("--tag", metavar="NAME[=RUN]", help="pipeline.option_tag")] = None,
    untag: Annotated[str | None, typer.Option("--untag", metavar="NAME", help="pipeline.option_untag")] = None,
    json: Annotated[bool, typer.Option("--json", help="pipeline.option_json_runs")] = False,
    lang: Annotated[str | None, typer.Option("--lang", metavar="zh|en", help="cli.lang")] = None,
) -> None:
    """List the runs of a work folder; with --tag or --untag name one first."""
    from ragstone.cli.blocks import screen
    from ragstone.cli.help import language_of
    from ragstone.cli.output import print_document
    from ragstone.pipeline.tags import changed, known
    from ragstone.shown.runs import runs_blocks
    from ragstone.text import screen_language

    said = screen_language(lang) if lang else language_of(ctx)
    work = _work(where, ctx.find_root().obj["environ"], said)
    index: Index = changed(work, tag, untag, said) if tag is not None or untag is not None else known(work, said)
    if json:
        print_document({"work": str(work), **index.to_dict()})
    else:
        print(screen(runs_blocks(index, work, said)))


def _work(where: Path, environ: dict[str, str], lang: Language) -> Path:
    """The work folder: the one that is named, or that of a pipeline's file."""
    from ragstone.pipeline.file import read_pipeline

    return read_pipeline(where, {}, environ, lang).work if where.is_file() else where
