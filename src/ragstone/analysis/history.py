"""Every gold claim as a unit test over the runs of a gold set: covered is a pass, missing is a fail.

A claim keeps its identity from run to run by its sample and its `key`; where a run holds no key, by its folded text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

from ragstone.analysis.claims import majority
from ragstone.analysis.pooled import base_name, earned

Row = dict[str, Any]
State = Literal["pass", "fail", "mixed"]
Status = Literal["lost", "flaky", "fail", "fixed", "unknown", "pass"]
Stage = Literal["retrieval", "generation"]

ANSWERED, RETRIEVED = "answer_correctness", "context_recall"
"""The metrics that look for every claim of the reference: in the answer, and in the retrieved contexts."""
SIDES = (ANSWERED, RETRIEVED)
WORST_FIRST: tuple[Status, ...] = ("lost", "flaky", "fail", "fixed", "unknown", "pass")
_STATES: tuple[State | None, ...] = (None, "pass", "fail", "mixed")


@dataclass(frozen=True, slots=True)
class RunDate:
    """One run of the history, and when it was made."""

    path: str
    run_id: str | None
    created_at: str
    """ISO 8601, UTC."""
    dated_by: Literal["manifest", "file"]
    """Where the date is from: the manifest, or the time stamp of the file of scores."""

    @property
    def name(self) -> str:
        """The run as people call it: the last part of its path."""
        return self.path.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or self.path

    def to_dict(self) -> dict[str, Any]:
        """The run as an object of `history --json`."""
        return {"run_id": self.run_id, "path": self.path, "created_at": self.created_at, "dated_by": self.dated_by}


@dataclass(frozen=True, slots=True)
class Course:
    """What a row of states amounts to; places are indices into it."""

    status: Status
    changes: int
    """How often a pass was followed by a fail or a fail by a pass; runs that say nothing are passed over."""
    lost_at: int | None
    """Where the present row of fails begins; None unless the claim fails now and passed before."""
    fixed_at: int | None
    """Where the present row of passes begins; None unless the claim passes now and failed before."""


@dataclass(frozen=True, slots=True)
class ClaimHistory:
    """One claim of the gold set over the runs, oldest first."""

    sample_id: str
    claim: str
    """Its `key`, else its folded text."""
    text: str
    states: tuple[State | None, ...]
    """A run each: None where the run says nothing of the claim (failed, not applicable, not measured)."""
    retrieved: tuple[State | None, ...]
    """The same for retrieval: was the claim in the contexts?"""
    course: Course
    stage: Stage | None
    """Where a claim that fails now is lost, in the run it was lost in (never covered: the newest that says it): not in the contexts
    (retrieval), or in the contexts but not in the answer (generation). None: it passes, or the run does not say."""


@dataclass(frozen=True, slots=True)
class History:
    """The claims of one gold set over its runs."""

    directory: str
    gold_fingerprint: str | None
    metric: str
    """The metric the states are from: answer_correctness, or context_recall for runs that measure retrieval alone."""
    runs: tuple[RunDate, ...]
    claims: tuple[ClaimHistory, ...]
    """Worst first: lost (latest first), flaky, fail, fixed, unknown, pass."""
    counts: dict[str, int]
    """Claims by status, whatever the choice of claims."""
    warnings: tuple[Any, ...] = ()


def course(states: Sequence[State | None]) -> Course:
    """Return what a claim's states amount to.

    `flaky`: it changed more than once, or the repeats of a run disagree. `lost` and `fixed`: it changed once. `fail`: no run
    covers it. `unknown`: no run says anything of it.
    """
    known = [(at, state) for at, state in enumerate(states) if state in ("pass", "fail")]
    turns = [at for (_, before), (at, after) in pairwise(known) if before != after]
    last = known[-1][1] if known else None
    lost = turns[-1] if turns and last == "fail" else None
    fixed = turns[-1] if turns and last == "pass" else None
    return Course(_status(states, len(turns), last), len(turns), lost, fixed)


def _status(states: Sequence[State | None], changes: int, last: State | None) -> Status:
    if changes > 1 or "mixed" in states:
        return "flaky"
    if last is None:
        return "unknown"
    if changes:
        return "fixed" if last == "pass" else "lost"
    return "pass" if last == "pass" else "fail"


@dataclass(slots=True, eq=False)
class _Tracked:
    """A claim while runs are taken in: a byte a run and side."""

    sample_id: str
    key: str | None
    folded: str
    text: str
    seen: dict[str, bytearray] = field(default_factory=lambda: {side: bytearray() for side in SIDES})

    def put(self, side: str, at: int, state: int) -> None:
        line = self.seen[side]
        line.extend(b"\0" * (at + 1 - len(line)))
        line[at] = state

    def states(self, side: str, runs: int) -> tuple[State | None, ...]:
        return tuple(_STATES[state] for state in self.seen[side].ljust(runs, b"\0"))


class ClaimBook:
    """The claims of a gold set, taken in run by run, oldest first."""

    def __init__(self, fold: Callable[[str], str]) -> None:
        """`fold` brings two texts that say the same to the same."""
        self._fold = fold
        self._keyed: dict[tuple[str, str], _Tracked] = {}
        self._folded: dict[tuple[str, str], _Tracked] = {}
        """A run written by hand may lack keys: the folded text finds the claim there."""
        self._of_sample: dict[str, list[_Tracked]] = {}
        self._blank: list[tuple[str, int]] = []
        self.runs = 0

    def add(self, rows: Iterable[Row]) -> set[str]:
        """Take in the score rows of one more run, one a cell and repeat; return the sides (metrics) it says something of."""
        votes: dict[tuple[str, _Tracked], list[int]] = {}
        told = set[str]()
        for row in rows:
            side = base_name(str(row["metric"]))
            if side not in SIDES or row["status"] != "ok":
                continue
            told.add(side)
            lines = [line for line in row.get("verdicts") or () if isinstance(line, dict) and line.get("kind") == "reference_claim"]
            if not lines and row.get("reason") == "empty_answer":
                self._blank.append((str(row["sample_id"]), self.runs))
            for line in lines:
                claim = self._claim(str(row["sample_id"]), line)
                votes.setdefault((side, claim), [0, 0])[earned(line)] += 1
        for (side, claim), (bad, good) in votes.items():
            claim.put(side, self.runs, _STATES.index(_majority(bad, good)))
        self.runs += 1
        return told

    def _claim(self, sample_id: str, line: Row) -> _Tracked:
        text, key = str(line.get("text") or ""), str(line.get("key") or "") or None
        folded = self._fold(text)
        found = self._keyed.get((sample_id, key)) if key else None
        if found is None:
            found = self._folded.get((sample_id, folded))
            if found is None or (key and found.key not in (None, key)):
                found = _Tracked(sample_id, key, folded, text)
                self._of_sample.setdefault(sample_id, []).append(found)
        found.key = found.key or key
        self._folded.setdefault((sample_id, folded), found)
        if key:
            self._keyed.setdefault((sample_id, key), found)
        return found

    def claims(self, metric: str = ANSWERED) -> list[ClaimHistory]:
        """Return every claim, worst first, its states from one of the two metrics."""
        for sample_id, at in self._blank:  # an empty answer covers nothing, though nobody was asked what
            for claim in self._of_sample.get(sample_id, ()):
                claim.put(ANSWERED, at, _STATES.index("fail"))
        found = [self._told(claim, metric) for claims in self._of_sample.values() for claim in claims]
        return sorted(found, key=_badness)

    def _told(self, claim: _Tracked, metric: str) -> ClaimHistory:
        states, retrieved = (claim.states(side, self.runs) for side in (metric, RETRIEVED))
        found = course(states)
        stage = _stage(states, retrieved, found) if metric == ANSWERED else None
        return ClaimHistory(claim.sample_id, claim.key or claim.folded, claim.text, states, retrieved, found, stage)


def _majority(bad: int, good: int) -> State:
    """The verdict that two thirds of the repeats gave, as everywhere; mixed where there is none."""
    told: dict[str, State] = {"pass": "pass", "fail": "fail"}
    return told.get(majority(["fail"] * bad + ["pass"] * good), "mixed")


def _stage(states: Sequence[State | None], retrieved: Sequence[State | None], found: Course) -> Stage | None:
    known = [at for at, state in enumerate(states) if state in ("pass", "fail")]
    if not known or states[known[-1]] == "pass":
        return None
    held = retrieved[known[-1] if found.lost_at is None else found.lost_at]
    return "retrieval" if held == "fail" else "generation" if held == "pass" else None


def _badness(claim: ClaimHistory) -> tuple[int, ...]:
    """Lost ones by how fresh the loss is; flaky ones that fail now, and change often, before the others."""
    found = claim.course
    late = -1 if found.lost_at is None else found.lost_at
    return WORST_FIRST.index(found.status), -late if found.status == "lost" else late < 0, -found.changes


def counted(claims: Iterable[ClaimHistory]) -> dict[str, int]:
    """Return how many claims have each status; every status is there."""
    found = Counter(claim.course.status for claim in claims)
    return {status: found[status] for status in WORST_FIRST}
