"""Two runs compared, metric by metric, over the samples both have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from ragstone.analysis.cautions import MEASURING, cautions
from ragstone.analysis.cells import Notice
from ragstone.analysis.claim_changes import ClaimChanges, claim_changes
from ragstone.analysis.contrast import Contrast, JudgeNoise, Rules, contrast, judged
from ragstone.analysis.holm import holm
from ragstone.analysis.paired import Paired, paired
from ragstone.analysis.pairs import Pairs, Side, same_answers
from ragstone.analysis.parts import PARTS, ComparedCells, is_part, part_name
from ragstone.analysis.slices import SMALL
from ragstone.analysis.summary import RunFacts
from ragstone.analysis.variance import random_effects

if TYPE_CHECKING:
    from ragstone.analysis.cells import Column

Row = dict[str, Any]


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
        if not self.same_answers and not any(notice.code == "same_run" for notice in self.warnings):
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
    columns = {name: paired(base, new, pairs, name) for name in _with_parts(base.cells, new.cells, metrics)}
    bare = {name: contrast(name, cells, pairs.ids, rules, clusters) for name, cells in columns.items()}
    same = same_answers(base, new, pairs)
    found = [_with_noise(m, (base, new), (pairs.base, pairs.new), columns[m.metric]) for m in _judged([bare], rules)[0]]
    return ComparedRuns(
        base=facts[0],
        new=facts[1],
        pairs=pairs,
        rules=rules,
        metrics=tuple(found),
        slices=tuple(_slices(base, new, pairs, columns, rules, clusters)),
        claims=claim_changes(base, new, pairs, fetch),
        warnings=tuple(cautions(base, new, pairs, found, notices, same=same)),
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


def _clusters(base: Side, new: Side, pairs: Pairs) -> list[int] | None:
    """A cluster number a pair, from the base run, or from the new one where only it has the key."""
    for side, rows in ((base, pairs.base), (new, pairs.new)):
        if side.facts.together:
            numbers, _ = side.facts.together.clusters(len(side.names))
            return [numbers[at] for at in rows]
    return None


# ------------------------------------------------------------------ judge noise
def _with_noise(found: Contrast, runs: tuple[Side, Side], samples: tuple[Sequence[int], Sequence[int]], cells: Paired) -> Contrast:
    """Add what of a difference the judge may be; `samples` are the numbers of the paired samples in both runs, as `cells` has them."""
    if is_part(found.metric) or not found.n:
        return found
    both = cells.both.nonzero()[0].tolist()
    sides = [
        _within(side.cells.columns[found.metric], [rows[i] for i in both])
        for side, rows in zip(runs, samples, strict=True)
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
        samples = [pairs.base[i] for i in rows], [pairs.new[i] for i in rows]
        found = [_with_noise(m, (base, new), samples, columns[m.metric].over(rows)) for m in metrics]
        yield ComparedSlice(key, value, len(rows), tuple(found))


def _groups(base: Side, new: Side, pairs: Pairs) -> Iterator[tuple[Any, list[int]]]:
    """Yield (value, places among the pairs); the values are those of the base run, or of the new one where only it has the key."""
    side, numbers = (new, pairs.new) if base.facts.key not in base.facts.keys and base.facts.key in new.facts.keys else (base, pairs.base)
    places = {at: i for i, at in enumerate(numbers)}
    for value, rows in side.facts.groups(len(side.names)):
        if found := [places[at] for at in rows if at in places]:
            yield value, found
