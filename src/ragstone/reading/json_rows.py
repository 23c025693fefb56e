"""Rows of JSON files: one object a line, or one array of objects."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from ragstone.errors import Problem
from ragstone.reading.decoding import Undecodable, decoded_lines, decoded_text, misfit, raw_lines
from ragstone.reading.json_pieces import array_objects
from ragstone.reading.table import Row, kind_of
from ragstone.text import say
from ragstone.types import Language


@dataclass(frozen=True, slots=True)
class _JsonFile:
    """What a table in a JSON file is, but for its rows."""

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


@dataclass(frozen=True, slots=True)
class JsonLinesTable(_JsonFile):
    """One JSON object a line; blank lines are skipped. A row's number is its line."""

    def rows(self) -> Iterator[Row | Problem]:
        """Yield the rows; a wrong encoding ends them."""
        try:
            for number, line in enumerate(self._lines(), 1):
                if (row := self._row(number, line)) is not None:
                    yield row
        except Undecodable as error:
            yield error.problem

    def _lines(self) -> Iterator[str | bytes]:
        if self.encoding == "utf-8":
            yield from raw_lines(self.path, self.lang)
        else:
            yield from decoded_lines(self.path, self.encoding, self.lang)

    def _text(self, line: str | bytes) -> str:
        try:
            return line if isinstance(line, str) else line.decode()
        except UnicodeDecodeError as error:
            raise misfit(self.path, self.encoding, error, self.lang) from error

    def _row(self, number: int, line: str | bytes) -> Row | Problem | None:
        try:
            return _object(orjson.loads(line), number, self.lang)
        except orjson.JSONDecodeError:
            text = self._text(line).strip("\ufeff \t\r\n\v\f")
        try:
            return _object(orjson.loads(text), number, self.lang) if text else None
        except orjson.JSONDecodeError as error:
            return Problem(_bad_json(error, text, self.lang, in_line=True), number)


@dataclass(frozen=True, slots=True)
class JsonArrayTable(_JsonFile):
    """One JSON array of objects. A row's number is its place in the array."""

    in_pieces: bool = False
    """True if every element is known to be an object; else the file is read as a whole."""

    def rows(self) -> Iterator[Row | Problem]:
        """Yield the rows, or one problem if the file is not a JSON array."""
        return self._pieces() if self.in_pieces else self._whole()

    def _pieces(self) -> Iterator[Row | Problem]:
        try:
            for number, value in enumerate(array_objects(self.path, self.encoding), 1):
                yield Row(number, value)
        except (ValueError, OSError):
            yield Problem(say("samples.changed", self.lang))

    def _whole(self) -> Iterator[Row | Problem]:
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


def _object(value: Any, number: int, lang: Language) -> Row | Problem:
    if isinstance(value, dict):
        return Row(number, value)
    return Problem(say("samples.not_an_object", lang, found=kind_of(value, lang)), number)


def _bad_json(error: orjson.JSONDecodeError, text: str, lang: Language, *, in_line: bool) -> str:
    around = text[max(0, error.pos - 12) : error.pos + 12]
    if (
        text[error.pos : error.pos + 1] in ("N", "I")
        or text[error.pos : error.pos + 2] == "-I"
        or any(t in around for t in ("NaN", "Infinity"))
    ):
        advice = say("samples.advice_nan", lang)
    elif "\0" in text:
        advice = say("samples.advice_nul", lang)
    elif text.startswith(("#", "//")):
        advice = say("samples.advice_comment", lang)
    else:
        advice = ""
    place = (
        say("samples.at_character", lang, column=error.pos + 1)
        if in_line
        else say("samples.at_line", lang, line=error.lineno, column=error.colno)
    )
    return say("samples.bad_json", lang, place=place, reason=error.msg.partition(":")[0]) + advice


def _not_an_array(value: Any, lang: Language) -> str:
    if isinstance(value, Mapping):
        lists = [str(key) for key, items in value.items() if isinstance(items, list)]
        return say("samples.object_for_array", lang) + (
            say("samples.rows_under", lang, key=lists[0]) if lists else say("samples.wrap_object", lang)
        )
    return say("samples.value_for_array", lang, found=kind_of(value, lang))
