"""What a reader of a comparison must not overlook."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from ragstone.analysis.cells import Notice
from ragstone.analysis.paired import LOST, OK, column_of
from ragstone.analysis.parts import is_part

if TYPE_CHECKING:
    from ragstone.analysis.contrast import Contrast
    from ragstone.analysis.pairs import Pairs, Side
    from ragstone.analysis.parts import ComparedCells

COVERAGE_GAP = 0.02
"""Two coverages further apart than this are told."""
PAIRED = 0.9
"""Share of the gold set below which the pairs may not stand for it."""
MEASURING = frozenset(
    ("judge_differs", "embedder_differs", "prompts_differ", "metric_version_differs", "setup_differs", "signature_differs")
)
"""Notices which say that two runs were not measured alike."""


def cautions(base: Side, new: Side, pairs: Pairs, found: Sequence[Contrast], known: Iterable[Notice], *, same: bool) -> Iterator[Notice]:
    """Yield what to mind about a comparison.

    Args:
        base: the one run.
        new: the other.
        pairs: which samples belong together.
        found: the metrics compared.
        known: what is known already: of the files, of what the runs were made with.
        same: both runs hold the same answers and contexts.
    """
    # which questions are not the same says more than that the fingerprints are not
    given = [notice for notice in known if not (pairs.apart and notice.code == "gold_differs")]
    yield from (_unseen(notice) if notice.code == "gold_differs" and not _held(base, new, pairs) else notice for notice in given)
    if same and any(m.wins or m.losses for m in found):
        yield Notice("measuring_alone" if any(notice.code in MEASURING for notice in given) else "judge_noise_alone")
    if pairs.apart:
        counts = ((name, len(getattr(pairs, name))) for name in ("only_base", "only_new", "changed"))
        yield Notice("gold_differs", (("n", len(pairs)), *counts))
    whole = [m for m in found if not is_part(m.metric)]
    yield from _few(pairs, whole)
    for m in whole:
        yield from _uneven(base.cells, new.cells, m.metric)
    yield from _clusters(base, new, pairs, found)
    if not all(any(len(column.lanes) > 1 for column in side.cells.columns.values()) for side in (base, new)):
        yield Notice("judge_noise_unknown")


def _held(base: Side, new: Side, pairs: Pairs) -> bool:
    """True if both runs hold the question of every pair, so that none of them can have been edited unseen."""
    sides = (base.facts.questions, pairs.base), (new.facts.questions, pairs.new)
    return all(held.get(at) is not None for held, rows in sides for at in rows)


def _unseen(notice: Notice) -> Notice:
    return Notice(notice.code, (*notice.values, ("unseen", True)))


def _few(pairs: Pairs, found: Sequence[Contrast]) -> Iterator[Notice]:
    """Fewer pairs than nine in ten of the gold set: of the runs as a whole, else of single metrics."""
    total = max(pairs.base_samples, pairs.new_samples)
    if len(pairs) < PAIRED * total:
        yield Notice("coverage_low", (("metric", None), ("n", len(pairs)), ("total", total)))
        return
    for m in found:
        lost = sum(why != "not_applicable" for _, why in m.left_out)
        wanted = m.n + lost + total - len(pairs)
        if lost and m.n < PAIRED * wanted:
            yield Notice("coverage_low", (("metric", m.metric), ("n", m.n), ("total", wanted)))


def _uneven(base: ComparedCells, new: ComparedCells, metric: str) -> Iterator[Notice]:
    old, now = _coverage(base, metric), _coverage(new, metric)
    if old is not None and now is not None and abs(now - old) > COVERAGE_GAP + 1e-9:
        yield Notice("coverage_low", (("metric", metric), ("base", old), ("new", now)))


def _coverage(cells: ComparedCells, metric: str) -> float | None:
    _, states = column_of(cells, metric, range(len(cells)))
    ok, lost = int((states == OK).sum()), int((states == LOST).sum())
    return ok / (ok + lost) if ok + lost else None


def _clusters(base: Side, new: Side, pairs: Pairs, found: Sequence[Contrast]) -> Iterator[Notice]:
    """Samples that name no cluster, intervals that do not look at clusters, and answers to one question taken for samples of their own."""
    yield from islice((notice for side in (base, new) for notice in side.facts.unclustered), 1)
    for side, rows in ((base, pairs.base), (new, pairs.new)):
        if side.facts.together:
            if lacking := sum(side.facts.together.number(at) == 0 for at in rows):
                yield Notice("cluster_missing", (("key", side.facts.together.key), ("count", lacking)))
            method = next((m.ci.method for m in found if m.ci), "cluster_t")
            if method != "cluster_t":
                yield Notice("cluster_unused", (("method", method),))
            return
