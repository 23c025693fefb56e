"""Rows of a Parquet file, a few at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from ragstone.errors import DataError, Problem
from ragstone.extras import library
from ragstone.reading.plain import plain
from ragstone.reading.table import Row
from ragstone.text import say
from ragstone.types import Language

_BATCH = 256
"""Rows turned into Python objects at a time."""


@dataclass(frozen=True, slots=True)
class ParquetTable:
    """Rows of typed columns; null and NaN are missing. A row's number is its place."""

    path: Path
    lang: Language
    columns: tuple[str, ...] = ()
    textual: bool = False
    notices: tuple[str, ...] = ()

    @classmethod
    def open(cls, path: Path, lang: Language) -> Self:
        """Read the column names.

        Raises:
            ConfigError: pyarrow is not installed.
            DataError: the file is damaged, or two columns have one name.
        """
        with cls(path, lang)._file() as file:
            names = list(file.schema_arrow.names)
        if doubled := doubled_columns(names, lang):
            raise DataError(str(path), doubled)
        return cls(path, lang, tuple(name for name in names if not name.startswith("__index_level_")))

    @property
    def name(self) -> str:
        """The path as it was given."""
        return str(self.path)

    def rows(self) -> Iterator[Row | Problem]:
        """Yield the rows; damage ends them."""
        try:
            with self._file() as file:
                yield from numbered(self._records(file), self.lang)
        except DataError as damaged:
            yield from damaged.problems

    def _records(self, file: Any) -> Iterator[dict[str, Any]]:
        batches = file.iter_batches(batch_size=_BATCH, columns=list(self.columns))
        while True:
            with self._readable():  # Arrow holds what Python cannot: dates beyond the year 9999, text that is not UTF-8
                batch = next(batches, None)
                records = [] if batch is None else batch.to_pylist()
            if batch is None:
                return
            yield from records

    @contextmanager
    def _file(self) -> Iterator[Any]:
        parquet = library("pyarrow.parquet", "parquet", self.name)
        with self._readable():
            file = parquet.ParquetFile(self.path)
        try:
            yield file
        finally:
            file.close()

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Whatever goes wrong inside is the file's fault; pyarrow's own errors are OSError and ValueError as well."""
        try:
            yield
        except Exception as bad:
            raise DataError(self.name, [Problem(say("samples.damaged", self.lang, format="Parquet", reason=bad))]) from bad


def numbered(records: Iterator[dict[Any, Any]], lang: Language) -> Iterator[Row | Problem]:
    """Yield records of a library as rows, their values in the types of JSON; a problem for one that holds itself or is too deep."""
    for number, record in enumerate(records, 1):
        try:
            yield Row(number, {str(column): plain(value) for column, value in record.items()})
        except RecursionError as error:
            yield Problem(say("samples.bad_unstorable", lang, reason=error), number)


def doubled_columns(names: list[str], lang: Language) -> list[Problem]:
    """Return a problem for every name that several columns have."""
    doubled = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    return [
        Problem(
            say("samples.doubled_header", lang, places=", ".join(str(i) for i, other in enumerate(names, 1) if other == name)), column=name
        )
        for name in doubled
    ]
