"""Rows of a run one by one: checked, made records, told where a cell is missing."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from ragstone.analysis.cells import Cells, RowProblem, checked
from ragstone.errors import RunFolderError
from ragstone.lines import Lines, Row
from ragstone.plain_json import dumped
from ragstone.refusals import bad_row
from ragstone.text import say, screen_language

if TYPE_CHECKING:
    from ragstone.types import Score


def check(name: str, number: int, row: Row) -> tuple[str, str, int]:
    """Return which cell a row is of.

    Raises:
        RunFolderError: the row holds what cannot be; the text names file and line.
    """
    try:
        return checked(row)[:3]
    except RowProblem as bad:
        raise bad_row(name, number, bad) from bad


def digest(row: Row) -> bytes:
    """Return 16 bytes that two rows share if they say the same, in whatever order of their fields."""
    return blake2b(dumped(row, sort=True), digest_size=16).digest()


def digests(rows: Lines) -> dict[tuple[str, str, int], bytes]:
    """Return a digest a cell, of a doubled one that of the last row; raises RunFolderError for a row that cannot be."""
    return {check(rows.where, number, row): digest(row) for _, number, row in rows.read([])}


def filled(row: Row) -> Row:
    """Fill in what a hand-made row may leave out and a record may not."""
    row = {**row, "sample_id": str(row["sample_id"]), "repeat": row.get("repeat") or 0}
    row |= {name: () for name in ("verdicts", "questions") if row.get(name) is None}
    row["detail"] = row.get("detail") or {}
    return row if row["status"] == "ok" or row.get("reason") else {**row, "reason": "unknown"}


def record(kind: type[Score], name: str, number: int, row: Row) -> Score:
    """Return a row as a record; raises RunFolderError where it is none."""
    from pydantic import ValidationError

    try:
        return kind.read(row)
    except ValidationError as bad:
        first = bad.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise RunFolderError(say("results.bad_row", screen_language(), file=name, line=number, problem=f"{field}: {first['msg']}")) from bad


def failed_of(cells: Cells, lines: Lines, names: Iterator[str]) -> Iterator[Row]:
    """Yield one row a failed cell of samples whose ids `names` tells in run order."""
    for at in range(len(cells)):
        name = next(names, None)
        for column in cells.columns.values():
            found = cells.outcome(column, at)
            if found is None or found >= 0 or cells.reason(found)[0] != "failed":
                continue
            place = cells.place(column, at)
            row = {"sample_id": name} if place < 0 else lines.at(place)
            yield {**row, "metric": column.metric, "status": "failed", "reason": cells.reason(found)[1]}


def names_of(metrics: Any) -> list[str]:
    """Return the names a manifest promises; [] for what is no list of names."""
    return [str(name) for name in metrics] if isinstance(metrics, dict | list) else []


def rounded(mean: float | None) -> float | None:
    """Four decimals; 0 and 1 only for what is exactly that."""
    return mean if mean is None or mean in (0, 1) else min(max(round(mean, 4), 0.0001), 0.9999)
