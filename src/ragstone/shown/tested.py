"""A run in a test: means that explain themselves, and rules that fail the test."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.figures import metric_name, metric_named, number, percent
from ragstone.text import say, screen_language

if TYPE_CHECKING:
    from ragstone.analysis.summary import MetricSummary
    from ragstone.config.model import GateSettings
    from ragstone.results import Run
    from ragstone.shown.gate import GateResult

WORST = 5
"""So many of the lowest scores are listed where an assertion fails."""


class Mean(float):
    """The mean of a metric in [0, 1]; where an assertion on it fails, pytest shows what stands behind it."""

    run: Run
    metric: str

    def __new__(cls, value: float, run: Run, metric: str) -> Mean:
        """Return a mean that knows where it comes from."""
        mean = super().__new__(cls, value)
        mean.run, mean.metric = run, metric
        return mean

    def ragstone_explanation(self) -> list[str]:
        """Return lines: n/total, what failed, the interval, the lowest scores and their lost claims."""
        return explanation(self.run, self.metric)


class Tested:
    """A run that a test makes assertions on."""

    __test__ = False  # pytest takes classes whose names begin with Test for tests

    def __init__(self, run: Run) -> None:
        self.run = run
        """The run itself: `run.summary()`, `run.scores`, …"""

    def mean(self, metric: str, min_coverage: float | None = None) -> Mean:
        """Return the mean of a metric over the samples that have a score.

        Args:
            metric: its name.
            min_coverage: least share of cells, failed ones included, that must have a score; unset = the run's own, else
                0.95. A mean over less is no result, so the test fails.

        Raises:
            AssertionError: no sample has a score, or too many cells failed.
            ConfigError: the run has no such metric.
        """
        __tracebackhide__ = True
        found = _summary_of(self.run, metric)
        metric = found.metric
        limit = self.run.summary(worst=0, min_coverage=min_coverage).min_coverage
        if found.mean is None or (found.coverage is not None and found.coverage < limit):
            key = "tested.no_score" if found.mean is None else "tested.low_coverage"
            raise AssertionError("\n".join([say(key, screen_language(), metric=metric), *explanation(self.run, metric)]))
        return Mean(found.mean, self.run, metric)

    def gate(
        self, rules: GateSettings | Mapping[str, Any] | str | Path | None = None, baseline: Run | str | Path | None = None, **more: Any
    ) -> GateResult:
        """Check the run against rules, as `ragstone gate` does, and fail the test unless they are kept; see `ragstone.gate`.

        Raises:
            AssertionError: a rule is broken; the text says which, and why.
            ConfigError: the rules cannot be used.
        """
        from ragstone.errors import RagstoneError
        from ragstone.shown.gating import gate

        __tracebackhide__, lang = True, screen_language()
        try:
            found = gate(self.run, baseline, rules, **more)
        except RagstoneError as error:  # the frames of ragstone say nothing of the test
            raise error.with_traceback(None) from None
        if not found.passed:
            raise AssertionError("\n".join([*(found.sentence(outcome, lang) for outcome in found.broken), *_folder(self.run)]))
        return found


def explanation(run: Run, metric: str) -> list[str]:
    """Return what stands behind a metric's mean, one line a thing."""
    lang, found = screen_language(), _summary_of(run, metric)
    values = {"metric": metric_name(metric, lang), "mean": number(found.mean), "n": found.n, "total": found.total}
    counts = {"failed": found.failed, "not_applicable": found.not_applicable, "coverage": percent(found.coverage)}
    lines = [say("tested.numbers", lang, **values, **counts)]
    if found.ci is not None:
        lines.append(say("tested.interval", lang, low=number(found.ci.low), high=number(found.ci.high), level=percent(found.ci.level)))
    if found.reasons:
        shares = ", ".join(f"{reason} {count}" for reason, count in found.reasons.items())
        lines.append(say("tested.reasons", lang, reasons=shares))
    if run.smoke_test:
        lines.append(say("judges.smoke_test", lang))
    return [*lines, *_worst(run, metric), *_folder(run)]


def _folder(run: Run) -> list[str]:
    """Where the run can be looked at after the test."""
    return [say("tested.folder", screen_language(), path=run.path)] if run.path else []


def _worst(run: Run, metric: str) -> list[str]:
    lang, lines = screen_language(), []
    lowest = [cell for cell in run.summary(worst=10**6).worst if cell.metric == metric and cell.value < 1][:WORST]
    if lowest:
        lines.append(say("tested.worst", lang))
    for cell in lowest:
        lines.append(f"  {number(cell.value)}  {cell.sample_id}")
        lines += [f"         {_line(claim)}" for claim in cell.claims[:3]]
    return lines


def _line(claim: Mapping[str, Any]) -> str:
    text = " ".join(str(claim.get("text") or "").split())
    return f"{claim.get('id')} {claim.get('verdict')}: {text[:100]}"


def _summary_of(run: Run, metric: str) -> MetricSummary:
    from ragstone.errors import ConfigError

    __tracebackhide__ = True
    metric, known = metric_named(metric), {m.metric: m for m in run.summary(worst=0).metrics}
    if metric not in known:
        lang, near = screen_language(), get_close_matches(metric, known, n=1, cutoff=0.5)
        hint = say("config.nearest", lang, name=near[0]) if near else ""
        raise ConfigError(say("tested.no_metric", lang, name=metric, hint=hint, known=", ".join(known) or "-"))
    return known[metric]
