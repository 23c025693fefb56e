"""Rows of CSV and TSV files."""

import csv
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from ragstone.errors import DataError, Problem
from ragstone.reading.decoding import Undecodable, decoded_lines
from ragstone.reading.table import Row
from ragstone.text import say
from ragstone.types import Language

_FIELD_LIMIT = 64_000_000


@dataclass(frozen=True, slots=True)
class DelimitedTable:
    """A table of text cells under one header row. The first row after the header is row 1; blank ones count and are skipped."""

    path: Path
    encoding: str
    lang: Language
    delimiter: str
    header: tuple[str, ...]
    """Column names without blanks around them; "" = a column without a name, which is left out."""
    field_limit: int
    notices: tuple[str, ...] = ()
    textual: bool = True

    @classmethod
    def open(cls, path: Path, encoding: str, lang: Language, delimiter: str, max_cell: int) -> Self:
        """Read and check the header.

        Raises:
            DataError: there is no usable header, or nothing after it.
        """
        bare = cls(path, encoding, lang, delimiter, (), max(_FIELD_LIMIT, 4 * max_cell))
        try:
            records = bare._records()
            first = next((cells for cells in records if isinstance(cells, Problem) or _filled(cells)), [])
            names, problems = ([], [first]) if isinstance(first, Problem) else (first, _header_problems(first, lang))
            if not problems and next((r for r in records if isinstance(r, Problem) or _filled(r)), None) is None:
                problems = [Problem(say("samples.only_header", lang))]
        except Undecodable as error:
            names, problems = [], [error.problem]
        if problems:
            raise DataError(str(path), problems)
        header = tuple(name.strip() for name in names)
        return cls(path, encoding, lang, delimiter, header, bare.field_limit, tuple(_header_notices(header, delimiter, path, lang)))

    @property
    def name(self) -> str:
        """The path as it was given."""
        return str(self.path)

    @property
    def columns(self) -> tuple[str, ...]:
        """The named columns, in file order."""
        return tuple(name for name in self.header if name)

    def rows(self) -> Iterator[Row | Problem]:
        """Yield the rows; a wrong encoding or a quote that is never closed ends them."""
        try:
            number = -1
            for cells in self._records():
                if number < 0:
                    number = 0 if isinstance(cells, Problem) or _filled(cells) else number
                    continue
                number += 1
                if isinstance(cells, Problem):
                    yield Problem(cells.text, number)
                elif _filled(cells):
                    yield self._row(number, cells)
        except Undecodable as error:
            yield error.problem

    def _row(self, number: int, cells: list[str]) -> Row | Problem:
        if len(cells) != len(self.header):
            key = "too_many_cells" if len(cells) > len(self.header) else "too_few_cells"
            return Problem(say(f"samples.{key}", self.lang, cells=len(cells), header=len(self.header)), number)
        named = {name: cell for name, cell in zip(self.header, cells, strict=True) if name}
        if nul := next((name for name, cell in named.items() if "\0" in cell), None):
            return Problem(say("samples.nul", self.lang), number, nul)
        return Row(number, named)

    def _records(self) -> Iterator[list[str] | Problem]:
        reader = csv.reader(decoded_lines(self.path, self.encoding, self.lang), delimiter=self.delimiter, strict=True)
        while True:
            line = reader.line_num + 1
            try:
                with _wide_fields(self.field_limit):
                    cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                unclosed = "unexpected end" in str(error) or "field limit" in str(error)
                reason = (
                    say("samples.open_quote", self.lang, line=line)
                    if unclosed
                    else say("samples.bad_quotes", self.lang, line=line, reason=error)
                )
                yield Problem(reason)
                if unclosed:
                    return
                continue
            yield cells


def find_delimiter(text: str) -> str:
    """Return what separates the names of a header: the one of comma, semicolon and tab that gives most of them."""
    line = next((line for line in text.splitlines() if line.strip()), "")
    counts = {mark: len(next(csv.reader([line], delimiter=mark), [])) for mark in (",", ";", "\t")}
    return max(counts, key=lambda mark: counts[mark])


def _filled(cells: list[str]) -> bool:
    return any(cell and not cell.isspace() for cell in cells)


@contextmanager
def _wide_fields(limit: int) -> Iterator[None]:
    # The csv module has one limit for the whole process (128 kB): it is raised for one row and put back.
    before = csv.field_size_limit(min(limit, sys.maxsize, 2**31 - 1))
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _header_problems(header: list[str], lang: Language) -> list[Problem]:
    names = [name.strip() for name in header]
    if not any(names):
        return [Problem(say("samples.bad_header", lang))]
    if len(names) == 1 and names[0].startswith("#"):
        return [Problem(say("samples.comment_header", lang))]
    if any("\0" in name for name in names):
        return [Problem(say("samples.nul", lang) + say("samples.advice_nul", lang))]
    doubled = [name for name, count in Counter(filter(None, names)).items() if count > 1]
    return [Problem(say("samples.doubled_header", lang, places=_places(names, name)), column=name) for name in doubled]


def _places(names: list[str], wanted: str) -> str:
    return ", ".join(str(i) for i, name in enumerate(names, 1) if name == wanted)


def _header_notices(header: tuple[str, ...], delimiter: str, path: Path, lang: Language) -> Iterator[str]:
    if "" in header:
        yield say("samples.nameless_column", lang, places=_places(list(header), ""))
    if delimiter != "," and path.suffix.lower() not in (".tsv", ".tab"):
        yield say("samples.delimiter", lang, mark="tab" if delimiter == "\t" else delimiter)
