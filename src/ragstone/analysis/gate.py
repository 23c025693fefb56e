"""Rules a run must keep, each with one of four outcomes: pass, fail, flaky (noise could explain it) or skipped (no data)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ragstone.analysis.cells import Notice
from ragstone.analysis.intervals import Interval

if TYPE_CHECKING:
    from ragstone.analysis.comparison import ComparedRuns
    from ragstone.analysis.pairs import Pairs

Kind = Literal["min_coverage", "min_mean", "max_drop", "no_new_made_up"]
Status = Literal["pass", "fail", "flaky", "skipped"]
Doubt = Literal["pass", "fail"]
Lacking = Literal["run", "base", "pairs"]

ROUNDING = 1e-9
"""A number this close to its limit keeps it: 2.4 / 3 is 0.8."""


@dataclass(frozen=True, slots=True)
class Limit:
    """One rule: what must hold of which metric, on which samples."""

    kind: Kind
    metric: str | None
    limit: float
    """Least coverage or mean, largest drop, largest number of new made-up claims."""
    slice: tuple[str, Any] | None = None
    """(key, value) of the samples it is for; None = all."""
    required: bool = True
    """True if the gate fails where the run holds nothing to measure the rule by: somebody named the metric."""


@dataclass(frozen=True, slots=True)
class Invented:
    """A made-up claim that the baseline does not have."""

    sample_id: str
    claim: str
    text: str

    def to_dict(self) -> dict[str, str]:
        """The claim object of a `no_new_made_up` rule."""
        return {"sample_id": self.sample_id, "claim": self.claim, "text": self.text}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a rule."""

    rule: Limit
    status: Status
    observed: float | None = None
    """Coverage, mean, difference to the baseline (negative = drop), or number of claims; None without data."""
    ci: Interval | None = None
    n: int = 0
    """Samples, or pairs, the observed number comes from."""
    claims: tuple[Invented, ...] = ()
    lacking: Lacking | None = None
    """Of a skipped rule: who has no ok cell in its samples, the run, else the baseline, else only no sample has one in both."""
    values: tuple[Any, ...] = ()
    """Of a rule for a slice that no sample is in: the values there are under its key."""

    def breaks(self, on_doubt: Doubt) -> bool:
        """True if the gate fails because of this rule."""
        if self.status == "flaky":
            return on_doubt == "fail"
        return self.status == "fail" or (self.status == "skipped" and self.rule.required and self.lacking == "run")

    @property
    def unchecked(self) -> bool:
        """True if the comparison with the baseline could not be made, though the run could have been worse: it passes, unproven."""
        return (self.rule.kind == "no_new_made_up" and self.status == "skipped") or self.lacking in ("base", "pairs")


def coverage_outcome(rule: Limit, n: int, failed: int) -> Outcome:
    """Return what becomes of `min_coverage`: n / (n + failed) against the limit; a count has no noise."""
    if not n + failed:
        return Outcome(rule, "skipped", lacking="run")
    share = n / (n + failed)
    return Outcome(rule, "pass" if share >= rule.limit - ROUNDING else "fail", share, n=n + failed)


def mean_outcome(rule: Limit, n: int, mean: float | None, ci: Interval | None) -> Outcome:
    """Return what becomes of `min_mean`: fails if all of the interval lies below the limit."""
    return _outcome(rule, n, mean, ci, rule.limit)


def drop_outcome(rule: Limit, n: int, difference: float | None, ci: Interval | None) -> Outcome:
    """Return what becomes of `max_drop`: fails if all of the interval of new - base lies below minus the limit."""
    return _outcome(rule, n, difference, ci, -rule.limit)


def made_up_outcome(rule: Limit, found: Iterable[Invented]) -> Outcome:
    """Return what becomes of `no_new_made_up`."""
    claims = tuple(found)
    return Outcome(rule, "fail" if len(claims) > rule.limit else "pass", float(len(claims)), n=len(claims), claims=claims)


def new_claims(base: Mapping[str, set[str]], new: Mapping[str, Iterable[tuple[str, str, str]]]) -> list[Invented]:
    """Return the made-up claims that the same sample of the baseline does not have.

    Args:
        base: sample id -> folded texts of its claims that the contexts do not carry, made up or right all the same.
        new: sample id -> (claim id, text, folded text) of its made-up claims.
    """
    return [
        Invented(sample_id, claim, text)
        for sample_id, claims in new.items()
        for claim, text, folded in claims
        if folded not in base.get(sample_id, ())
    ]


def unchecked(outcomes: Iterable[Outcome]) -> Iterator[Notice]:
    """Yield the rules whose comparison could not be made: they pass, and nobody should take that for kept."""
    for outcome in outcomes:
        if outcome.unchecked:
            yield Notice("rule_unchecked", (("rule", outcome.rule), ("lacking", outcome.lacking)))


def questions_outcome(pairs: Pairs, least: float) -> Outcome | None:
    """Return what becomes of `min_coverage` for the questions of the baseline: those the run still has; None if it has all.

    A row that is not there at all is no failed cell, so no metric's own coverage can show that it is gone.
    """
    if not pairs.only_base:
        return None
    return coverage_outcome(Limit("min_coverage", None, least, required=False), pairs.matching, len(pairs.only_base))


def unpaired(compared: ComparedRuns) -> Iterator[Notice]:
    """Yield which questions of the baseline no drop was measured on: the run lacks them, they were edited, a score is missing."""
    pairs = compared.pairs
    for code, ids in (("questions_missing", pairs.only_base), ("questions_changed", pairs.changed)):
        if ids:
            yield Notice(code, (("ids", ids), ("total", pairs.base_samples)))
    for notice in compared.warnings:
        known = {name for name, value in notice.values if value is not None}
        if (notice.code == "coverage_low" and {"metric", "n"} <= known) or (notice.code == "gold_differs" and "n" not in known):
            yield notice


def _outcome(rule: Limit, n: int, observed: float | None, ci: Interval | None, least: float) -> Outcome:
    if observed is None or not n:
        return Outcome(rule, "skipped", lacking="run" if rule.kind == "min_mean" else "pairs")
    if observed >= least - ROUNDING:
        return Outcome(rule, "pass", observed, ci, n)
    proven = ci is not None and ci.high < least - ROUNDING
    return Outcome(rule, "fail" if proven else "flaky", observed, ci, n)
