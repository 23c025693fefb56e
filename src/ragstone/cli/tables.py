"""A run's summary as text of at most 80 columns, plain and aligned, in Chinese or English."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ragstone import figures
from ragstone.cli.blocks import screen
from ragstone.cli.chain import chain_diagram
from ragstone.cli.money import money, spent_table
from ragstone.cli.numbers import metric_label, number, percent, ratio
from ragstone.cli.plain import clip, folded, joined, one_line, table
from ragstone.cli.width import width
from ragstone.figures import confidence_of, interval, level, meaning_of, word_of
from ragstone.shown.remarks import failed_bounds, remarks
from ragstone.shown.summary import slice_cell, slice_label, slice_notes, warnings
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.analysis.summary import MetricSummary, Slice, Summary, WorstCell
    from ragstone.types import Language

COLUMNS = 80
CLAIMS_SHOWN = 3
"""Lost claims shown under one of the lowest scores; the sample's own page has them all."""


def summary_table(summary: Summary, lang: Language, *, chain: bool = True, details: bool = False) -> str:
    """Return the table of a run: means with n/total, what is missing and why, the chain, and what the numbers were made with.

    The signature stands on one line, however long, so that it can be searched for and copied. `details`: what the intervals mean,
    how the scores are spread, how fine they are and the judge's own noise.
    """
    lines = [*_notice(summary, lang), *_heading(summary, lang), "", *metric_table(summary.metrics, lang, summary.min_coverage)]
    lines += [*folded(summary.run.signature or say("show.signature_unknown", lang), 10**6), *_names(summary, lang)]
    lines += _block(_warnings(summary, lang)) + _block(_missing(summary, lang)) + _block(_apart(summary, lang))
    lines += _block(chain_diagram(summary, lang)) if chain else []
    lines += _block(screen(remarks(summary, lang)).split("\n")) if details and any(m.n for m in summary.metrics) else []
    lines += _block(_cost(summary, lang)) + _block(_spent(summary, lang)) + _block(_notice(summary, lang))
    return "\n".join(lines)


def print_summary(summary: Summary, lang: Language, *, chain: bool = True) -> None:
    """Print `summary_table`."""
    print(summary_table(summary, lang, chain=chain))


def metric_table(metrics: Sequence[MetricSummary], lang: Language, min_coverage: float = 0.0) -> list[str]:
    """Return a line a metric: mean, interval, n/total, failed, not applicable, coverage, level.

    A mean that covers less than `min_coverage` gets no level: with every cell measured it might have another.
    """
    names = ("metric", "mean", "interval", "count", "failed", "not_applicable", "coverage", "level")
    rows = [[say(f"show.column_{name}", lang, level=confidence_of(metrics)) for name in names]]
    for m in metrics:
        counts = [f"{m.n}/{m.total}", str(m.failed), str(m.not_applicable), percent(m.coverage)]
        rows.append([metric_label(m.metric, lang), number(m.mean), interval(m), *counts, level(m, min_coverage, lang)])
    return table(rows, "lrrrrrrl", COLUMNS)


def slice_table(slices: tuple[Slice, ...], lang: Language) -> list[str]:
    """Return a line a slice with mean, n/total and interval of every metric; metrics that do not fit go into further tables below."""
    if not slices:
        return []
    labels = [say("show.slice", lang, name=one_line(slices[0].key))] + [one_line(slice_label(s, lang)) for s in slices]
    columns = [[say("show.column_samples", lang)] + [str(s.samples) for s in slices]]
    metrics = [[metric_label(m.metric, lang)] + [slice_cell(s.metrics[i]) for s in slices] for i, m in enumerate(slices[0].metrics)]
    lines: list[str] = []
    for group in _groups(metrics, COLUMNS - min(24, max(map(width, labels))) - 9):
        rows = [list(row) for row in zip(*[labels, *columns, *group], strict=True)]
        lines += _block(table([[clip(row[0], 24), *row[1:]] for row in rows], "l" + "r" * (len(rows[0]) - 1), COLUMNS))
    lines += _block(line for note in slice_notes(slices, lang) for line in folded(note, COLUMNS))
    return lines[1:]


def worst_list(worst: Iterable[WorstCell], lang: Language, wanted: int) -> list[str]:
    """Return the lowest scores with the lines that cost them points; perfect scores are no bad ones and are left out."""
    cells = [cell for cell in worst if cell.value < 1]
    if not cells:
        return [say("show.nothing_lost", lang)] if wanted else []
    lines = [say("show.worst", lang, count=len(cells))]
    for cell in cells:
        lines += folded(f"{metric_label(cell.metric, lang)}  {one_line(cell.sample_id)}", COLUMNS, f"  {number(cell.value)}  ")
        for claim in cell.claims[:CLAIMS_SHOWN]:
            lines.append(clip_line(claim_text(claim, lang), 9))
        if len(cell.claims) > CLAIMS_SHOWN:
            lines.append(" " * 9 + say("show.more_claims", lang, count=len(cell.claims) - CLAIMS_SHOWN))
    return lines


