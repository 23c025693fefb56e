"""`ragstone history [DIR]`: every gold claim as a unit test over all runs of a gold set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ragstone.shown.blocks import Block, Table

SAMPLE_COLUMNS, NOTE_COLUMNS, CLAIM_COLUMNS = 16, 30, 12


def command(
    ctx: typer.Context,
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="history.option_directory", show_default=False)] = Path("runs"),
    only: Annotated[str | None, typer.Option("--only", metavar="KIND", help="history.option_only")] = None,
    sample: Annotated[str | None, typer.Option("--sample", metavar="ID", help="history.option_sample")] = None,
    last: Annotated[int | None, typer.Option("--last", metavar="N", min=1, help="history.option_last")] = None,
    gold: Annotated[str | None, typer.Option("--gold", metavar="FINGERPRINT", help="history.option_gold")] = None,
    metric: Annotated[str | None, typer.Option("--metric", "--metrics", metavar="METRIC", help="history.option_metric")] = None,
    worst: Annotated[int, typer.Option("--worst", metavar="N", min=0, help="history.option_worst", show_default=False)] = 10,
    json: Annotated[bool, typer.Option("--json", help="history.option_json")] = False,
    lang: Annotated[str | None, typer.Option("--lang", metavar="zh|en", help="cli.lang")] = None,
) -> None:
    """Show the history; exits 0 whatever was lost, 2 where there is no run."""
    from ragstone.claim_history import history
    from ragstone.cli.help import language_of
    from ragstone.text import screen_language

    screen = screen_language(lang) if lang else language_of(ctx)
    found = history(directory, gold=gold, last=last, sample=sample, only=only, metric=metric)
    if json:
        from ragstone.cli.output import print_document

        print_document(found.to_dict(screen))
        return
    print("\n".join(page(found.blocks(screen, worst))))


def page(blocks: Iterable[Block]) -> Iterator[str]:
    """Yield the lines of a history; a claim takes one line, whatever its length."""
    from ragstone.cli.blocks import screen
    from ragstone.shown.blocks import Heading, Table

    above = True
    for block in blocks:
        if not above:
            yield ""
        yield from _rows(block) if isinstance(block, Table) else screen([block]).split("\n")
        above = isinstance(block, Heading)


def _rows(table: Table) -> Iterator[str]:
    """Marks, sample, what happened, and as much of the claim as the line still holds."""
    from ragstone.cli.blocks import COLUMNS
    from ragstone.cli.plain import clip, cut_middle, one_line
    from ragstone.cli.width import pad, width

    cells = [(row[0], cut_middle(row[1], SAMPLE_COLUMNS), one_line(row[2]), row[3]) for row in table.rows]
    marks, sample, note = (max(width(row[i]) for row in cells) for i in range(3))
    note = min(note, NOTE_COLUMNS, COLUMNS - 2 - marks - 2 - sample - 2 - 2 - CLAIM_COLUMNS)
    for strip, name, told, text in cells:
        parts = [pad(strip, marks), pad(name, sample), *([pad(cut_middle(told, note), note)] if note else [])]
        start = "  " + "  ".join(parts) + "  "
        yield start + clip(text, COLUMNS - width(start))
