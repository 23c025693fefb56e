"""`ragstone run PIPELINE.toml`: every step from the gold set to the export in one call; what has not changed is skipped."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated

import typer


def command(
    ctx: typer.Context,
    pipeline: Annotated[Path, typer.Argument(metavar="PIPELINE.toml", help="pipeline.option_pipeline")],
    from_: Annotated[str | None, typer.Option("--from", metavar="STEP", help="pipeline.option_from")] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="pipeline.option_retry_failed")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="pipeline.option_dry_run")] = False,
    json: Annotated[bool, typer.Option("--json", help="pipeline.option_json")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="pipeline.option_quiet")] = False,
    lang: Annotated[str | None, typer.Option("--lang", metavar="zh|en", help="cli.lang")] = None,
) -> int:
    """Run a pipeline; the help stands in the catalogue."""
    from functools import partial

    from ragstone.cli.blocks import screen
    from ragstone.cli.collector import long_lived
    from ragstone.cli.exits import tell
    from ragstone.cli.help import language_of
    from ragstone.cli.output import print_document
    from ragstone.cli.progress import reporter
    from ragstone.pipeline.running import run_file
    from ragstone.text import screen_language

    said = screen_language(lang) if lang else language_of(ctx)
    flags = {"retry_failed": retry_failed}
    hearing = partial(reporter, said, quiet=quiet)
    with long_lived(), redirect_stdout(sys.stderr):  # what a module prints is no part of the page
        environ = ctx.find_root().obj["environ"]
        found = run_file(pipeline, flags, environ, hearing=hearing, from_step=from_, dry_run=dry_run, lang=said)
    if json:
        print_document(found.to_dict())
    else:
        print(screen(found.blocks()), flush=True)
    stopped = next((one for one in found.steps if one.status == "failed"), None)
    return found.exit_code if stopped is None else tell(f"{stopped.step}: {stopped.text}", found.exit_code)
