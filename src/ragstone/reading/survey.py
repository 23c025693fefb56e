"""The first pass over a source: every problem, the ids, counts and fingerprints. It keeps no row."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from ragstone.errors import DataError, Problem
from ragstone.reading.citations import strip_citations
from ragstone.reading.columns import ALIASES, misspelt
from ragstone.reading.fingerprints import Fingerprint, gold_row, judged_row
from ragstone.reading.row_ids import RowIds
from ragstone.reading.rows import JUDGED, TELLING, Notes, RowReader, judged_columns
from ragstone.reading.spreadsheet import SheetTable
from ragstone.reading.table import Row, Table
from ragstone.text import say
from ragstone.types import Language, Sample


def survey_rows(table: Table, reader: RowReader, limit: int | None, strip: bool) -> "Survey":
    """Go through all rows once (twice if a made-up id meets a given one further down) and return what was found.

    Raises:
        DataError: all problems of the source.
    """
    survey = Survey(table, reader, limit, strip)
    survey.run()
    if survey.ids.clashes:
        survey = Survey(table, replace(reader, notes=Notes()), limit, strip, survey.ids)
        survey.run()
    return survey


def build_sample(values: dict[str, Any], strip: bool) -> Sample:
    """Return the sample of a row's fields, its citation marks taken out if wanted."""
    sample = Sample(**values)
    return strip_citations(sample) if strip else sample


class Survey:
    """What one pass found. `earlier` are the ids of an earlier pass: no made-up id may take one that was given there."""

    def __init__(self, table: Table, reader: RowReader, limit: int | None, strip: bool, earlier: RowIds | None = None) -> None:
        self.table, self.reader, self.limit, self.strip = table, reader, limit, strip
        self.problems: list[Problem] = []
        self.ids = RowIds(earlier)
        self.filled: Counter[str] = Counter()
        self.languages: Counter[Language] = Counter()
        self.rows = self.errors = self.made = 0
        self.gold, self.judged = Fingerprint(), Fingerprint()

    def run(self) -> None:
        """Look at every row.

        Raises:
            DataError: all problems found.
        """
        for row in islice(self.table.rows(), self.limit):
            self.rows += 1
            if isinstance(row, Problem):
                self.problems.append(row)
            else:
                self._look(row)
        self._look_at_columns()
        if self.problems:
            found = map(self.table.placed, self.problems) if isinstance(self.table, SheetTable) else self.problems
            raise DataError(self.table.name, sorted(found, key=lambda p: (p.row is not None, p.row or 0)))

    @property
    def columns(self) -> frozenset[str]:
        """Judged columns that at least one row fills."""
        return frozenset(name for name in JUDGED if self.filled[name])

    @property
    def missing(self) -> dict[str, int]:
        """Judged column -> rows without it, those whose collection failed left out."""
        return {name: self.rows - self.errors - self.filled[name] for name in JUDGED}

    def notices(self) -> Iterator[str]:
        """Yield what a person should know about the source."""
        lang, notes = self.reader.lang, self.reader.notes
        yield from self.table.notices
        if renamed := ", ".join(f"{column} → {name}" for column, name in notes.columns.items() if name and column != name):
            yield say("samples.aliases", lang, renamed=renamed)
        if kept := [column for column, name in notes.columns.items() if name is None]:
            yield say("samples.kept_as_meta", lang, columns=", ".join(kept))
        for column in kept:
            if near := misspelt(column):
                yield say("samples.misspelt", lang, column=column, near=near)
        yield from self._gaps()
        if notes.plain_contexts:
            yield say("samples.plain_contexts", lang, rows=notes.plain_contexts, first=notes.first_plain)
        if notes.context_keys:
            yield say("samples.context_keys", lang, keys=", ".join(sorted(notes.context_keys)))

    def _gaps(self) -> Iterator[str]:
        lang = self.reader.lang
        for name in JUDGED:
            if self.filled[name] and self.missing[name] > 0:
                yield say("samples.missing_in_rows", lang, column=name, missing=self.missing[name], rows=self.rows - self.errors)
        if self.errors:
            yield say("samples.error_rows", lang, errors=self.errors, rows=self.rows)

    def _look(self, row: Row) -> None:
        values, problems = self.reader.read(row)
        if given := values.get("id"):
            problems += self._take(given, row.number)
        else:
            self.made += 1
            values["id"] = self.ids.make(values.get("question"), row.number)
        self.problems += problems
        if problems:
            return
        sample = build_sample(values, self.strip)
        if (asked := gold_row(sample)) is not None:
            self.gold.add(asked)
        self.judged.add(judged_row(sample))
        self.languages[sample.language] += 1
        if sample.error is not None and not self.reader.gold:
            self.errors += 1
        else:
            self.filled.update(judged_columns(values))

    def _take(self, given: str, number: int) -> list[Problem]:
        first = self.ids.take(given, number)
        if first == number:
            return []
        column = next((c for c, name in self.reader.notes.columns.items() if name == "id"), "id")
        return [Problem(say("samples.doubled_id", self.reader.lang, id=given, first=first, second=number), number, column)]

    def _look_at_columns(self) -> None:
        notes, lang = self.reader.notes, self.reader.lang
        seen = dict.fromkeys([*(self.table.columns or ()), *notes.columns])
        found = ", ".join(seen)
        if not self.rows:
            self.problems.append(Problem(say("samples.no_rows", lang)))
        elif notes.columns and not any(field not in (None, "id") for field in notes.columns.values()):
            whole = [problem for problem in self.problems if problem.row is None]
            self.problems = [*whole, Problem(say("samples.no_known_column", lang, found=found, known=", ".join(ALIASES)))]
        elif not set(TELLING) & set(notes.columns.values()):
            bare = say("samples.bare_row", lang)
            rest = [problem for problem in self.problems if problem.text != bare]
            if len(rest) < len(self.problems):
                self.problems = [*rest, Problem(say("samples.no_question_column", lang, found=found))]
        if seen:
            for name, column in self.reader.columns.mapped.items():
                if column not in seen:
                    self.problems.append(Problem(say("samples.map_absent", lang, field=name, found=found), column=column))
