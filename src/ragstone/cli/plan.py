"""`ragstone plan`: how many samples a difference needs, and what difference the samples at hand can show."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    ctx: typer.Context,
    other: Annotated[Path | None, typer.Argument(metavar="RUN2", help="plan.option_other")] = None,
    from_: Annotated[list[Path] | None, typer.Option("--from", metavar="RUN", help="plan.option_from")] = None,
    sd: Annotated[float | None, typer.Option("--sd", metavar="S", help="plan.option_sd")] = None,
    gap: Annotated[float | None, typer.Option("--gap", metavar="G", help="plan.option_gap")] = None,
    n: Annotated[int | None, typer.Option("--n", metavar="N", help="plan.option_n")] = None,
    metric: Annotated[str | None, typer.Option("--metric", "--metrics", metavar="M", help="plan.option_metric")] = None,
    alpha: Annotated[float, typer.Option("--alpha", metavar="A", help="plan.option_alpha")] = 0.05,
    power: Annotated[float, typer.Option("--power", metavar="P", help="plan.option_power")] = 0.8,
    repeats: Annotated[int | None, typer.Option("--repeats", metavar="K", help="plan.option_repeats")] = None,
    judge_sd: Annotated[float | None, typer.Option("--judge-sd", metavar="S", help="plan.option_judge_sd")] = None,
    correlation: Annotated[float | None, typer.Option("--correlation", metavar="R", help="plan.option_correlation")] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="plan.option_seed")] = 0,
    json: Annotated[bool, typer.Option("--json", help="plan.option_json")] = False,
    lang: Annotated[str | None, typer.Option("--lang", metavar="zh|en", help="cli.lang")] = None,
) -> None:
    """Plan sample sizes; the help stands in the catalogue."""
    from ragstone.cli.blocks import screen
    from ragstone.cli.help import language_of
    from ragstone.cli.output import print_document
    from ragstone.errors import ConfigError
    from ragstone.results import load
    from ragstone.shown.plan import plan
    from ragstone.text import say, screen_language

    said = screen_language(lang) if lang else language_of(ctx)
    folders = [*(from_ or ()), *([other] if other is not None else ())]
    if other is not None and not from_:
        raise ConfigError(say("plan.second_alone", said))
    if len(folders) > 2:
        raise ConfigError(say("plan.too_many_runs", said, count=len(folders)))
    run, second = [*(load(folder) for folder in folders), None, None][:2]
    found = plan(
        run,
        second,
        sd=sd,
        gap=gap,
        n=n,
        metric=metric,
        alpha=alpha,
        power=power,
        repeats=repeats,
        judge_sd=judge_sd,
        correlation=correlation,
        seed=seed,
    )
    if json:
        print_document(found.to_dict(said))
    else:
        print(screen(found.blocks(said)))
