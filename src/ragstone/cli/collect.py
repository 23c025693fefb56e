"""`ragstone collect GOLD --to SAMPLES`: ask a RAG application every question of the gold set and keep what it answered and retrieved."""

# ruff: noqa: ARG001 (the parameters of `command` are read through the context)

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ragstone.cli.progress import Reporter
    from ragstone.collect.base import Application
    from ragstone.collecting import Collected
    from ragstone.config import Config, Loaded
    from ragstone.samples import SampleSource
    from ragstone.types import Language

SOURCE = "cli.collect_panel_source"
FIRST = "cli.collect_panel_first"
GOLD = "cli.collect_panel_gold"
PACE = "cli.panel_pace"

NOT_SETTINGS = (
    *("gold", "to", "call", "answers", "try_", "init", "json", "quiet", "config"),
    *("from_", "since", "until", "tag", "rate"),
)
"""Parameters that no settings file holds."""


TRACES: dict[str, Any] = {"rich_help_panel": "monitored.panel"}


def _option(name: str, panel: str | None, value: str | None = None, **more: Any) -> Any:
    """An option; its help stands in the catalogue under the option's name."""
    return typer.Option(name, metavar=value, help=f"cli.collect_{name[2:].replace('-', '_')}", rich_help_panel=panel, **more)


Text = str | None
Texts = list[str] | None


def command(
    ctx: typer.Context,
    gold: Annotated[Path | None, typer.Argument(metavar="GOLD", help="cli.collect_gold")] = None,
    to: Annotated[Path | None, _option("--to", None, "SAMPLES")] = None,
    json: Annotated[bool, _option("--json", None)] = False,
    quiet: Annotated[bool, _option("--quiet", None)] = False,
    config: Annotated[Path | None, _option("--config", None, "FILE")] = None,
    lang: Annotated[Text, typer.Option("--lang", metavar="zh|en", help="cli.lang")] = None,
    init: Annotated[Text, _option("--init", FIRST, "PLATFORM")] = None,
    try_: Annotated[int | None, _option("--try", FIRST, "N", min=1)] = None,
    platform: Annotated[Text, _option("--platform", SOURCE, "NAME")] = None,
    url: Annotated[Text, _option("--url", SOURCE, "URL")] = None,
    app: Annotated[Text, _option("--app", SOURCE, "ID")] = None,
    stream: Annotated[Text, _option("--stream", SOURCE, "KIND")] = None,
    call: Annotated[Text, _option("--call", SOURCE, "MODULE:FUNCTION")] = None,
    answers: Annotated[Path | None, _option("--answers", SOURCE, "FILE")] = None,
    from_: Annotated[Text, typer.Option("--from", metavar="langfuse", help="monitored.opt_from", **TRACES)] = None,
    since: Annotated[Text, typer.Option("--since", metavar="TIME", help="monitored.opt_since", **TRACES)] = None,
    until: Annotated[Text, typer.Option("--until", metavar="TIME", help="monitored.opt_until", **TRACES)] = None,
    tag: Annotated[Texts, typer.Option("--tag", metavar="TAG", help="monitored.opt_tag", **TRACES)] = None,
    rate: Annotated[Text, typer.Option("--rate", metavar="X", help="monitored.opt_rate", **TRACES)] = None,
    seed: Annotated[Text, typer.Option("--seed", metavar="N", help="monitored.opt_seed", **TRACES)] = None,
    repeat: Annotated[Text, _option("--repeat", GOLD, "K")] = None,
    limit: Annotated[Text, _option("--limit", GOLD, "N")] = None,
    map: Annotated[Texts, _option("--map", GOLD, "NAME=COLUMN")] = None,
    encoding: Annotated[Text, _option("--encoding", GOLD, "NAME")] = None,
    max_cell_mb: Annotated[Text, _option("--max-cell-mb", GOLD, "X")] = None,
    concurrency: Annotated[Text, _option("--concurrency", PACE, "N")] = None,
    timeout: Annotated[Text, _option("--timeout", PACE, "SECONDS")] = None,
    retries: Annotated[Text, _option("--retries", PACE, "N")] = None,
    deadline: Annotated[Text, _option("--deadline", PACE, "SECONDS")] = None,
    min_coverage: Annotated[Text, _option("--min-coverage", PACE, "X")] = None,
    retry_failed: Annotated[bool, _option("--retry-failed", PACE)] = False,
    force: Annotated[bool, _option("--force", PACE)] = False,
) -> int:
    """Ask every question; the help stands in the catalogue."""
    from ragstone.cli.collect_back import collect_back, meant
    from ragstone.cli.collect_from import Origin
    from ragstone.cli.help import language_of
    from ragstone.cli.progress import reporter
    from ragstone.config import load_config

    screen = language_of(ctx)
    environ = ctx.find_root().obj["environ"]
    named = environ.get("RAGSTONE_CONFIG")
    path = config or (Path(named) if named else None)
    if init is not None:
        return _init(init, path, screen, json=json, force=force)
    given = {name: value for name, value in ctx.params.items() if name not in NOT_SETTINGS}
    loaded = load_config(given, path=path, environ=environ, command="collect")
    if meant(ctx.params, loaded, screen):
        return collect_back(ctx.params, loaded, environ, screen)
    origin = Origin(call, answers)
    notices = [*loaded.notices, *origin.check(loaded, screen)]
    rows = _needed(gold, screen)
    target = _target(to, answers, screen) if try_ is None else None
    source = origin.gold(rows, loaded.config, try_, screen)
    with redirect_stdout(sys.stderr):  # what a module prints is no part of the page
        application = origin.application(source, loaded.config, environ, screen)
    with reporter(screen, quiet=quiet) as report:
        for notice in (*notices, *source.notices):
            report.notice(notice)
        if target is None:
            if (hear := getattr(application, "hear", None)) is not None:
                hear(report.notice)
            return _try(source, application, loaded, screen, json=json)
        found = _collect(source, target, application, loaded, report)
    return _tell(found, loaded.config, screen, json=json)


