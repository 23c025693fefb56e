"""An embedder that realises the cosines of a truth table exactly: for tests and worked examples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragstone.errors import ScriptError
from ragstone.judge.truth import FromTable, Section, TruthTable
from ragstone.language import fold
from ragstone.text import say, screen_language

if TYPE_CHECKING:
    from ragstone.embed.base import Vector

DIMENSION = 64
"""Length of the vectors made from cosines; longer only when more texts are asked together."""


class ScriptedEmbedder(FromTable):
    """Gives texts the cosines that a truth table holds, to 1e-7 in float32 (0, 1 and -1 exactly).

    `embed` takes the texts of one comparison, the compared text first. Its vector is the first axis; another text whose
    cosine with it is c gets c on that axis and sqrt(1 - c^2) on an axis of its own. So **vectors of different calls must
    not be compared**, and must not be cached by text. Cosines between two later texts mean nothing.

    A call is answered from the section `cosines` (asked in both directions; equal texts have 1) or, if it relates none of
    the texts with the first one, from `vectors`, which must then hold all of them and are returned as they are. A blank
    text gets `embedding_zero`, and so does a text whose vector is all zeros.

    Raises:
        ScriptError: from `embed`, when the section does not hold a text, or its cosine with the first one.
    """

    def __init__(self, table: TruthTable, source: str = "truth table") -> None:
        super().__init__(table, source)
        self._vectors = Section("vectors", table.vectors, source)
        self._pairs = {_pair(one, other): c for one, row in table.cosines.items() for other, c in row.items()}

    requests = 0

    async def embed(self, texts: Sequence[str]) -> list[Vector | str]:
        """Return vectors with the table's cosines to `texts[0]`, in order; raises ScriptError for an unknown pair."""
        present = [text for text in texts if text.strip()]
        if not present:
            return ["embedding_zero"] * len(texts)
        explicit = self._explicit(present)
        # With a blank first text no cosine will be computed, so none has to be known.
        found = explicit or (self._spread(present) if texts[0].strip() else self._unrelated(present))
        by_text = dict(zip(present, found, strict=True))
        return [by_text[text] if text.strip() else "embedding_zero" for text in texts]

    async def close(self) -> None:
        """Nothing is held open."""

    def _explicit(self, texts: Sequence[str]) -> list[Vector | str]:
        """The vectors of the table; none when it lacks one of them or a pair of `cosines` takes precedence."""
        if not all(text in self._vectors for text in texts) or any(_pair(texts[0], text) in self._pairs for text in texts):
            return []
        import numpy as np

        rows = [np.asarray(self._vectors.find(text, "cosine"), dtype=np.float32) for text in texts]
        return [row if row.any() else "embedding_zero" for row in rows]

    def _spread(self, texts: Sequence[str]) -> list[Vector | str]:
        import numpy as np

        axes = {fold(text): axis for axis, text in enumerate(texts)}
        rows: list[Vector | str] = []
        for text in texts:
            number, row = self._cosine(texts[0], text), np.zeros(max(DIMENSION, len(texts)), dtype=np.float64)
            row[0] = number
            if abs(number) < 1:
                row[axes[fold(text)]] = math.sqrt(1 - number * number)
            rows.append(row.astype(np.float32))
        return rows

    def _unrelated(self, texts: Sequence[str]) -> list[Vector | str]:
        import numpy as np

        return list(np.eye(len(texts), max(DIMENSION, len(texts)), dtype=np.float32))

    def _cosine(self, first: str, other: str) -> float:
        number = 1.0 if fold(first) == fold(other) else self._pairs.get(_pair(first, other))
        if number is None:
            raise ScriptError(say("judges.script_pair", screen_language(), source=self._source, text=first, other=other))
        return number


def _pair(one: str, other: str) -> frozenset[str]:
    return frozenset((fold(one), fold(other)))
