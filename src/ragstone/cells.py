"""What one cell says: a value of the right type, nothing (None), or `BadCell`. Pure.

Cells of JSON and of Python rows must have the right type already. In a table every cell is text: a blank one is missing,
and lists and objects are written in it as JSON or as Python literals.
"""

import ast
import io
import math
import re
import tokenize
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from ragstone.formats import kind_of
from ragstone.text import say
from ragstone.types import Citation, Context, Language

_BEHAVIORS = ("answer", "refuse", "clarify")
_TRUE, _FALSE = ("true", "yes", "y", "1", "1.0", "是", "可回答"), ("false", "no", "n", "0", "0.0", "否", "不可回答")
_LOOKS_LISTED = re.compile(r"\[\s*(?:[\"'{\[]|[uUrRbB][\"'])")
_TEXT_KEYS = ("text", "content", "page_content")
_EXACT_FLOAT = 2**53
UNREAD = object()
"""What a cell's reader returns when the cell is not for it and goes to `meta`."""


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


def read_cell(name: str, cell: Cell) -> Any:
    """Return the value of field `name`, or None if it is missing.

    Raises:
        BadCell: the cell is of the wrong type or unreadable.
    """
    return None if cell.missing else _READERS[name](cell)


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


def _text(cell: Cell) -> str:
    if not isinstance(cell.value, str):
        raise cell.bad("text", found=cell.kind(cell.value))
    if "\0" in cell.value:
        raise cell.bad("nul")
    return cell.value


def _filled_text(cell: Cell) -> str | None:
    text = _text(cell)
    return text if text.strip() else None


def _reference(cell: Cell) -> str | None:
    value = cell.value
    if isinstance(value, str) and value.lstrip().startswith("["):
        parsed = _listed(value)
        value = parsed if isinstance(parsed, list) and all(isinstance(item, str) for item in parsed) else value
    if not isinstance(value, list | tuple):
        return _filled_text(cell)
    items = [_text(Cell(item, False, cell.lang)) for item in value if item is not None]
    if len(items) > 1:
        raise cell.bad("reference_list", count=len(items))
    return items[0] if items and items[0].strip() else None


def _list(cell: Cell) -> list[Any]:
    """The list in a cell; text that is no list is a list of one."""
    if isinstance(cell.value, list | tuple):
        return list(cell.value)
    if not isinstance(cell.value, str):
        raise cell.bad("list", found=cell.kind(cell.value))
    text = cell.value.strip()
    if not text.startswith("["):
        cell.note("plain")
        return [cell.value]
    parsed = _listed(text)
    if isinstance(parsed, list):
        if _unseparated(text, parsed):
            raise cell.bad("array_print")
        return parsed
    if _LOOKS_LISTED.match(text):
        raise cell.bad("list_text", start=text[:40])
    cell.note("plain")
    return [cell.value]


def _listed(text: str) -> Any:
    """The JSON or Python value that a text spells, or None."""
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
    return any(one == two == tokenize.STRING for one, two in zip(kinds, kinds[1:], strict=False))


def _texts(cell: Cell) -> tuple[str, ...] | None:
    """A list of texts, blank ones left out; an empty list is missing."""
    items = []
    for number, item in enumerate(_list(cell), 1):
        if not isinstance(item, str):
            raise cell.bad("item", number=number, found=cell.kind(item))
        items.append(_text(Cell(item, False, cell.lang)))
    return tuple(item for item in items if item.strip()) or None


def _ids(cell: Cell) -> tuple[str, ...]:
    return tuple(_id_text(item, cell) for item in _list(cell))


def _id(cell: Cell) -> str | None:
    text = _id_text(cell.value, cell)
    return text if text.strip() else None


def _id_text(value: Any, cell: Cell) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise cell.bad("id", found=cell.kind(value))
    if isinstance(value, float):
        if not math.isfinite(value) or abs(value) >= _EXACT_FLOAT:
            raise cell.bad("long_id")
        return str(int(value)) if value.is_integer() else str(value)
    return _text(Cell(str(value), False, cell.lang))


def _contexts(cell: Cell) -> tuple[Context, ...]:
    contexts = tuple(_context(item, number, cell) for number, item in enumerate(_list(cell), 1))
    return contexts if any(not context.blank for context in contexts) else ()


