"""The cosine of one text with others, as it is stored."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import orjson

if TYPE_CHECKING:
    from ragstone.embed.base import Vector


def cosines(vectors: "Sequence[Vector | str]") -> str:
    """Return {"cosines": […]} of the first vector with each of the others: raw, in [-1, 1], rounded to 6 decimals.

    Vectors are float32; sums are taken in float64 so that the order of a batch leaves no trace.
    """
    import numpy as np

    first, *others = (np.asarray(v, dtype=np.float64) for v in vectors)
    norm = np.sqrt(first @ first)
    values = [round(float(min(1.0, max(-1.0, (first @ v) / (norm * np.sqrt(v @ v))))), 6) for v in others]
    return orjson.dumps({"cosines": values}).decode()
