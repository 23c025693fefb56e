"""From a row of cells to the fields of a sample, with everything that is wrong with the row."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ragstone.errors import Problem
from ragstone.language import detect
from ragstone.reading.cells import BadCell, Cell, size
from ragstone.reading.columns import NEEDED_BY, Columns
from ragstone.reading.fields import UNREAD, meta_value, read_cell, read_plain
from ragstone.reading.table import Row
from ragstone.text import say
from ragstone.types import Language

JUDGED = ("question", "answer", "contexts", "reference", "reference_contexts")
TELLING = ("question", "answer", "contexts", "error")
"""Fields of which a row must have one."""
_REFERENCE = ("reference", "reference_points", "reference_alternatives")


@dataclass(slots=True)
class Notes:
    """What was seen on the way, for the notices."""

    columns: dict[str, str | None] = field(default_factory=dict)
    """Column of the file -> field, None = meta."""
    plain_contexts: int = 0
    """Rows whose contexts are plain text; `first_plain` is the first of them."""
    first_plain: int | None = None
    context_keys: set[str] = field(default_factory=set)
    doubled: Counter[tuple[str, ...]] = field(default_factory=Counter)
    """Columns that hold the same field, with the number of rows that have them."""


@dataclass(frozen=True, slots=True)
class RowReader:
    """Reads rows of one source."""

    columns: Columns
    textual: bool
    lang: Language
    max_cell: int
    notes: Notes
    gold: bool = False
    """True for a gold set: a row may lack its question, which is told by whoever asks or checks."""

    def read(self, row: Row) -> tuple[dict[str, Any], list[Problem]]:
        """Return the fields of a row (without a made-up id), and its problems; the fields are usable if there are none."""
        values: dict[str, Any] = {}
        origin: dict[str, str] = {}
        meta: dict[str, Any] = {}
        problems: list[Problem] = []
        for column, value in row.cells.items():
            name = self._field(column)
            if name is not None and name in origin:
                problems += self._doubled(row.number, name, origin[name], column)
                continue
            try:
                read = self._cell(name, column, value, row.number)
            except BadCell as error:
                problems.append(Problem(str(error) + self._needed_by(name), row.number, column))
                continue
            finally:
                if name is not None:
                    origin[name] = column
            if name is None or read is UNREAD:
                _keep(meta, column, value if read is UNREAD else read, self.textual)
            elif read is not None:
                values[name] = read
        self._finish(values, meta, origin, row.number, problems)
        return values, problems

    def _field(self, column: str) -> str | None:
        if column not in self.notes.columns:
            self.notes.columns[column] = self.columns.field(column)
        return self.notes.columns[column]

    def _cell(self, name: str | None, column: str, value: Any, number: int) -> Any:
        if name is not None and (plain := read_plain(name, value, self.max_cell)) is not None:
            return plain
        cell = Cell(value, self.textual, self.lang)
        try:
            if (length := size(value)) > self.max_cell:
                raise cell.bad("size", size=f"{length / 1e6:.2f}", limit=f"{self.max_cell / 1e6:g}")
        except UnicodeEncodeError as error:
            raise cell.bad("surrogate", position=error.start) from error
        except RecursionError as error:
            raise cell.bad("unstorable", reason=error) from error
        read = meta_value(cell) if name is None else read_cell(name, cell)
        if name == "contexts" and "plain" in cell.notes:
            self.notes.plain_contexts += 1
            self.notes.first_plain = self.notes.first_plain or number
        self.notes.context_keys |= cell.notes.get("context_key", set())
        return read

    def _doubled(self, number: int, name: str, first: str, second: str) -> list[Problem]:
        # A table doubles a field in every row: told once.
        self.notes.doubled[(first, second)] += 1
        if self.notes.doubled[(first, second)] > 1:
            return []
        text = say("samples.doubled_field", self.lang, field=name, first=first, second=second)
        return [Problem(text, None if self.textual else number, second)]

    def _needed_by(self, name: str | None) -> str:
        metrics = NEEDED_BY.get(name or "", ())
        return say("samples.needed_by", self.lang, metrics=", ".join(metrics)) if metrics else ""

    def _finish(
        self, values: dict[str, Any], meta: dict[str, Any], origin: Mapping[str, str], number: int, problems: list[Problem]
    ) -> None:
        for key, value in values.pop("meta", {}).items():
            if key in meta and meta[key] != value:
                problems.append(Problem(say("samples.doubled_meta", self.lang, key=key), number, key))
            meta[key] = value
        if meta:
            values["meta"] = meta
        problems += self._behavior(values, meta, origin, number)
        if not problems and not any(values.get(name) is not None for name in (*TELLING, *(_REFERENCE if self.gold else ()))):
            problems.append(Problem(say("samples.bare_row", self.lang), number))
        values.setdefault("language", detect(values.get("question"), reference_text(values), values.get("answer")))

    def _behavior(self, values: dict[str, Any], meta: Mapping[str, Any], origin: Mapping[str, str], number: int) -> list[Problem]:
        answerable = values.pop("answerable", None)
        given = values.get("expected_behavior")
        if given is None and meta.get("expected_behavior") is not None:
            try:
                given = values["expected_behavior"] = read_cell(
                    "expected_behavior", Cell(meta["expected_behavior"], self.textual, self.lang)
                )
            except BadCell as error:
                return [Problem(str(error), number, "meta.expected_behavior")]
        if answerable is None:
            return []
        if given is not None and (given == "answer") is not answerable and not (given == "clarify" and answerable):
            return [Problem(say("samples.behavior_differs", self.lang, behavior=given), number, origin["answerable"])]
        if not answerable and given is None:
            values["expected_behavior"] = "refuse"
        return []


def reference_text(values: Mapping[str, Any]) -> str | None:
    """Return the text that stands for the reference of a row, whichever column gives it."""
    if values.get("reference") is not None:
        return str(values["reference"])
    return "\n".join(values.get("reference_points") or values.get("reference_alternatives") or ()) or None


def judged_columns(values: Mapping[str, Any]) -> set[str]:
    """Return the judged columns that a row fills; points and alternatives fill `reference`."""
    filled = {name for name in JUDGED if values.get(name) is not None}
    return filled | ({"reference"} if any(values.get(name) is not None for name in _REFERENCE) else set())


def _keep(meta: dict[str, Any], column: str, value: Any, textual: bool) -> None:
    if not (textual and isinstance(value, str) and not value.strip()):
        meta[column] = value
