"""The cosine of one text with others, as it is stored."""

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from ragstone.embed.base import Vector


def unusable(vectors: "Sequence[Vector | str]") -> str | None:
    """Return why vectors have no cosine: the word in place of one, or `embedding_missing|zero|dimension`; None if they have.

    An embedder of the user's own, or a file, may hold what no endpoint is let through with.
    """
    import numpy as np

    if (word := next((v for v in vectors if isinstance(v, str)), None)) is not None:
        return word
    given = _doubles(vectors)
    if any(v.ndim != 1 or not v.size for v in given):
        return "embedding_missing"
    with np.errstate(over="ignore"):
        squares = [float(v.dot(v)) for v in given]
    if not all(square < math.inf for square in squares):  # false of NaN, too
        return "embedding_missing"
    if not all(squares):
        return "embedding_zero"
    return "embedding_dimension" if len({v.size for v in given}) > 1 else None


def cosines(vectors: "Sequence[Vector | str]") -> str:
    """Return {"cosines": […]} of the first vector with each of the others: raw, in [-1, 1], rounded to 6 decimals.

    Vectors are float32; sums are taken in float64 so that the order of a batch leaves no trace.
    """
    first, *others = _doubles(vectors)
    length = _length(first)
    values = [round(min(1.0, max(-1.0, float(first.dot(v)) / (length * _length(v)))), 6) for v in others]
    return orjson.dumps({"cosines": values}).decode()


def _doubles(vectors: Iterable[Any]) -> list[Any]:
    import numpy as np

    return [v.astype(np.float64) if type(v) is np.ndarray else np.asarray(v, dtype=np.float64) for v in vectors]


def _length(vector: Any) -> float:
    return math.sqrt(vector.dot(vector))
