"""Which claims two runs judge differently: gold claims gained and lost, claims of the answers that turned out wrong or unfounded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from ragstone.analysis.claims import UNSURE, Claim, Gathering, same_text
from ragstone.analysis.parts import CORRECTNESS, FAITHFULNESS, RECALL, ComparedCells, empty_answer
from ragstone.analysis.pooled import base_name

if TYPE_CHECKING:
    from ragstone.analysis.cells import Column
    from ragstone.analysis.pairs import Pairs, Side

Row = dict[str, Any]
Fetch = Callable[[int], Row]


@dataclass(frozen=True, slots=True)
class ClaimChange:
    """A claim and its verdict in both runs; None = that run's answer does not make it, or its repeats do not agree on it."""

    sample_id: str
    claim: str
    """Id of the claim in the new run: r1, a2."""
    key: str | None
    """Stable id of a claim of the reference across runs, where it has one."""
    text: str
    base: str | None
    new: str | None
    base_evidence: tuple[str, ...]
    """Chunks (c1 is the first) that carried the claim or contradicted it, as far as known."""
    new_evidence: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The claim object of `compare --json`."""
        return {**asdict(self), "base_evidence": list(self.base_evidence), "new_evidence": list(self.new_evidence)}


@dataclass(frozen=True, slots=True)
class ClaimChanges:
    """Claims judged differently, in the order of the base run."""

    gained: tuple[ClaimChange, ...] = ()
    """Claims of the reference that were missing and are covered now."""
    lost: tuple[ClaimChange, ...] = ()
    """Claims of the reference that were covered and are missing now; an answer that is empty now lacks every claim."""
    newly_contradicted: tuple[ClaimChange, ...] = ()
    """Claims of the new answers that the contexts contradict, and did not in the base run."""
    newly_unsupported: tuple[ClaimChange, ...] = ()
    """Claims of the new answers that the contexts do not hold, and which were not so in the base run."""

    def to_dict(self) -> dict[str, Any]:
        """The object `claims` of `compare --json`."""
        names = ("gained", "lost", "newly_contradicted", "newly_unsupported")
        return {name: [change.to_dict() for change in getattr(self, name)] for name in names}


def claim_changes(base: Side, new: Side, pairs: Pairs, fetch: tuple[Fetch, Fetch]) -> ClaimChanges:
    """Return the claims that are judged differently. Only samples that lost a claim in either run are read again."""
    gained: list[ClaimChange] = []
    lost: list[ClaimChange] = []
    for change in _reference_changes(base, new, pairs, fetch):
        (gained if change.new == "covered" else lost).append(change)
    wrong: dict[str, list[ClaimChange]] = {"contradicted": [], "not_found": []}
    for change in _answer_changes(base, new, pairs, fetch):
        wrong[str(change.new)].append(change)
    return ClaimChanges(tuple(gained), tuple(lost), tuple(wrong["contradicted"]), tuple(wrong["not_found"]))


def _reference_changes(base: Side, new: Side, pairs: Pairs, fetch: tuple[Fetch, Fetch]) -> Iterator[ClaimChange]:
    metric = _common(base.cells, new.cells, CORRECTNESS)
    if metric is None:
        return
    lossy = base.cells.lossy.get(metric, set()), new.cells.lossy.get(metric, set())
    for left, right, name in zip(pairs.base, pairs.new, pairs.ids, strict=True):
        if left not in lossy[0] and right not in lossy[1]:
            continue
        (before, blank), (after, blanked) = (
            _reference(side.cells, metric, at, read) for side, at, read in zip((base, new), (left, right), fetch, strict=True)
        )
        before, after = _blanked(after, before) if blank else before, _blanked(before, after) if blanked else after
        for claim, old in _matched(after, before):
            if old is not None and {old.matching, claim.matching} == {"covered", "missing"}:
                yield _change(name, claim, old, "matching")


def _answer_changes(base: Side, new: Side, pairs: Pairs, fetch: tuple[Fetch, Fetch]) -> Iterator[ClaimChange]:
    metric = _common(base.cells, new.cells, FAITHFULNESS)
    if metric is None:
        return
    lossy = new.cells.lossy.get(metric, set())
    for left, right, name in zip(pairs.base, pairs.new, pairs.ids, strict=True):
        if right not in lossy:
            continue
        before, after = _answer(base.cells, metric, left, fetch[0]), _answer(new.cells, metric, right, fetch[1])
        for claim, old in _matched(after or (), before) if before is not None else ():
            if claim.grounding in ("contradicted", "not_found") and (old is None or old.grounding != claim.grounding):
                yield _change(name, claim, old, "grounding")


def _common(base: ComparedCells, new: ComparedCells, metric: str) -> str | None:
    return next((name for name in base.columns if base_name(name) == metric and name in new.columns), None)


def _answer(cells: ComparedCells, metric: str, at: int, fetch: Fetch) -> tuple[Claim, ...] | None:
    """Return the claims of a sample's answer; None where it is not known which there are: the cell failed, or holds no verdict lines."""
    column = cells.columns[metric]
    outcome = cells.outcome(column, at)
    if outcome is not None and outcome < 0 and cells.reason(outcome)[0] == "not_applicable":
        return ()
    rows = [row for row in _ok_rows(column, at, fetch) if row.get("verdicts") is not None]
    return _gathered(checked=rows, kind="answer_claim") if rows else None


