"""How large what is judged may be. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragstone.collect.base import Trouble
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.collect.base import Chunk
    from ragstone.types import Language

MOST = 1_000_000
"""Bytes an answer, or the chunks of a row together, may have: a larger cell of the samples file could not be read again."""


def too_large(answer: str | None, chunks: Sequence[Chunk], lang: Language) -> Trouble | None:
    """Return the trouble with an answer or chunks that a file of samples cannot hold."""
    if answer is not None and len(answer.encode()) > MOST:
        return Trouble("too_large", say("mapping.answer_too_large", lang, size=len(answer.encode())))
    size = sum(len(chunk.text.encode()) for chunk in chunks if chunk.text is not None)
    return Trouble("too_large", say("mapping.chunks_too_large", lang, size=size)) if size > MOST else None
