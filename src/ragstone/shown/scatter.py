"""How much the differences of paired samples scatter, read from one run or two: what a plan starts from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

from ragstone.analysis.planning import ZERO, Spread, paired_sd
from ragstone.analysis.pooled import base_name
from ragstone.analysis.slices import SampleFacts
from ragstone.analysis.spread import sd_of
from ragstone.analysis.variance import random_effects
from ragstone.errors import ConfigError, RunFolderError
from ragstone.figures import metric_name, metric_named
from ragstone.text import say, screen_language

if TYPE_CHECKING:
    from ragstone.analysis.cells import Cells, Column
    from ragstone.analysis.pairs import Side
    from ragstone.results import Run

REQUESTS = 7
"""Chat requests a sample when all five metrics are asked separately."""
_STEPS = {
    "faithfulness": {"split the answer", "check the answer"},
    "answer_relevancy": {"invert the answer"},
    "context_precision": {"rate the contexts"},
    "context_recall": {"split the reference", "check the reference"},
    "answer_correctness": {"split the answer", "split the reference", "match"},
}
"""Metrics and the requests they need; a request that two share is asked once."""
_TOGETHER = {"split": "split both", "check": "check all", "rate": "check all"}
"""Under the plan `joint` these first words are one request each, asked in full whoever needs it."""
_CONTEXTS = 5
"""Requests that rating takes under the plan `per-context`, with as many contexts."""


class Noise(NamedTuple):
    """The judge's part of the variance of a score."""

    once: float
    """Judged once."""
    held: float
    """Judged as often as it was."""


def scatter(run: Run, other: Run | None, metric: str | None, correlation: float, judge_sd: float | None) -> list[Spread]:
    """Return how each metric scatters, the widest first; only the one named, if one is.

    Raises:
        ConfigError: there is no such metric.
        RunFolderError: nothing scatters, or the runs share no metric or no sample.
    """
    spreads = _of_one(run, correlation, judge_sd) if other is None else _of_two(run, other, judge_sd)
    found = {str(spread.metric): spread for spread in spreads}
    metric = None if metric is None else metric_named(metric)
    if metric is not None and metric not in found:
        raise ConfigError(_no_metric(metric, list(found), "one" if other is None else "two"))
    wanted = list(found.values()) if metric is None else [found[metric]]
    usable = [spread for spread in wanted if (spread.n or 0) >= 2 and spread.sd > ZERO]
    if not usable:
        raise RunFolderError(_no_scatter(max(wanted, key=lambda spread: spread.n or 0)))
    return sorted(usable, key=lambda spread: -spread.sd)


def requests_a_sample(run: Run) -> int:
    """Return how many chat requests one sample of a run takes when judged once; 7 where the run does not tell what it asks."""
    names = run.manifest.get("metrics")
    known = [base_name(str(name)) for name in names if base_name(str(name)) in _STEPS] if isinstance(names, dict | list) else []
    steps = set[str]().union(*(_STEPS[name] for name in known))
    plan = run.manifest.get("plan")
    if plan == "joint":
        steps = {_TOGETHER.get(step.split()[0], step) for step in steps or set[str]().union(*_STEPS.values())}
    rated = _CONTEXTS - 1 if plan == "per-context" and (not steps or "rate the contexts" in steps) else 0
    return (len(steps) or REQUESTS) + rated


# ------------------------------------------------------------------ one run
def _of_one(run: Run, correlation: float, judge_sd: float | None) -> Iterator[Spread]:
    cells = run.cells(SampleFacts(), [])
    for column in cells.columns.values():
        values = [v for v in cells.outcomes(column, range(len(cells))) if v is not None and v >= 0]
        judged = [len(group) for group in _groups(column, range(len(cells)))]
        sd = sd_of(values) or 0.0
        noise = _noise(column, range(len(cells)), judge_sd)
        yield Spread(
            sd=paired_sd(sd, correlation),
            source="one_run_assumed_correlation",
            metric=column.metric,
            n=len(values),
            scores=sd,
            correlation=correlation,
            judge=noise and 2 * noise.once,
            judge_held=noise and 2 * noise.held,
            judged=(min(judged), max(judged)) if judged else None,
        )


