"""A run as Arrow tables, a batch at a time: what Parquet files and data sets are written from."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import orjson

from ragstone.export.columns import Column, Columns, columns_of, named, text_or_json
from ragstone.export.content import Line
from ragstone.extras import library
from ragstone.plain_json import dumped

if TYPE_CHECKING:
    from ragstone.export.content import Content, Row

BATCH = 1_000
"""Samples a batch: a row group of Parquet."""
KEY = "ragstone"
"""Where a schema says which run it is, as JSON."""
_HALVES = re.compile("[\ud800-\udfff]")
_LINE = ("kind", "id", "text", "verdict", "evidence", "reason", "quote", "confidence")
_TEXTS = ("kind", "id", "text", "verdict", "reason", "quote")
"""Fields of a verdict line that are texts."""


Type = Literal["text", "texts", "number", "whole", "flag", "json", "verdicts"]
"""What every value of a column is; `whole` numbers fit into 64 bits, `json` may be anything."""
_TYPES: dict[str, Type] = {"contexts": "texts", "claims": "texts", "value": "number", "verdicts": "verdicts"}
_MOST = 2**63


class Batches:
    """The samples of a run as Arrow record batches, with verdict lines as lists of structures."""

    def __init__(self, content: Content, extra: str, wanted: str) -> None:
        """Goes through the samples once, for the types of their own columns. Raises ConfigError if pyarrow is missing."""
        self._arrow = library("pyarrow", extra, wanted)
        self._content = content
        self._columns = _with_verdicts(columns_of(content, spelled=_spelled), content.metrics)
        own = _types_of(content, [column for column in self._columns.columns if column.kind == "own"])
        self._types = [own[c.name] if c.kind == "own" else _TYPES.get(c.kind, "text") for c in self._columns.columns]
        self.facts = facts_of(content)
        fields = [(name, self._type(kind)) for name, kind in zip(self._columns.names, self._types, strict=True)]
        self.schema = self._arrow.schema(fields, metadata={KEY: orjson.dumps(self.facts)})

    def __iter__(self) -> Iterator[Any]:
        """Yield record batches; a run without samples yields none."""
        lines = self._content.lines()
        while held := list(islice(lines, BATCH)):
            arrays = [self._array(column, kind, held) for column, kind in zip(self._columns.columns, self._types, strict=True)]
            yield self._arrow.record_batch(arrays, schema=self.schema)

    def _array(self, column: Column, kind: Type, lines: list[Line]) -> Any:
        values = [_stored(column.of(line), kind) for line in lines]
        try:
            return self._arrow.array(values, self._type(kind))
        except UnicodeEncodeError:
            return self._arrow.array(_whole(values), self._type(kind))

    def _type(self, kind: Type) -> Any:
        arrow, text = self._arrow, self._arrow.string()
        if kind == "verdicts":
            types = {"evidence": arrow.list_(text), "confidence": arrow.float64()}
            return arrow.list_(arrow.struct([(name, types.get(name, text)) for name in _LINE]))
        known = {"texts": arrow.list_(text), "number": arrow.float64(), "whole": arrow.int64(), "flag": arrow.bool_()}
        return known.get(kind, text)


def facts_of(content: Content) -> Row:
    """Return which run it is and what was measured, small enough to stand beside a table: signature, notice, n/total of each metric."""
    summary = content.summary
    kept = ("metric", "mean", "ci", "n", "total", "failed", "not_applicable", "coverage", "level", "reasons")
    metrics = [{name: value for name, value in m.to_dict().items() if name in kept} for m in summary.metrics]
    facts = {"run": summary.run.to_dict(), "samples": summary.samples, "metrics": metrics}
    found: Row = orjson.loads(dumped(facts))
    return found


def _with_verdicts(columns: Columns, metrics: tuple[str, ...]) -> Columns:
    taken = set(columns.names)
    made = [Column(f"{metric}.verdicts", "verdicts", _verdicts(at)) for at, metric in enumerate(metrics)]
    return Columns((*columns.columns, *(named(column, "metric.", taken, _spelled) for column in made)))


def _spelled(name: str) -> str:
    """A name that Arrow and its readers agree on: half a character is no text to it, and NUL ends a name."""
    return _HALVES.sub("\ufffd", name).replace("\0", "\ufffd")


def _verdicts(at: int) -> Any:
    def of(line: Line) -> list[Row] | None:
        cell = line.cells[at]
        return None if cell is None else [_struct(held, cell.status == "ok") for held in cell.verdicts]

    return of


def _struct(held: Row, ok: bool) -> Row:
    line: Row = {name: text_or_json(held.get(name)) for name in _TEXTS}
    evidence, sure = held.get("evidence"), held.get("confidence")
    line["evidence"] = [str(one) for one in evidence] if isinstance(evidence, list | tuple) else None
    line["confidence"] = float(sure) if ok and isinstance(sure, int | float) and not isinstance(sure, bool) else None
    return line


def _types_of(content: Content, columns: list[Column]) -> dict[str, Type]:
    found: dict[str, Type | None] = {column.name: None for column in columns}
    for sample in content.run.sample_rows([]):
        line = Line(str(sample["id"]), sample, ())
        for column in columns:
            known, kind = found[column.name], _type_of(column.of(line))
            if known is None or kind is None:
                found[column.name] = known or kind
            elif known != kind:
                found[column.name] = "number" if {known, kind} == {"number", "whole"} else "json"
    return {name: kind or "text" for name, kind in found.items()}


def _type_of(value: Any) -> Type | None:
    if value is None:
        return None
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, int):
        return "whole" if -_MOST <= value < _MOST else "json"
    if isinstance(value, float):
        return "number"
    return "texts" if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value) else "json"


def _stored(value: Any, kind: Type) -> Any:
    if value is None:
        return None
    if kind == "texts":
        return [_chunk(one) for one in value] if isinstance(value, list | tuple) else None
    if kind == "number":
        return float(value) if math.isfinite(value) else None
    return dumped(value).decode() if kind == "json" else value


def _chunk(value: Any) -> str:
    held = value.get("text") if isinstance(value, dict) else value
    return text_or_json(held) or ""


def _whole(value: Any) -> Any:
    """Return a value without halves of characters, which no UTF-8 can carry."""
    if isinstance(value, str):
        return _HALVES.sub("\ufffd", value)
    if isinstance(value, list | tuple):
        return [_whole(one) for one in value]
    return {name: _whole(one) for name, one in value.items()} if isinstance(value, dict) else value
