"""Numbers and names as people see them, on a terminal or in a notebook: rounding never makes a value perfect, or nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ragstone.analysis.pooled import base_name
from ragstone.resources import read_toml
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.analysis.summary import MetricSummary
    from ragstone.types import Language

NONE = "–"
"""Stands where a number cannot be computed."""


def number(value: float | None) -> str:
    """Return a value of [0, 1] with three decimals; 1.000 and 0.000 only for what is exactly that."""
    if value is None:
        return NONE
    if 0 < value < 1:
        return f"{min(max(value, 0.001), 0.999):.3f}"
    return f"{value:.3f}"


def percent(share: float | None) -> str:
    """Return a share as a percentage with one decimal; 100.0% only where nothing is missing."""
    if share is None:
        return NONE
    return f"{min(100 * share, 99.9) if share < 1 else 100:.1f}%"


def bounds(metric: MetricSummary) -> str:
    """Return what the mean would be with every failed cell at 0 and at 1."""
    low, high = metric.bounds
    return NONE if low is None else f"{number(low)}–{number(high)}"


def interval(metric: MetricSummary) -> str:
    """Return the interval of the mean, cut off at 0 and 1, where no mean can lie."""
    return f"{number(max(0.0, metric.ci.low))}–{number(min(1.0, metric.ci.high))}" if metric.ci else NONE


def confidence(level: float) -> str:
    """Return the level of an interval as a percentage: 95%, 99.9%."""
    return f"{100 * level:.6g}%"


def confidence_of(metrics: Iterable[MetricSummary]) -> str:
    """Return the level of the intervals of some metrics; where there is none, the usual one."""
    return confidence(next((m.ci.level for m in metrics if m.ci), 0.95))


def level(metric: MetricSummary, min_coverage: float, lang: Language) -> str:
    """Return the level in words; none for a mean that covers too little: with every cell measured it might have another."""
    covered = metric.coverage is not None and metric.coverage >= min_coverage
    return say(f"show.level_{metric.level}", lang) if metric.level and covered else NONE


def metric_name(metric: str, lang: Language) -> str:
    """Return a metric's name: in Chinese its Chinese name, with its parameters where it has some."""
    base = base_name(metric)
    known = base in read_toml("text", "metrics_short.toml")
    return say(f"metrics_short.{base}", lang) + metric[len(base) :] if known else metric


_WIDE = str.maketrans("（）＝", "()=")


def metric_named(name: str) -> str:
    """Return the metric somebody names: a Chinese name stands for the one of files and flags, its parameters are kept.

    `答案相关性(strictness=1)` is `answer_relevancy(strictness=1)`; any other name is returned as it is.
    """
    given = name.strip().translate(_WIDE)
    base = base_name(given).strip()
    found = next((known for known, texts in read_toml("text", "metrics_short.toml").items() if texts["zh"] == base), None)
    return name if found is None else found + given[len(base_name(given)) :]


VERDICTS = frozenset(
    ("supported", "contradicted", "not_found", "covered", "missing", "found", "useful", "not_useful", "committal", "noncommittal")
)
"""Verdict words that have a translation."""


def verdict_word(word: object, lang: Language) -> str:
    """Return a verdict word in `lang`; an unknown one as it is."""
    return say(f"show.verdict_{word}", lang) if isinstance(word, str) and word in VERDICTS else str(word)


def word_of(reason: str) -> str:
    """Return the word of a reason; behind some stands a column, a cause or a count: `collect` of `collect:timeout`."""
    return reason.partition(":")[0].partition(" ")[0]


def meaning_of(reason: str, lang: Language) -> str:
    """Return what a reason means, in words; "" for one that ragstone does not know."""
    word = word_of(reason)
    return say(f"show.why_{word}", lang) if word in REASONS else ""


REASONS = frozenset(
    (
        *("contexts_missing", "missing", "no_claims", "no_reference_claims", "expected_refusal"),
        *("expected_clarification", "no_questions", "collect", "interrupted", "budget", "timeout"),
        *("rate_limited", "server_error", "bad_gateway", "connection", "empty_reply"),
        *("bad_reply", "truncated", "too_long", "blocked", "verdicts"),
        *("embedding_missing", "embedding_zero", "embedding_dimension"),
    )
)
"""Words that a cell without a value may give; behind some stands a column, a cause or a count."""