def _context(item: Any, number: int, cell: Cell) -> Context:
    if isinstance(item, str):
        return Context(text=_text(Cell(item, False, cell.lang)))
    if not isinstance(item, Mapping):
        raise cell.bad("context", number=number, found=cell.kind(item))
    named = [key for key in _TEXT_KEYS if item.get(key) is not None]
    if len(named) != 1 or not isinstance(item[named[0]], str):
        raise cell.bad("context_text", number=number, keys=", ".join(map(str, item)))
    for key in item:
        if key not in (*_TEXT_KEYS, "id", "score", "source"):
            cell.note("context_key", str(key))
    identity, score, source = item.get("id"), item.get("score"), item.get("source")
    if score is not None and not _is_number(score):
        raise cell.bad("context_part", number=number, part="score", found=cell.kind(score))
    if source is not None and not isinstance(source, str):
        raise cell.bad("context_part", number=number, part="source", found=cell.kind(source))
    return Context(text=_text(Cell(item[named[0]], False, cell.lang)), id=None if identity is None else _id_text(identity, cell), score=score, source=source)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _numbers(cell: Cell) -> tuple[float | None, ...]:
    items = _list(cell)
    for number, item in enumerate(items, 1):
        if item is not None and not _is_number(item):
            raise cell.bad("number_item", number=number, found=cell.kind(item))
    return tuple(items)


def _sources(cell: Cell) -> tuple[str | None, ...]:
    items = _list(cell)
    for number, item in enumerate(items, 1):
        if item is not None and not isinstance(item, str):
            raise cell.bad("item", number=number, found=cell.kind(item))
    return tuple(items)


def _behavior(cell: Cell) -> str:
    word = cell.value.strip().casefold() if isinstance(cell.value, str) else cell.value
    if word not in _BEHAVIORS:
        raise cell.bad("behavior", found=cell.value)
    return str(word)


def _answerable(cell: Cell) -> bool:
    if isinstance(cell.value, bool):
        return cell.value
    word = str(cell.value).strip().casefold()
    if word not in (*_TRUE, *_FALSE):
        raise cell.bad("answerable", found=cell.value)
    return word in _TRUE


def _parsed(cell: Cell, kinds: tuple[type, ...]) -> Any:
    """The list or object in a cell, which in a table is spelt as text."""
    value = _listed(cell.value) if cell.textual and isinstance(cell.value, str) else cell.value
    if not isinstance(value, kinds):
        raise cell.bad("json", wanted=cell.kind([] if list in kinds else {}), found=cell.kind(cell.value if value is None else value))
    return _storable(value, cell)


def _storable(value: Any, cell: Cell) -> Any:
    """The value as it will be read back from a file: what JSON does not have (dates) becomes text."""
    try:
        return orjson.loads(orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS))
    except (TypeError, RecursionError) as error:
        raise cell.bad("unstorable", reason=error) from error


def _history(cell: Cell) -> tuple[Any, ...]:
    return tuple(_parsed(cell, (list, tuple)))


def _object(cell: Cell) -> dict[str, Any]:
    value: dict[str, Any] = _parsed(cell, (dict,))
    return value


def _citations(cell: Cell) -> tuple[Citation, ...]:
    found = []
    for number, item in enumerate(_parsed(cell, (list, tuple)), 1):
        if not isinstance(item, dict) or not _cites(item):
            raise cell.bad("citation", number=number)
        found.append(Citation(at=item["at"], context=item.get("context")))
    return tuple(found)


def _cites(item: dict[str, Any]) -> bool:
    at, context = item.get("at"), item.get("context")
    return item.keys() <= {"at", "context"} and type(at) is int and (context is None or type(context) in (int, str))


def _seconds(cell: Cell) -> float:
    value = cell.value
    if cell.textual:
        try:
            value = float(value)
        except ValueError:
            value = cell.value
    if not _is_number(value) or value < 0:
        raise cell.bad("seconds", found=cell.value)
    return float(value)


def _language(cell: Cell) -> Any:
    return cell.value if cell.value in ("zh", "en") else UNREAD


def meta_value(cell: Cell) -> Any:
    """Return a cell of a column that ragstone does not know, as it is.

    Raises:
        BadCell: JSON cannot hold it.
    """
    if isinstance(cell.value, float) and not math.isfinite(cell.value):
        raise cell.bad("unstorable", reason=cell.value)
    return cell.value if isinstance(cell.value, str | bool | None) else _storable(cell.value, cell)


_READERS: dict[str, Callable[[Cell], Any]] = {
    "id": _id,
    "question": _filled_text,
    "answer": _text,
    "contexts": _contexts,
    "reference": _reference,
    "reference_points": _texts,
    "reference_alternatives": _texts,
    "reference_contexts": _texts,
    "context_ids": _ids,
    "reference_context_ids": _ids,
    "context_scores": _numbers,
    "context_sources": _sources,
    "expected_behavior": _behavior,
    "answerable": _answerable,
    "history": _history,
    "error": _filled_text,
    "answer_raw": _text,
    "citations": _citations,
    "latency_s": _seconds,
    "usage": _object,
    "language": _language,
    "meta": _object,
}
