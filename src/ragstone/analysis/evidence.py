"""Everything a run knows of one sample: values, claims with their verdicts, contexts, flags. What causes and readings rest on."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from ragstone.analysis.cells import FAILED
from ragstone.analysis.claims import Claim, Gathering, lines_of, listed, majority, same_text
from ragstone.analysis.pooled import base_name, beta_of, f_beta
from ragstone.analysis.slices import expected_behavior

Row = dict[str, Any]

WEIGHTS = (0.75, 0.25)
"""Weights of answer_correctness (claims, cosine) where a row does not tell them."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One retrieved context as context_precision rated it."""

    id: str
    rank: int
    """From 1, best first."""
    useful: bool | None
    """None where the repeats do not agree."""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """One question generated back from the answer."""

    text: str
    committal: bool | None
    cosine: float | None
    """Cosine to the real question."""


@dataclass(frozen=True, slots=True)
class Keyword:
    """One keyword that retrieval should have hit."""

    text: str
    found: bool
    chunks: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What samples.jsonl says of a sample, without its texts."""

    expected_behavior: str
    """answer, refuse or clarify."""
    category: Any = None
    intent_top1: Any = None
    """The intent the application's router chose, or whether it was the right one, where a column of that name exists."""
    intent: Any = None
    """The right intent, where a column of that name exists."""
    question: bytes | None = None
    """Digest of the folded question; None where there is none."""
    answer: bytes | None = None
    """Digest of the folded answer; None where it is missing or blank."""
    contexts: int | None = None
    """How many contexts the row holds; None = not exposed."""
    context_ids: int | None = None
    """How many context ids the row holds."""
    error: bool = False
    """True if collecting the row failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One sample. Metrics are named without parameters; of several of one name the plain one counts, else the first."""

    sample_id: str
    values: Mapping[str, float]
    """Metric -> mean of its ok repeats, in [0, 1]; only cells that are ok."""
    states: Mapping[str, tuple[str, str | None]]
    """Metric -> (status, reason), also of cells that are not ok."""
    answer_claims: tuple[Claim, ...] = ()
    reference_claims: tuple[Claim, ...] = ()
    chunks: tuple[Chunk, ...] = ()
    """In rank order; () without context_precision."""
    questions: tuple[Question, ...] = ()
    """Of the first ok repeat."""
    keywords: tuple[Keyword, ...] = ()
    """Of the first ok repeat."""
    flags: frozenset[str] = frozenset()
    """What `detail.flags` of at least two thirds of some metric's repeats holds: refusal…"""
    f1: float | None = None
    """F_beta of answer_correctness, mean over its ok repeats; worked out from its claims where a row does not tell it."""
    f1_told: bool = False
    """True if the rows tell f1 themselves."""
    cosine: float | None = None
    """Cosine part of answer_correctness, mean over its ok repeats."""
    weights: tuple[float, float] = WEIGHTS
    clipped: Mapping[str, Any] = field(default_factory=dict)
    """What was cut before judging: contexts_dropped, contexts_cut, answer_cut."""
    best: Mapping[str, int] = field(default_factory=dict)
    """Metric -> number of the reference that counted, where there were several."""
    in_parts: frozenset[str] = frozenset()
    """Metrics that took more than one request."""
    repeats: int = 1
    about: About | None = None
    """None without a row in samples.jsonl."""

    @property
    def has_claims(self) -> bool:
        """True if the answer states anything."""
        return bool(self.answer_claims)

    @property
    def ok(self) -> bool:
        """True if any cell is ok."""
        return any(status == "ok" for status, _ in self.states.values())

    @property
    def expected_behavior(self) -> str | None:
        """answer, refuse or clarify; from samples.jsonl, else from a reason that tells it; None = not known."""
        said = self.about.expected_behavior if self.about is not None else None
        if said in ("refuse", "clarify"):
            return said
        reasons = {reason for _, reason in self.states.values()}
        told = {"expected_refusal": "refuse", "expected_clarification": "clarify"}
        return next((word for reason, word in told.items() if reason in reasons), said)


