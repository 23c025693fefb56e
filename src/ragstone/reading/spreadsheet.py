"""Rows of an XLSX workbook: the first visible sheet, one row after the other."""

import warnings
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Self

from ragstone.errors import DataError, Problem, reason_of
from ragstone.extras import library
from ragstone.reading.table import Row
from ragstone.text import say
from ragstone.types import Language

_BLOCK = 32
"""Rows read at a time."""
_MOST_ROWS = 1_048_576
"""Rows a sheet of this format may have."""
_NOT_AVAILABLE = "#N/A"


@dataclass(frozen=True, slots=True)
class SheetTable:
    """A sheet under one header row. The first row after the header is row 1; blank ones count and are skipped.

    A formula has the value it had when the workbook was saved; one that was never computed is missing, as is #N/A.
    """

    path: Path
    lang: Language
    header: tuple[str, ...] = ()
    """Column names without blanks around them; "" = a column without a name, which is left out."""
    first: int = 0
    """Row of the sheet that holds the header."""
    told: tuple[str, ...] = ()
    nameless: set[int] = field(default_factory=set)
    """Places of columns without a name in which something was found."""
    textual: bool = True

    @classmethod
    def open(cls, path: Path, lang: Language) -> Self:
        """Read and check the header.

        Raises:
            ConfigError: openpyxl is not installed.
            DataError: the file is damaged or protected, there is no usable header, or nothing after it.
        """
        bare = cls(path, lang)
        with bare._workbook() as book:
            sheet = _sheet(book)
            records = bare._filled(sheet)
            first, names = next(records, (0, []))
            below = next(records, None)
            others = [other.title for other in book.worksheets if other is not sheet]
        header = tuple(str(_value(cell) or "").strip() for cell in names)
        if problems := [*_header_problems(header, below, lang)]:
            raise DataError(str(path), problems)
        told = [say("samples.other_sheets", lang, sheet=sheet.title, others=", ".join(others))] if others else []
        return cls(path, lang, header, first, tuple(told))

    @property
    def name(self) -> str:
        """The path as it was given."""
        return str(self.path)

    @property
    def columns(self) -> tuple[str, ...]:
        """The named columns, in file order."""
        return tuple(name for name in self.header if name)

    @property
    def notices(self) -> tuple[str, ...]:
        """Which sheet was read, and which columns were left out for want of a name."""
        letters = ", ".join(_letter(place) for place in sorted(self.nameless))
        return (*self.told, say("samples.nameless_column", self.lang, places=letters)) if letters else self.told

    def rows(self) -> Iterator[Row | Problem]:
        """Yield the rows; damage ends them."""
        try:
            with self._workbook() as book:
                for number, cells in self._filled(_sheet(book)):
                    if number > self.first:
                        yield self._row(number - self.first, cells)
        except DataError as damaged:
            yield from damaged.problems

    def placed(self, problem: Problem) -> Problem:
        """Return the problem with the cell's name as the spreadsheet shows it, such as C7."""
        if problem.row is None or problem.column not in self.header:
            return problem
        cell = f"{_letter(self.header.index(problem.column))}{self.first + problem.row}"
        return replace(problem, text=say("samples.in_cell", self.lang, text=problem.text, cell=cell))

    def _row(self, number: int, cells: list[Any]) -> Row | Problem:
        named: dict[str, Any] = dict.fromkeys(self.columns, "")
        for place, cell in enumerate(cells):
            name = self.header[place] if place < len(self.header) else ""
            if (value := _value(cell)) is None:
                continue
            if not name:
                self.nameless.add(place)
            elif cell.data_type == "e":
                return Problem(say("samples.sheet_error", self.lang, value=value), number, name)
            else:
                named[name] = value
        return Row(number, named)

    @contextmanager
    def _workbook(self) -> Iterator[Any]:
        openpyxl = library("openpyxl", "xlsx", self.name)
        with self._readable():
            file = self.path.open("rb")  # a path would be judged by its extension
        with file:
            with self._readable(), _quiet():
                book = openpyxl.load_workbook(file, read_only=True, data_only=True)
                if not book.worksheets:  # nothing but charts, or its only sheet was cut out of the file
                    raise ValueError("no worksheet")
            yield book
            book.close()

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Whatever goes wrong inside is the file's fault: openpyxl raises what its zip, XML and number readers raise."""
        try:
            yield
        except OSError as bad:
            raise DataError(self.name, [Problem(say("samples.unreadable", self.lang, reason=reason_of(bad, self.lang)))]) from bad
        except Exception as bad:
            raise DataError(self.name, [Problem(say("samples.damaged", self.lang, format="XLSX", reason=bad))]) from bad

    def _filled(self, sheet: Any) -> Iterator[tuple[int, list[Any]]]:
        """Yield (row of the sheet, cells) of every row that holds something."""
        with self._readable():
            sheet.reset_dimensions()  # programs write wrong ones, and rows beyond would be lost
            rows = enumerate(sheet.iter_rows(), 1)
        while True:
            with self._readable(), _quiet():
                block = list(islice(rows, _BLOCK))
                if block and block[-1][0] > _MOST_ROWS + _BLOCK:  # up to the number a row claims to have, blank ones come
                    raise ValueError(f"row {block[-1][0]}")
            if not block:
                return
            yield from ((number, list(cells)) for number, cells in block if any(_value(cell) is not None for cell in cells))


def holds_sheet(path: Path) -> bool:
    """True for a ZIP file that is an XLSX workbook, or was meant to be one and is cut off."""
    try:
        with zipfile.ZipFile(path) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return path.suffix.lower() in (".xlsx", ".xlsm")


def _sheet(book: Any) -> Any:
    return next((sheet for sheet in book.worksheets if sheet.sheet_state == "visible"), book.worksheets[0])


def _value(cell: Any) -> Any:
    """What a cell says: text, a number, true or false; None for a blank one. Dates and times are ISO 8601 text."""
    value = cell.value
    if isinstance(value, str):
        blank = not value.strip() or (cell.data_type == "e" and value == _NOT_AVAILABLE)
        return None if blank else _unescaped(value)
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return str(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and str(cell.number_format).endswith("%"):
        return f"{100 * value:.12g}%"
    return value


def _unescaped(text: str) -> str:
    if "_x" not in text:
        return text
    from openpyxl.utils.escape import unescape

    return str(unescape(text))


def _letter(place: int) -> str:
    from openpyxl.utils import get_column_letter

    return str(get_column_letter(place + 1))


@contextmanager
def _quiet() -> Iterator[None]:
    # openpyxl warns of styles and validations that it does not keep; nothing here is written back.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _header_problems(header: tuple[str, ...], below: tuple[int, list[Any]] | None, lang: Language) -> Iterator[Problem]:
    if not any(header):
        yield Problem(say("samples.no_rows", lang))
    elif below is None:
        yield Problem(say("samples.only_header", lang))
    elif sum(map(bool, header)) == 1 < sum(_value(cell) is not None for cell in below[1]):
        yield Problem(say("samples.sheet_title", lang, title=next(filter(None, header))))
    for name, count in Counter(filter(None, header)).items():
        if count > 1:
            places = ", ".join(_letter(i) for i, other in enumerate(header) if other == name)
            yield Problem(say("samples.doubled_header", lang, places=places), column=name)
