"""`ragstone replay RUN`: compute every score again from the stored replies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

MOST_SHOWN = 20


def command(
    ctx: typer.Context,
    run: Annotated[Path, typer.Argument(metavar="RUN", help="cli.replay_run")],
    write: Annotated[bool, typer.Option("--write", help="cli.replay_write")] = False,
    lang: Annotated[str | None, typer.Option("--lang", metavar="zh|en", help="cli.lang")] = None,  # noqa: ARG001 (read at the start)
) -> int:
    """Replay a run; the help stands in the catalogue."""
    from ragstone.cli.exits import FAILED, FINE
    from ragstone.cli.help import language_of
    from ragstone.cli.plain import one_line
    from ragstone.replay import replay
    from ragstone.text import say

    said = language_of(ctx)
    result = replay(run, write=write)
    if not result.changed:
        print(say("cli.replay_same", said, cells=result.cells))
        return FINE
    print(say("cli.replay_changed", said, changed=len(result.changed), cells=result.cells))
    for change in result.changed[:MOST_SHOWN]:
        print(f"  {one_line(change.sample_id)}  {change.metric}  {change.repeat}: {_value(change.old)} -> {_value(change.new)}")
    if len(result.changed) > MOST_SHOWN:
        print(say("cli.replay_more", said, count=len(result.changed) - MOST_SHOWN))
    print(say("cli.replay_written" if write else "cli.replay_hint", said, run=run))
    return FAILED


def _value(value: float | str | None) -> str:
    return str(value) if value is None or isinstance(value, str) else repr(value)
