"""What a run's scores say, metric by metric: means that never hide what is missing."""

from __future__ import annotations

import heapq
import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ragstone.analysis.cells import FAILED, Cells, Column, Notice
from ragstone.analysis.intervals import SCORES, Interval, Method, interval
from ragstone.analysis.levels import USUAL, Level, Levels
from ragstone.analysis.pooled import lost_lines
from ragstone.analysis.resolution import Resolution, resolution_of
from ragstone.analysis.slices import MOST_AUTOMATIC, SMALL, SampleFacts
from ragstone.analysis.spread import histogram_of, mean_of, median_of, sd_of, unseen_share
from ragstone.analysis.variance import Variance, random_effects

Row = dict[str, Any]

MIN_COVERAGE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How the numbers are to be read: intervals and levels."""

    ci: Method | None = None
    """Method of the intervals (`ragstone.analysis.intervals.METHODS`); None = the one that fits."""
    confidence: float = 0.95
    """Level of the intervals."""
    levels: Levels = USUAL
    seed: int = 0
    """Of what is drawn at random."""
    intervals: bool = True
    """False: no intervals, which may take a while."""
    clusters: Sequence[int] | None = None
    """A cluster number a sample of the run; samples of one cluster belong together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSummary:
    """One metric over the samples of a run or slice; None = cannot be computed."""

    metric: str
    mean: float | None
    """Mean over ok samples of their scores (a score = mean of the ok repeats), in [0, 1]."""
    sd: float | None
    """Standard deviation with n - 1; None below two scores."""
    median: float | None
    n: int
    """Samples with a value."""
    total: int
    """n + failed + not_applicable."""
    failed: int
    not_applicable: int
    coverage: float | None
    """n / (n + failed)."""
    micro: float | None
    """Mean over claims instead of samples: see `ragstone.analysis.pooled`."""
    ci: Interval | None
    """Interval of the mean; None below two scores."""
    bounds: tuple[float | None, float | None]
    """Mean if every failed cell were 0, and if it were 1."""
    expected: dict[str, int]
    """Samples that should refuse, and that should ask back."""
    level: Level | None
    """See `ragstone.analysis.levels`."""
    histogram: tuple[int, ...]
    """Scores in ten bins of 0.1; 1.0 is in the last."""
    reasons: dict[str, int]
    """Failed and not applicable cells by reason, most frequent first."""
    variance: Variance | None
    """How much of the spread is the judge's own noise; None unless a cell has two or more ok repeats."""
    resolution: Resolution | None
    """What one claim more or less moves; None where the metric is not made of verdicts."""
    unseen: float | None
    """Where every score is 1: how large the share of lower ones may still be (`ragstone.analysis.spread.unseen_share`)."""

    def to_dict(self) -> dict[str, Any]:
        """The metric object of `show --json`."""
        named = ("metric", "mean", "sd", "median", "n", "total", "failed", "not_applicable", "coverage")
        return {
            **{name: getattr(self, name) for name in named},
            "ci": self.ci.to_dict() if self.ci else None,
            "micro": self.micro,
            "bounds": {"low": self.bounds[0], "high": self.bounds[1]},
            "expected": dict(self.expected),
            "level": self.level,
            "histogram": list(self.histogram),
            "reasons": dict(self.reasons),
            "variance": self.variance.to_dict() if self.variance else None,
            "resolution": self.resolution.to_dict() if self.resolution else None,
            "unseen": self.unseen,
        }


@dataclass(frozen=True, slots=True)
class Slice:
    """The metrics over the samples that share a value; `small` = fewer than 5 samples."""

    key: str
    value: Any
    samples: int
    metrics: tuple[MetricSummary, ...]

    @property
    def small(self) -> bool:
        """True if the slice holds too few samples to say much."""
        return self.samples < SMALL

    def to_dict(self) -> dict[str, Any]:
        """The slice object of `show --json`."""
        return {"key": self.key, "value": self.value, "small": self.small, "metrics": [m.to_dict() for m in self.metrics]}


