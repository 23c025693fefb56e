"""The cosine of one text with others, as it is stored."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

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
    given = [np.asarray(v, dtype=np.float64) for v in vectors]
    if any(v.ndim != 1 or not v.size or not np.isfinite(v).all() for v in given):
        return "embedding_missing"
    if not all(v.any() for v in given):
        return "embedding_zero"
    return "embedding_dimension" if len({v.size for v in given}) > 1 else None


def cosines(vectors: "Sequence[Vector | str]") -> str:
    """Return {"cosines": […]} of the first vector with each of the others: raw, in [-1, 1], rounded to 6 decimals.

    Vectors are float32; sums are taken in float64 so that the order of a batch leaves no trace.
    """
    import numpy as np

    first, *others = (np.asarray(v, dtype=np.float64) for v in vectors)
    norm = np.sqrt(first @ first)
    values = [round(float(min(1.0, max(-1.0, (first @ v) / (norm * np.sqrt(v @ v))))), 6) for v in others]
    return orjson.dumps({"cosines": values}).decode()
