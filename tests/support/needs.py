"""Runs a metric or a plan without judge and event loop: needs are answered from a table."""

from collections.abc import Callable, Mapping
from typing import Any

from ragstone.metrics.base import Metric
from ragstone.metrics.needs import CheckedClaims, Claim, ClaimList, Finding, RatedContexts
from ragstone.questions.base import Failed
from ragstone.types import Context, Sample, Score


def play(metric: Metric, sample: Sample, answers: Mapping[Any, Any] | Callable[[Any], Any]) -> tuple[Score, list[Any]]:
    """Return the score of a metric whose needs are answered from `answers`, and the needs in the order asked."""
    steps, asked = metric.evaluate(sample), []
    answer = answers if callable(answers) else answers.__getitem__
    try:
        needs = next(steps)
        while True:
            asked += needs
            needs = steps.send([answer(need) for need in needs])
    except StopIteration as done:
        return done.value, asked


def sample(**columns: Any) -> Sample:
    """Return a sample with an id; contexts may be plain strings."""
    contexts = columns.pop("contexts", None)
    if contexts is not None:
        columns["contexts"] = tuple(Context(text=c) for c in contexts)
    return Sample(id="s1", **columns)


def claims(prefix: str, *texts: str, behaviour: tuple[int, ...] = (), merged: int = 0, unsplit: bool = False) -> ClaimList:
    """Return a list of claims a1… or r1…; `behaviour` holds the 1-based numbers of behaviour points."""
    items = tuple(Claim(f"{prefix}{i}", t, None, i in behaviour, f"k{i}" if prefix == "r" else None) for i, t in enumerate(texts, 1))
    return ClaimList(items, merged, unsplit)


def checked(listed: ClaimList, *verdicts: str, duplicates: tuple[str, ...] = ()) -> CheckedClaims:
    """Return claims with the verdicts given: s(upported), c(ontradicted), n(ot_found)."""
    words = {"s": "supported", "c": "contradicted", "n": "not_found"}
    found = (Finding(c.id, words[v], ("c1",) if v != "n" else ()) for c, v in zip(listed.claims, verdicts, strict=True))
    return CheckedClaims(listed, tuple(found), duplicates)


def rated(*useful: int) -> RatedContexts:
    """Return contexts rated useful (1) or not (0), in rank order."""
    return RatedContexts(tuple(Finding(f"c{i}", "useful" if u else "not_useful") for i, u in enumerate(useful, 1)))


FAILED = Failed("timeout")
