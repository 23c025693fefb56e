"""A run as pandas frames: one row a sample, a cell, or a verdict."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ragstone.analysis.slices import expected_behavior
from ragstone.errors import ConfigError
from ragstone.extras import library
from ragstone.text import say, screen_language

if TYPE_CHECKING:
    import pandas

    from ragstone.analysis.cells import Cells, Column

Row = dict[str, Any]

KINDS = ("samples", "cells", "verdicts")
_NAN = float("nan")
_CELL = ("sample_id", "metric", "repeat", "value", "status", "reason")
_VERDICT = ("kind", "id", "text", "verdict", "evidence", "reason")


def pandas_or_hint() -> Any:
    """Return pandas; raises ConfigError with the command that installs it."""
    return library("pandas", "pandas", "run.to_pandas()")


def unknown_kind(kind: object) -> ConfigError:
    """Return the error that names the kinds there are."""
    return ConfigError(say("extras.unknown_kind", screen_language(), kind=repr(kind), known=", ".join(KINDS)))


def samples_frame(cells: Cells, samples: Iterable[Row], rows: Iterable[Row]) -> pandas.DataFrame:
    """Return one row a sample, in run order.

    Args:
        cells: the scores.
        samples: the rows of `samples.jsonl`; none if the run holds none.
        rows: the rows of `scores.jsonl`, in the order they were taken into `cells`.
    """
    held = {str(row["id"]): row for row in samples}
    notes, names = _notes(rows, held)
    columns: dict[str, Any] = {"id": names}
    if held:
        columns |= _texts([held.get(name, {}) for name in names])
    scored: dict[str, Any] = {}
    for column in cells.columns.values():
        scored |= _scores(cells, column, names, notes)
    columns |= _meta([held.get(name, {}) for name in names], columns.keys() | scored.keys())
    pandas = pandas_or_hint()
    return pandas.DataFrame(
        {name: pandas.Series(v, dtype="float64") if isinstance(v, array) else v for name, v in (columns | scored).items()}
    )


def _notes(rows: Iterable[Row], held: Iterable[str]) -> tuple[dict[tuple[str, str], str], list[str]]:
    """The reasons that cells with a value give all the same, and the ids in the order in which `Cells` numbers them."""
    notes, names = dict[tuple[str, str], str](), dict.fromkeys(held)
    for row in rows:
        name = str(row["sample_id"])
        names.setdefault(name)
        if row["status"] == "ok" and row.get("reason"):
            notes[name, str(row["metric"])] = str(row["reason"])
    return notes, list(names)


def _texts(rows: list[Row]) -> dict[str, list[Any]]:
    return {
        "question": [row.get("question") for row in rows],
        "answer": [row.get("answer") for row in rows],
        "contexts": [_contexts(row.get("contexts")) for row in rows],
        "reference": [row.get("reference") or "\n".join(row.get("reference_points") or ()) or None for row in rows],
        "language": [row.get("language") for row in rows],
        "expected_behavior": [expected_behavior(row) if row else None for row in rows],
    }


def _contexts(held: Any) -> list[str] | None:
    return [c if isinstance(c, str) else str(c.get("text", "")) for c in held] if isinstance(held, list) else None


def _meta(rows: list[Row], taken: Iterable[str]) -> dict[str, list[Any]]:
    """Every key of `meta` as a column; one whose name is taken stands under `meta.<key>`."""
    held = [meta if isinstance(meta := row.get("meta"), dict) else {} for row in rows]
    keys = dict.fromkeys(key for meta in held for key in meta if key != "expected_behavior")
    return {f"meta.{key}" if key in taken else key: [meta.get(key) for meta in held] for key in keys}


def _scores(cells: Cells, column: Column, ids: list[str], notes: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    values, states, reasons = array("d"), [], list[str | None]()
    for at, name in enumerate(ids):
        found = cells.outcome(column, at)
        if found is None:
            state: tuple[str | None, str | None] = None, None
        else:
            state = ("ok", notes.get((name, column.metric))) if found >= 0 else cells.reason(found)
        values.append(found if found is not None and found >= 0 else _NAN)
        states.append(state[0])
        reasons.append(state[1])
    return {column.metric: values, f"{column.metric}.status": states, f"{column.metric}.reason": reasons}


def cells_frame(rows: Iterable[Row]) -> pandas.DataFrame:
    """Return one row a stored score: sample, metric, repeat, value, status, reason."""
    pandas = pandas_or_hint()
    held = [{**{name: row.get(name) for name in _CELL}, "repeat": row.get("repeat") or 0} for row in rows]
    return pandas.DataFrame(held, columns=list(_CELL)).astype({"value": "float64", "repeat": "int64"})


def verdicts_frame(rows: Iterable[Row]) -> pandas.DataFrame:
    """Return one row a verdict line: sample, metric, repeat, and the line's kind, id, text, verdict, evidence, reason, confidence."""
    pandas = pandas_or_hint()
    held = [
        [row["sample_id"], row["metric"], row.get("repeat") or 0, *(line.get(name) for name in _VERDICT), _share(line.get("confidence"))]
        for row in rows
        for line in row.get("verdicts") or ()
        if isinstance(line, dict)
    ]
    return pandas.DataFrame(held, columns=["sample_id", "metric", "repeat", *_VERDICT, "confidence"]).astype({"repeat": "int64"})


def _share(held: Any) -> float:
    return float(held) if isinstance(held, int | float) else _NAN
