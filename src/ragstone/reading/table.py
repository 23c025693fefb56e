"""What every source of rows is: a row, a table, and the words for the types of its cells."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ragstone.errors import Problem
from ragstone.text import say
from ragstone.types import Language


@dataclass(frozen=True, slots=True)
class Row:
    """One row as it was read: its number, counted from 1, and its cells by column."""

    number: int
    cells: Mapping[str, Any]


class Table(Protocol):
    """Where rows come from. A reader of another format is one more class with these members."""

    @property
    def name(self) -> str:
        """What messages call the source."""

    @property
    def textual(self) -> bool:
        """True if every cell is text typed into a table: a blank one is then missing."""

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The column names, if they are known before the rows are read."""

    @property
    def notices(self) -> tuple[str, ...]:
        """What a person should know about how the source was read."""

    def rows(self) -> Iterator[Row | Problem]:
        """Yield every row, or what is wrong with it, from the start each time it is called."""


def kind_of(value: Any, lang: Language) -> str:
    """Return the word for a value's JSON type, in `lang`."""
    kinds = {bool: "boolean", int: "number", float: "number", str: "text", list: "list", tuple: "list", type(None): "null"}
    name = "object" if isinstance(value, Mapping) else next((word for kind, word in kinds.items() if isinstance(value, kind)), None)
    return say(f"samples.type_{name}", lang) if name else type(value).__name__
