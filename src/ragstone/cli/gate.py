"""`ragstone gate RUN`: does a run keep its rules? Exits 0 if it does, 1 if not, 2 if that cannot be told."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    ctx: typer.Context,
    run: Annotated[Path, typer.Argument(metavar="RUN", help="gate.option_run")],
    baseline: Annotated[Path | None, typer.Option("--baseline", metavar="BASE", help="gate.option_baseline")] = None,
    rules: Annotated[Path | None, typer.Option("--rules", metavar="FILE", help="gate.option_rules")] = None,
    junit: Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="gate.option_junit")] = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", metavar="FILE", help="gate.option_markdown")] = None,
    allow_different_signature: Annotated[bool, typer.Option("--allow-different-signature", help="gate.option_allow")] = False,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="gate.option_seed")] = 0,
    json: Annotated[bool, typer.Option("--json", help="gate.option_json")] = False,
    lang: Annotated[str | None, typer.Option("--lang", metavar="zh|en", help="cli.lang")] = None,
) -> int:
    """Check a run against rules; the help stands in the catalogue."""
    from ragstone.cli.blocks import screen
    from ragstone.cli.help import language_of
    from ragstone.cli.output import print_document
    from ragstone.shown.gating import gate
    from ragstone.text import screen_language

    said = screen_language(lang) if lang else language_of(ctx)
    file = rules or _of_the_folder()
    found = gate(run, baseline, file, allow_different_signature=allow_different_signature, seed=seed)
    if junit is not None:
        junit.write_text(found.to_junit(said), encoding="utf-8", newline="\n")
    if markdown is not None:
        markdown.write_text(found.to_markdown(said), encoding="utf-8", newline="\n")
    if json:
        print_document(found.to_dict(said))
    else:
        print(screen(found.blocks(said)))
    return found.exit_code


def _of_the_folder() -> Path | None:
    """The settings file of the working folder, if it holds rules."""
    import tomllib

    from ragstone.config.sources import FILE_NAME

    path = Path(FILE_NAME)
    try:
        return path if "gate" in tomllib.loads(path.read_text(encoding="utf-8-sig")) else None
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError):
        return path  # reading it again tells what is wrong, and where
