"""A summary as a page of blocks, as a notebook and a Python prompt show it: tables, or a few lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ragstone.analysis.summary import Summary
from ragstone.figures import (
    NONE,
    bounds,
    confidence_of,
    interval,
    level,
    metric_name,
    number,
    percent,
    verdict_word,
)
from ragstone.shown.blocks import Block, Code, Heading, Items, Table, Text, to_html, to_markdown
from ragstone.text import say, screen_language

if TYPE_CHECKING:
    from ragstone.analysis.summary import MetricSummary, Slice, WorstCell
    from ragstone.types import Language

_HEADS = ("metric", "mean", "interval", "count", "failed", "not_applicable", "coverage", "bounds", "level")


class ShownSummary(Summary):
    """A summary that shows itself."""

    __slots__ = ()

    @classmethod
    def of(cls, summary: Summary) -> ShownSummary:
        """Return the same summary as one that shows itself."""
        return cls(**{field.name: getattr(summary, field.name) for field in fields(summary)})

    def __repr__(self) -> str:
        """A line a metric with n/total, then what the numbers were made with."""
        where = self.run.path or self.run.run_id
        lines = [f"Summary({repr(where) + ', ' if where else ''}samples={self.samples})"]
        widest = max((len(m.metric) for m in self.metrics), default=0)
        for m in self.metrics:
            counts = f"n={m.n}/{m.total} failed={m.failed} not_applicable={m.not_applicable} coverage={percent(m.coverage)}"
            lines.append(f"  {m.metric:<{widest}}  {number(m.mean):>5}  {interval(m)}  {counts}")
        lines += ["  " + text for text in (self.run.signature, self.run.notice) if text]
        return "\n".join(lines)

    def to_dict(self, lang: Language | None = None) -> dict[str, Any]:
        """Return the document of `show --json`; `lang` changes nothing, for it holds codes and numbers and no sentences."""
        return super().to_dict()

    def blocks(self, lang: Language | None = None) -> list[Block]:
        """Return the page of `ragstone show` as blocks; `lang`: language of its words, unset = that of the screen."""
        lang = lang or screen_language()
        return [*_numbers(self, lang), *_details(self, lang)]

    def to_markdown(self, lang: Language | None = None) -> str:
        """Return the page as Markdown, e.g. for a pull request; sample text in it is escaped."""
        return to_markdown(self.blocks(lang))

    def _repr_html_(self) -> str:
        """The page for a notebook, in the language of the screen; what is said beside the numbers is folded away."""
        lang = screen_language()
        details = list(_details(self, lang))
        folded = f"<details><summary>{say('show.details', lang)}</summary>\n{to_html(details, lang)}\n</details>" if details else ""
        return to_html(_numbers(self, lang), lang) + folded


def _numbers(summary: Summary, lang: Language) -> Iterator[Block]:
    if summary.run.notice:
        yield Text(say("judges.smoke_test", lang), warning=True)
    name = summary.run.path or summary.run.run_id
    count = say("show.samples", lang, count=summary.samples)
    yield Heading(f"{name} · {count}" if name else count)
    yield metrics_table(summary, lang)
    signature = summary.run.signature
    yield Code(signature) if signature else Text(say("show.signature_unknown", lang))
    yield from (Text(warning, warning=True) for warning in warnings(summary, lang))
    yield from missing(summary, lang)
    yield from _slices(summary.slices, lang)


def _details(summary: Summary, lang: Language) -> Iterator[Block]:
    from ragstone.shown.remarks import remarks

    yield from remarks(summary, lang)
    yield from lowest(summary.worst, lang)


def metrics_table(summary: Summary, lang: Language) -> Table:
    """Return a row a metric: mean, interval, n/total, what is missing, coverage, bounds, level."""
    level_of_all = confidence_of(summary.metrics)
    rows = tuple(tuple(_row(m, summary.min_coverage, lang)) for m in summary.metrics)
    return Table(tuple(say(f"show.column_{head}", lang, level=level_of_all) for head in _HEADS), rows, "lrrrrrrrl")


def _row(m: MetricSummary, min_coverage: float, lang: Language) -> Iterator[str]:
    yield from (metric_name(m.metric, lang), number(m.mean), interval(m))
    yield from (f"{m.n}/{m.total}", str(m.failed), str(m.not_applicable), percent(m.coverage))
    yield from (bounds(m), level(m, min_coverage, lang))


def warnings(summary: Summary, lang: Language) -> Iterator[str]:
    """Yield in words what a reader of the numbers should know first."""
    for warning in summary.warnings:
        yield say(f"show.warning_{warning.code}", lang, **dict(warning.values))
    low = [m for m in summary.metrics if m.coverage is not None and m.coverage < summary.min_coverage]
    if low:
        shares = say("show.comma", lang).join(f"{metric_name(m.metric, lang)} {percent(m.coverage)}" for m in low)
        yield say("show.low_coverage", lang, shares=shares, limit=percent(summary.min_coverage))


def missing(summary: Summary, lang: Language) -> Iterator[Block]:
    """Yield why cells have no value: reasons and counts, a line a metric; nothing where every cell has one."""
    found = [m for m in summary.metrics if m.reasons]
    if not found:
        return
    colon, comma = say("show.colon", lang), say("show.comma", lang)
    yield Heading(say("show.missing", lang))
    yield Items(
        tuple(metric_name(m.metric, lang) + colon + comma.join(f"{reason} {count}" for reason, count in m.reasons.items()) for m in found)
    )


def _slices(slices: tuple[Slice, ...], lang: Language) -> Iterator[Block]:
    if not slices:
        return
    rows = tuple((slice_label(part, lang), str(part.samples), *(slice_cell(m) for m in part.metrics)) for part in slices)
    heads = (slices[0].key, say("show.column_samples", lang), *(metric_name(m.metric, lang) for m in slices[0].metrics))
    yield Heading(say("show.slice", lang, name=slices[0].key))
    yield Table(heads, rows, "l" + "r" * (len(heads) - 1))
    yield from map(Text, slice_notes(slices, lang))


def slice_label(part: Slice, lang: Language) -> str:
    """Return the value of a slice, with a star where it has few samples."""
    return f"{say('show.no_value', lang) if part.value is None else part.value}{' *' if part.small else ''}"


def slice_cell(m: MetricSummary) -> str:
    """Return mean, n/total and interval of a metric on a slice."""
    if not m.total:
        return NONE
    return f"{number(m.mean)} {m.n}/{m.total}" + (f" ({interval(m)})" if m.ci else "")


def slice_notes(slices: tuple[Slice, ...], lang: Language) -> Iterator[str]:
    """Yield what to know before slices are compared."""
    if any(part.small for part in slices):
        yield say("show.small_slices", lang)
    if any(m.ci for part in slices for m in part.metrics):
        yield say("show.slices_note", lang)


def lowest(worst: tuple[WorstCell, ...], lang: Language) -> Iterator[Block]:
    """Yield the lowest scores, each with the claims that cost it points; nothing where every score is 1."""
    cells = [cell for cell in worst if cell.value < 1]
    if cells:
        yield Heading(say("show.worst", lang, count=len(cells)))
        yield Items(tuple(_worst_line(cell, lang) for cell in cells))


def _worst_line(cell: WorstCell, lang: Language) -> str:
    colon = say("show.colon", lang)
    head = f"{number(cell.value)} {metric_name(cell.metric, lang)} {cell.sample_id}"
    told = (f"{c.get('id', '?')} {verdict_word(c.get('verdict'), lang)}{colon}{c.get('text', '')}" for c in cell.claims)
    claims = say("show.semicolon", lang).join(told)
    return head + (colon + claims if claims else "")
