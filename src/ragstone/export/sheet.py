"""A workbook written row by row: memory stays flat, and no text of a sample becomes a formula, an error or broken XML."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Literal

from ragstone.extras import library
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.analysis.levels import Levels
    from ragstone.export.columns import Plain
    from ragstone.types import Language

MOST_CHARACTERS, MOST_ROWS, MOST_COLUMNS = 32_767, 1_048_576, 16_384
"""What a cell and a sheet can hold."""
_EXACT = 10**15
"""From here on a spreadsheet rounds whole numbers: order numbers of 18 digits stay whole as text."""
_MEASURED = 100
"""Rows at the head of a sheet that its widths are taken from."""
_ROW_HEIGHT = 60
"""Points: four lines."""
_LEAST_WIDTH, _MOST_WIDTH, _SEEN = 8, 60, 200
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, not even escaped."""

Look = Literal["text", "plain", "strong", "head", "score", "share", "low_share", "good", "doubtful", "bad", "dim", "warning"]
GREEN, YELLOW, RED, GREY = "C6EFCE", "FFEB9C", "FFC7CE", "E7E6E6"


@dataclass(frozen=True, slots=True)
class Title:
    """A column: its name, how its cells look, and how they are coloured by their value."""

    name: str
    look: Look = "text"
    colours: Levels | Literal["scale"] | None = None
    """Limits of green and yellow; `scale` = from the lowest value to the highest."""


def _part(name: str) -> Any:
    """Return a part of openpyxl; raises ConfigError if it is missing. It may be loaded without standing on the whole."""
    library("openpyxl", "xlsx", "--to xlsx")
    return library(f"openpyxl.{name}", "xlsx", "--to xlsx")


