"""The seam between the driver and whatever embeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from ragstone.judge.base import Identity

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Anything that embeds texts. Raises StoppedError when the whole run must stop."""

    @property
    def identity(self) -> Identity:
        """Model and endpoint."""
        ...

    @property
    def requests(self) -> int:
        """Requests sent so far; 0 where nothing is sent."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[Vector | str]:
        """Return one float32 vector a text, in order; in place of a vector the failure word of that text.

        Words: embedding_missing, embedding_zero, embedding_dimension, or a transport word (timeout, connection, …).
        """
        ...

    async def close(self) -> None:
        """Release connections and threads."""
        ...
