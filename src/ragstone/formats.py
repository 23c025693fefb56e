"""Rows out of files and memory, one at a time: what is unreadable comes out as a problem with its row, never as an exception in mid-file."""

import codecs
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, Protocol

import orjson

from ragstone.decoding import Undecodable, decoded_lines, decoded_text, known_encoding
from ragstone.delimited import DelimitedTable, Row, find_delimiter
from ragstone.errors import DataError, Problem
from ragstone.text import say
from ragstone.types import Language

__all__ = ["DelimitedTable", "JsonArrayTable", "JsonLinesTable", "Row", "Table", "open_table"]

Format = Literal["jsonl", "json", "csv", "tsv"]
_BY_EXTENSION: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".jsonlines": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
}
_SHEETS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers")
_COLUMNAR = (".parquet", ".arrow", ".feather", ".orc")
_OTHER = (".yaml", ".yml", ".xml", ".html", ".htm", ".pdf", ".docx", ".doc", ".zip", ".gz", ".bz2", ".xz", ".zst", ".7z", ".tar", ".db", ".sqlite", ".pkl", ".npy")
_MAGIC = {b"PK\x03\x04": "xlsx", b"PAR1": "parquet", b"\x1f\x8b": "gzip", b"\xd0\xcf\x11\xe0": "xls", b"ARROW1": "arrow", b"%PDF": "pdf", b"SQLite": "sqlite"}
_HEAD = 1 << 16


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


