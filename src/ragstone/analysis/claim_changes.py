"""Which claims two runs judge differently: gold claims gained and lost, claims of the answers that turned out wrong or unfounded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from ragstone.analysis.claims import lines_of, same_text
from ragstone.analysis.parts import CORRECTNESS, FAITHFULNESS, RECALL, ComparedCells
from ragstone.analysis.pooled import base_name

if TYPE_CHECKING:
    from ragstone.analysis.cells import Column
    from ragstone.analysis.pairs import Pairs, Side

Row = dict[str, Any]
Fetch = Callable[[int], Row]


@dataclass(frozen=True, slots=True)
class ClaimChange:
    """A claim and its verdict in both runs; None = that run's answer does not make it."""

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
    """Claims of the reference that were covered and are missing now."""
    newly_contradicted: tuple[ClaimChange, ...] = ()
    """Claims of the new answers that the contexts contradict, and did not in the base run."""
    newly_unsupported: tuple[ClaimChange, ...] = ()
    """Claims of the new answers that the contexts do not hold, and which were not so in the base run."""

    def to_dict(self) -> dict[str, Any]:
        """The object `claims` of `compare --json`."""
        names = ("gained", "lost", "newly_contradicted", "newly_unsupported")
        return {name: [change.to_dict() for change in getattr(self, name)] for name in names}


@dataclass(frozen=True, slots=True)
class _Claim:
    """One claim of one run: the majority of its verdicts over the repeats; None where they are split evenly."""

    id: str
    key: str | None
    text: str
    verdict: str | None
    evidence: tuple[str, ...]


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
        before = _claims(base.cells, metric, left, fetch[0], "reference_claim") or ()
        after = _claims(new.cells, metric, right, fetch[1], "reference_claim") or ()
        for claim in after:
            old = _match(claim, before)
            if old is not None and {old.verdict, claim.verdict} == {"covered", "missing"}:
                yield _change(name, _carried(claim, new.cells, right, fetch[1]), _carried(old, base.cells, left, fetch[0]))


def _answer_changes(base: Side, new: Side, pairs: Pairs, fetch: tuple[Fetch, Fetch]) -> Iterator[ClaimChange]:
    metric = _common(base.cells, new.cells, FAITHFULNESS)
    if metric is None:
        return
    lossy = new.cells.lossy.get(metric, set())
    for left, right, name in zip(pairs.base, pairs.new, pairs.ids, strict=True):
        if right not in lossy:
            continue
        before = _claims(base.cells, metric, left, fetch[0], "answer_claim")
        for claim in _claims(new.cells, metric, right, fetch[1], "answer_claim") or () if before is not None else ():
            old = _match(claim, before or ())
            if claim.verdict in ("contradicted", "not_found") and (old is None or old.verdict != claim.verdict):
                yield _change(name, claim, old)


def _common(base: ComparedCells, new: ComparedCells, metric: str) -> str | None:
    return next((name for name in base.columns if base_name(name) == metric and name in new.columns), None)


def _claims(cells: ComparedCells, metric: str, at: int, fetch: Fetch, kind: str) -> list[_Claim] | None:
    """Return a sample's claims; None where it is not known which there are: the cell failed, or holds no verdict lines."""
    column = cells.columns[metric]
    outcome = cells.outcome(column, at)
    if outcome is not None and outcome < 0 and cells.reason(outcome)[0] == "not_applicable":
        return []
    rows = [row for row in _ok_rows(column, at, fetch) if row.get("verdicts") is not None]
    if not rows:
        return None
    groups: dict[str, list[tuple[str, Row]]] = {}
    for found, name, line in (line for row in rows for line in lines_of(row, kind)):
        if found == kind:
            groups.setdefault(str(line.get("key") or "") or same_text(line.get("text")), []).append((name, line))
    return [_claim(group) for group in groups.values()]


def _carried(claim: _Claim, cells: ComparedCells, at: int, fetch: Fetch) -> _Claim:
    """A claim of the reference with the chunks that context_recall found it in; answer_correctness looks at no chunk."""
    metric = next((name for name in cells.columns if base_name(name) == RECALL), None)
    if claim.evidence or metric is None:
        return claim
    found = _match(claim, _claims(cells, metric, at, fetch, "reference_claim") or ())
    return replace(claim, evidence=found.evidence) if found else claim


def _ok_rows(column: Column, at: int, fetch: Fetch) -> Iterator[Row]:
    for lane in column.lanes.values():
        if lane.value(at) >= 0:
            yield fetch(lane.places[at])


def _claim(lines: Sequence[tuple[str, Row]]) -> _Claim:
    word, most = Counter(str(line.get("verdict")) for _, line in lines).most_common(1)[0]
    verdict = word if 2 * most > len(lines) else None
    name, first = next(((name, line) for name, line in lines if line.get("verdict") == verdict), lines[0])
    key, evidence = first.get("key"), first.get("evidence")
    chunks = tuple(map(str, evidence)) if isinstance(evidence, list | tuple) else ()
    return _Claim(name, str(key) if key else None, str(first.get("text") or ""), verdict, chunks)


def _match(claim: _Claim, others: Iterable[_Claim]) -> _Claim | None:
    """By the stable key where both have one, else by equal text."""
    text = same_text(claim.text)
    return next(
        (other for other in others if (claim.key == other.key if claim.key and other.key else text == same_text(other.text))),
        None,
    )


def _change(name: str, claim: _Claim, old: _Claim | None) -> ClaimChange:
    return ClaimChange(
        sample_id=name,
        claim=claim.id,
        key=claim.key or (old.key if old else None),
        text=claim.text,
        base=old.verdict if old else None,
        new=claim.verdict,
        base_evidence=old.evidence if old else (),
        new_evidence=claim.evidence,
    )
