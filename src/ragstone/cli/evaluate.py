"""`ragstone evaluate SAMPLES --out RUN`: judge samples and keep everything in a run folder."""

# ruff: noqa: ARG001 (the parameters of `command` are read through the context)

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ragstone.config import Loaded
    from ragstone.results import Run
    from ragstone.types import Language

JUDGE = "cli.panel_judge"
MEASURE = "cli.panel_measure"
INPUT = "cli.panel_input"
PACE = "cli.panel_pace"
BUDGET = "cli.panel_budget"


def _option(name: str, panel: str | None, value: str | None = None, *others: str) -> Any:
    """An option; its help stands in the catalogue under the option's name, `others` are more spellings of it."""
    return typer.Option(name, *others, metavar=value, help=f"cli.evaluate_{name[2:].replace('-', '_')}", rich_help_panel=panel)


Text = str | None
Texts = list[str] | None


def command(
    ctx: typer.Context,
    samples: Annotated[Path, typer.Argument(metavar="SAMPLES", help="cli.evaluate_samples")],
    out: Annotated[Path | None, _option("--out", None, "RUN")] = None,
    json: Annotated[bool, _option("--json", None)] = False,
    quiet: Annotated[bool, _option("--quiet", None)] = False,
    config: Annotated[Path | None, _option("--config", None, "FILE")] = None,
    lang: Annotated[Text, typer.Option("--lang", metavar="zh|en", help="cli.lang")] = None,
    judge: Annotated[Text, _option("--judge", JUDGE, "MODEL|local")] = None,
    base_url: Annotated[Text, _option("--base-url", JUDGE, "URL")] = None,
    embeddings: Annotated[Text, _option("--embeddings", JUDGE, "MODEL|local")] = None,
    embeddings_base_url: Annotated[Text, _option("--embeddings-base-url", JUDGE, "URL")] = None,
    temperature: Annotated[Text, _option("--temperature", JUDGE, "X")] = None,
    max_tokens: Annotated[Text, _option("--max-tokens", JUDGE, "N")] = None,
    extra_body: Annotated[Text, _option("--extra-body", JUDGE, "JSON")] = None,
    thinking: Annotated[Text, _option("--thinking", JUDGE, "off|auto")] = None,
    timeout: Annotated[Text, _option("--timeout", JUDGE, "SECONDS")] = None,
    retries: Annotated[Text, _option("--retries", JUDGE, "N")] = None,
    metrics: Annotated[Text, _option("--metrics", MEASURE, "A,B", "--metric")] = None,
    preset: Annotated[Text, _option("--preset", MEASURE, "NAME")] = None,
    strictness: Annotated[Text, _option("--strictness", MEASURE, "N")] = None,
    plan: Annotated[Text, _option("--plan", MEASURE, "NAME")] = None,
    precision_against: Annotated[Text, _option("--precision-against", MEASURE, "WHAT")] = None,
    recall_points: Annotated[Text, _option("--recall-points", MEASURE, "all|facts")] = None,
    language: Annotated[Text, _option("--language", MEASURE, "auto|zh|en")] = None,
    repeat: Annotated[Text, _option("--repeat", MEASURE, "K")] = None,
    seed: Annotated[Text, _option("--seed", MEASURE, "N")] = None,
    min_coverage: Annotated[Text, _option("--min-coverage", MEASURE, "X")] = None,
    level_high: Annotated[Text, _option("--level-high", MEASURE, "X")] = None,
    level_middle: Annotated[Text, _option("--level-middle", MEASURE, "X")] = None,
    map: Annotated[Texts, _option("--map", INPUT, "NAME=COLUMN")] = None,
    encoding: Annotated[Text, _option("--encoding", INPUT, "NAME")] = None,
    strip_citations: Annotated[bool, _option("--strip-citations", INPUT)] = False,
    max_cell_mb: Annotated[Text, _option("--max-cell-mb", INPUT, "X")] = None,
    limit: Annotated[Text, _option("--limit", INPUT, "N")] = None,
    top_k: Annotated[Text, _option("--top-k", INPUT, "K")] = None,
    max_context_chars: Annotated[Text, _option("--max-context-chars", INPUT, "N")] = None,
    max_answer_chars: Annotated[Text, _option("--max-answer-chars", INPUT, "N")] = None,
    concurrency: Annotated[Text, _option("--concurrency", PACE, "N")] = None,
    rpm: Annotated[Text, _option("--rpm", PACE, "N")] = None,
    tpm: Annotated[Text, _option("--tpm", PACE, "N")] = None,
    no_cache: Annotated[bool, _option("--no-cache", PACE)] = False,
    cache: Annotated[Text, _option("--cache", PACE, "DIR")] = None,
    cache_mb: Annotated[Text, _option("--cache-mb", PACE, "X")] = None,
    retry_failed: Annotated[bool, _option("--retry-failed", PACE)] = False,
    force: Annotated[bool, _option("--force", PACE)] = False,
    deadline: Annotated[Text, _option("--deadline", BUDGET, "SECONDS")] = None,
    max_calls: Annotated[Text, _option("--max-calls", BUDGET, "N")] = None,
    max_tokens_total: Annotated[Text, _option("--max-tokens-total", BUDGET, "N")] = None,
    max_cost: Annotated[Text, _option("--max-cost", BUDGET, "X")] = None,
    dry_run: Annotated[bool, _option("--dry-run", BUDGET)] = False,
) -> int:
    """Judge samples; the help stands in the catalogue."""
    from ragstone.cli.exits import whisper
    from ragstone.cli.help import language_of
    from ragstone.cli.output import show_run
    from ragstone.config import FLAGS, load_config

    given = {name: value for name, value in ctx.params.items() if name in FLAGS}
    environ = ctx.find_root().obj["environ"]
    named = environ.get("RAGSTONE_CONFIG")
    loaded = load_config(given, path=config or (Path(named) if named else None), environ=environ)
    screen = language_of(ctx)
    if loaded.config.dry_run:
        _rehearse(samples, out, loaded, environ, screen, quiet=quiet, json=json)
        return 0
    run, left_out = _judge(samples, _folder(out, screen), loaded, environ, screen, quiet=quiet)
    summary = run.summary(min_coverage=loaded.config.min_coverage)
    show_run(summary, screen, json=json)
    for notice in () if quiet else left_out:  # above a long table they are out of sight
        whisper(notice)
    return verdict(summary, screen)


