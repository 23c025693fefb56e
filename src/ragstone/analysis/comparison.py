"""Two runs compared, metric by metric, over the samples both have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from ragstone.analysis.cells import FAILED, Notice
from ragstone.analysis.claim_changes import ClaimChanges, claim_changes
from ragstone.analysis.contrast import ABSENT, LOST, NONE, OK, Contrast, JudgeNoise, Paired, Rules, contrast, judged
from ragstone.analysis.holm import holm
from ragstone.analysis.pairs import Pairs, Side, same_answers
from ragstone.analysis.parts import PARTS, ComparedCells, part_name
from ragstone.analysis.slices import SMALL
from ragstone.analysis.summary import RunFacts
from ragstone.analysis.variance import random_effects

if TYPE_CHECKING:
    from ragstone.analysis.cells import Column

Row = dict[str, Any]

COVERAGE_GAP = 0.02
"""Two coverages further apart than this are told."""
PAIRED = 0.9
"""Share of the gold set below which the pairs may not stand for it."""


MEASURING = frozenset(
    ("judge_differs", "embedder_differs", "prompts_differ", "metric_version_differs", "setup_differs", "signature_differs")
)
"""Notices which say that two runs were not measured alike."""


@dataclass(frozen=True, slots=True)
class ComparedSlice:
    """The metrics over the pairs that share a value."""

    key: str
    value: Any
    pairs: int
    metrics: tuple[Contrast, ...]

    @property
    def small(self) -> bool:
        """True if the slice holds too few pairs to say much."""
        return self.pairs < SMALL


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRuns:
    """Two runs compared: codes and numbers."""

    base: RunFacts
    new: RunFacts
    pairs: Pairs
    rules: Rules
    metrics: tuple[Contrast, ...]
    """The metrics both runs have, in the order of the base run; f1 and cosine of answer_correctness stand behind it."""
    slices: tuple[ComparedSlice, ...]
    claims: ClaimChanges
    warnings: tuple[Notice, ...]
    same_answers: bool
    """Both runs hold the same answers and contexts: what differs is the measuring."""

    @property
    def alike(self) -> bool:
        """True if nothing tells that the two runs were measured in different ways."""
        return not any(notice.code in MEASURING for notice in self.warnings)

    @property
    def alone(self) -> Literal["judge_noise", "measuring"] | None:
        """Where every difference comes from, if not from the application: runs of the same answers differ by the measuring alone."""
        if not self.same_answers:
            return None
        return "judge_noise" if self.alike else "measuring"

    @property
    def family(self) -> tuple[str, ...]:
        """The metrics Holm's correction goes over: those with a p, without the parts of answer_correctness."""
        return tuple(m.metric for m in self.metrics if m.verdict is not None and m.chance.p is not None)

    @property
    def resamples(self) -> int:
        """Most random sign patterns drawn for a p; 0 where every p is exact."""
        every = [*self.metrics, *(m for part in self.slices for m in part.metrics)]
        return max((m.chance.resamples for m in every), default=0)


def compare_runs(
    base: Side,
    new: Side,
    pairs: Pairs,
    metrics: Sequence[str],
    rules: Rules,
    *,
    facts: tuple[RunFacts, RunFacts],
    fetch: tuple[Callable[[int], Row], Callable[[int], Row]],
    notices: Iterable[Notice] = (),
) -> ComparedRuns:
    """Compare two runs over their pairs.

    Args:
        base: cells and samples of the one run.
        new: cells and samples of the other.
        pairs: which samples belong together.
        metrics: names of the metrics to compare, all of which both runs have.
        rules: how differences are judged.
        facts: which runs they are.
        fetch: give back the score row at a place of a run's cells.
        notices: what is known already that a reader should be warned of.
    """
    clusters = _clusters(base, new, pairs)
    columns = {name: _paired(base, new, pairs, name) for name in _with_parts(base.cells, new.cells, metrics)}
    bare = {name: contrast(name, cells, pairs.ids, rules, clusters) for name, cells in columns.items()}
    same = same_answers(base, new, pairs)
    # which questions are not the same says more than that the fingerprints are not
    given = tuple(notice for notice in notices if not (pairs.apart and notice.code == "gold_differs"))
    found = [_with_noise(m, base, new, pairs, columns[m.metric]) for m in _judged([bare], rules)[0]]
    return ComparedRuns(
        base=facts[0],
        new=facts[1],
        pairs=pairs,
        rules=rules,
        metrics=tuple(found),
        slices=tuple(_slices(base, new, pairs, columns, rules, clusters)),
        claims=claim_changes(base, new, pairs, fetch),
        warnings=(*given, *(_alone(given, found) if same else ()), *_warnings(base, new, pairs, found)),
        same_answers=same,
    )


