"""Reads the body of an embeddings response: vectors in the order asked, or the word why one is none."""

import base64
import binascii
import math
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ragstone.embed.base import Vector


def shows_vectors(data: dict[str, Any]) -> bool:
    """Return whether a body has a place for vectors: `data`, or `embeddings` as some servers of their own kind have it."""
    return "data" in data or isinstance(data.get("embeddings"), list | dict)


def read_vectors(data: dict[str, Any], count: int) -> "list[Vector | str]":
    """Return `count` outcomes in the order of the texts asked: a float32 vector, `embedding_missing` or `embedding_zero`."""
    outcomes: list[Vector | str] = ["embedding_missing"] * count
    placed = _placed(_rows(_given(data)), count)
    given = [row.get("embedding") for _, row in placed]
    for (place, _), vector in zip(placed, _block(given) or map(read_vector, given), strict=True):
        outcomes[place] = vector
    return outcomes


def _block(given: list[Any]) -> "list[Vector] | None":
    """All vectors in one go where each is plain and sound, which takes a third of the time; else None."""
    size = len(given[0]) if given and isinstance(given[0], list) else 0
    if not size or not all(isinstance(numbers, list) and len(numbers) == size for numbers in given):
        return None
    try:
        raw = b"".join([struct.pack(f"{size}f", *numbers) for numbers in given])
    except (struct.error, OverflowError):
        return None
    block = np.frombuffer(raw, dtype=np.float32).reshape(-1, size)
    squares: list[float] = np.einsum("ij,ij->i", block, block).tolist()
    return list(block) if all(0 < square < math.inf for square in squares) else None


def sends_base64(data: dict[str, Any]) -> bool:
    """Return whether the vectors came as base64 texts."""
    return any(isinstance(row.get("embedding"), str) for row in _rows(_given(data)[:1]))


def _given(data: dict[str, Any]) -> list[Any]:
    given = data.get("data")
    if given is None:
        given = data.get("embeddings")
        given = given.get("float") if isinstance(given, dict) else given
    return given if isinstance(given, list) else []


def _rows(given: list[Any]) -> list[dict[str, Any]]:
    return [row if isinstance(row, dict) else {"embedding": row} for row in given]


def _placed(rows: list[dict[str, Any]], count: int) -> list[tuple[int, dict[str, Any]]]:
    """Rows with their places: by `index` where the indices make sense, as given where they say nothing, else none.

    Counted from 1 they make sense too. Indices that start above 0 while rows are missing may be counted either way, and
    such that repeat or reach too far belong to no text for sure: then nothing is taken.
    """
    indices = [_index(row.get("index")) for row in rows]
    if len(set(indices)) <= 1:
        return list(enumerate(rows)) if len(rows) == count else []
    places = [i for i in indices if i is not None]
    if len(places) < len(rows) or len(set(places)) < len(rows):
        return []
    first = 1 if min(places) == 1 and len(rows) == count else 0
    if min(places) - first < 0 or max(places) - first >= count or (min(places) > 0 and len(rows) < count):
        return []
    return [(place - first, row) for place, row in zip(places, rows, strict=True)]


def _index(given: Any) -> int | None:
    if type(given) is int:
        return given
    if isinstance(given, str) and given.isascii() and given.isdigit():
        return int(given[:9])
    if isinstance(given, float) and given.is_integer():
        return int(given)
    return None


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
