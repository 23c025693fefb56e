"""How near two texts are, by shared words, numbers, names, negation and embedding: all that the local judge goes by."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ragstone.judge.local_claims import unmarked
from ragstone.language import negated, numbers, sentences

Embed = Callable[[Sequence[str]], Sequence[Any]]
"""Texts to unit vectors, or to a failure word in place of one."""

_STOP = re.compile(
    r"an?|the|of|to|in|on|at|by|for|from|with|as|and|or|but|if|then|than|that|this|these|those|its?|is|are|was|were|be|been|being|has|have|had|"
    r"do|does|did|will|would|can|could|may|might|should|must|s?he|they|his|her|their|we|you|your|our|i|there|which|wh[oy]|whom|what|when|where|"
    r"how|also|such|so"
)
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?|[0-9]+(?:[.,][0-9]+)*|[\u3400-\u9fff]+")
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][A-Za-z0-9+-]*\b|\b[A-Z]+[A-Z0-9+-]+\b|[\u300a][^\u300b]+[\u300b]")
_NOT = re.compile(r"[不没未无非]|禁止|\b(?:not|no|never|without|cannot)\b|n't\b", re.IGNORECASE)
_MODAL = re.compile(r"不[得能可应许会]以?|没有|[可得]以|允许|能够|应[当该]|必须|(?<=[天日年假期]|[员工人])[可得须应](?=[\u4e00-\u9fff])")
_CLAUSE = re.compile(r"[，；：]|[,;:](?=\s)")
_ENDING = re.compile(r"(?:ies|es|s|ed|ing|ly)$")


@dataclass(frozen=True)
class Piece:
    """A text with what is compared of it."""

    text: str
    source: int = 0
    """Id of the context or claim it comes from."""

    @cached_property
    def words(self) -> frozenset[str]:
        """Content words: Chinese by pairs of characters, English stemmed; numbers, negation and modality left out."""
        plain = unicodedata.normalize("NFKC", unmarked(self.text))
        text = _NOT.sub(" ", _MODAL.sub(" ", plain)).lower()
        return frozenset(part for run in _WORD.findall(text) for part in _parts(run))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Its numbers."""
        return frozenset(str(number) for number in numbers(unmarked(self.text)))

    @cached_property
    def names(self) -> frozenset[str]:
        """Capitalised words within a sentence, abbreviations, titles in Chinese brackets; lower-cased."""
        return frozenset(name.lower() for name in _NAME.findall(unicodedata.normalize("NFKC", unmarked(self.text))))

    @cached_property
    def denials(self) -> int:
        """How often it denies something; 0 if its negative words only look so."""
        return len(_NOT.findall(unmarked(self.text))) if negated(unmarked(self.text)) else 0

    def within(self, other: "Piece | frozenset[str]") -> float:
        """Share of its words that `other` holds too, 0 to 1; 0 without words."""
        held = other.words if isinstance(other, Piece) else other
        return len(self.words & held) / len(self.words) if self.words else 0.0


def _parts(run: str) -> Sequence[str]:
    if run[0] >= "\u3400":
        return [run[i : i + 2] for i in range(len(run) - 1)] or [run]
    if run[0].isdigit() or _STOP.fullmatch(run):
        return []
    return [_ENDING.sub("", run) if len(run) > 4 else run]


def pieces(texts: Sequence[Mapping[str, Any]]) -> list[Piece]:
    """The sentences of several {"id", "text"} objects."""
    return [Piece(sentence, item["id"]) for item in texts for sentence in sentences(item["text"])]


def clauses(piece: Piece) -> list[Piece]:
    """The sentence itself and, if it has several, its clauses."""
    parts = [part for part in _CLAUSE.split(piece.text) if part.strip()]
    return [piece, *(Piece(part, piece.source) for part in parts if len(parts) > 1)]


def nearest(claim: Piece, candidates: Sequence[Piece], embed: Embed, most: int = 3) -> list[tuple[float, Piece]]:
    """The candidates that share most words with the claim, each with its likeness (0 to 1), best first.

    Likeness is the larger of the share of the claim's words and the cosine: words catch what is short, the embedding
    what is said otherwise. Only `most` are embedded, so the time does not grow with the contexts.
    """
    likely = _likely(claim, candidates, most)
    cosines = cosine(embed, claim.text, [piece.text for piece in likely])
    scored = [(max(claim.within(piece), number), piece) for piece, number in zip(likely, cosines, strict=True)]
    return sorted(scored, key=lambda pair: -pair[0])


def likenesses(claim: Piece, candidates: Sequence[Piece], embed: Embed, most: int = 3) -> Iterator[float]:
    """Yield the likeness of each that `nearest` looks at; a candidate is embedded only when its likeness is asked for."""
    for piece in _likely(claim, candidates, most):
        yield max(claim.within(piece), *cosine(embed, claim.text, [piece.text]))


def _likely(claim: Piece, candidates: Sequence[Piece], most: int) -> list[Piece]:
    # numbers first break ties: the rows of a table differ in nothing else
    return sorted(candidates, key=lambda piece: (-claim.within(piece), -len(claim.numbers & piece.numbers)))[:most]


def cosine(embed: Embed, one: str, others: Sequence[str]) -> list[float]:
    """Cosines of a text with others, -1 to 1; 0 where a text cannot be embedded."""
    first, *rest = embed([unmarked(one), *others])
    return [0.0 if isinstance(first, str) or isinstance(vector, str) else float(first @ vector) for vector in rest]
