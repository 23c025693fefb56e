"""Rows of data frames and data sets that other libraries hold in memory; none of these libraries is imported here."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ragstone.errors import DataError, Problem
from ragstone.reading.parquet import doubled_columns, numbered
from ragstone.reading.table import Row
from ragstone.text import say
from ragstone.types import Language

_BATCH = 256
"""Rows turned into Python objects at a time."""

Records = Callable[[Any], Iterator[dict[Any, Any]]]


@dataclass(frozen=True, slots=True)
class FrameTable:
    """A frame or data set that can be gone through again and again. A row's number is its place, whatever its index."""

    frame: Any
    records: Records
    columns: tuple[str, ...] | None
    lang: Language
    name: str = "samples"
    textual: bool = False
    notices: tuple[str, ...] = ()

    def rows(self) -> Iterator[Row | Problem]:
        """Yield the rows; NaN, NaT and NA become None, arrays and structs lists and objects."""
        return numbered(self.records(self.frame), self.lang)


def frame_table(source: Any, lang: Language) -> FrameTable | None:
    """Return the table of a pandas, polars, Arrow or Hugging Face object, or None for anything else.

    Raises:
        DataError: two columns have one name, or it is a set of splits of which one must be chosen.
    """
    names = {f"{cls.__module__.partition('.')[0]}.{cls.__name__}" for cls in type(source).__mro__}
    if names & _SPLITS:
        splits = list(source)
        raise DataError("samples", [Problem(say("samples.splits", lang, splits=", ".join(splits), first=next(iter(splits), "test")))])
    kind = next((kind for name, kind in _KINDS.items() if name in names), None)
    if kind is None:
        return None
    frame, columns = kind.prepare(source)
    if problems := doubled_columns(columns or [], lang):
        raise DataError("samples", problems)
    return FrameTable(frame, kind.records, None if columns is None else tuple(columns), lang)


# ------------------------------------------------------------------ pandas
def _pandas(frame: Any) -> tuple[Any, list[str]]:
    """An index with a name is a column to those who set it."""
    columns = [str(name) for name in frame.columns]
    return frame, [*(name for name in map(str, filter(None, frame.index.names)) if name not in columns), *columns]


def _pandas_records(frame: Any) -> Iterator[dict[Any, Any]]:
    named = [i for i, name in enumerate(frame.index.names) if name is not None and name not in frame.columns]
    for start in range(0, len(frame), _BATCH):
        piece = frame.iloc[start : start + _BATCH]
        yield from (piece.reset_index(level=named) if named else piece).to_dict("records")


# ------------------------------------------------------------------ polars, Arrow
def _polars(frame: Any) -> tuple[Any, list[str]]:
    held = frame.collect() if hasattr(frame, "collect") else frame
    return held, list(held.columns)


def _polars_records(frame: Any) -> Iterator[dict[Any, Any]]:
    for piece in frame.iter_slices(_BATCH):
        yield from piece.to_dicts()


def _arrow(table: Any) -> tuple[Any, list[str]]:
    return table, list(table.column_names)


def _arrow_records(table: Any) -> Iterator[dict[Any, Any]]:
    for batch in table.to_batches(max_chunksize=_BATCH):
        yield from batch.to_pylist()


# ------------------------------------------------------------------ Hugging Face
def _dataset(dataset: Any) -> tuple[Any, list[str] | None]:
    """Rows come as Python objects, whatever tensors the data set is set to give."""
    return dataset.with_format(None), None if dataset.column_names is None else list(dataset.column_names)


@dataclass(frozen=True, slots=True)
class _Kind:
    prepare: Callable[[Any], tuple[Any, list[str] | None]]
    records: Records


_KINDS = {
    "pandas.DataFrame": _Kind(_pandas, _pandas_records),
    "polars.DataFrame": _Kind(_polars, _polars_records),
    "polars.LazyFrame": _Kind(_polars, _polars_records),
    "pyarrow.Table": _Kind(_arrow, _arrow_records),
    "datasets.Dataset": _Kind(_dataset, iter),
    "datasets.IterableDataset": _Kind(_dataset, iter),
}
"""Library and class -> how it is read; subclasses are read like their base."""
_SPLITS = {"datasets.DatasetDict", "datasets.IterableDatasetDict"}
