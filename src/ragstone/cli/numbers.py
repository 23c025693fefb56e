"""Numbers and names as tables show them: rounding never turns a value into a perfect one, or into nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.analysis.pooled import base_name
from ragstone.cli.plain import one_line
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


def ratio(metric: MetricSummary) -> str:
    """Return `mean n/total`."""
    return f"{number(metric.mean):>5} {metric.n}/{metric.total}"


def metric_label(metric: str, lang: Language) -> str:
    """Return a metric's name on the screen: its Chinese name in Chinese, with its parameters where it has some."""
    base = base_name(metric)
    known = read_toml("text", "metrics_short.toml")
    return say(f"metrics_short.{base}", lang) + one_line(metric[len(base) :]) if base in known else one_line(metric)