class Book:
    """A workbook; sheets stand in the order in which they are made, and can be filled in turns."""

    def __init__(self, lang: Language) -> None:
        """Raises ConfigError if openpyxl is missing."""
        self.made = _part("workbook").Workbook(write_only=True)
        self._new_cell = _part("cell").WriteOnlyCell
        self.lang: Language = lang
        self.cut = 0
        """Texts that were longer than a cell can hold."""
        self._sheets: list[Sheet] = []
        self._looks: dict[tuple[Look, bool], Any] = {}

    def sheet(self, name: str, titles: Sequence[Title], *, wide: bool = False) -> Sheet:
        """Begin a sheet; `wide`: its first column stays in sight, and its rows are equally high, however long their texts."""
        sheet = Sheet(self, name, titles, wide)
        self._sheets.append(sheet)
        return sheet

    def save(self, file: IO[bytes]) -> None:
        """Write the workbook; no row can be added afterwards."""
        for sheet in self._sheets:
            sheet.close()
        self.made.save(file)

    def cell(self, sheet: Any, value: Plain, look: Look) -> Any:
        """Return a cell that shows a value as it is, whatever a text begins with."""
        cell = self._new_cell(sheet)
        quoted = False
        if isinstance(value, int) and abs(value) >= _EXACT:
            value = str(value)
        if isinstance(value, str):
            cell._value = self._held(value)  # as it is: nothing in it is to be found out
            cell.data_type = "s"
            quoted = value[:1] in ("=", "+", "-", "@")
        else:
            cell.value = value
        cell._style = self._style(look, quoted, sheet)
        return cell

    def describe(self, text: str) -> None:
        """Say in the file's properties what it is."""
        self.made.properties.creator = "ragstone"
        self.made.properties.description = _allowed(text) or None

    def _held(self, text: str) -> str:
        text = _allowed(text)
        if 2 * len(text) <= MOST_CHARACTERS or _units(text) <= MOST_CHARACTERS:
            return text
        self.cut += 1
        mark = say("sheets.cut", self.lang, count=len(text))
        text = text[: MOST_CHARACTERS - len(mark)]
        while _units(text) > MOST_CHARACTERS - len(mark):
            text = text[: len(text) - (_units(text) - MOST_CHARACTERS + len(mark) + 1) // 2]
        return text + mark

    def _style(self, look: Look, quoted: bool, sheet: Any) -> Any:
        """Return a style as cells share it: giving each its fonts and fills anew takes most of the time."""
        if (look, quoted) not in self._looks:
            cell = self._new_cell(sheet)
            _dress(cell, look, _part("styles"))
            cell.quotePrefix = quoted
            self._looks[look, quoted] = cell._style
        return self._looks[look, quoted]


class Sheet:
    """One sheet with a frozen head, filters and widths; more rows than a sheet holds go on in a second one."""

    def __init__(self, book: Book, name: str, titles: Sequence[Title], wide: bool) -> None:
        """Use `Book.sheet`."""
        self._book, self._name, self._titles, self._wide = book, name, titles[:MOST_COLUMNS], wide
        self._parts = 0
        self._begin()

    def append(self, values: Sequence[Plain], looks: dict[int, Look] | None = None) -> None:
        """Add a row under the head; `looks`: of cells, by column from 0, that look otherwise than their column."""
        if self._rows == MOST_ROWS:
            self.close()
            self._begin()
        self._rows += 1
        row = [(value, (looks or {}).get(at, title.look)) for at, (value, title) in enumerate(zip(values, self._titles, strict=False))]
        if self._waiting is None:
            self._write(row)
            return
        self._waiting.append(row)
        if len(self._waiting) == _MEASURED:
            self._flush()

    def below(self, rows: Sequence[tuple[Sequence[Plain], dict[int, Look]]]) -> None:
        """Add rows that belong to no column, and to no filter, below the others."""
        self._flush()
        for values, looks in rows:
            self._write([(value, looks.get(at, "plain")) for at, value in enumerate(values)])

    def close(self) -> None:
        """Finish the sheet: filters and colours cover all of its rows."""
        self._flush()
        last = self._rows
        self._sheet.auto_filter.ref = f"A1:{self._letter(len(self._titles))}{last}"
        for at, title in enumerate(self._titles, 1):
            if title.colours is not None and last > 1:
                self._colour(self._letter(at), last, title.colours)
        self._sheet.close()

    def _begin(self) -> None:
        self._parts += 1
        self._sheet = self._book.made.create_sheet(self._name if self._parts == 1 else f"{self._name} {self._parts}")
        self._rows = 1
        self._waiting: list[list[tuple[Plain, Look]]] | None = []

    def _flush(self) -> None:
        if self._waiting is None:
            return
        waiting, self._waiting = self._waiting, None
        for at, title in enumerate(self._titles):
            widest = max((_width(row[at][0]) for row in waiting if at < len(row)), default=0)
            wanted = max(widest, _width(title.name) + 3)
            self._sheet.column_dimensions[self._letter(at + 1)].width = min(max(wanted + 2, _LEAST_WIDTH), _MOST_WIDTH)
        self._sheet.freeze_panes = "B2" if self._wide else "A2"
        if self._wide:
            self._sheet.sheet_format.defaultRowHeight, self._sheet.sheet_format.customHeight = _ROW_HEIGHT, True
            self._sheet.row_dimensions[1].height = 18
        self._write([(title.name, "head") for title in self._titles])
        for row in waiting:
            self._write(row)

    def _write(self, row: Sequence[tuple[Plain, Look]]) -> None:
        self._sheet.append([None if value is None or value == "" else self._book.cell(self._sheet, value, look) for value, look in row])

    def _letter(self, column: int) -> str:
        return str(_part("utils").get_column_letter(column))

    def _colour(self, letter: str, last: int, colours: Levels | Literal["scale"]) -> None:
        rules, cells = _part("formatting.rule"), f"{letter}2:{letter}{last}"
        if colours == "scale":
            ends = {"start_type": "min", "start_color": RED, "mid_type": "percentile", "mid_value": 50, "mid_color": YELLOW}
            self._sheet.conditional_formatting.add(cells, rules.ColorScaleRule(**ends, end_type="max", end_color=GREEN))
            return
        from ragstone.analysis.levels import ROUNDING

        first = f"{letter}2"  # an empty cell counts as 0 unless it is asked whether it holds a number
        limits = ((colours.high - ROUNDING, GREEN), (colours.middle - ROUNDING, YELLOW), (-1, RED))
        for limit, colour in limits:
            fill = _fill(_part("styles"), colour)
            rule = rules.FormulaRule(formula=[f"AND(ISNUMBER({first}),{first}>={limit:.12g})"], fill=fill, stopIfTrue=True)
            self._sheet.conditional_formatting.add(cells, rule)


# ------------------------------------------------------------------ looks and sizes
_FILLS: dict[Look, str] = {"good": GREEN, "doubtful": YELLOW, "bad": RED, "low_share": RED, "dim": GREY, "head": "D9E1F2"}


def _dress(cell: Any, look: Look, styles: Any) -> None:
    cell.alignment = styles.Alignment(wrap_text=look == "text", vertical="top")
    if look in _FILLS:
        cell.fill = _fill(styles, _FILLS[look])
    if look in ("head", "strong", "warning"):
        cell.font = styles.Font(name="Calibri", size=11, bold=True, color="C00000" if look == "warning" else None)
    if look in ("score", "share", "low_share"):
        cell.number_format = "0.000" if look == "score" else "0.0%"


def _fill(styles: Any, colour: str) -> Any:
    return styles.PatternFill("solid", start_color=colour, end_color=colour)


def _allowed(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def _units(text: str) -> int:
    """Characters as a spreadsheet counts them: those beyond the first 65,536 are two."""
    return len(text) + (0 if text.isascii() else sum(letter > "\uffff" for letter in text))


def _width(value: Plain) -> int:
    """Columns that a value takes up: wide characters two; of several lines the longest."""
    if value is None:
        return 0
    if not isinstance(value, str):
        return 6
    lines = value[:_SEEN].splitlines() or [""]
    return max(sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in line) for line in lines)
