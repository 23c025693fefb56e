"""What a check is made of: the gold set it is given, and the findings it yields."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ragstone.checks.persons import masked
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.embed.base import Vector
    from ragstone.types import Language, Sample

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""The gravest first."""
MOST_LISTED = 8
"""Items of a list that a sentence names; the rest are counted."""
_HIDDEN = re.compile("[\x00-\x08\x0e-\x1f\x7f-\xa0\xad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\ue000-\uf8ff]")
MOST_SHOWN = 60
"""Characters of a text of the set that a sentence shows."""


@dataclass(frozen=True, slots=True)
class Said:
    """A part of a sentence that stands in the catalogue and is said in the language of the screen."""

    key: str
    """As `say` takes it: area and name."""
    values: Mapping[str, Value] = field(default_factory=dict)

    def text(self, lang: Language) -> str:
        """Return the part of the sentence."""
        return say(self.key, lang, **in_words(self.values, lang))


Value = str | int | float | Said | tuple[str, ...] | tuple[int, ...] | tuple[Said, ...]
"""What fills a slot of a sentence: lists are joined, and shortened where they are long."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that may be wrong; its sentences are `check.<kind>` and `check.<kind>_fix`, filled from `values`."""

    kind: str
    """A word of `ragstone.checks.kinds.KINDS`."""
    severity: Severity
    row: int
    """Place in the file, from 1; of a finding about the whole set the first row it speaks of."""
    id: str | None = None
    """Id of the row; None = the finding is about the whole set."""
    column: str | None = None
    """Field of the sample, or key of its `meta`."""
    values: Mapping[str, Value] = field(default_factory=dict)

    def text(self, lang: Language) -> str:
        """Return what was found, and why it matters."""
        return say(f"check.{self.kind}", lang, **in_words(self.values, lang))

    def fix(self, lang: Language) -> str:
        """Return what to do about it."""
        return say(f"check.{self.kind}_fix", lang, **in_words(self.values, lang))


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the gold set."""

    number: int
    """Place in the file, from 1."""
    sample: Sample
    """Its gold columns; what an application answered is left out."""
    made_id: bool = False
    """True if the row came without an id, and got one made of its question."""

    def found(self, kind: str, severity: Severity, column: str | None = None, **values: Value) -> Finding:
        """Return a finding about this row."""
        return Finding(kind, severity, self.number, self.sample.id, column, values)


@dataclass(frozen=True, slots=True)
class Gold:
    """What a checker is given."""

    rows: Sequence[Row]
    """In the order of the file."""
    language: Language
    """Language of most rows."""
    embed: Callable[[Sequence[str]], Sequence[Vector | None]]
    """Embeds texts, one unit vector each, None for a blank one. The model is loaded at the first call; a text takes milliseconds."""
    misspelt: Mapping[str, str] = field(default_factory=dict)
    """Column of the file that is kept as meta -> the field its name resembles."""
    cluster: str | None = None
    """Key of `meta` that names the cluster of a row, if the user gave one (`--cluster`)."""


Checker = Callable[[Gold], Iterator[Finding]]
"""Yields its findings in any order; raises nothing, whatever the rows hold."""


def in_words(values: Mapping[str, Value], lang: Language) -> dict[str, object]:
    """Return the values of a sentence as it shows them."""
    return {name: _in_words(value, lang) for name, value in values.items()}


def _in_words(value: Value, lang: Language) -> object:
    if isinstance(value, Said):
        return value.text(lang)
    if not isinstance(value, tuple):
        return shown(value) if isinstance(value, str) else value
    named = ("、" if lang == "zh" else ", ").join(_item(item, lang) for item in value[:MOST_LISTED])
    return named if len(value) <= MOST_LISTED else say("check.and_more", lang, named=named, more=len(value) - MOST_LISTED)


def _item(item: str | int | Said, lang: Language) -> str:
    return item.text(lang) if isinstance(item, Said) else shown(str(item))


def shown(text: str) -> str:
    """Return a text of the set as a sentence shows it: on one line, cut where it is long, the data of persons masked."""
    line = " ".join(_HIDDEN.sub(_escape, masked(text[: 10 * MOST_SHOWN])).split())
    return line if len(line) <= MOST_SHOWN else line[: MOST_SHOWN - 1] + "…"


def _escape(match: re.Match[str]) -> str:
    """What nobody would see, by its number: a garbled text holds much of it."""
    return match[0].encode("unicode_escape").decode("ascii")
