"""Which samples of two runs belong together: the same id, the same question, the same reference."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any
from zlib import crc32

from ragstone.analysis.slices import SampleFacts

if TYPE_CHECKING:
    from ragstone.analysis.names import Names
    from ragstone.analysis.parts import ComparedCells

Row = dict[str, Any]
_GOLD = ("reference", "reference_points", "reference_alternatives")


class PairFacts(SampleFacts):
    """What is known of a run's samples for a comparison: besides groups, digests of their texts."""

    def __init__(self, key: str | None = None, cluster: str | None = None) -> None:
        super().__init__(key, cluster)
        self.questions: dict[int, bytes | None] = {}
        """Digests, long enough to find an equal one among many; None (here and below) where the run does not hold the text."""
        self.references: dict[int, int | None] = {}
        """Checksums: one is only ever held against that of the same sample."""
        self.answers: dict[int, int | None] = {}
        """Checksums of the answer together with its contexts."""

    def add(self, at: int, row: Row) -> None:
        """Take in a row of samples.jsonl; a second row of a sample replaces the first."""
        super().add(at, row)
        question, answer = row.get("question"), row.get("answer")
        self.questions[at] = None if question is None else _digest(question)
        self.references[at] = _checksum(*(row.get(name) for name in _GOLD))
        self.answers[at] = None if answer is None else _checksum(answer, row.get("contexts"))


@dataclass(frozen=True, slots=True)
class Side:
    """One of two runs that are compared."""

    cells: ComparedCells
    facts: PairFacts

    @property
    def names(self) -> Names:
        """The ids of its samples."""
        return self.cells.names


@dataclass(frozen=True, slots=True)
class Pairs:
    """How the samples of two runs belong together. Ids stand in the order of the base run, `only_new` in that of the new one."""

    base: tuple[int, ...]
    """Numbers of the paired samples in the base run, in its order."""
    new: tuple[int, ...]
    """Numbers of the same samples in the new run."""
    ids: tuple[str, ...]
    only_base: tuple[str, ...]
    only_new: tuple[str, ...]
    changed: tuple[str, ...]
    """Same id, but another question or reference: no pair."""
    renamed: tuple[tuple[str, str], ...]
    """(id in base, id in new) of ids that only one run has and whose question is the same: told, not paired."""
    base_samples: int
    new_samples: int

    def __len__(self) -> int:
        return len(self.base)

    @property
    def matching(self) -> int:
        """Ids that both runs have, whether or not question and reference are the same."""
        return len(self.base) + len(self.changed)

    @property
    def apart(self) -> int:
        """Samples that make no pair: of one run alone, or changed."""
        return len(self.only_base) + len(self.only_new) + len(self.changed)

    def to_dict(self) -> dict[str, Any]:
        """The object `pairs` of `compare --json`."""
        lists = {name: list(getattr(self, name)) for name in ("only_base", "only_new", "changed")}
        return {"common": len(self), **lists, "renamed": [{"base": old, "new": new} for old, new in self.renamed]}


def pair(base: Side, new: Side) -> Pairs:
    """Put the samples of two runs side by side, by id; a sample whose question or reference has changed makes no pair."""
    left: list[int] = []
    right: list[int] = []
    ids: list[str] = []
    only_base: list[str] = []
    changed: list[str] = []
    for at, name in enumerate(base.names):
        other = new.names.find(name)
        if other is None:
            only_base.append(name)
        elif _differ(base.facts, at, new.facts, other):
            changed.append(name)
        else:
            left.append(at)
            right.append(other)
            ids.append(name)
    only_new = [name for name in new.names if base.names.find(name) is None] if len(new.names) > len(ids) + len(changed) else []
    return Pairs(
        base=tuple(left),
        new=tuple(right),
        ids=tuple(ids),
        only_base=tuple(only_base),
        only_new=tuple(only_new),
        changed=tuple(changed),
        renamed=tuple(_renamed(base, new, only_base, only_new)),
        base_samples=len(base.names),
        new_samples=len(new.names),
    )


def same_answers(base: Side, new: Side, pairs: Pairs) -> bool:
    """True if both runs hold answer and contexts of every pair, and they are the same: then only the measuring can differ."""
    left, right = base.facts.answers, new.facts.answers
    together = zip(pairs.base, pairs.new, strict=True)
    return len(pairs) > 0 and all((held := left.get(x)) is not None and held == right.get(y) for x, y in together)


def _differ(base: PairFacts, at: int, new: PairFacts, other: int) -> bool:
    """What is not known cannot differ."""
    questions = base.questions.get(at), new.questions.get(other)
    references = base.references.get(at), new.references.get(other)
    return any(None not in (old, now) and old != now for old, now in (questions, references))


def _renamed(base: Side, new: Side, only_base: Iterable[str], only_new: Iterable[str]) -> Iterable[tuple[str, str]]:
    """Pair off equal questions in order; of several equal ones each is taken once."""
    free: dict[bytes | None, list[str]] = {}
    for name in only_new:
        if (question := new.facts.questions.get(new.names.number(name))) is not None:
            free.setdefault(question, []).append(name)
    for name in only_base if free else ():
        if found := free.get(base.facts.questions.get(base.names.number(name))):
            yield name, found.pop(0)


def _digest(question: Any) -> bytes:
    return blake2b(_bytes(_text(question)), digest_size=16).digest()


def _checksum(*parts: Any) -> int | None:
    """Return a number for some texts or lists of texts; None where none is given."""
    if not any(part is not None and part != [] for part in parts):
        return None
    return crc32(_bytes("\x1f".join(map(_text, parts))))


def _bytes(text: str) -> bytes:
    """Texts are compared in the normal form NFC."""
    return text.encode() if text.isascii() else unicodedata.normalize("NFC", text).encode("utf-8", "surrogatepass")


def _text(part: Any) -> str:
    """White space around a text and the kind of its line ends depend on the file it came in, not on who wrote it."""
    if isinstance(part, str):
        return part.strip().replace("\r\n", "\n")
    if isinstance(part, list | tuple):
        return "\x1e".join(map(_text, part))
    if isinstance(part, dict):
        return _text(part.get("text"))
    return "" if part is None else str(part)
