"""What is said under the table of a run: what the intervals mean, how scores are spread, how fine they are, the judge's noise."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ragstone.analysis.levels import USUAL
from ragstone.analysis.pooled import base_name
from ragstone.figures import bounds, confidence, confidence_of, metric_name, number, percent
from ragstone.shown.blocks import Block, Heading, Items, Table, Text
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.analysis.resolution import Resolution
    from ragstone.analysis.summary import MetricSummary, Summary
    from ragstone.analysis.variance import Variance
    from ragstone.types import Language

BARS = "▁▂▃▄▅▆▇█"
EMPTY = "·"
"""An empty bin; of the same width on every terminal as a bar."""
_TWO_SIDED = 1.96
"""Standard errors that hold 95 % of a normal distribution."""


def remarks(summary: Summary, lang: Language) -> Iterator[Block]:
    """Yield everything that is said of a run's numbers beside the table, as far as there is something to say."""
    measured = [m for m in summary.metrics if m.n]
    if not measured:
        return
    yield Text(("" if lang == "zh" else " ").join(_interval_words(summary, measured, lang)))
    yield from distribution(measured, lang)
    yield from fineness(measured, lang)
    if perfect := list(_perfect(measured, lang, grouped=summary.cluster is not None)):
        yield Heading(say("remarks.perfect", lang))
        yield Items(tuple(perfect))
    yield from noise(measured, lang)


def failed_bounds(metrics: Iterable[MetricSummary], lang: Language) -> str:
    """Return what the means would be with every failed cell at 0 and at 1; "" where nothing failed."""
    found = [f"{metric_name(m.metric, lang)} {bounds(m)}" for m in metrics if m.failed]
    return say("remarks.bounds", lang, bounds=say("show.comma", lang).join(found)) if found else ""


def _interval_words(summary: Summary, metrics: Sequence[MetricSummary], lang: Language) -> Iterator[str]:
    if known := [m.ci for m in metrics if m.ci]:
        yield say("remarks.interval", lang, level=confidence(known[0].level))
    if summary.cluster:
        yield say("remarks.clusters", lang, key=summary.cluster[0], count=summary.cluster[1])
    if few := [metric_name(m.metric, lang) for m in metrics if m.ci and m.ci.method == "bounded"]:
        yield say("remarks.bounded", lang, metrics=say("show.comma", lang).join(few))
    if flat := [metric_name(m.metric, lang) for m in metrics if m.ci and m.ci.low == m.ci.high]:
        yield say("remarks.no_width", lang, metrics=say("show.comma", lang).join(flat))
    if none := [metric_name(m.metric, lang) for m in metrics if not m.ci]:
        yield say(
            "remarks.no_cluster_interval" if summary.cluster else "remarks.no_interval", lang, metrics=say("show.comma", lang).join(none)
        )
    if summary.levels != USUAL:
        yield say("remarks.levels", lang, high=f"{summary.levels.high:g}", middle=f"{summary.levels.middle:g}")


# ------------------------------------------------------------------ how scores are spread
def distribution(metrics: Sequence[MetricSummary], lang: Language) -> Iterator[Block]:
    """Yield a line a metric: ten bars from 0 to 1, median, standard deviation, and the mean over claims."""
    head = (say("show.column_metric", lang), f"0{EMPTY * 8}1", *(say(f"remarks.column_{name}", lang) for name in ("median", "sd", "micro")))
    rows = [(metric_name(m.metric, lang), bars(m.histogram), number(m.median), number(m.sd), number(m.micro)) for m in metrics]
    yield Heading(say("remarks.distribution", lang))
    yield Table(head, tuple(rows), "llrrr")
    yield Text(say("remarks.distribution_note", lang))


def bars(counts: Sequence[int]) -> str:
    """Return a bar a bin; the highest stands for the largest count, and no bin that holds something looks empty."""
    most = max(counts, default=0)
    return "".join(BARS[math.ceil(len(BARS) * count / most) - 1] if count else EMPTY for count in counts)


# ------------------------------------------------------------------ how fine they are
def fineness(metrics: Sequence[MetricSummary], lang: Language) -> Iterator[Block]:
    """Yield what one claim or context more or less moves, for the metrics made of verdicts."""
    rows = [tuple(_moves(m.metric, m.resolution, lang)) for m in metrics if m.resolution]
    if not rows:
        return
    head = tuple(say(f"remarks.column_{name}", lang) for name in ("lines", "score", "mean"))
    yield Heading(say("remarks.fineness", lang))
    yield Table((say("show.column_metric", lang), *head), tuple(rows), "lrrr")
    yield Text(say("remarks.fineness_note", lang))


def _moves(metric: str, one: Resolution, lang: Language) -> Iterator[str]:
    yield metric_name(metric, lang)
    counted = {"context_precision": "contexts", "keyword_recall": "keywords"}.get(base_name(metric), "claims")
    yield say(f"remarks.{counted}", lang, count=f"{one.lines:.1f}")
    for value in (one.score, one.mean):
        yield say("remarks.at_most", lang, value=number(value)) if one.kind == "ranked" else number(value)


def _perfect(metrics: Sequence[MetricSummary], lang: Language, *, grouped: bool) -> Iterator[str]:
    for m in metrics:
        if m.unseen is not None:
            name = metric_name(m.metric, lang)
            word = "remarks.unseen_groups" if grouped else "remarks.unseen"
            yield say(word, lang, metric=name, n=m.n, share=percent(m.unseen), level=confidence_of(metrics))


# ------------------------------------------------------------------ the judge's noise
def noise(metrics: Sequence[MetricSummary], lang: Language) -> Iterator[Block]:
    """Yield how much of the spread is the judge's; without repeats, what is not known and how to measure it."""
    yield Heading(say("remarks.noise", lang))
    known = [(m, m.variance) for m in metrics if m.variance]
    if known:
        yield Items(tuple(_noise_of(m, variance, lang) for m, variance in known))
    once = [m for m in metrics if not m.variance and base_name(m.metric) != "keyword_recall"]  # no judge reads keywords
    if once and known:
        yield Text(say("remarks.some_once", lang, metrics=say("show.comma", lang).join(metric_name(m.metric, lang) for m in once)))
    yield Text(say("remarks.never_seen" if known else "remarks.judged_once", lang))


def _noise_of(m: MetricSummary, found: Variance, lang: Language) -> str:
    name = metric_name(m.metric, lang)
    if not found.judge:
        return say("remarks.noise_none", lang, metric=name)
    reach = number(min(1.0, _TWO_SIDED * found.se_judge))
    if found.samples is None or found.judge_share is None:
        return say("remarks.noise_alone", lang, metric=name, reach=reach)
    fewer = {"repeat": percent(narrower(found, m.n)), "double": percent(1 - math.sqrt(0.5))}
    return say("remarks.noise_share", lang, metric=name, share=percent(found.judge_share), reach=reach, **fewer)


def narrower(found: Variance, n: int) -> float:
    """Return by which share one more repeat of every sample narrows the interval of a mean over n samples.

    Its variance is (samples + judge / k) / n, with k the repeats a sample has: where samples have unlike many, their harmonic mean,
    which is what `se_judge` holds.
    """
    repeats = found.judge / (n * found.se_judge**2)
    now, then = ((found.samples or 0.0) + found.judge / k for k in (repeats, repeats + 1))
    return 1 - math.sqrt(then / now)