def about(row: Row) -> About:
    """Return what a row of samples.jsonl says, without keeping its texts."""
    meta = row.get("meta")
    known = {**row, **meta} if isinstance(meta, dict) else row
    return About(
        expected_behavior=expected_behavior(row),
        category=known.get("category"),
        intent_top1=known.get("intent_top1"),
        intent=known.get("intent"),
        question=digest(row.get("question")),
        answer=digest(row.get("answer")),
        contexts=_length(row.get("contexts")),
        context_ids=_length(row.get("context_ids")),
        error=bool(row.get("error")),
    )


def digest(text: object) -> bytes | None:
    """Return 8 bytes that stand for a text, the same for texts that fold to the same; None for no text."""
    folded = same_text(text) if isinstance(text, str) else ""
    return blake2b(folded.encode("utf-8", "replace"), digest_size=8).digest() if folded else None


def evidence(sample_id: str, rows: Iterable[Row], about: About | None = None) -> Evidence:
    """Return what the score rows of one sample say.

    Args:
        sample_id: the sample.
        rows: its rows, all metrics and repeats; of a doubled cell only the last.
        about: what samples.jsonl says of it.
    """
    cells = _by_metric(rows)
    fine = {name: ok for name, found in cells.items() if (ok := [row for row in found if row.get("status") == "ok"])}
    gathered = _gathered(fine)
    answers, references = gathered.claims("answer_claim"), gathered.claims("reference_claim")
    details = {name: [_detail(row) for row in found] for name, found in fine.items()}
    return Evidence(
        sample_id=sample_id,
        values={name: min(1.0, _mean([float(row["value"]) for row in found])) for name, found in fine.items()},
        states={name: _state(found, fine.get(name)) for name, found in cells.items()},
        answer_claims=answers,
        reference_claims=references,
        chunks=tuple(_chunks(fine.get("context_precision", ()))),
        questions=tuple(_questions(fine.get("answer_relevancy", ()))),
        keywords=tuple(_keywords(fine.get("keyword_recall", ()))),
        flags=frozenset(_flags(cells)),
        **_correctness(details.get("answer_correctness", []), answers, references, _beta(fine)),
        clipped=next((d["clipped"] for found in details.values() for d in found if isinstance(d.get("clipped"), dict)), {}),
        best={name: found[0]["best"] for name, found in details.items() if isinstance(found[0].get("best"), int)},
        in_parts=frozenset(name for name, found in details.items() if any(d.get("in_parts") for d in found)),
        repeats=max(map(len, cells.values()), default=1),
        about=about,
    )


def _by_metric(rows: Iterable[Row]) -> dict[str, list[Row]]:
    named: dict[str, list[Row]] = {}
    for row in rows:
        named.setdefault(str(row["metric"]), []).append(row)
    found: dict[str, list[Row]] = {}
    for name in sorted(named, key=lambda name: "(" in name):  # the plain name first
        found.setdefault(base_name(name), named[name])
    return found


def _state(rows: Sequence[Row], fine: Sequence[Row] | None) -> tuple[str, str | None]:
    if fine:
        return "ok", next((str(row["reason"]) for row in fine if row.get("reason")), None)
    row = next((row for row in rows if row.get("status") == "failed"), rows[0])
    return str(row.get("status")), str(row.get("reason") or "unknown")


def _gathered(fine: Mapping[str, list[Row]]) -> Gathering:
    found = Gathering()
    for row in fine.get("faithfulness", ()):
        found.check(row, "answer_claim")
    for row in fine.get("context_recall", ()):
        found.check(row, "reference_claim")
    for row in fine.get("answer_correctness", ()):
        found.match(row)
    return found