def _groups(column: Column, rows: Sequence[int]) -> list[list[float]]:
    """Return the scores of each sample that has any, one a repeat."""
    return [group for at in rows if (group := [v for lane in column.lanes.values() if (v := lane.value(at)) >= 0])]


def _noise(column: Column, rows: Sequence[int], judge_sd: float | None) -> Noise | None:
    groups = _groups(column, rows)
    parts = random_effects(groups)
    once = judge_sd**2 if judge_sd is not None else None if parts is None else parts.judge
    return None if once is None or not groups else Noise(once, once * math.fsum(1 / len(group) for group in groups) / len(groups))


# ------------------------------------------------------------------ two runs
def _of_two(base: Run, new: Run, judge_sd: float | None) -> Iterator[Spread]:
    from ragstone.analysis.pairs import pair

    left, right = _side(base), _side(new)
    pairs = pair(left, right)
    if not len(pairs):
        raise RunFolderError(say("plan.no_common_id", screen_language(), count=pairs.matching, total=pairs.base_samples))
    common = [name for name in left.cells.columns if name in right.cells.columns]
    if not common:
        raise RunFolderError(_no_common(left.cells, right.cells))
    for name in common:
        yield _paired(name, (left.cells, right.cells), (pairs.base, pairs.new), judge_sd)


def _side(run: Run) -> Side:
    from ragstone.analysis.pairs import PairFacts, Side
    from ragstone.analysis.parts import ComparedCells

    cells, facts = ComparedCells(), PairFacts()
    run.cells(facts, [], cells)
    return Side(cells, facts)


def _paired(name: str, cells: tuple[Cells, Cells], rows: tuple[Sequence[int], Sequence[int]], judge_sd: float | None) -> Spread:
    columns = [side.columns[name] for side in cells]
    outcomes = zip(*(side.outcomes(column, at) for side, column, at in zip(cells, columns, rows, strict=True)), strict=True)
    both = [(old, now) for old, now in outcomes if old is not None and now is not None and old >= 0 and now >= 0]
    differences = tuple(now - old for old, now in both)
    noises = [_noise(column, at, judge_sd) for column, at in zip(columns, rows, strict=True)]
    known = [noise for noise in noises if noise is not None]
    judged = [len(group) for column, at in zip(columns, rows, strict=True) for group in _groups(column, at)]
    # a run judged once cannot tell the judge's noise; then that of the other run stands for both
    noises = [noise or Noise(known[0].once, known[0].once) for noise in noises] if known else []
    return Spread(
        sd=sd_of(differences) or 0.0,
        source="two_runs",
        metric=name,
        n=len(differences),
        judge=sum(noise.once for noise in noises if noise) if noises else None,
        judge_held=sum(noise.held for noise in noises if noise) if noises else None,
        judged=(min(judged), max(judged)) if judged else None,
        differences=differences,
    )


# ------------------------------------------------------------------ what goes wrong
def _no_metric(metric: str, known: list[str], which: str) -> str:
    lang = screen_language()
    near = get_close_matches(metric, known, n=1, cutoff=0.6)
    hint = say("plan.hint", lang, name=near[0]) if near else ""
    where = say("plan.where_one" if which == "one" else "plan.where_two", lang)
    return say("plan.no_metric", lang, where=where, metric=metric, hint=hint, known=", ".join(known))


def _no_common(left: Cells, right: Cells) -> str:
    names: Any = (", ".join(side.columns) or "-" for side in (left, right))
    return say("plan.no_common_metric", screen_language(), base=next(names), new=next(names))


def _no_scatter(spread: Spread) -> str:
    lang = screen_language()
    values = {"metric": metric_name(str(spread.metric), lang), "n": spread.n}
    if (spread.n or 0) < 2:
        return say("plan.too_few", lang, **values)
    return say("plan.no_scatter_two" if spread.source == "two_runs" else "plan.no_scatter_one", lang, **values)
