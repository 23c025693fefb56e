"""The rows a gold set asks for: each question as often as it is to be answered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ragstone.collect.base import Row
from ragstone.collect.rows import COLUMNS
from ragstone.errors import DataError, Problem
from ragstone.samples import SampleSource
from ragstone.text import say, screen_language
from ragstone.types import Sample


@dataclass(frozen=True, slots=True)
class GoldRows:
    """The rows a gold set asks for, in its order; read anew each time they are gone through."""

    source: SampleSource
    repeat: int

    def __len__(self) -> int:
        return self.source.count * self.repeat

    def __iter__(self) -> Iterator[Row]:
        for gold in self.source:
            bare = _bare(gold)
            for number in range(self.repeat):
                yield Row(bare, number if self.repeat > 1 else None)

    def ids(self) -> Iterator[str]:
        """Yield the ids of the rows."""
        return (row.id for row in self)

    def check(self) -> None:
        """Raise DataError naming every row that has no question."""
        lang = screen_language()
        problems = [Problem(say("collecting.no_question", lang), n) for n, gold in enumerate(self.source, 1) if not gold.question]
        if problems:
            raise DataError(self.source.name, problems)


def _bare(gold: Sample) -> Sample:
    """The gold row without what an application said of it earlier, which gives way."""
    given = {name: None for name in COLUMNS if getattr(gold, name) is not None}
    return gold.model_copy(update=given) if given else gold
