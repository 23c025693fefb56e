"""Numbers and names as tables show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.cli.plain import one_line
from ragstone.figures import NONE, metric_name, number, percent

if TYPE_CHECKING:
    from ragstone.analysis.summary import MetricSummary
    from ragstone.types import Language

__all__ = ["NONE", "metric_label", "number", "percent", "ratio"]


def ratio(metric: MetricSummary) -> str:
    """Return `mean n/total`."""
    return f"{number(metric.mean):>5} {metric.n}/{metric.total}"


def metric_label(metric: str, lang: Language) -> str:
    """Return a metric's name on one line of the screen: its Chinese name in Chinese, with its parameters where it has some."""
    return one_line(metric_name(metric, lang))
