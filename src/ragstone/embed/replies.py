"""Reads the body of an embeddings response: vectors in the order asked, or the word why one is none."""

import base64
import binascii
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ragstone.embed.base import Vector


def read_vectors(data: dict[str, Any], count: int) -> "list[Vector | str]":
    """Return `count` outcomes in the order of the texts asked: a float32 vector, `embedding_missing` or `embedding_zero`."""
    outcomes: list[Vector | str] = ["embedding_missing"] * count
    rows = data.get("data")
    rows = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    for place, row in _placed(rows, count):
        outcomes[place] = read_vector(row.get("embedding"))
    return outcomes


def _placed(rows: list[dict[str, Any]], count: int) -> list[tuple[int, dict[str, Any]]]:
    """Rows with their places: by `index` if the indices make sense, else as given if none is lacking, else none."""
    indices = [row.get("index") for row in rows]
    if all(isinstance(i, int) and 0 <= i < count for i in indices) and len(set(indices)) == len(rows):
        return [(row["index"], row) for row in rows]
    return list(enumerate(rows)) if len(rows) == count else []


def read_vector(given: Any) -> "Vector | str":
    """Return one embedding as float32: a list of numbers, or base64 of little-endian float32."""
    try:
        vector = _decoded(given) if isinstance(given, str) else _listed(given)
    except (ValueError, TypeError, OverflowError, binascii.Error):
        return "embedding_missing"
    if vector.ndim != 1 or not vector.size or not np.isfinite(vector).all():
        return "embedding_missing"
    if not vector.any():
        return "embedding_zero"
    vector.flags.writeable = False
    return vector


def _listed(given: Any) -> "Vector":
    inner = given[0] if isinstance(given, list) and len(given) == 1 and isinstance(given[0], list) else given
    with np.errstate(over="ignore"):
        return np.asarray(inner, dtype=np.float32)


def _decoded(given: str) -> "Vector":
    return np.frombuffer(base64.b64decode(given, validate=True), dtype="<f4").astype(np.float32)