def _judge(
    samples: Path, out: Path, loaded: Loaded, environ: Mapping[str, str], lang: Language, *, quiet: bool
) -> tuple[Run, tuple[str, ...]]:
    """Return the run, and what was told of metrics that no row can feed."""
    from ragstone.api import run_sync
    from ragstone.budget import Budget
    from ragstone.cli.collector import long_lived
    from ragstone.cli.progress import reporter
    from ragstone.evaluation import backends, evaluate_source, read_samples, select

    config = loaded.config
    budget = Budget.of(config)
    judge, embedder = backends(config, environ, lang, budget=budget)
    source = read_samples(samples, config)
    selection = select(config, source)
    with reporter(lang, quiet=quiet) as report, long_lived():
        for notice in (*loaded.notices, *source.notices, *selection.notices):
            report.notice(notice)
        heard: Any = {"on_progress": report.progress, "on_notice": report.notice}
        work = evaluate_source(source, selection.metrics, judge, embedder, out=out, config=config, budget=budget, **heard)
        return run_sync(work), selection.notices


def _rehearse(
    samples: Path, out: Path | None, loaded: Loaded, environ: Mapping[str, str], lang: Language, *, quiet: bool, json: bool
) -> None:
    """Print what the run would ask and cost."""
    from ragstone.api import run_sync
    from ragstone.cli.estimate import estimate_page
    from ragstone.cli.output import print_document
    from ragstone.cli.progress import reporter
    from ragstone.evaluation import read_samples, select
    from ragstone.rehearsal import rehearse

    config = loaded.config
    source = read_samples(samples, config)
    selection = select(config, source)
    with reporter(lang, quiet=quiet) as report:
        for notice in (*loaded.notices, *source.notices, *selection.notices):
            report.notice(notice)
        found = run_sync(rehearse(source, selection.metrics, config, environ, out=out, lang=lang))
    if json:
        print_document(found.to_dict())
    else:
        print(estimate_page(found, lang))


def _folder(out: Path | None, lang: Language) -> Path:
    from ragstone.errors import ConfigError
    from ragstone.text import say

    if out is None:
        raise ConfigError(say("cli.out_missing", lang))
    return out


def verdict(summary: Any, lang: Language) -> int:
    """Return the exit code of a finished run, and say on stderr why it is not 0."""
    from ragstone.cli.exits import FAILED, FINE, tell
    from ragstone.text import say

    if summary.covered:
        return FINE
    low = [m for m in summary.metrics if m.coverage is not None and m.coverage < summary.min_coverage]
    text = say("cli.not_covered", lang, metrics=", ".join(m.metric for m in low), limit=f"{summary.min_coverage:.0%}")
    collecting = [sum(count for reason, count in m.reasons.items() if reason.startswith("collect:")) for m in low]
    if any(m.failed > failed for m, failed in zip(low, collecting, strict=True)):
        text += say("cli.judge_again", lang)
    if any(collecting):
        text += say("cli.collect_again", lang)
    return tell(text, FAILED)
