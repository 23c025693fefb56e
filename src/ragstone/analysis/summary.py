"""What a run's scores say, metric by metric: means that never hide what is missing."""

from __future__ import annotations

import heapq
import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ragstone.analysis.cells import FAILED, Cells, Column, Notice
from ragstone.analysis.pooled import base_name, lost_lines
from ragstone.analysis.slices import SMALL, SampleFacts

Row = dict[str, Any]
Level = Literal["high", "middle", "low"]

HIGH, MIDDLE = 0.8, 0.5
"""Limits of the levels."""
ROUNDING = 1e-9
"""A mean this close below a limit reaches it: 2.4 / 3 is 0.8."""
MIN_COVERAGE = 0.95


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
    bounds: tuple[float | None, float | None]
    """Mean if every failed cell were 0, and if it were 1."""
    expected: dict[str, int]
    """Samples that should refuse, and that should ask back."""
    level: Level | None
    """high from 0.8, middle from 0.5; None for answer_relevancy, whose scale depends on the embedder."""
    histogram: tuple[int, ...]
    """Scores in ten bins of 0.1; 1.0 is in the last."""
    reasons: dict[str, int]
    """Failed and not applicable cells by reason, most frequent first."""

    def to_dict(self) -> dict[str, Any]:
        """The metric object of `show --json`."""
        named = ("metric", "mean", "sd", "median", "n", "total", "failed", "not_applicable", "coverage")
        return {
            **{name: getattr(self, name) for name in named},
            "ci": None,
            "micro": self.micro,
            "bounds": {"low": self.bounds[0], "high": self.bounds[1]},
            "expected": dict(self.expected),
            "level": self.level,
            "histogram": list(self.histogram),
            "reasons": dict(self.reasons),
            "variance": None,
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
    """The samples that should refuse or ask back, as slices by `expected_behavior`; for tables, not in `to_dict`."""

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
) -> Summary:
    """Return the summary of a run; `fetch` gives back the row found at a place of `cells`."""
    everything = range(len(cells))
    metrics = tuple(summarise_metric(cells, c, facts, everything) for c in cells.columns.values())
    metrics = tuple(m for m in metrics if m.total)
    return Summary(
        run=run,
        samples=len(cells),
        metrics=metrics,
        slices=tuple(_slices(cells, facts)) if facts.key is not None else (),
        worst=tuple(_worst(cells, fetch, worst)),
        min_coverage=min_coverage,
        warnings=(*notices, *_warnings(cells, metrics)),
        apart=tuple(_apart(cells, facts)),
    )


def summarise_metric(cells: Cells, column: Column, facts: SampleFacts, rows: Sequence[int]) -> MetricSummary:
    """Return one metric over the samples numbered `rows`."""
    values, reasons, states, expected = array("d"), dict[str, int](), {"failed": 0, "not_applicable": 0}, [0, 0, 0]
    known, behaviours = len(facts.expected), facts.expected
    for at, found in zip(rows, cells.outcomes(column, rows), strict=True):
        if found is None:
            continue
        expected[behaviours[at] if at < known else 0] += 1
        if found >= 0:
            values.append(found)
        else:
            status, reason = cells.reason(found)
            states[status] += 1
            reasons[reason] = reasons.get(reason, 0) + 1
    n, failed = len(values), states[FAILED]
    total, tried = math.fsum(values), n + failed
    mean = _mean(values, total)
    return MetricSummary(
        metric=column.metric,
        mean=mean,
        sd=_sd(values, mean),
        median=_median(values),
        n=n,
        total=tried + states["not_applicable"],
        failed=failed,
        not_applicable=states["not_applicable"],
        coverage=n / tried if tried else None,
        micro=cells.pooled(column, rows),
        bounds=(_bound(total / tried), _bound((total + failed) / tried)) if tried else (None, None),
        expected={"refuse": expected[1], "clarify": expected[2]},
        level=level(column.metric, mean),
        histogram=_histogram(values),
        reasons=dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))),
    )


def level(metric: str, mean: float | None) -> Level | None:
    """Return the level of a mean: high >= 0.8, middle >= 0.5, low; None for answer_relevancy and without a mean."""
    if mean is None or base_name(metric) == "answer_relevancy":
        return None
    return "high" if mean >= HIGH - ROUNDING else "middle" if mean >= MIDDLE - ROUNDING else "low"


def _mean(values: array[float], total: float) -> float | None:
    # the quotient may leave the range of equal values by one rounding
    return min(max(total / len(values), min(values)), max(values)) if values else None


def _bound(value: float) -> float:
    return min(1.0, value)


def _sd(values: array[float], mean: float | None) -> float | None:
    if mean is None or len(values) < 2:
        return None
    return math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))


def _median(values: array[float]) -> float | None:
    if not values:
        return None
    bins, middle = Counter(int(v * 1000) for v in values), ((len(values) - 1) // 2, len(values) // 2)
    return sum(_ranked(values, bins, rank) for rank in sorted(set(middle))) / len(set(middle))


def _ranked(values: array[float], bins: Counter[int], rank: int) -> float:
    """Return the value at a rank; only those near it are sorted, since a sorted copy would be the largest thing in memory."""
    for bin in sorted(bins):
        if rank < bins[bin]:
            near = Counter(v for v in values if int(v * 1000) == bin)
            break
        rank -= bins[bin]
    for value in sorted(near):
        if rank < near[value]:
            break
        rank -= near[value]
    return value


def _histogram(values: array[float]) -> tuple[int, ...]:
    bins = [0] * 10
    for v in values:
        bins[min(9, int(v * 10))] += 1
    return tuple(bins)


def _slices(cells: Cells, facts: SampleFacts) -> Iterator[Slice]:
    for value, rows in facts.groups(len(cells)):
        yield Slice(facts.key or "", value, len(rows), tuple(summarise_metric(cells, c, facts, rows) for c in cells.columns.values()))


def _apart(cells: Cells, facts: SampleFacts) -> Iterator[Slice]:
    for behaviour in ("refuse", "clarify"):
        if rows := facts.expecting(behaviour, len(cells)):
            metrics = tuple(summarise_metric(cells, c, facts, rows) for c in cells.columns.values())
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


def _warnings(cells: Cells, metrics: Iterable[MetricSummary]) -> Iterator[Notice]:
    interrupted = sum(m.reasons.get("interrupted", 0) for m in metrics)
    if interrupted:
        yield Notice("cells_interrupted", (("count", interrupted), ("total", sum(m.total for m in metrics))))
    if cells.in_parts:
        yield Notice("cells_in_parts", (("count", len(cells.in_parts)),))
    if cells.doubled:
        yield Notice("cells_doubled", (("count", cells.doubled),))