def _with_parts(base: ComparedCells, new: ComparedCells, metrics: Sequence[str]) -> Iterator[str]:
    for metric in metrics:
        yield metric
        yield from (name for part in PARTS if (name := part_name(metric, part)) in base.parts and name in new.parts)


def _judged(groups: Sequence[dict[str, Contrast]], rules: Rules) -> list[list[Contrast]]:
    """Adjust p over every metric of every group together, and give verdicts; parts of a metric have neither."""
    family = [(i, m.metric) for i, group in enumerate(groups) for m in group.values() if not is_part(m.metric)]
    adjusted = dict(zip(family, holm([groups[i][name].chance.p for i, name in family]), strict=True))
    return [
        [judged(m, adjusted[i, name], rules) if (i, name) in adjusted else m for name, m in group.items()] for i, group in enumerate(groups)
    ]


def is_part(metric: str) -> bool:
    """True for the f1 and the cosine of answer_correctness."""
    return any(metric.endswith(f".{part}") for part in PARTS)


# ------------------------------------------------------------------ cells
def _paired(base: Side, new: Side, pairs: Pairs, metric: str) -> Paired:
    old, old_states = _column(base.cells, metric, pairs.base)
    now, new_states = _column(new.cells, metric, pairs.new)
    return Paired(old, now, old_states, new_states)


def _column(cells: ComparedCells, metric: str, rows: Sequence[int]) -> Any:
    """Return (values, states) of a metric on some samples; the value of a cell that has none is 0."""
    import numpy as np

    part = cells.parts.get(metric)
    column = cells.columns[part.metric if part else metric]
    found = np.fromiter((-1.0 if v is None else v for v in cells.outcomes(column, rows)), float, len(rows))
    absent = np.fromiter((v is None for v in cells.outcomes(column, rows)), bool, len(rows)) if (found < 0).any() else found < 0
    states = np.full(len(rows), OK, dtype=np.uint8)
    for code in np.unique(found[found < 0]).tolist():
        states[found == code] = LOST if cells.reason(code)[0] == FAILED else NONE
    states[absent] = ABSENT
    values = np.where(found < 0, 0.0, found)
    if part:
        inner = np.fromiter((part.value(at) for at in rows), float, len(rows))
        states[(states == OK) & np.isnan(inner)] = NONE
        values = np.where(np.isnan(inner), 0.0, inner)
    return values, states


def _clusters(base: Side, new: Side, pairs: Pairs) -> list[int] | None:
    """A cluster number a pair, from the base run, or from the new one where only it has the key."""
    for side, rows in ((base, pairs.base), (new, pairs.new)):
        if side.facts.together:
            numbers, _ = side.facts.together.clusters(len(side.names))
            return [numbers[at] for at in rows]
    return None


# ------------------------------------------------------------------ judge noise
def _with_noise(found: Contrast, base: Side, new: Side, pairs: Pairs, cells: Paired) -> Contrast:
    if is_part(found.metric) or not found.n:
        return found
    both = cells.both.nonzero()[0].tolist()
    sides = [
        _within(side.cells.columns[found.metric], [rows[i] for i in both])
        for side, rows in ((base, pairs.base), (new, pairs.new))
        if len(side.cells.columns[found.metric].lanes) > 1
    ]
    if len(sides) < 2 or None in sides:
        return found
    judge = sum(part for part in sides if part is not None)
    share = min(1.0, judge / found.sd**2) if found.sd else None
    return replace(found, judge_noise=JudgeNoise(judge, share, (judge / found.n) ** 0.5))


def _within(column: Column, rows: Sequence[int]) -> float | None:
    """Variance of a sample's score that comes from the judge: its variance / repeats, mean over the samples."""
    groups = [[v for lane in column.lanes.values() if (v := lane.value(at)) >= 0] for at in rows]
    found = random_effects(groups)
    return None if found is None else found.judge * sum(1 / len(group) for group in groups) / len(groups)