def _reference(cells: ComparedCells, metric: str, at: int, fetch: Fetch) -> tuple[tuple[Claim, ...], bool]:
    """Return the claims of a sample's reference, and whether the answer is empty: it lacks them all, though nobody was asked.

    answer_correctness looks at no chunk; those that carry a claim are told by context_recall.
    """
    rows = list(_ok_rows(cells.columns[metric], at, fetch))
    recall = next((column for name, column in cells.columns.items() if base_name(name) == RECALL), None)
    checked = _ok_rows(recall, at, fetch) if recall else ()
    found = _gathered(matched=rows, checked=checked, kind="reference_claim")
    blank = any(map(empty_answer, rows)) and all(claim.matching is None for claim in found)
    return found, blank


def _blanked(claims: Iterable[Claim], found: Sequence[Claim]) -> tuple[Claim, ...]:
    """Return the claims of the other run as an empty answer has them: all are missing; `found` are those context_recall tells of."""
    return tuple(replace(found_one or replace(claim, chunks=()), matching="missing") for claim, found_one in _matched(claims, found))


def _ok_rows(column: Column, at: int, fetch: Fetch) -> Iterator[Row]:
    for lane in column.lanes.values():
        if lane.value(at) >= 0:
            yield fetch(lane.places[at])


def _gathered(kind: str, *, matched: Iterable[Row] = (), checked: Iterable[Row] = ()) -> tuple[Claim, ...]:
    found = Gathering()
    for row in matched:
        found.match(row)
    for row in checked:
        found.check(row, kind)
    return found.claims(kind)


def _matched(claims: Iterable[Claim], others: Sequence[Claim]) -> Iterator[tuple[Claim, Claim | None]]:
    """Yield every claim with the same one of the other run; of several that say the same the first goes with the first."""
    taken: set[str] = set()
    for claim in claims:
        alike = [other for other in others if _same(claim, other)]
        found = next((other for other in alike if other.id not in taken), alike[-1] if alike else None)
        if found is not None:
            taken.add(found.id)
        yield claim, found


def _same(claim: Claim, other: Claim) -> bool:
    """By the stable key where both have one, else by equal text; claims without a text by their id."""
    if claim.key and other.key:
        return claim.key == other.key
    text = same_text(claim.text)
    return text == same_text(other.text) and (bool(text) or claim.id == other.id)


def _change(name: str, claim: Claim, old: Claim | None, side: Literal["grounding", "matching"]) -> ClaimChange:
    before = getattr(old, side) if old else None
    return ClaimChange(
        sample_id=name,
        claim=claim.id,
        key=claim.key or (old.key if old else None),
        text=claim.text,
        base=None if before == UNSURE else before,
        new=getattr(claim, side),
        base_evidence=old.chunks if old else (),
        new_evidence=claim.chunks,
    )