def _init(platform: str, path: Path | None, lang: Language, *, json: bool, force: bool) -> int:
    from ragstone.cli.collect_init import write_settings, written_page
    from ragstone.cli.exits import FINE
    from ragstone.cli.output import print_document
    from ragstone.config.sources import FILE_NAME

    path = path or Path(FILE_NAME)
    older = write_settings(platform, path, lang, force=force)
    if json:
        print_document({"written": str(path), "platform": platform, "set_aside": older and str(older)})
    else:
        print(written_page(platform, path, older, lang))
    return FINE


def _try(source: SampleSource, application: Application, loaded: Loaded, lang: Language, *, json: bool) -> int:
    """Ask every row and show what came; what would stop a collection is told with its exit code."""
    from ragstone.api import run_sync
    from ragstone.cli.collect_try import try_document, try_page, try_rows
    from ragstone.cli.exits import FAILED, FINE, tell
    from ragstone.cli.output import print_document
    from ragstone.collect.base import Row
    from ragstone.config.sources import FILE_NAME
    from ragstone.errors import StoppedError

    config = loaded.config
    repeat = 0 if _own(application, "repeat", 1) > 1 else None
    rows = [Row(sample, repeat) for sample in source]
    try:
        with redirect_stdout(sys.stderr):  # what a function prints is no part of the page
            tried = run_sync(try_rows(application, rows, config.collect.concurrency or config.concurrency))
    except StoppedError as stopped:
        return tell(str(stopped), stopped.exit_code)
    if json:
        print_document(try_document(application, tried))
    else:
        print(try_page(application, tried, lang, str(loaded.path or FILE_NAME)), flush=True)
    stop = next((one.kept.stop for one in tried if one.kept.stop is not None), None)
    if stop is not None:
        return tell(str(stop), stop.exit_code)
    good = sum(one.sample["error"] is None for one in tried)
    return FINE if good >= config.min_coverage * len(tried) else FAILED


def _collect(source: SampleSource, to: Path, application: Application, loaded: Loaded, report: Reporter) -> Collected:
    from ragstone.api import run_sync
    from ragstone.cli.collector import long_lived
    from ragstone.collecting import collect_source

    config = loaded.config
    own = _own(application, "repeat", None)  # a file of answers may hold several of each question
    repeat = own if own and loaded.origin["collect.repeat"] == "default" else config.collect.repeat
    heard: Any = {"on_progress": report.progress, "on_notice": report.notice}
    with long_lived(), redirect_stdout(sys.stderr):  # what a function prints is no part of the page
        return run_sync(collect_source(source, application, to=to, config=config, repeat=repeat, **heard))


def _own(application: Application, name: str, default: Any) -> Any:
    """What only functions and files of answers have."""
    return getattr(application, name, None) or default


def _tell(found: Collected, config: Config, lang: Language, *, json: bool) -> int:
    """Print what was collected and return the exit code."""
    from ragstone.cli.collect_page import collected_page
    from ragstone.cli.exits import FAILED, FINE, tell
    from ragstone.cli.output import print_document
    from ragstone.text import say

    if json:
        print_document(found.to_dict())
    else:
        print(collected_page(found, lang), flush=True)  # what is told on stderr afterwards must stand below it
    if found.covered(config.min_coverage):
        return FINE
    return tell(say("collected.not_covered", lang, ok=found.ok, rows=found.rows, limit=f"{config.min_coverage:.0%}"), FAILED)


def _needed(gold: Path | None, lang: Language) -> Path:
    from ragstone.errors import ConfigError
    from ragstone.text import say

    if gold is None:
        raise ConfigError(say("collected.gold_missing", lang))
    return gold


def _target(to: Path | None, answers: Path | None, lang: Language) -> Path:
    """Return the file the samples go to; it must not be that of the answers."""
    from ragstone.errors import ConfigError
    from ragstone.text import say

    if to is None:
        raise ConfigError(say("collected.to_missing", lang))
    if answers is not None and _same(to, answers):
        raise ConfigError(say("collected.to_is_answers", lang, path=to))
    return to


def _same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve() or (one.exists() and other.exists() and one.samefile(other))
