"""The probes of an embeddings endpoint: how many texts it takes at once, and whether each gets its own vector back."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ragstone.doctor.findings import Finding, State
from ragstone.doctor.line import Heard, Line
from ragstone.embed.replies import read_vectors
from ragstone.transport.error_body import ApiError

if TYPE_CHECKING:
    from ragstone.embed.base import Vector

PATH = "embeddings"
SIZES = (32, 16, 10, 4, 1)
"""Texts asked for at once, until as many are taken; a number the refusal names comes first."""
FEW = 4
"""Texts asked for again in another order."""
CLOSE = 1e-3
"""Greatest distance of unit vectors that are still those of one text: some servers compute in half precision, or in batches."""


def texts(count: int) -> list[str]:
    """Return `count` short texts, English and Chinese by turns; the last equals the first if there are more than two."""
    made = [f"The shop opens at {n} o'clock." if n % 2 == 0 else f"{n} 号楼的会议室在三层。" for n in range(count)]
    return [*made[:-1], made[0]] if count > 2 else made


class VectorProbes:
    """The probes in the order they are sent; `findings` grows as they are answered."""

    start = "batch"

    def __init__(self, line: Line, model: str, batch_size: int) -> None:
        self.findings: list[Finding] = []
        self.advice: dict[str, Any] = {}
        self.facts: dict[str, Any] = {}
        self.usable = False
        self.trouble: Heard | None = None
        """What the first request failed with."""
        self._line, self._model, self._wanted = line, model, batch_size
        self._size = SIZES[0]
        self._parameters: dict[str, Any] = {"encoding_format": "float"}

    async def run(self) -> None:
        """Send the probes.

        Raises:
            AuthError, EndpointError: what would stop a run.
        """
        heard = await self._line.ask(PATH, lambda: self._body(texts(self._size)), "data", self._learn, first=True)
        if heard.data is None:
            self.trouble = heard
            self._note("batch", "no", "chat_failed", word=heard.word, message=heard.message)
            return
        self._batch()
        vectors = self._sound(read_vectors(heard.data, self._size))
        if vectors is None:
            return
        self.usable = True
        await self._order(texts(self._size), vectors)

    def taught(self, known: Mapping[str, Any], now: float) -> dict[str, Any]:
        """Return what later runs are spared to learn, by name; `known` is what was kept so far."""
        return dict(self.facts)

    def _note(self, probe: str, state: State, code: str, **values: Any) -> None:
        self.findings.append(Finding(probe, state, code, values))

    def _body(self, some: Sequence[str]) -> dict[str, Any]:
        return {"model": self._model, "input": list(some), **self._parameters}

    def _learn(self, error: ApiError, sure: bool) -> bool:
        """Send a refused parameter no more; take fewer texts where the number may have been the trouble."""
        if named := next((name for name in self._parameters if error.refuses(name)), None):
            del self._parameters[named]
            self.facts["embeddings_dropped"] = {named: f"HTTP {error.status}: {error.message[:200]}"}
            return True
        if self._size == 1 or error.status in (404, 405, 410) or error.model:
            return False
        told = [int(n) for n in re.findall(r"\b\d{1,4}\b", error.message) if 1 <= int(n) < self._size]
        self._size = max(told, default=0) or next(size for size in SIZES if size < self._size)
        return True

    def _batch(self) -> None:
        if "encoding_format" not in self._parameters:
            self._note("encoding", "no", "encoding_refused")
        code = "batch_taken" if self._size == SIZES[0] else "batch_smaller"
        self._note("batch", "yes" if self._size >= self._wanted else "no", code, size=self._size, wanted=self._wanted)
        self.advice["batch_size"] = self._size
        self.facts["batch_size"] = self._size

    def _sound(self, outcomes: Sequence["Vector | str"]) -> "list[Vector] | None":
        """Return the vectors if every text has one and all have one dimension."""
        vectors = [vector for vector in outcomes if not isinstance(vector, str)]
        if len(vectors) < len(outcomes):
            self._note("dimension", "no", "vectors_missing", missing=len(outcomes) - len(vectors), count=len(outcomes))
            return None
        sizes = sorted({vector.size for vector in vectors})
        if len(sizes) > 1:
            self._note("dimension", "no", "dimension_mixed", sizes=", ".join(map(str, sizes)))
            return None
        self._note("dimension", "yes", "dimension_found", size=sizes[0])
        return vectors

    async def _order(self, asked: list[str], vectors: "list[Vector]") -> None:
        """Ask for a few texts the other way round: each must get the vector it had."""
        if len(asked) > 1 and max(_apart(a, b) for a, b in pairwise(vectors[:FEW])) < CLOSE:
            self._note("order", "no", "vectors_alike")
            self.usable = False
            return
        few = list(dict.fromkeys(asked))[:FEW][::-1]
        heard = await self._line.ask(PATH, lambda: self._body(few), "data")
        again = read_vectors(heard.data, len(few)) if heard.data is not None else []
        if not again or any(isinstance(vector, str) or vector.size != vectors[0].size for vector in again):
            self._note("order", "unknown", "not_told", word=heard.word or "embedding_missing")
            return
        self._compare(vectors, [vector for vector in again if not isinstance(vector, str)][::-1])

    def _compare(self, vectors: "list[Vector]", again: "list[Vector]") -> None:
        gaps = [_apart(one, other) for one, other in zip(vectors, again, strict=False)]
        nearest = [min(range(len(again)), key=lambda j: _apart(vectors[i], again[j])) for i in range(len(again))]
        if nearest != list(range(len(again))):
            self._note("order", "no", "order_wrong")
            self.usable = False
            return
        if len(again) > 1:
            self._note("order", "yes", "order_kept")
        gap = max([*gaps, _apart(vectors[0], vectors[-1])])
        code = "equal_exact" if gap == 0 else "equal_close" if gap < CLOSE else "equal_apart"
        self._note("equal", "yes" if gap < CLOSE else "no", code, gap=f"{gap:.0e}")


def _apart(one: "Vector", other: "Vector") -> float:
    """Distance of two vectors brought to unit length."""
    import numpy as np

    return float(np.linalg.norm(one / np.linalg.norm(one) - other / np.linalg.norm(other)))
