"""The columns of a wide table: a row a sample, its own columns first, then value, status and reason of each metric."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import orjson

from ragstone.analysis.slices import expected_behavior

if TYPE_CHECKING:
    from ragstone.export.content import Cell, Content, Line

Kind = Literal["text", "texts", "lines", "number", "count", "flag", "json", "value", "status", "reason", "verdicts"]
"""What a column holds: `texts` a list of texts, `lines` the same to be read one below the other, `count` whole numbers of 64 bits,
`json` anything, `verdicts` verdict lines; `value`, `status`, `reason` those of a metric. Any value may be None."""
Plain = str | int | float | bool | None

UNSUPPORTED = "unsupported_claims"
"""The column of claims of the answer that the contexts contradict or do not hold."""
_FIELDS = ("question", "answer", "contexts", "reference", "language", "expected_behavior")
_KINDS: dict[str, Kind] = {name: "texts" if name == "contexts" else "text" for name in _FIELDS}
_MOST = 2**63


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, which no other has, what it holds, and how it is read off a sample."""

    name: str
    kind: Kind
    of: Callable[[Line], Any]


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table, in order."""

    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The header."""
        return tuple(column.name for column in self.columns)

    def row(self, line: Line) -> list[Any]:
        """Return a sample's values as they are: texts, numbers, lists; None for what is not there."""
        return [column.of(line) for column in self.columns]

    def flat_row(self, line: Line) -> list[Plain]:
        """Return a sample's values as one cell each can hold: lists and tables as text."""
        return [flat(column.of(line), column.kind) for column in self.columns]


def columns_of(content: Content) -> Columns:
    """Return the columns of a run: those of `run.to_pandas()` under the same names, what else its samples hold, unsupported claims.

    The samples are gone through once.
    """
    fields, meta = _held(content)
    scores = [*_scores(content.metrics), *_unsupported(content.metrics)]
    made = [Column("id", "text", lambda line: line.id), *(_field(name, kind) for name, kind in fields.items())]
    taken = {column.name for column in made}
    scores = [_named(column, "metric.", taken) for column in scores]
    own = [_named(Column(key, kind, _meta(key)), "meta.", taken) for key, kind in meta.items()]
    return Columns((*made, *own, *scores))


def flat(value: Any, kind: Kind) -> Plain:
    """Return a value as one cell can hold it: lines one below the other, other lists and tables as JSON."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return "\n".join(map(str, value)) if kind == "lines" and isinstance(value, list | tuple) else json_of(value)


def json_of(value: Any) -> str:
    """Return a value as JSON; what JSON has not becomes its text."""
    try:
        return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    except (TypeError, ValueError):  # a lone surrogate, or a number of more than 64 bits
        return json.dumps(value, default=str)


# ------------------------------------------------------------------ what samples hold
def _held(content: Content) -> tuple[dict[str, Kind], dict[Any, Kind]]:
    """Return the columns of the samples besides `id`, and the keys of their `meta`."""
    fields, meta, held = dict[str, Kind | None](), dict[Any, Kind | None](), False
    for sample in content.run.sample_rows([]):
        held = True
        for name, value in sample.items():
            if name not in ("id", "meta", *_FIELDS):
                _widen(fields, name, value)
        own = sample.get("meta")
        for key, value in own.items() if isinstance(own, dict) else ():
            if key != "expected_behavior":
                _widen(meta, key, value)
    known: dict[str, Kind] = {**_KINDS, **_settled(fields)} if held else {}
    return known, _settled(meta)


def _widen(kinds: dict[Any, Kind | None], name: Any, value: Any) -> None:
    known, found = kinds.get(name), _kind(value)
    if known is None or found is None:
        kinds[name] = known or found
    elif known != found:
        kinds[name] = "number" if {known, found} == {"number", "count"} else "json"


def _settled(kinds: dict[Any, Kind | None]) -> dict[Any, Kind]:
    return {name: kind or "text" for name, kind in kinds.items()}


def _kind(value: Any) -> Kind | None:
    if value is None:
        return None
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, int):
        return "count" if -_MOST <= value < _MOST else "json"
    if isinstance(value, float):
        return "number"
    return "texts" if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value) else "json"


def _field(name: str, kind: Kind) -> Column:
    read = {"contexts": _contexts, "reference": _reference, "expected_behavior": _behavior}.get(name)
    if read is not None:
        return Column(name, kind, read)
    if name in _KINDS:
        return Column(name, kind, lambda line: _text(line.sample.get(name)))
    return Column(name, kind, lambda line: line.sample.get(name))


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json_of(value)


def _contexts(line: Line) -> list[str] | None:
    """The texts of the chunks: None = not exposed by the application, [] = nothing retrieved."""
    held = line.sample.get("contexts")
    if not isinstance(held, list | tuple):
        return None
    return [str(chunk.get("text") or "") if isinstance(chunk, dict) else str(chunk) for chunk in held]


def _reference(line: Line) -> str | None:
    points = line.sample.get("reference_points")
    joined = "\n".join(map(str, points)) if isinstance(points, list | tuple) else None
    return _text(line.sample.get("reference")) or joined or None


def _behavior(line: Line) -> str | None:
    return expected_behavior(line.sample) if line.sample.keys() - {"id"} else None


def _meta(key: Any) -> Callable[[Line], Any]:
    def read(line: Line) -> Any:
        held = line.sample.get("meta")
        return held.get(key) if isinstance(held, dict) else None

    return read


# ------------------------------------------------------------------ what the metrics say
def _scores(metrics: tuple[str, ...]) -> Iterator[Column]:
    for at, metric in enumerate(metrics):
        yield Column(metric, "value", _reader(at, lambda cell: cell.value if cell.status == "ok" else None))
        yield Column(f"{metric}.status", "status", _reader(at, lambda cell: cell.status))
        yield Column(f"{metric}.reason", "reason", _reader(at, lambda cell: _text(cell.reason)))


def _reader(at: int, read: Callable[[Cell], Any]) -> Callable[[Line], Any]:
    def of(line: Line) -> Any:
        cell = line.cells[at]
        return None if cell is None else read(cell)

    return of


def _unsupported(metrics: tuple[str, ...]) -> Iterator[Column]:
    if "faithfulness" in metrics:
        at = metrics.index("faithfulness")
        yield Column(UNSUPPORTED, "lines", _reader(at, _claims))


def _claims(cell: Cell) -> list[str] | None:
    """Claims that cost faithfulness points, as `a1 contradicted: text`; [] = every one is supported, None = not measured."""
    if cell.status != "ok":
        return None
    lost = (line for line in cell.verdicts if line.get("verdict") in ("contradicted", "not_found"))
    return [f"{line.get('id', '?')} {line['verdict']}: {line.get('text') or ''}" for line in lost]


def _named(column: Column, prefix: str, taken: set[str]) -> Column:
    """Return a column under a name that no other has: with a prefix, as often as need be, if its own is taken or blank."""
    name = str(column.name)
    while name in taken or not name.strip():
        name = prefix + name
    taken.add(name)
    return Column(name, column.kind, column.of)
