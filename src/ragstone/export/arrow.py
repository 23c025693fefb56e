"""A run as Arrow tables, a batch at a time: what Parquet files and data sets are written from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import orjson

from ragstone.export.columns import Column, Columns, Kind, columns_of, json_of
from ragstone.extras import library

if TYPE_CHECKING:
    from ragstone.export.content import Content, Line, Row

BATCH = 1_000
"""Samples a batch: a row group of Parquet."""
KEY = "ragstone"
"""Where a schema says which run it is, as JSON."""
_HALVES = re.compile("[\ud800-\udfff]")
_LINE = ("kind", "id", "text", "verdict", "evidence", "reason", "quote", "confidence")


class Batches:
    """The samples of a run as Arrow record batches, with verdict lines as lists of structures."""

    def __init__(self, content: Content, extra: str, wanted: str) -> None:
        """Raises ConfigError if pyarrow is missing."""
        self._arrow = library("pyarrow", extra, wanted)
        self._content = content
        self._columns = _with_verdicts(columns_of(content), content.metrics)
        self.facts = facts_of(content)
        fields = [(column.name, self._type(column)) for column in self._columns.columns]
        self.schema = self._arrow.schema(fields, metadata={KEY: orjson.dumps(self.facts)})

    def __iter__(self) -> Iterator[Any]:
        """Yield record batches; a run without samples yields none."""
        lines = self._content.lines()
        while held := list(islice(lines, BATCH)):
            arrays = [self._array(column, held) for column in self._columns.columns]
            yield self._arrow.record_batch(arrays, schema=self.schema)

    def _array(self, column: Column, lines: list[Line]) -> Any:
        values = [_stored(column.of(line), column.kind) for line in lines]
        kind = self._type(column)
        try:
            return self._arrow.array(values, kind)
        except UnicodeEncodeError:
            return self._arrow.array(_whole(values), kind)

    def _type(self, column: Column) -> Any:
        arrow, text = self._arrow, self._arrow.string()
        if column.kind == "verdicts":
            types = {"evidence": arrow.list_(text), "confidence": arrow.float64()}
            return arrow.list_(arrow.struct([(name, types.get(name, text)) for name in _LINE]))
        known = {"texts": arrow.list_(text), "lines": arrow.list_(text), "number": arrow.float64(), "value": arrow.float64()}
        return {**known, "count": arrow.int64(), "flag": arrow.bool_()}.get(column.kind, text)


def facts_of(content: Content) -> Row:
    """Return which run it is and what was measured, small enough to stand beside a table: signature, notice, n/total of each metric."""
    summary = content.summary
    kept = ("metric", "mean", "ci", "n", "total", "failed", "not_applicable", "coverage", "level", "reasons")
    metrics = [{name: value for name, value in m.to_dict().items() if name in kept} for m in summary.metrics]
    facts = {"run": summary.run.to_dict(), "samples": summary.samples, "metrics": metrics}
    found: Row = orjson.loads(json_of(facts))
    return found


def _with_verdicts(columns: Columns, metrics: tuple[str, ...]) -> Columns:
    taken = set(columns.names)
    made = []
    for at, metric in enumerate(metrics):
        name = f"{metric}.verdicts"
        while name in taken:
            name = f"metric.{name}"
        taken.add(name)
        made.append(Column(name, "verdicts", _verdicts(at)))
    return Columns((*columns.columns, *made))


def _verdicts(at: int) -> Any:
    def of(line: Line) -> list[Row] | None:
        cell = line.cells[at]
        return None if cell is None else [_struct(held, cell.status == "ok") for held in cell.verdicts]

    return of


def _struct(held: Row, ok: bool) -> Row:
    line: Row = {name: _text(held.get(name)) for name in _LINE}
    evidence, sure = held.get("evidence"), held.get("confidence")
    line["evidence"] = [str(one) for one in evidence] if isinstance(evidence, list | tuple) else None
    line["confidence"] = float(sure) if ok and isinstance(sure, int | float) and not isinstance(sure, bool) else None
    return line


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json_of(value)


def _stored(value: Any, kind: Kind) -> Any:
    if value is None or kind not in ("json", "number"):
        return value
    return json_of(value) if kind == "json" else float(value)


def _whole(value: Any) -> Any:
    """Return a value without halves of characters, which no UTF-8 can carry."""
    if isinstance(value, str):
        return _HALVES.sub("\ufffd", value)
    if isinstance(value, list | tuple):
        return [_whole(one) for one in value]
    return {name: _whole(one) for name, one in value.items()} if isinstance(value, dict) else value
