"""The reader of every field of a sample: a cell's value of the right type, None if it is missing, or `BadCell`. Pure."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from ragstone.reading.cells import Cell, as_list, as_text, as_value, size, spelt, storable
from ragstone.types import Citation, Context

_BEHAVIORS = ("answer", "refuse", "clarify")
_TRUE, _FALSE = ("true", "yes", "y", "1", "1.0", "是", "可回答"), ("false", "no", "n", "0", "0.0", "否", "不可回答")
_TEXT_KEYS = ("text", "content", "page_content")
_EXACT_FLOAT = 2**53
UNREAD = object()
"""What a cell's reader returns when the cell is not for it and goes to `meta`."""


def read_cell(name: str, cell: Cell) -> Any:
    """Return the value of field `name`, or None if it is missing.

    Raises:
        BadCell: the cell is of the wrong type or unreadable.
    """
    if cell.textual and name in _WRITTEN and _is_number(cell.value):
        cell.value = f"{cell.value:.15g}" if isinstance(cell.value, float) else str(cell.value)
    return None if cell.missing else _READERS[name](cell)


def read_plain(name: str, value: Any, most: int) -> str | tuple[str, ...] | None:
    """Return the value of field `name` if its cell is an everyday one, a text or a list of texts of at most `most` bytes, else None.

    It is what `read_cell` returns, but for contexts, which are bare texts here.
    """
    if type(value) is str:
        text, fits = value, name in _TEXT_FIELDS and not value.lstrip().startswith("[")
    elif type(value) is list and set(map(type, value)) == {str}:
        text, fits = "".join(value), name == "contexts" or (name in _LIST_FIELDS and all(map(str.strip, value)))
    else:
        return None
    if not fits or not text.strip() or "\0" in text:
        return None
    try:
        fits = size(text) <= most
    except UnicodeEncodeError:
        return None
    if not fits:
        return None
    return text if text is value else tuple(value)


def _filled_text(cell: Cell) -> str | None:
    text = as_text(cell)
    return text if text.strip() else None


def _reference(cell: Cell) -> str | None:
    value = cell.value
    if isinstance(value, str) and value.lstrip().startswith("["):
        parsed = spelt(value)
        value = parsed if isinstance(parsed, list) and all(isinstance(item, str) for item in parsed) else value
    if not isinstance(value, list | tuple):
        return _filled_text(cell)
    items = [as_text(Cell(item, False, cell.lang)) for item in value if item is not None]
    if len(items) > 1:
        raise cell.bad("reference_list", count=len(items))
    return items[0] if items and items[0].strip() else None


def _texts(cell: Cell) -> tuple[str, ...] | None:
    """A list of texts, blank ones left out; an empty list is missing."""
    items = []
    for number, item in enumerate(as_list(cell), 1):
        if not isinstance(item, str):
            raise cell.bad("item", number=number, found=cell.kind(item))
        items.append(as_text(Cell(item, False, cell.lang)))
    return tuple(item for item in items if item.strip()) or None


def _ids(cell: Cell) -> tuple[str, ...]:
    return tuple(_id_text(item, cell) for item in as_list(cell))


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
    return as_text(Cell(str(value), False, cell.lang))


def _contexts(cell: Cell) -> tuple[Context, ...] | None:
    if cell.textual and isinstance(cell.value, str) and cell.value.strip() in ("null", "None"):
        return None  # how JSON and Python write into a table that there is no list
    contexts = tuple(_context(item, number, cell) for number, item in enumerate(as_list(cell), 1))
    return contexts if any(not context.blank for context in contexts) else ()


def _context(item: Any, number: int, cell: Cell) -> Context:
    if isinstance(item, str):
        return Context(text=as_text(Cell(item, False, cell.lang)))
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
    return Context(
        text=as_text(Cell(item[named[0]], False, cell.lang)),
        id=None if identity is None else _id_text(identity, cell),
        score=score,
        source=source,
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _numbers(cell: Cell) -> tuple[float | None, ...]:
    items = as_list(cell)
    for number, item in enumerate(items, 1):
        if item is not None and not _is_number(item):
            raise cell.bad("number_item", number=number, found=cell.kind(item))
    return tuple(items)


def _sources(cell: Cell) -> tuple[str | None, ...]:
    items = as_list(cell)
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


def _history(cell: Cell) -> tuple[Any, ...]:
    return tuple(as_value(cell, (list, tuple)))


def _object(cell: Cell) -> dict[str, Any]:
    value: dict[str, Any] = as_value(cell, (dict,))
    return value


def _citations(cell: Cell) -> tuple[Citation, ...]:
    found = []
    for number, item in enumerate(as_value(cell, (list, tuple)), 1):
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
    return cell.value if isinstance(cell.value, str | bool | None) else storable(cell.value, cell)


_TEXT_FIELDS = frozenset(("id", "question", "answer", "reference", "error", "answer_raw"))
_LIST_FIELDS = frozenset(("reference_points", "reference_alternatives", "reference_contexts"))
_READERS: dict[str, Callable[[Cell], Any]] = {
    "id": _id,
    "question": _filled_text,
    "answer": as_text,
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
    "answer_raw": as_text,
    "citations": _citations,
    "latency_s": _seconds,
    "usage": _object,
    "language": _language,
    "meta": _object,
}
_WRITTEN = frozenset(("answer", "answer_raw", "contexts", "context_ids", "error", "question", "reference_context_ids")) | {
    *("reference", "reference_points", "reference_alternatives", "reference_contexts")
}
"""Fields of text: a number typed into a cell of a spreadsheet is the text that was typed, with the 15 digits it keeps."""
