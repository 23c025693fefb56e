"""`ragstone compare BASE NEW`: is the difference between two runs real?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def command(
    ctx: typer.Context,
    base: Annotated[Path, typer.Argument(metavar="BASE", help="compare.option_base")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="compare.option_new")],
    metrics: Annotated[str | None, typer.Option("--metrics", "--metric", metavar="A,B", help="compare.option_metrics")] = None,
    by: Annotated[str | None, typer.Option("--by", metavar="KEY", help="compare.option_by")] = None,
    cluster: Annotated[str | None, typer.Option("--cluster", metavar="KEY", help="compare.option_cluster")] = None,
    margin: Annotated[float | None, typer.Option("--margin", metavar="X", help="compare.option_margin")] = None,
    ci: Annotated[str | None, typer.Option("--ci", metavar="METHOD", help="compare.option_ci")] = None,
    alpha: Annotated[float, typer.Option("--alpha", metavar="X", help="compare.option_alpha")] = 0.05,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="compare.option_seed")] = 0,
    claims: Annotated[int, typer.Option("--claims", metavar="N", help="compare.option_claims")] = 10,
    json: Annotated[bool, typer.Option("--json", help="show.option_json")] = False,
    lang: Annotated[str | None, typer.Option("--lang", metavar="zh|en", help="cli.lang")] = None,
) -> None:
    """Compare two runs; exits 0 whatever the verdict, 2 where there is nothing to compare."""
    from ragstone.cli.help import language_of
    from ragstone.shown.comparison import compare
    from ragstone.text import screen_language

    screen = screen_language(lang) if lang else language_of(ctx)
    method: Any = ci  # an unknown one is refused by `compare`, in the words of the catalogue
    found = compare(base, new, metrics=metrics, by=by, cluster=cluster, margin=margin, alpha=alpha, ci=method, seed=seed)
    if json:
        from ragstone.cli.output import print_document

        print_document(found.to_dict(screen))
        return
    from ragstone.cli.blocks import screen as drawn

    print(drawn(found.blocks(screen, max(0, claims))))
