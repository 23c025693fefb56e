"""Rows that are in memory already: dicts, samples, anything that iterates over them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ragstone.errors import DataError, Problem
from ragstone.reading.frames import FrameTable, frame_table
from ragstone.reading.plain import plain
from ragstone.reading.table import Row, kind_of
from ragstone.text import say
from ragstone.types import Language, Sample


@dataclass(frozen=True, slots=True)
class MemoryTable:
    """Mappings or samples that can be gone through again and again. A row's number is its place."""

    items: Iterable[Any]
    lang: Language
    name: str = "samples"
    textual: bool = False
    columns: None = None
    notices: tuple[str, ...] = ()

    def rows(self) -> Iterator[Row | Problem]:
        """Yield the rows; NaN, NaT and NA, which data frames write for "nothing there", become None, arrays become lists."""
        for number, item in enumerate(self.items, 1):
            if isinstance(item, Sample):
                yield Row(number, _sample_cells(item))
            elif isinstance(item, Mapping):
                yield self._row(number, item)
            else:
                yield Problem(say("samples.not_an_object", self.lang, found=kind_of(item, self.lang)), number)

    def _row(self, number: int, item: Mapping[Any, Any]) -> Row | Problem:
        try:
            return Row(number, {str(key): plain(value) for key, value in item.items()})
        except RecursionError as error:  # a list that holds itself
            return Problem(say("samples.bad_unstorable", self.lang, reason=error), number)


def memory_table(source: Any, lang: Language) -> MemoryTable | FrameTable:
    """Return rows or a data frame in memory as a table; an iterator, which can be gone through only once, is read into a list.

    Raises:
        DataError: `source` is not a list of rows.
    """
    if (frame := frame_table(source, lang)) is not None:
        return frame
    if hasattr(source, "columns") and (hasattr(source, "to_dict") or hasattr(source, "to_dicts")):
        how = "frame.to_dicts()" if hasattr(source, "to_dicts") else 'frame.to_dict("records")'
        raise DataError("samples", [Problem(say("samples.frame", lang, how=how))])
    if isinstance(source, Mapping):
        raise DataError("samples", [Problem(say("samples.mapping_for_rows", lang))])
    if isinstance(source, bytes | bytearray) or not isinstance(source, Iterable):
        raise DataError("samples", [Problem(say("samples.value_for_array", lang, found=kind_of(source, lang)))])
    return MemoryTable(list(source) if isinstance(source, Iterator) else source, lang)


def _sample_cells(sample: Sample) -> dict[str, Any]:
    cells = sample.to_dict()
    if "language" not in sample.model_fields_set:
        # Not chosen by anyone: it is found from the text, as for every other row.
        del cells["language"]
    return cells
