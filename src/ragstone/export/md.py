"""`--to md`: a run on one short page, for a pull request: numbers, what is missing and why, the lowest few samples, the signature."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, ClassVar

from ragstone.export.base import FileExporter, Order
from ragstone.figures import bounds, confidence_of, interval, level, meaning_of, metric_name, number, percent, verdict_word
from ragstone.shown.blocks import Block, Code, Heading, Items, Table, Text, to_markdown
from ragstone.shown.summary import warnings
from ragstone.text import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragstone.analysis.summary import MetricSummary, WorstCell
    from ragstone.export.content import Content
    from ragstone.shown.summary import ShownSummary
    from ragstone.types import Language

METRICS, MISSING, REASONS, WORST, WARNINGS = 60, 20, 5, 5, 10
"""How many of each the page shows at most: a comment on GitHub takes 65,536 characters."""
_NAME, _LINE, _SIGNATURE = 80, 300, 8_000
"""Characters of a name, a line and the signature."""
_HEADS = ("metric", "mean", "interval", "count", "failed", "not_applicable", "coverage", "bounds", "level")


class MdExporter(FileExporter):
    """Writes Markdown in the language of the order; what samples say in it stays text."""

    name: ClassVar[str] = "md"
    suffix: ClassVar[str] = ".md"

    def write(self, content: Content, file: IO[bytes], order: Order) -> None:
        """Write the page; its length does not grow with the samples."""
        summary = content.run.summary(by="", worst=WORST)
        file.write(to_markdown(_blocks(summary, order.lang)).encode())


def _blocks(summary: ShownSummary, lang: Language) -> Iterator[Block]:
    run, count = summary.run, say("show.samples", lang, count=summary.samples)
    if run.notice:
        yield Text(say("judges.smoke_test", lang), warning=True)
    name = run.run_id or (Path(run.path).name if run.path else "")
    yield Heading(f"{_clipped(name, _NAME)} · {count}" if name else count)
    yield _table(summary, lang)
    if len(summary.metrics) > METRICS:
        yield Text(say("sheets.more_metrics", lang, count=len(summary.metrics) - METRICS))
    yield from (Text(_clipped(told, 2 * _LINE), warning=True) for told in islice(warnings(summary, lang), WARNINGS))
    yield from _missing(summary, lang)
    yield from _worst(summary.worst, lang)
    yield Code(_clipped(run.signature, _SIGNATURE)) if run.signature else Text(say("show.signature_unknown", lang))
    facts = [fact for fact in (run.created_at, run.gold_fingerprint and say("sheets.gold", lang, fingerprint=run.gold_fingerprint)) if fact]
    if facts:
        yield Text(_clipped(" · ".join(facts), _LINE))


def _table(summary: ShownSummary, lang: Language) -> Table:
    shown = summary.metrics[:METRICS]
    heads = tuple(say(f"show.column_{head}", lang, level=confidence_of(shown)) for head in _HEADS)
    return Table(heads, tuple(_row(m, summary.min_coverage, lang) for m in shown), "lrrrrrrrl")


def _row(m: MetricSummary, min_coverage: float, lang: Language) -> tuple[str, ...]:
    counts = (f"{m.n}/{m.total}", str(m.failed), str(m.not_applicable), percent(m.coverage))
    return _metric(m.metric, lang), number(m.mean), interval(m), *counts, bounds(m), level(m, min_coverage, lang)


def _missing(summary: ShownSummary, lang: Language) -> Iterator[Block]:
    found = [m for m in summary.metrics if m.reasons][:MISSING]
    if found:
        yield Text(say("show.missing", lang))
        told = set[str]()
        yield Items(tuple(_clipped(_metric(m.metric, lang) + say("show.colon", lang) + _reasons(m, told, lang), _LINE) for m in found))


def _reasons(m: MetricSummary, told: set[str], lang: Language) -> str:
    """The reasons of a metric; what one means is told once."""
    parts = []
    for reason, count in islice(m.reasons.items(), REASONS):
        meaning = "" if reason in told else meaning_of(reason, lang)
        told.add(reason)
        parts.append(f"{_clipped(reason, _NAME)} {count}" + (say("show.why", lang, text=meaning) if meaning else ""))
    return say("show.comma", lang).join(parts) + ("…" if len(m.reasons) > REASONS else "")


def _worst(worst: Sequence[WorstCell], lang: Language) -> Iterator[Block]:
    cells = [cell for cell in worst if cell.value < 1]
    if cells:
        yield Text(say("sheets.lowest", lang, count=len(cells)))
        yield Items(tuple(_clipped(_worst_line(cell, lang), _LINE) for cell in cells))


def _worst_line(cell: WorstCell, lang: Language) -> str:
    colon = say("show.colon", lang)
    head = f"{number(cell.value)} {_metric(cell.metric, lang)} {_clipped(cell.sample_id, _NAME)}"
    claims = say("show.semicolon", lang).join(f"{verdict_word(c.get('verdict'), lang)}{colon}{c.get('text', '')}" for c in cell.claims)
    return f"{head}{colon}{claims}" if claims else head


def _metric(name: str, lang: Language) -> str:
    return _clipped(metric_name(name, lang), _NAME)


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
