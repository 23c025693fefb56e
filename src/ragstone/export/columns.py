"""The columns of a wide table: a row a sample, its own columns first, then value, status and reason of each metric, then claims."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from ragstone.analysis.pooled import base_name
from ragstone.analysis.slices import expected_behavior
from ragstone.plain_json import dumped

if TYPE_CHECKING:
    from ragstone.export.content import Cell, Content, Line, Row

Kind = Literal["own", "contexts", "value", "status", "reason", "claims", "verdicts"]
"""What a column holds: `own` what samples hold, `contexts` chunks as stored, `value`, `status`, `reason` those of a metric, `claims`
a list of texts to be read one below the other, `verdicts` verdict lines. Any value may be None."""
Plain = str | int | float | bool | None

_FIRST, _LAST = ("question", "answer", "contexts", "reference"), ("language", "expected_behavior")
_GOOD = frozenset(("supported", "covered"))


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
        """Return a sample's values as one cell each can hold: lists and objects as text."""
        return [flat(column.of(line), column.kind) for column in self.columns]


def columns_of(content: Content, reserved: Collection[str] = (), spelled: Callable[[str], str] = str) -> Columns:
    """Return the columns of a run; one whose name is taken gets `sample.`, `metric.` or `meta.` before it.

    Args:
        content: the run.
        reserved: names that no column may have, for a writer's own columns.
        spelled: how a name is written.
    """
    fields = list(_fields_of(content))
    behaviour = "expected_behavior" in fields
    keys = [key for key in content.meta_keys if not (behaviour and key == "expected_behavior")]
    taken = {*reserved, "id"}
    own = [Column("id", "own", lambda line: line.id), *(named(_field(name), "sample.", taken, spelled) for name in fields)]
    scored = [named(column, "metric.", taken, spelled) for column in (*_scores(content.metrics), *_claim_columns(content.metrics))]
    meta = [named(Column(key, "own", _meta(key)), "meta.", taken, spelled) for key in keys]
    return Columns((*own, *meta, *scored))


def flat(value: Any, kind: Kind) -> Plain:
    """Return a value as one cell can hold it: claims one below the other, other lists and objects as JSON; None for no number."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return ("\n".join(map(str, value)) or None) if kind == "claims" else json_text(value)


def json_text(value: object) -> str:
    """Return a value as JSON, a list with an item a line, so that a person can read it in a cell."""
    if isinstance(value, list | tuple) and len(value) > 1:
        return "[" + ",\n ".join(dumped(item).decode() for item in value) + "]"
    return dumped(value).decode()


def text_or_json(value: Any) -> str | None:
    """Return a text as it is, anything else as JSON; None for None."""
    return value if value is None or isinstance(value, str) else dumped(value).decode()


def named(column: Column, prefix: str, taken: set[str], spelled: Callable[[str], str] = str) -> Column:
    """Return a column under a name that is not `taken`, with `prefix` before it as often as that takes; the name is taken then."""
    name = str(column.name)
    while not name.strip() or spelled(name) in taken:
        name = prefix + name
    taken.add(spelled(name))
    return replace(column, name=spelled(name))


# ------------------------------------------------------------------ what samples hold
def _fields_of(content: Content) -> Iterator[str]:
    if content.has_samples:
        yield from _FIRST
        yield from (name for name in content.fields if name not in (*_FIRST, *_LAST))
        yield from (name for name in _LAST if name in content.fields or (name == _LAST[1] and name in content.meta_keys))


def _field(name: str) -> Column:
    if name == "expected_behavior":
        return Column(name, "own", lambda line: expected_behavior(line.sample))
    return Column(name, "contexts" if name == "contexts" else "own", lambda line: line.sample.get(name))


def _meta(key: str) -> Callable[[Line], Any]:
    def read(line: Line) -> Any:
        held = line.sample.get("meta")
        return held.get(key) if isinstance(held, dict) else None

    return read


# ------------------------------------------------------------------ what the metrics say
def _scores(metrics: tuple[str, ...]) -> Iterator[Column]:
    for at, metric in enumerate(metrics):
        yield Column(metric, "value", _reader(at, lambda cell: cell.value if cell.status == "ok" else None))
        yield Column(f"{metric}.status", "status", _reader(at, lambda cell: cell.status))
        yield Column(f"{metric}.reason", "reason", _reader(at, lambda cell: text_or_json(cell.reason)))


def _reader(at: int, read: Callable[[Cell], Any]) -> Callable[[Line], Any]:
    def of(line: Line) -> Any:
        cell = line.cells[at]
        return None if cell is None else read(cell)

    return of


def _claim_columns(metrics: tuple[str, ...]) -> Iterator[Column]:
    grounded, wanted = (
        [at for at, metric in enumerate(metrics) if base_name(metric) in names]
        for names in (("faithfulness",), ("context_recall", "answer_correctness"))
    )
    if grounded:
        yield Column("unsupported_claims", "claims", _claims(grounded, _unsupported))
    if wanted:
        yield Column("missing_claims", "claims", _claims(wanted, _missing))


def _claims(places: list[int], says: Callable[[Cell, Row], str | None]) -> Callable[[Line], list[str] | None]:
    """The claims of a sample that do not hold, as `a1 contradicted: text`; [] = every one holds, None = none was looked at."""

    def of(line: Line) -> list[str] | None:
        cells = [cell for at in places if (cell := line.cells[at]) is not None]
        if not any(cell.status == "ok" or cell.verdicts for cell in cells):
            return None
        lost = [says(cell, verdict) for cell in cells for verdict in cell.verdicts if not _holds(verdict)]
        return list(dict.fromkeys([said for said in lost if said]))

    return of


def _unsupported(_: Cell, verdict: Row) -> str:
    return _claim(verdict)


def _missing(cell: Cell, verdict: Row) -> str | None:
    return f"{base_name(cell.metric)} {_claim(verdict)}" if verdict.get("kind") == "reference_claim" else None


def _holds(verdict: Row) -> bool:
    word = verdict.get("verdict")
    return isinstance(word, str) and word in _GOOD


def _claim(verdict: Row) -> str:
    text = " ".join(str(verdict.get("text") or "").split())
    return f"{verdict.get('id', '?')} {verdict.get('verdict', '?')}: {text}"
