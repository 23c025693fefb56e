"""Which format a file has. What is unreadable in it comes out as a problem with its row, never as an exception in mid-file."""

import codecs
import os
import stat
from pathlib import Path
from typing import Literal

import orjson

from ragstone.errors import DataError, Problem, reason_of, similar
from ragstone.reading.decoding import known_encoding
from ragstone.reading.delimited import DelimitedTable, find_delimiter
from ragstone.reading.json_pieces import comes_in_pieces
from ragstone.reading.json_rows import JsonArrayTable, JsonLinesTable
from ragstone.reading.parquet import ParquetTable
from ragstone.reading.spreadsheet import SheetTable, holds_sheet
from ragstone.reading.table import Row, Table
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
_XLSX = (".xlsx", ".xlsm")
_SHEETS = (".xls", ".xlsb", ".ods", ".numbers")
_COLUMNAR = (".arrow", ".feather", ".orc")
_OTHER = (
    ".yaml",
    ".yml",
    ".xml",
    ".html",
    ".htm",
    ".pdf",
    ".docx",
    ".doc",
    ".zip",
    ".gz",
    ".bz2",
    ".xz",
    ".zst",
    ".7z",
    ".tar",
    ".db",
    ".sqlite",
    ".pkl",
    ".npy",
)
_MAGIC = {
    b"PK\x03\x04": "zip",
    b"\x1f\x8b": "gzip",
    b"\xd0\xcf\x11\xe0": "xls",
    b"ARROW1": "arrow",
    b"%PDF": "pdf",
    b"SQLite": "sqlite",
}
_HEAD = 1 << 16


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
    if (table := _binary_table(path, head, lang)) is not None:
        return table
    _refuse_other_formats(path, head, lang)
    if head.startswith(codecs.BOM_UTF8) and encoding != "utf-8":
        raise _unusable(path, say("samples.bom_differs", lang, encoding=encoding))
    text = _peek(head, encoding)
    kind = _kind(path, text)
    if kind in ("csv", "tsv"):
        delimiter = "\t" if kind == "tsv" else find_delimiter(text)
        return DelimitedTable.open(path, encoding, lang, delimiter, max_cell)
    _refuse_wrong_shape(path, kind, text, lang)
    if kind == "jsonl":
        return JsonLinesTable(path, encoding, lang)
    return JsonArrayTable(path, encoding, lang, in_pieces=comes_in_pieces(path, encoding))


def _unusable(path: Path, text: str, row: int | None = None) -> DataError:
    return DataError(str(path), [Problem(text, row)])


def _head(path: Path, lang: Language) -> bytes:
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise _unusable(path, say("samples.folder", lang))
        if not stat.S_ISREG(mode):
            raise _unusable(path, say("samples.not_regular", lang))
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise _unusable(path, say("samples.no_file", lang) + similar(path, lang)) from error
    except OSError as error:
        raise _unusable(path, say("samples.unreadable", lang, reason=reason_of(error, lang))) from error
    if not head.removeprefix(codecs.BOM_UTF8).strip() and os.path.getsize(path) <= _HEAD:
        raise _unusable(path, say("samples.empty_file", lang))
    return head


def _binary_table(path: Path, head: bytes, lang: Language) -> Table | None:
    """Workbooks and Parquet are told by their first bytes, whatever the file is called."""
    extension = path.suffix.lower()
    if head.startswith(b"PK\x03\x04") and holds_sheet(path):
        return SheetTable.open(path, lang)
    if head.startswith(b"PAR1"):
        return ParquetTable.open(path, lang)
    if extension in _XLSX and head.startswith(b"\xd0\xcf\x11\xe0"):
        raise _unusable(path, say("samples.protected", lang))
    if extension in (*_XLSX, ".parquet"):
        raise _unusable(path, say("samples.not_what_named", lang, extension=extension))
    return None


def _refuse_other_formats(path: Path, head: bytes, lang: Language) -> None:
    extension = path.suffix.lower()
    named = extension[1:] if extension in (*_SHEETS, *_COLUMNAR, *_OTHER) else None
    found = named or next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)
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
