"""`ragstone show RUN [SAMPLE_ID]`: a run in one table, what failed in it, or one of its samples opened up."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ragstone.results import Run
    from ragstone.types import Language

WORST_SHOWN = 10
"""The lowest scores that are listed unless --worst says how many."""


def command(
    ctx: typer.Context,
    run: Annotated[Path, typer.Argument(metavar="RUN", help="show.option_run")],
    sample_id: Annotated[str | None, typer.Argument(metavar="SAMPLE_ID", help="show.option_sample_id")] = None,
    worst: Annotated[int | None, typer.Option("--worst", metavar="N", min=0, help="show.option_worst")] = None,
    by: Annotated[str | None, typer.Option("--by", metavar="KEY", help="show.option_by")] = None,
    cluster: Annotated[str | None, typer.Option("--cluster", metavar="KEY", help="show.option_cluster")] = None,
    ci: Annotated[str | None, typer.Option("--ci", metavar="METHOD", help="show.option_ci")] = None,
    seed: Annotated[int | None, typer.Option("--seed", metavar="N", min=0, help="show.option_seed")] = None,
    failed: Annotated[bool, typer.Option("--failed", help="show.option_failed")] = False,
    raw: Annotated[bool, typer.Option("--raw", help="show.option_raw")] = False,
    json: Annotated[bool, typer.Option("--json", help="show.option_json")] = False,
    min_coverage: Annotated[
        float | None, typer.Option("--min-coverage", metavar="X", min=0, max=1, help="show.option_min_coverage")
    ] = None,
    level_high: Annotated[str | None, typer.Option("--level-high", metavar="X", help="cli.evaluate_level_high")] = None,
    level_middle: Annotated[str | None, typer.Option("--level-middle", metavar="X", help="cli.evaluate_level_middle")] = None,
    config: Annotated[Path | None, typer.Option("--config", metavar="FILE", help="show.option_config")] = None,
    lang: Annotated[str | None, typer.Option("--lang", metavar="zh|en", help="cli.lang")] = None,
) -> None:
    """Show a run; exits 0 even where coverage is low."""
    from ragstone.cli.help import language_of
    from ragstone.cli.levels import levels_of
    from ragstone.results import load
    from ragstone.text import screen_language

    screen = screen_language(lang) if lang else language_of(ctx)
    terms: dict[str, Any] = {"by": by, "cluster": cluster, "ci": ci, "seed": seed, "min_coverage": min_coverage}
    named = {**terms, "worst": worst, "failed": failed or None, "level_high": level_high, "level_middle": level_middle, "config": config}
    _refuse_idle([name for name, value in named.items() if value is not None], sample_id, screen, ctx.command_path, raw=raw)
    found = load(run)
    if sample_id is not None:
        _show_sample(found, sample_id, screen, raw=raw, json=json)
        return
    terms |= {"worst": WORST_SHOWN if worst is None else worst, "seed": seed or 0, "levels": levels_of(ctx)}
    _show_run(found, screen, terms, failed=failed, json=json)


def _refuse_idle(of_the_run: list[str], sample_id: str | None, lang: Language, command: str, *, raw: bool) -> None:
    """An option that would change nothing is a mistake: the table has its own, and a sample has its own."""
    from ragstone.errors import ConfigError
    from ragstone.text import say

    hint = say("cli.see_help", lang, command=command)
    if sample_id is None and raw:
        raise ConfigError(say("show.raw_needs_sample", lang) + hint)
    if sample_id is not None and of_the_run:
        options = ", ".join("--" + name.replace("_", "-") for name in of_the_run)
        raise ConfigError(say("show.not_of_a_sample", lang, options=options) + hint)


def _show_sample(run: Run, sample_id: str, lang: Language, *, raw: bool, json: bool) -> None:
    from ragstone.cli.output import print_document
    from ragstone.cli.sample_view import question_keys, sample_document, sample_page

    document = sample_document(run, sample_id) if json else None
    if document is None:
        print(sample_page(run, sample_id, lang, raw=raw))  # raises for an unknown id
        return
    if raw:
        document["replies"] = list(run.replies(question_keys(document["scores"])).values())
    print_document({"run": run.facts().to_dict(), **document})


def _show_run(run: Run, lang: Language, wanted: dict[str, Any], *, failed: bool, json: bool) -> None:
    summary = run.summary(**wanted)
    if json:
        from ragstone.cli.failed_view import failed_cells
        from ragstone.cli.output import print_document

        print_document({**summary.to_dict(), **({"failed_cells": failed_cells(run)} if failed else {})})
        return
    from ragstone.cli.failed_view import failed_list
    from ragstone.cli.tables import slice_table, summary_table, worst_list

    tail = (
        failed_list(run, lang) if failed else worst_list(summary.worst, lang, wanted["worst"] if any(m.n for m in summary.metrics) else 0)
    )
    parts = ["\n".join(lines) for lines in (slice_table(summary.slices, lang), list(tail)) if lines]
    print("\n\n".join([summary_table(summary, lang, details=True), *parts]))