@dataclass(frozen=True, slots=True)
class WorstCell:
    """One of the lowest scores, with the verdict lines that cost it points."""

    sample_id: str
    metric: str
    value: float
    claims: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Which run the numbers come from; None = not known."""

    path: str | None = None
    run_id: str | None = None
    signature: str | None = None
    created_at: str | None = None
    gold_fingerprint: str | None = None
    notice: str | None = None
    """Why these numbers are no measurement (local judge)."""
    counts: tuple[tuple[str, Any], ...] = ()
    """Requests, retries, tokens and seconds the run took, as far as known; for tables, not in `to_dict`."""
    tokens: Row | None = None
    """Tokens as the manifest holds them: totals, by kind, by metric; not in `to_dict`."""
    cost: Row | None = None
    """What they cost, where prices are known: total, by metric, embeddings; not in `to_dict`."""

    def to_dict(self) -> dict[str, Any]:
        """The run object of `show --json`."""
        return {name: value for name, value in asdict(self).items() if name not in ("counts", "tokens", "cost")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A run in numbers. `to_dict` is the document of `show --json`."""

    run: RunFacts
    samples: int
    metrics: tuple[MetricSummary, ...]
    slices: tuple[Slice, ...]
    worst: tuple[WorstCell, ...]
    min_coverage: float
    warnings: tuple[Notice, ...]
    apart: tuple[Slice, ...] = ()
    """The samples that should refuse or ask back, as slices by `expected_behavior`; without intervals; for tables, not in `to_dict`."""
    levels: Levels = USUAL
    """Limits of the levels; for tables, not in `to_dict`."""
    cluster: tuple[str, int] | None = None
    """Key by which samples belong together, and how many clusters there are; for tables, not in `to_dict`."""

    @property
    def covered(self) -> bool:
        """True if no metric's coverage lies below `min_coverage`; a metric without one does not count."""
        return all(m.coverage is None or m.coverage >= self.min_coverage for m in self.metrics)

    def to_dict(self) -> dict[str, Any]:
        """The document of `show --json`."""
        return {
            "run": self.run.to_dict(),
            "samples": self.samples,
            "metrics": [m.to_dict() for m in self.metrics],
            "slices": [s.to_dict() for s in self.slices],
            "worst": [{"sample_id": w.sample_id, "metric": w.metric, "value": w.value, "claims": list(w.claims)} for w in self.worst],
            "min_coverage": self.min_coverage,
            "covered": self.covered,
            "warnings": [str(w) for w in self.warnings],
            "tokens": self.run.tokens,
            "cost": self.run.cost,
        }


def summarise(
    cells: Cells,
    facts: SampleFacts,
    fetch: Callable[[int], Row],
    *,
    run: RunFacts,
    worst: int = 10,
    min_coverage: float = MIN_COVERAGE,
    notices: Iterable[Notice] = (),
    terms: Terms | None = None,
) -> Summary:
    """Return the summary of a run; `fetch` gives back the row found at a place of `cells`."""
    terms, told = _clustered(terms or Terms(), facts, len(cells))
    everything = range(len(cells))
    metrics = tuple(summarise_metric(cells, c, facts, everything, terms) for c in cells.columns.values())
    metrics = tuple(m for m in metrics if m.total)
    return Summary(
        run=run,
        samples=len(cells),
        metrics=metrics,
        slices=tuple(_slices(cells, facts, terms)) if facts.sliced else (),
        worst=tuple(_worst(cells, fetch, worst)),
        min_coverage=min_coverage,
        warnings=(*notices, *told, *_warnings(cells, facts, metrics)),
        apart=tuple(_apart(cells, facts, replace(terms, intervals=False))),
        levels=terms.levels,
        cluster=(facts.together.key, len(set(terms.clusters))) if facts.together and terms.clusters is not None else None,
    )


def _clustered(terms: Terms, facts: SampleFacts, samples: int) -> tuple[Terms, list[Notice]]:
    """Return the terms with a cluster number a sample, and what to tell of samples that name none."""
    if facts.together is None:
        return terms, list(facts.unclustered)
    numbers, without = facts.together.clusters(samples)
    told = [Notice("cluster_missing", (("key", facts.together.key), ("count", without)))] if without else []
    if terms.ci not in (None, "cluster_t"):
        told.append(Notice("cluster_unused", (("method", terms.ci),)))
    return replace(terms, clusters=numbers), told


@dataclass(slots=True)
class _Gathered:
    """The cells of one metric, sorted by what came of them."""

    values: array[float]
    clusters: array[int] | None
    reasons: dict[str, int]
    states: dict[str, int]
    expected: list[int]


def _gather(cells: Cells, column: Column, facts: SampleFacts, rows: Sequence[int], terms: Terms) -> _Gathered:
    found = _Gathered(array("d"), None if terms.clusters is None else array("q"), {}, {"failed": 0, "not_applicable": 0}, [0, 0, 0])
    known, behaviours = len(facts.expected), facts.expected
    for at, outcome in zip(rows, cells.outcomes(column, rows), strict=True):
        if outcome is None:
            continue
        found.expected[behaviours[at] if at < known else 0] += 1
        if outcome >= 0:
            found.values.append(outcome)
            if found.clusters is not None and terms.clusters is not None:
                found.clusters.append(terms.clusters[at])
        else:
            status, reason = cells.reason(outcome)
            found.states[status] += 1
            found.reasons[reason] = found.reasons.get(reason, 0) + 1
    return found


