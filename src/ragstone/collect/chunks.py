"""The retrieved chunks in a response: text, id, score and source of each, in rank order. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ragstone.collect.answer import kind_of
from ragstone.collect.base import Chunk, Trouble
from ragstone.collect.expressions import search
from ragstone.collect.template import CHUNK_ID
from ragstone.collect.values import label_of, number_of, text_of
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.collect.spec import Spec
    from ragstone.types import Language

_TEXTS = ("text", "content", "page_content", "page_text", "pageContent", "document", "segment.content", "node.text", "chunk")
_SCORES = ("score", "similarity", "relevance_score", "rerank_score", "metadata.score", "metadata.relevance_score")
_SOURCES = (
    *("source", "document_name", "sourceName", "title", "filename", "file_name", "document_keyword", "docnm_kwd", "filepath", "url"),
    *("metadata.source", "metadata.file_name", "metadata.title", "metadata.file_path", "meta.file_path", "meta.source"),
)
"""Where applications usually put these, for a mapping that does not say."""

Gathered = tuple[tuple[Chunk, ...] | None, tuple[tuple[int, Any], ...], Trouble | None]


def chunks_in(spec: Spec, body: Any, later: Sequence[Any], lang: Language) -> Gathered:
    """Return the chunks of a row's responses (None = not exposed), those without text with their index, and the trouble."""
    raw = _raw(spec, body, later)
    if raw is None:
        return None, (), None
    items = _items(spec, raw)
    if items is None:
        return None, (), Trouble("no_chunk_text", say("mapping.contexts_no_list", lang, kind=kind_of(raw, lang)))
    chunks = tuple(chunk_of(spec, item) for item in items)
    return chunks, tuple((at, item) for at, (item, c) in enumerate(zip(items, chunks, strict=True)) if c.text is None), None


def _raw(spec: Spec, body: Any, later: Sequence[Any]) -> Any:
    for path in (step.contexts for step in reversed(spec.then) if step.per == "answer" and step.contexts):
        for reply in reversed(later):
            if (found := search(path, reply)) is not None:
                return found
    return None if spec.contexts is None else search(spec.contexts, body)


def _items(spec: Spec, raw: Any) -> list[Any] | None:
    """The chunks one by one; a text is one chunk, an object is one chunk or holds chunks under its keys."""
    if isinstance(raw, list):
        return [item for item in raw if item is not None]
    if isinstance(raw, str):
        return [raw] if raw.strip() else []
    if isinstance(raw, dict):
        if not raw:
            return []
        if chunk_of(spec, raw).text is not None:
            return [raw]
        inner = raw.get("chunks")
        held = inner if isinstance(inner, list) else list(raw.values())
        return held if all(isinstance(item, dict) for item in held) else None
    return None


def chunk_of(spec: Spec, item: Any) -> Chunk:
    """Return one chunk as the mapping reads it."""
    if not isinstance(item, dict):
        return Chunk(chunk_text(spec, item))
    text = search(spec.context_text, item) if spec.context_text else _first(_TEXTS, item)
    score = search(spec.context_score, item) if spec.context_score else _first(_SCORES, item)
    source = search(spec.context_source, item) if spec.context_source else _first(_SOURCES, item)
    return Chunk(chunk_text(spec, text), label_of(search(spec.context_id or CHUNK_ID, item)), number_of(score), label_of(source))


def chunk_text(spec: Spec, value: Any) -> str | None:
    """Return a chunk's text without what `strip_context` takes out, None if there is none."""
    text = text_of(value)
    if text is None:
        return None
    for pattern in spec.strip_context:
        text = re.sub(pattern, "", text)
    return text


def _first(paths: tuple[str, ...], item: dict[str, Any]) -> Any:
    for path in paths:
        value = search(path, item) if "." in path else item.get(path)
        if value is not None and not isinstance(value, dict):
            return value
    return None