@dataclass(frozen=True, slots=True)
class JsonLinesTable:
    """One JSON object a line; blank lines are skipped. A row's number is its line."""

    path: Path
    encoding: str
    lang: Language
    textual: bool = False
    columns: None = None
    notices: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The path as it was given."""
        return str(self.path)

    def rows(self) -> Iterator[Row | Problem]:
        """Yield the rows; a wrong encoding ends them."""
        try:
            for number, line in enumerate(decoded_lines(self.path, self.encoding, self.lang), 1):
                if text := line.strip("\ufeff \t\r\n\v\f"):
                    yield self._row(number, text)
        except Undecodable as error:
            yield error.problem

    def _row(self, number: int, text: str) -> Row | Problem:
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            return Problem(_bad_json(error, text, self.lang, in_line=True), number)
        return _object(value, number, self.lang)


@dataclass(frozen=True, slots=True)
class JsonArrayTable:
    """One JSON array of objects; read as a whole, since JSON cannot be read in pieces. A row's number is its place in the array."""

    path: Path
    encoding: str
    lang: Language
    textual: bool = False
    columns: None = None
    notices: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The path as it was given."""
        return str(self.path)

    def rows(self) -> Iterator[Row | Problem]:
        """Yield the rows, or one problem if the file is not a JSON array."""
        try:
            text = decoded_text(self.path, self.encoding, self.lang)
            array = orjson.loads(text)
        except Undecodable as error:
            yield error.problem
            return
        except orjson.JSONDecodeError as error:
            yield Problem(_bad_json(error, text, self.lang, in_line=False))
            return
        if not isinstance(array, list):
            yield Problem(_not_an_array(array, self.lang))
            return
        array.reverse()
        number = 0
        while array:
            # Taken off one by one, so that what was read is freed.
            number += 1
            yield _object(array.pop(), number, self.lang)


def open_table(path: Path, encoding: str, lang: Language, max_cell: int) -> Table:
    """Return the table of a file, its format told by the extension, else by the content.

    Args:
        path: the file.
        encoding: name of its character encoding; a UTF-8 byte order mark is dropped.
        lang: language of the problems' texts.
        max_cell: bytes a cell may have.

    Raises:
        ConfigError: no encoding has that name.
        DataError: nothing in the file can be read: missing, a folder, empty, another format, a broken header.
    """
    encoding = known_encoding(encoding, lang)
    head = _head(path, lang)
    _refuse_other_formats(path, head, lang)
    if head.startswith(codecs.BOM_UTF8) and encoding != "utf-8":
        raise _unusable(path, say("samples.bom_differs", lang, encoding=encoding))
    text = _peek(head, encoding)
    kind = _kind(path, text)
    if kind in ("csv", "tsv"):
        delimiter = "\t" if kind == "tsv" else find_delimiter(text)
        return DelimitedTable.open(path, encoding, lang, delimiter, max_cell)
    _refuse_wrong_shape(path, kind, text, lang)
    return JsonLinesTable(path, encoding, lang) if kind == "jsonl" else JsonArrayTable(path, encoding, lang)


def _unusable(path: Path, text: str, row: int | None = None) -> DataError:
    return DataError(str(path), [Problem(text, row)])


def _head(path: Path, lang: Language) -> bytes:
    if not path.exists():
        raise _unusable(path, say("samples.no_file", lang) + _similar(path, lang))
    if path.is_dir():
        raise _unusable(path, say("samples.folder", lang))
    if not path.is_file():
        raise _unusable(path, say("samples.not_regular", lang))
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError as error:
        raise _unusable(path, say("samples.unreadable", lang, reason=error.strerror or error)) from error
    if not head.removeprefix(codecs.BOM_UTF8).strip() and os.path.getsize(path) <= _HEAD:
        raise _unusable(path, say("samples.empty_file", lang))
    return head


def _similar(path: Path, lang: Language) -> str:
    try:
        names = get_close_matches(path.name, [p.name for p in path.parent.iterdir()], n=1)
    except OSError:
        names = []
    return say("samples.similar_file", lang, name=names[0]) if names else ""


def _refuse_other_formats(path: Path, head: bytes, lang: Language) -> None:
    extension = path.suffix.lower()
    found = next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None) or (
        extension[1:] if extension in (*_SHEETS, *_COLUMNAR, *_OTHER) else None
    )
    if found is None:
        return
    key = "sheet" if f".{found}" in _SHEETS else "columnar" if f".{found}" in _COLUMNAR else "other"
    raise _unusable(path, say(f"samples.format_{key}", lang, found=found))


def _peek(head: bytes, encoding: str) -> str:
    return codecs.decode(head, encoding, "replace").lstrip("\ufeff")


def _kind(path: Path, text: str) -> Format:
    start = text.lstrip()
    kind = _BY_EXTENSION.get(path.suffix.lower())
    if kind == "json" and _holds_lines(start):
        return "jsonl"
    if kind is not None:
        return kind
    if start.startswith("["):
        return "json"
    if start.startswith("{"):
        return "jsonl" if _holds_lines(start) or "\n" not in start.strip() else "json"
    return "csv"


def _holds_lines(start: str) -> bool:
    """True if the first of several lines is a whole JSON object."""
    first, _, rest = start.partition("\n")
    if not first.startswith("{") or not rest.lstrip().startswith("{"):
        return False
    try:
        return isinstance(orjson.loads(first), dict)
    except orjson.JSONDecodeError:
        return False


def _refuse_wrong_shape(path: Path, kind: str, text: str, lang: Language) -> None:
    start = text.lstrip()
    first = start.partition("\n")[0].strip()
    if kind == "jsonl" and first == "{":
        raise _unusable(path, say("samples.pretty_printed", lang), 1)
    if kind == "jsonl" and start.startswith("["):
        raise _unusable(path, say("samples.array_in_lines", lang), 1)


def _object(value: Any, number: int, lang: Language) -> Row | Problem:
    if isinstance(value, dict):
        return Row(number, value)
    return Problem(say("samples.not_an_object", lang, found=kind_of(value, lang)), number)


def _bad_json(error: orjson.JSONDecodeError, text: str, lang: Language, *, in_line: bool) -> str:
    around = text[max(0, error.pos - 12) : error.pos + 12]
    if text[error.pos : error.pos + 1] in ("N", "I") or text[error.pos : error.pos + 2] == "-I" or any(t in around for t in ("NaN", "Infinity")):
        advice = say("samples.advice_nan", lang)
    elif "\0" in text:
        advice = say("samples.advice_nul", lang)
    elif text.startswith(("#", "//")):
        advice = say("samples.advice_comment", lang)
    else:
        advice = ""
    place = say("samples.at_character", lang, column=error.pos + 1) if in_line else say("samples.at_line", lang, line=error.lineno, column=error.colno)
    return say("samples.bad_json", lang, place=place, reason=error.msg.partition(":")[0]) + advice


def _not_an_array(value: Any, lang: Language) -> str:
    if isinstance(value, Mapping):
        lists = [str(key) for key, items in value.items() if isinstance(items, list)]
        return say("samples.object_for_array", lang) + (say("samples.rows_under", lang, key=lists[0]) if lists else say("samples.wrap_object", lang))
    return say("samples.value_for_array", lang, found=kind_of(value, lang))


def kind_of(value: Any, lang: Language) -> str:
    """Return the word for a value's JSON type, in `lang`."""
    kinds = {bool: "boolean", int: "number", float: "number", str: "text", list: "list", tuple: "list", type(None): "null"}
    name = "object" if isinstance(value, Mapping) else next((word for kind, word in kinds.items() if isinstance(value, kind)), None)
    return say(f"samples.type_{name}", lang) if name else type(value).__name__
