"""What a cell holds, before it is known what it is for: text, a list, an object. Pure.

Cells of JSON and of Python rows must have the right type already. In a table every cell is text: lists and objects are
written in it as JSON or as Python literals.
"""

import ast
import io
import itertools
import re
import tokenize
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from ragstone.reading.table import kind_of
from ragstone.text import say
from ragstone.types import Language

_LOOKS_LISTED = re.compile(r"\[\s*(?:[\"'{\[]|[uUrRbB][\"'])")


class BadCell(Exception):
    """The cell cannot be used; its only argument is the text that says why."""


@dataclass(slots=True)
class Cell:
    """One cell with what is needed to read it; `notes` collects what is worth telling."""

    value: Any
    textual: bool
    lang: Language
    notes: dict[str, set[str]] = field(default_factory=dict)

    def note(self, word: str, item: str = "") -> None:
        """Keep a note of a kind, with an item that it is about."""
        self.notes.setdefault(word, set()).add(item)

    @property
    def missing(self) -> bool:
        """True if there is nothing in the cell."""
        return self.value is None or (self.textual and isinstance(self.value, str) and not self.value.strip())

    def bad(self, key: str, **slots: object) -> BadCell:
        """The exception whose text is `samples.bad_<key>`."""
        return BadCell(say(f"samples.bad_{key}", self.lang, **slots))

    def kind(self, value: Any) -> str:
        """The word for a value's type."""
        return kind_of(value, self.lang)


def size(value: Any) -> int:
    """Return the bytes of the text in a value, UTF-8.

    Raises:
        UnicodeEncodeError: it holds a lone surrogate, which no file can hold.
    """
    if isinstance(value, str):
        return len(value) if value.isascii() else len(value.encode())
    if isinstance(value, Mapping):
        return sum(size(k) + size(v) for k, v in value.items())
    return sum(map(size, value)) if isinstance(value, list | tuple) else 8


def as_text(cell: Cell) -> str:
    """Return the text in a cell.

    Raises:
        BadCell: it holds something else, or a NUL character.
    """
    if not isinstance(cell.value, str):
        raise cell.bad("text", found=cell.kind(cell.value))
    if "\0" in cell.value:
        raise cell.bad("nul")
    return cell.value


def as_list(cell: Cell) -> list[Any]:
    """Return the list in a cell; text that spells no list is a list of one, with the note `plain`.

    Raises:
        BadCell: it holds something else, or text that was meant to be a list and cannot be read.
    """
    if isinstance(cell.value, list | tuple):
        return list(cell.value)
    if not isinstance(cell.value, str):
        raise cell.bad("list", found=cell.kind(cell.value))
    text = cell.value.strip()
    if not text.startswith("["):
        cell.note("plain")
        return [cell.value]
    parsed = spelt(text)
    if isinstance(parsed, list):
        if _unseparated(text, parsed):
            raise cell.bad("array_print")
        return parsed
    if _LOOKS_LISTED.match(text):
        raise cell.bad("list_text", start=text[:40])
    cell.note("plain")
    return [cell.value]


def spelt(text: str) -> Any:
    """Return the JSON or Python value that a text spells, or None."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        pass
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    return list(value) if isinstance(value, tuple) else value


def _unseparated(text: str, parsed: list[Any]) -> bool:
    # "['a' 'b']" is how arrays print: Python reads it as the one string 'ab'.
    if not parsed or any(not isinstance(item, str) for item in parsed):
        return False
    try:
        orjson.loads(text)
        return False
    except orjson.JSONDecodeError:
        kinds = [token.type for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type != tokenize.NL]
    return any(one == two == tokenize.STRING for one, two in itertools.pairwise(kinds))


def as_value(cell: Cell, kinds: tuple[type, ...]) -> Any:
    """Return the list or object in a cell, which in a table is spelt as text.

    Raises:
        BadCell: it is none of `kinds`.
    """
    value = spelt(cell.value) if cell.textual and isinstance(cell.value, str) else cell.value
    if not isinstance(value, kinds):
        raise cell.bad("value", wanted=cell.kind([] if list in kinds else {}), found=cell.kind(cell.value if value is None else value))
    return storable(value, cell)


def storable(value: Any, cell: Cell) -> Any:
    """Return the value as it will be read back from a file: what JSON does not have (dates) becomes text.

    Raises:
        BadCell: JSON cannot hold it.
    """
    try:
        # eight lists around it: a file holds the value inside its row, and a document of `show` the row inside more
        held = [[[[[[[[value]]]]]]]]
        return orjson.loads(orjson.dumps(held, option=orjson.OPT_NON_STR_KEYS))[0][0][0][0][0][0][0][0]
    except (TypeError, RecursionError) as error:
        raise cell.bad("unstorable", reason=error) from error