def _chunks(rows: Sequence[Row]) -> Iterator[Chunk]:
    votes: dict[str, list[str]] = {}
    texts: dict[str, str] = {}
    for row in rows:
        for kind, id, line in lines_of(row, "context"):
            if kind == "context":
                votes.setdefault(id, []).append(str(line.get("verdict")))
                texts.setdefault(id, str(line.get("text") or ""))
    useful = {"useful": True, "not_useful": False}
    ranked = sorted(enumerate(votes, 1), key=lambda pair: _rank(pair[1], pair[0]))
    for place, id in ranked:
        yield Chunk(id, _rank(id, place), useful.get(majority(votes[id])), texts[id])


def _rank(id: str, place: int) -> int:
    return int(id[1:]) if id[:1] == "c" and id[1:].isascii() and id[1:].isdecimal() and len(id) < 10 else place


def _questions(rows: Sequence[Row]) -> Iterator[Question]:
    known = {"committal": True, "noncommittal": False}
    for _, _, line in lines_of(rows[0], "question") if rows else ():
        yield Question(str(line.get("text") or ""), known.get(str(line.get("verdict"))), _number(line.get("cosine")))


def _keywords(rows: Sequence[Row]) -> Iterator[Keyword]:
    for _, _, line in lines_of(rows[0], "keyword") if rows else ():
        chunks = tuple(map(str, listed(line.get("evidence"))))
        yield Keyword(str(line.get("text") or ""), line.get("verdict") == "found", chunks)


def _flags(cells: Mapping[str, list[Row]]) -> Iterator[str]:
    for every in cells.values():
        rows = [row for row in every if row.get("status") != FAILED] or every  # a repeat that failed has seen no answer to flag
        held = [flags if isinstance(flags := _detail(row).get("flags"), list | tuple) else () for row in rows]
        for flag, count in Counter(str(flag) for flags in held for flag in set(map(str, flags))).items():
            if 3 * count >= 2 * len(rows):
                yield flag


def _beta(fine: Mapping[str, list[Row]]) -> float:
    return next((beta_of(str(row["metric"])) for row in fine.get("answer_correctness", ())), 1.0)


def _correctness(details: Sequence[Row], answers: Sequence[Claim], references: Sequence[Claim], beta: float) -> dict[str, Any]:
    if not details:
        return {}
    told = [min(1.0, max(0.0, f1)) for d in details if (f1 := _number(d.get("f1"))) is not None]
    cosines = [cosine for d in details if (cosine := _number(d.get("cosine"))) is not None]
    weights = next((w for d in details if (w := _weights(d.get("weights"))) is not None), WEIGHTS)
    return {
        "f1": _mean(told) if told else _worked_out(answers, references, beta),
        "f1_told": bool(told),
        "cosine": _mean(cosines) if cosines else None,
        "weights": weights,
    }


def _worked_out(answers: Sequence[Claim], references: Sequence[Claim], beta: float) -> float | None:
    given = [c.matching == "supported" for c in answers if c.matching is not None]
    wanted = [c.matching == "covered" for c in references if c.matching is not None]
    if not wanted:
        return None
    return f_beta(sum(given) / len(given) if given else 0.0, sum(wanted) / len(wanted), beta)


def _weights(value: object) -> tuple[float, float] | None:
    if not isinstance(value, list | tuple) or len(value) != 2:
        return None
    first, second = _number(value[0]), _number(value[1])
    if first is None or second is None or min(first, second) < 0 or not 0 < first + second < math.inf:
        return None
    total = first + second
    return (first, second) if abs(total - 1) < 1e-9 else (first / total, second / total)


def _detail(row: Row) -> Row:
    detail = row.get("detail")
    return detail if isinstance(detail, dict) else {}


def _number(value: object) -> float | None:
    """A finite number; a whole one that is too large for a float is none, as infinity is."""
    try:
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) else None
    except OverflowError:
        return None


def _mean(values: Sequence[float]) -> float:
    return values[0] if len(values) == 1 else math.fsum(values) / len(values)


def _length(value: object) -> int | None:
    return len(value) if isinstance(value, list | tuple) else None