def claim_text(line: dict[str, Any], lang: Language) -> str:
    """Return a verdict line on one line: its id, the verdict in words, its text."""
    head = f"{one_line(line.get('id', '?'))} {verdict_word(line.get('verdict'), lang)}"
    return head + say("show.colon", lang) + one_line(line.get("text", ""))


def clip_line(text: str, indent: int) -> str:
    """Return a text on one line behind `indent` blanks, cut at the right edge."""
    return " " * indent + clip(text, COLUMNS - indent)


def verdict_word(word: object, lang: Language) -> str:
    """Return a verdict word in the language of the screen; an unknown one as it is."""
    return one_line(figures.verdict_word(word, lang))


def _block(lines: Iterable[str]) -> list[str]:
    lines = list(lines)
    return ["", *lines] if lines else []


def _notice(summary: Summary, lang: Language) -> list[str]:
    return folded(say("show.notice", lang, text=say("judges.smoke_test", lang)), COLUMNS) if summary.run.notice else []


def _heading(summary: Summary, lang: Language) -> list[str]:
    name = summary.run.path or summary.run.run_id
    count = say("show.samples", lang, count=summary.samples)
    return folded(f"{one_line(name)} · {count}" if name else count, COLUMNS)


def _names(summary: Summary, lang: Language) -> list[str]:
    """In Chinese: which name of files and flags each Chinese name stands for."""
    names = [(metric_label(m.metric, lang), one_line(m.metric)) for m in summary.metrics]
    pairs = [f"{shown} = {name}" for shown, name in names if shown != name]
    lines: list[str] = []
    for pair in pairs:
        if lines and width(lines[-1]) + width(pair) + 2 <= COLUMNS:
            lines[-1] += "，" + pair
        else:
            lines += folded(pair, COLUMNS)
    return _block(lines)


def _warnings(summary: Summary, lang: Language) -> Iterator[str]:
    for warning in warnings(summary, lang):
        yield from folded(warning, COLUMNS, "! ")
    yield from folded(failed_bounds(summary.metrics, lang), COLUMNS) if any(m.failed for m in summary.metrics) else ()


def _missing(summary: Summary, lang: Language) -> Iterator[str]:
    found, told = [m for m in summary.metrics if m.reasons], set[str]()
    if found:
        yield say("show.missing", lang)
    for m in found:
        reasons = (f"{one_line(reason)} {count}{why(reason, told, lang)}" for reason, count in m.reasons.items())
        head = f"  {metric_label(m.metric, lang)}" + say("show.colon", lang)
        yield from folded(say("show.comma", lang).join(reasons), COLUMNS, head, indent="    ")


def why(reason: str, told: set[str], lang: Language) -> str:
    """What a reason means, where it stands for the first time; nothing for one that ragstone does not know."""
    word, meaning = word_of(reason), meaning_of(reason, lang)
    if not meaning or word in told:
        return ""
    told.add(word)
    return say("show.why", lang, text=meaning)


def _apart(summary: Summary, lang: Language) -> list[str]:
    """The samples that should not simply be answered, beside the table that counts them too."""
    if not summary.apart:
        return []
    rows = [[say("show.column_metric", lang), *(say(f"show.apart_{part.value}", lang, count=part.samples) for part in summary.apart)]]
    for m in summary.metrics:
        found = ({other.metric: other for other in part.metrics}.get(m.metric) for part in summary.apart)
        rows.append([metric_label(m.metric, lang), *(ratio(other) if other else number(None) for other in found)])
    return [*folded(say("show.apart", lang), COLUMNS), *table(rows, "l" + "r" * len(summary.apart), COLUMNS)]


def _cost(summary: Summary, lang: Language) -> list[str]:
    known = {name: value for name, value in summary.run.counts if isinstance(value, int | float)}
    said = [say(f"show.count_{name}", lang, value=f"{known[name]:,.10g}") for name in COUNTS if known.get(name)]
    if summary.run.cost and isinstance(total := summary.run.cost.get("total"), int | float):
        said.append(say("show.count_cost", lang, value=money(total)))
    return joined(said, COLUMNS)


def _spent(summary: Summary, lang: Language) -> list[str]:
    by_metric, costs = (summary.run.tokens or {}).get("by_metric"), (summary.run.cost or {}).get("by_metric")
    if not isinstance(by_metric, dict) or not by_metric:
        return []
    ordered = {name: by_metric[name] for name in (*(m.metric for m in summary.metrics), *by_metric) if name in by_metric}
    return spent_table(ordered, costs, "metric", lang)


COUNTS = (
    "requests",
    "embedding_requests",
    "retries",
    "rate_limits",
    "embedding_rate_limits",
    "bad_replies",
    "unknown_usage",
    "from_cache",
    "prompt",
    "completion",
    "cached",
    "embedding_tokens",
    "unknown_embedding_usage",
    "wall_s",
)
"""What a run took, as far as `manifest.json` says; zeros are left out."""


def _groups(columns: list[list[str]], room: int) -> Iterator[list[list[str]]]:
    group: list[list[str]] = []
    used = 0
    for column in columns:
        wide = max(map(width, column)) + 2
        if group and used + wide > room:
            yield group
            group, used = [], 0
        group.append(column)
        used += wide
    if group:
        yield group