def summarise_metric(cells: Cells, column: Column, facts: SampleFacts, rows: Sequence[int], terms: Terms | None = None) -> MetricSummary:
    """Return one metric over the samples numbered `rows`."""
    terms = terms or Terms()
    found = _gather(cells, column, facts, rows, terms)
    values, n, failed = found.values, len(found.values), found.states[FAILED]
    total, tried = math.fsum(values), n + failed
    mean = mean_of(values, total)
    counts, amount, lined = cells.tallied(column, rows)
    return MetricSummary(
        metric=column.metric,
        mean=mean,
        sd=sd_of(values, mean),
        median=median_of(values),
        n=n,
        total=tried + found.states["not_applicable"],
        failed=failed,
        not_applicable=found.states["not_applicable"],
        coverage=n / tried if tried else None,
        micro=column.pool.value(column.metric, counts, amount, lined, column.claim_weight) if lined else None,
        ci=_interval(found, terms),
        bounds=(_bound(total / tried), _bound((total + failed) / tried)) if tried else (None, None),
        expected={"refuse": found.expected[1], "clarify": found.expected[2]},
        level=terms.levels.of(column.metric, mean),
        histogram=histogram_of(values),
        reasons=dict(sorted(found.reasons.items(), key=lambda item: (-item[1], item[0]))),
        variance=random_effects(_repeats(column, rows)) if len(column.lanes) > 1 else None,
        resolution=resolution_of(column.metric, counts, lined, column.claim_weight, n),
        unseen=unseen_share(values, n if found.clusters is None else len(set(found.clusters)), terms.confidence),
    )


def _interval(found: _Gathered, terms: Terms) -> Interval | None:
    if not terms.intervals:
        return None
    clusters = found.clusters if terms.ci in (None, "cluster_t") else None
    return interval(found.values, SCORES, level=terms.confidence, method=terms.ci, clusters=clusters, seed=terms.seed)


def _repeats(column: Column, rows: Sequence[int]) -> Iterator[list[float]]:
    """Yield the values of the ok repeats of each sample that has some."""
    lanes = tuple(column.lanes.values())
    for at in rows:
        if values := [value for lane in lanes if (value := lane.value(at)) >= 0]:
            yield values


def _bound(value: float) -> float:
    return min(1.0, value)


def _slices(cells: Cells, facts: SampleFacts, terms: Terms) -> Iterator[Slice]:
    for value, rows in facts.groups(len(cells)):
        metrics = tuple(summarise_metric(cells, c, facts, rows, terms) for c in cells.columns.values())
        yield Slice(facts.key or "", value, len(rows), metrics)


def _apart(cells: Cells, facts: SampleFacts, terms: Terms) -> Iterator[Slice]:
    for behaviour in ("refuse", "clarify"):
        if rows := facts.expecting(behaviour, len(cells)):
            metrics = tuple(summarise_metric(cells, c, facts, rows, terms) for c in cells.columns.values())
            yield Slice("expected_behavior", behaviour, len(rows), tuple(m for m in metrics if m.total))


def _worst(cells: Cells, fetch: Callable[[int], Row], most: int) -> Iterator[WorstCell]:
    columns, samples = list(cells.columns.values()), range(len(cells))
    found = (
        (v, at, i) for i, column in enumerate(columns) for at, v in enumerate(cells.outcomes(column, samples)) if v is not None and v >= 0
    )
    lowest = heapq.nsmallest(most, found)
    for value, at, i in lowest:
        row = fetch(cells.place(columns[i], at))
        yield WorstCell(str(row["sample_id"]), columns[i].metric, value, lost_lines(row))


def _warnings(cells: Cells, facts: SampleFacts, metrics: Iterable[MetricSummary]) -> Iterator[Notice]:
    if facts.automatic and facts.slices is not None and facts.slices.crowded:
        yield Notice("slices_crowded", (("key", facts.key), ("most", MOST_AUTOMATIC)))
    interrupted = sum(m.reasons.get("interrupted", 0) for m in metrics)
    if interrupted:
        yield Notice("cells_interrupted", (("count", interrupted), ("total", sum(m.total for m in metrics))))
    if cells.in_parts:
        yield Notice("cells_in_parts", (("count", len(cells.in_parts)),))
    if cells.doubled:
        yield Notice("cells_doubled", (("count", cells.doubled),))
