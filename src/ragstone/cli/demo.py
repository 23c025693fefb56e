"""`ragstone demo`: five metrics on the bundled gold set with the local judge, offline."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ragstone.analysis.summary import Summary
    from ragstone.cli.progress import Reporter
    from ragstone.results import Run
    from ragstone.types import Language


def command(
    ctx: typer.Context,
    out: Annotated[Path | None, typer.Option("--out", metavar="RUN", help="cli.demo_out")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="cli.evaluate_quiet")] = False,
    lang: Annotated[str | None, typer.Option("--lang", metavar="zh|en", help="cli.lang")] = None,  # noqa: ARG001 (read at the start)
) -> int:
    """Judge the bundled samples; the help stands in the catalogue."""
    from ragstone.cli.evaluate import verdict
    from ragstone.cli.help import language_of
    from ragstone.cli.output import show_run
    from ragstone.cli.progress import reporter

    said = language_of(ctx)
    folder = out or Path(tempfile.mkdtemp(prefix="ragstone-demo-")) / "run"
    with reporter(said, quiet=quiet) as report:
        run = _evaluate(folder, said, report)
    summary = run.summary(worst=1000)
    show_run(summary, said)
    _open_one(run, summary, said)
    _say_what_next(folder, said)
    return verdict(summary, said)


def _evaluate(folder: Path, lang: Language, report: Reporter) -> Run:
    """Nothing of the user's settings enters: the demo is the same everywhere."""
    from importlib.resources import as_file, files

    from ragstone.api import run_sync
    from ragstone.config import Config, JudgeSettings
    from ragstone.evaluation import backends, evaluate_source, select
    from ragstone.samples import scan
    from ragstone.text import say

    config = Config(judge=JudgeSettings(model="local"))
    with as_file(files("ragstone") / "gold" / "samples.jsonl") as path:
        source = scan(path)
        report.notice(say("cli.demo_start", lang, count=source.count))
        judge, embedder = backends(config, {}, lang)
        metrics = select(config, source).metrics
        work = evaluate_source(
            source, metrics, judge, embedder, out=folder, config=config, on_progress=report.progress, on_notice=report.notice
        )
        return run_sync(work)


def _open_one(run: Run, summary: Summary, lang: Language) -> None:
    """The least faithful answer in the language of the screen: its claims and verdicts are what there is to see."""
    from ragstone.cli.sample_view import sample_page
    from ragstone.text import say

    rows = {str(row["id"]): row for row in run.samples or ()}
    plain = {i for i, row in rows.items() if row.get("language") == lang and row.get("expected_behavior", "answer") == "answer"}
    spoken = [cell for cell in summary.worst if cell.sample_id in plain]
    opened = next(cell.sample_id for cell in spoken if cell.metric == "faithfulness" and cell.claims)
    print("\n" + say("cli.demo_opened", lang, sample=opened) + "\n")
    print(sample_page(run, opened, lang))


def _say_what_next(folder: Path, lang: Language) -> None:
    import shlex

    from ragstone.text import say

    print("\n" + say("cli.demo_next", lang, command=_called(), run=shlex.quote(str(folder))))


def _called() -> str:
    """What starts ragstone from here: after `make demo` it stands in an environment that is not active."""
    import shlex
    import shutil
    import sys

    if shutil.which("ragstone"):
        return "ragstone"
    program = Path(sys.argv[0])
    return f"{shlex.quote(sys.executable)} -m ragstone" if program.name == "__main__.py" else shlex.quote(str(program))