# ------------------------------------------------------------------ slices
def _slices(
    base: Side, new: Side, pairs: Pairs, columns: dict[str, Paired], rules: Rules, clusters: Sequence[int] | None
) -> Iterator[ComparedSlice]:
    key = base.facts.key
    if key is None:
        return
    groups = list(_groups(base, new, pairs))
    bare = [
        {
            name: contrast(name, cells.over(rows), [pairs.ids[i] for i in rows], rules, clusters and [clusters[i] for i in rows])
            for name, cells in columns.items()
        }
        for _, rows in groups
    ]
    for (value, rows), metrics in zip(groups, _judged(bare, rules), strict=True):
        yield ComparedSlice(key, value, len(rows), tuple(metrics))


def _groups(base: Side, new: Side, pairs: Pairs) -> Iterator[tuple[Any, list[int]]]:
    """Yield (value, places among the pairs); the values are those of the base run, or of the new one where only it has the key."""
    side, numbers = (new, pairs.new) if base.facts.key not in base.facts.keys and base.facts.key in new.facts.keys else (base, pairs.base)
    places = {at: i for i, at in enumerate(numbers)}
    for value, rows in side.facts.groups(len(side.names)):
        if found := [places[at] for at in rows if at in places]:
            yield value, found


# ------------------------------------------------------------------ warnings
def _warnings(base: Side, new: Side, pairs: Pairs, found: Sequence[Contrast]) -> Iterator[Notice]:
    if pairs.apart:
        counts = ((name, len(getattr(pairs, name))) for name in ("only_base", "only_new", "changed"))
        yield Notice("gold_differs", (("n", len(pairs)), *counts))
    whole = max(pairs.base_samples, pairs.new_samples)
    if len(pairs) < PAIRED * whole:
        yield Notice("coverage_low", (("metric", None), ("n", len(pairs)), ("total", whole)))
    else:
        yield from _few(pairs, found, whole)
    for m in found:
        if not is_part(m.metric):
            yield from _coverage_differs(base.cells, new.cells, m.metric)
    yield from _apart(base, new, pairs, found)
    if not all(any(len(column.lanes) > 1 for column in side.cells.columns.values()) for side in (base, new)):
        yield Notice("judge_noise_unknown")


def _apart(base: Side, new: Side, pairs: Pairs, found: Sequence[Contrast]) -> Iterator[Notice]:
    """What to know of clusters: samples that name none, and intervals that do not look at them."""
    for side, rows in ((base, pairs.base), (new, pairs.new)):
        if side.facts.together:
            lacking = sum(side.facts.together.number(at) == 0 for at in rows)
            if lacking:
                yield Notice("cluster_missing", (("key", side.facts.together.key), ("count", lacking)))
            method = next((m.ci.method for m in found if m.ci), "cluster_t")
            if method != "cluster_t":
                yield Notice("cluster_unused", (("method", method),))
            return


def _alone(given: Sequence[Notice], found: Sequence[Contrast]) -> Iterator[Notice]:
    """Two runs of the same answers: what differs is the judge, or how it was asked."""
    if any(m.wins or m.losses for m in found):
        yield Notice("measuring_alone" if any(notice.code in MEASURING for notice in given) else "judge_noise_alone")


def _few(pairs: Pairs, found: Sequence[Contrast], whole: int) -> Iterator[Notice]:
    for m in found:
        lost = sum(why != "not_applicable" for _, why in m.left_out)
        if lost and not is_part(m.metric) and m.n < PAIRED * (m.n + lost + whole - len(pairs)):
            yield Notice("coverage_low", (("metric", m.metric), ("n", m.n), ("total", m.n + lost + whole - len(pairs))))


def _coverage_differs(base: ComparedCells, new: ComparedCells, metric: str) -> Iterator[Notice]:
    old, now = _coverage(base, metric), _coverage(new, metric)
    if old is not None and now is not None and abs(now - old) > COVERAGE_GAP + 1e-9:
        yield Notice("coverage_low", (("metric", metric), ("base", old), ("new", now)))


def _coverage(cells: ComparedCells, metric: str) -> float | None:
    _, states = _column(cells, metric, range(len(cells)))
    ok, lost = int((states == OK).sum()), int((states == LOST).sum())
    return ok / (ok + lost) if ok + lost else None
