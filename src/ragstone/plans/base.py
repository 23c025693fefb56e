"""What every plan shares: the case it works on, and how texts of a sample become claims and contexts on the wire."""

import hashlib
from collections.abc import Generator, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from ragstone.language import fold
from ragstone.metrics.needs import Claim, ClaimList, Finding, Need, Side
from ragstone.questions.base import Kind
from ragstone.questions.check_claims import ClaimVerdict
from ragstone.questions.rate_contexts import ContextVerdict
from ragstone.questions.split_claims import SplitClaim
from ragstone.types import Language, Sample


@dataclass(frozen=True, slots=True)
class Case:
    """One sample in one repeat, as it is judged: texts clipped, language of the judge chosen."""

    sample: Sample
    language: Language
    repeat: int = 0


Resolving = Generator[Sequence[Hashable], list[Any], Any]
"""Yields needs, those of metrics and a plan's own, and questions; receives their answers."""


class Plan(Protocol):
    """A way to turn needs into questions."""

    name: str
    kinds: tuple[Kind, ...]
    """Every kind of question the plan can ask a judge."""

    def resolve(self, need: Need, case: Case) -> Resolving:
        """Yield needs and questions, receive their answers, return the answer to `need` or a Failed.

        A need the plan yields comes back to it here, once a case.
        """
        ...


class SentContexts(NamedTuple):
    """The contexts as sent: (rank, text) without blank and repeated ones, and where repeated ones went."""

    sent: tuple[tuple[int, str], ...]
    same_as: dict[int, int]
    """Rank of a repeated context -> rank of its first appearance."""

    @property
    def duplicates(self) -> tuple[str, ...]:
        """Ids of the repeated contexts."""
        return tuple(f"c{rank}" for rank in self.same_as)


def sent_contexts(sample: Sample) -> SentContexts:
    """Return the contexts of a sample as they go out, each once, with its rank as id."""
    first: dict[str, int] = {}
    same_as: dict[int, int] = {}
    for rank, context in enumerate(sample.contexts or (), 1):
        text = context.text
        if text in first:
            same_as[rank] = first[text]
        elif text.strip():
            first[text] = rank
    return SentContexts(tuple([(rank, text) for text, rank in first.items()]), same_as)


def shuffled(sample: Sample, contexts: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return contexts in an order that the sample's id alone decides.

    Usefulness is asked about in this order: in rank order, a judge that favours what stands first would favour every ranking.
    """
    return sorted(contexts, key=lambda item: hashlib.sha256(f"{sample.id}/{item[0]}".encode()).digest())


def ranked(sample: Sample, contexts: SentContexts, said: Mapping[int, ContextVerdict]) -> tuple[Finding, ...]:
    """Return one finding a context, in rank order: a repeated one has that of its first, a blank one is not useful."""
    findings = []
    for rank in range(1, len(sample.contexts or ()) + 1):
        verdict = said.get(contexts.same_as.get(rank, rank))
        useful = verdict is not None and verdict.useful
        reason, sure = (verdict.reason, verdict.confidence) if verdict else (None, None)
        findings.append(Finding(f"c{rank}", "useful" if useful else "not_useful", reason=reason, confidence=sure))
    return tuple(findings)


def finding(claim: Claim, said: ClaimVerdict) -> Finding:
    """Return what was said of a claim, with the contexts it rests on by their ids."""
    evidence = tuple([f"c{i}" for i in said.evidence])
    return Finding(claim.id, said.verdict, evidence, said.reason, said.quote, said.unverified, said.confidence)


def split_list(of: Side, found: Iterable[SplitClaim]) -> ClaimList:
    """Number the claims a judge found in a text."""
    return claim_list(of, found)


def claim_list(of: Side, found: Iterable[tuple[str, str | None, bool]], *, unsplit: bool = False) -> ClaimList:
    """Number (text, anchor, behaviour) triples as claims; equal ones after folding become one."""
    unique: dict[str, tuple[str, str | None, bool]] = {}
    total = 0
    for item in found:
        total += 1
        unique.setdefault(fold(item[0]) or item[0], item)
    claims = [
        Claim(f"{of[0]}{i}", text, anchor, behaviour, _key(folded) if of == "reference" else None)
        for i, (folded, (text, anchor, behaviour)) in enumerate(unique.items(), 1)
    ]
    return ClaimList(tuple(claims), total - len(claims), unsplit)


def _key(folded: str) -> str:
    return hashlib.sha256(folded.encode()).hexdigest()[:12]


def numbered(claims: ClaimList) -> tuple[tuple[int, str], ...]:
    """Return claims as (id on the wire, text)."""
    return tuple([(int(c.id[1:]), c.text) for c in claims.claims])
