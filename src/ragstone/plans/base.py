"""What every plan shares: the case it works on, and how texts of a sample become claims and contexts on the wire."""

import hashlib
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ragstone.language import fold
from ragstone.metrics.needs import Claim, ClaimList, Need, Side
from ragstone.questions.base import Kind, Question
from ragstone.types import Language, Sample


@dataclass(frozen=True, slots=True)
class Case:
    """One sample in one repeat, as it is judged: texts clipped, language of the judge chosen."""

    sample: Sample
    language: Language
    repeat: int = 0


Resolving = Generator[Sequence[Need | Question], list[Any], Any]


class Plan(Protocol):
    """A way to turn needs into questions."""

    name: str
    kinds: tuple[Kind, ...]
    """Every kind of question the plan can ask a judge."""

    def resolve(self, need: Need, case: Case) -> Resolving:
        """Yield needs and questions, receive their answers, return the answer to `need` or a Failed."""
        ...


@dataclass(frozen=True, slots=True)
class SentContexts:
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
        if context.blank:
            continue
        if context.text in first:
            same_as[rank] = first[context.text]
        else:
            first[context.text] = rank
    return SentContexts(tuple((rank, text) for text, rank in first.items()), same_as)


def claim_list(of: Side, found: Iterable[tuple[str, str | None, bool]], *, unsplit: bool = False) -> ClaimList:
    """Number (text, anchor, behaviour) triples as claims; equal ones after folding become one."""
    unique: dict[str, tuple[str, str | None, bool]] = {}
    total = 0
    for item in found:
        total += 1
        unique.setdefault(fold(item[0]) or item[0], item)
    claims = tuple(
        Claim(f"{of[0]}{i}", text, anchor, behaviour, _key(folded) if of == "reference" else None)
        for i, (folded, (text, anchor, behaviour)) in enumerate(unique.items(), 1)
    )
    return ClaimList(claims, total - len(claims), unsplit)


def _key(folded: str) -> str:
    return hashlib.sha256(folded.encode()).hexdigest()[:12]


def numbered(claims: ClaimList) -> tuple[tuple[int, str], ...]:
    """Return claims as (id on the wire, text)."""
    return tuple((int(c.id[1:]), c.text) for c in claims.claims)
