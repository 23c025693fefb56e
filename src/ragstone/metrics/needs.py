"""What a metric can need of a sample, and the answers a plan gives to it.

Needs are dataclasses, not tuples as the answers are, because needs of different kinds must never be equal.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

Side = Literal["answer", "reference"]


# ------------------------------------------------------------------ needs
@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of a text. `alternative` 0 is the reference itself, i is reference_alternatives[i - 1]."""

    of: Side
    alternative: int = 0


@dataclass(frozen=True, slots=True)
class Checked:
    """The claims of a text, each checked against all contexts."""

    of: Side
    alternative: int = 0


@dataclass(frozen=True, slots=True)
class Rated:
    """Every context rated useful or not for the yardstick."""

    against: Side
    alternative: int = 0


@dataclass(frozen=True, slots=True)
class Matched:
    """Answer claims matched with reference claims."""

    alternative: int = 0


@dataclass(frozen=True, slots=True)
class Inverted:
    """`count` questions generated back from the answer."""

    count: int = 3


@dataclass(frozen=True, slots=True)
class Cosine:
    """Cosine of `text` with each of `others`, raw, in [-1, 1], rounded to 6 decimals."""

    text: str
    others: tuple[str, ...]


Need = Claims | Checked | Rated | Matched | Inverted | Cosine


# ------------------------------------------------------------------ answers to needs
class Claim(NamedTuple):
    """One claim: `id` is a1… or r1…; `key` is stable across runs (reference claims only)."""

    id: str
    text: str
    anchor: str | None = None
    behaviour: bool = False
    key: str | None = None


class ClaimList(NamedTuple):
    """Answer to Claims. `merged` counts claims dropped as equal after folding; `unsplit` = written by people."""

    claims: tuple[Claim, ...]
    merged: int = 0
    unsplit: bool = False


class Finding(NamedTuple):
    """What the judge said of one claim, context or pair; `verdict` is a word of the metric's vocabulary."""

    id: str
    verdict: str
    evidence: tuple[str, ...] = ()
    reason: str | None = None
    quote: str | None = None
    unverified: bool = False
    confidence: float | None = None
    """Probability of the verdict in [0, 1] where the judge tells it; never a part of a score."""


class CheckedClaims(NamedTuple):
    """Answer to Checked: findings stand in the order of `claims`."""

    list: ClaimList
    findings: tuple[Finding, ...]
    duplicates: tuple[str, ...] = ()
    """Ids of contexts equal to an earlier one, sent only once."""


class RatedContexts(NamedTuple):
    """Answer to Rated: one finding (useful | not_useful) per context in rank order; blank ones are not useful."""

    findings: tuple[Finding, ...]
    duplicates: tuple[str, ...] = ()


class MatchedClaims(NamedTuple):
    """Answer to Matched. `answer`: supported | contradicted | not_found, evidence = reference ids; `reference`: covered | missing."""

    answer_claims: ClaimList
    reference_claims: ClaimList
    answer: tuple[Finding, ...]
    reference: tuple[Finding, ...]
    inconsistent: tuple[str, ...] = ()
    """Reference ids where the two sides of the reply disagreed."""


class ReverseQuestion(NamedTuple):
    """A question generated back from the answer."""

    text: str
    noncommittal: bool
    confidence: float | None = None
    """Probability of the flag in [0, 1] where the judge tells it."""


class ReverseQuestions(NamedTuple):
    """Answer to Inverted: likeliest first, blank ones left out; empty if none could be had."""

    questions: tuple[ReverseQuestion, ...]


class Cosines(NamedTuple):
    """Answer to Cosine, in the order of `others`."""

    values: tuple[float, ...]
