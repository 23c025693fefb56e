"""What a retriever found, in any of the shapes in which its observation holds it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ragstone.langfuse.messages import blocks_in

LISTS = (
    *("documents", "contexts", "chunks", "passages", "source_documents", "source_nodes", "nodes", "results", "records", "hits", "matches"),
    *("points", "objects", "value", "retrievalresults", "retrieval_results", "reference", "references", "文档", "段落"),
    *("items", "quotelist", "quote_list", "retriever_resources", "context", "docs", "data", "result", "output", "list"),
)
"""Keys under which the list of passages stands, the surest first."""
TEXTS = (
    *("text", "content", "page_content", "pagecontent", "chunk", "passage", "body", "document", "snippet"),
    *("content_with_weight", "chunk_text", "document.content", "内容", "文本", "正文"),
)
INNER = (
    "node",
    "doc",
    "segment",
    "document",
    "payload",
    "entity",
    "fields",
    "_source",
    "properties",
    "kwargs",
    "text_resource",
    "content",
    "chunk",
    "metadata",
)
"""Keys of an object within a passage that may hold its text, id or source."""
BESIDE = (
    *("source_documents", "source_nodes", "contexts", "retrieved_contexts", "retrieved_documents", "retriever_resources", "quotelist"),
    *("context", "chunks", "passages"),
)
"""Keys under which an application returns the passages beside its answer, the surest first."""
BESIDE_AS_OBJECTS = ("documents", "docs", "references", "reference", "sources")
"""Keys under which they stand as objects; texts there are names or addresses."""
IDS = ("id", "chunk_id", "segment_id", "node_id", "id_", "_id", "doc_id", "document_id", "document.id")
SCORES = ("score", "similarity", "relevance_score", "similarity_score", "_score", "document.score")
SOURCES = ("source", "sourcename", "source_name", "document_name", "document_keyword", "file_name", "filename", "file_path", "url", "title")
DEEPEST = 4
"""Objects within objects that are looked into."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One retrieved text."""

    text: str
    id: str | None = None
    score: float | None = None
    source: str | None = None


def passages_in(output: Any) -> tuple[Passage, ...] | None:
    """Return what was retrieved, in its order; () = nothing was, None = the output does not tell."""
    return _found(output, DEEPEST)


def passages_beside(output: Any) -> tuple[Passage, ...] | None:
    """Return the passages that an application returns together with its answer; None if it returns none.

    An empty list tells nothing here: many applications have the field and fill it only if they are asked to.
    """
    return _beside(output, DEEPEST)


def _beside(output: Any, depth: int) -> tuple[Passage, ...] | None:
    if not depth or not isinstance(output, list | Mapping):
        return None
    if isinstance(output, Mapping):
        low = _lowered(output)
        told = [low[name] for name in BESIDE if isinstance(low.get(name), list | Mapping)]
        told += [value for name in BESIDE_AS_OBJECTS if isinstance(value := low.get(name), list | Mapping) and not _texts(value)]
        lists = (_found(value, depth) for value in told)
        if found := next((one for one in lists if one), None):
            return found
    inner = output.values() if isinstance(output, Mapping) else output
    return next((found for one in inner if (found := _beside(one, depth - 1))), None)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(one, str) for one in value)


def _found(output: Any, depth: int) -> tuple[Passage, ...] | None:
    if isinstance(output, str):
        return (Passage(output),) if output.strip() else None
    if isinstance(output, list):
        return _of_list(output, depth)
    if not depth or not isinstance(output, Mapping):
        return None
    low = _lowered(output)
    lists = (_found(low[name], depth - 1) for name in LISTS if isinstance(low.get(name), list | Mapping))
    found = next((one for one in lists if one is not None), None)
    if found is not None:
        return found
    if isinstance(low.get("content"), list):  # what a tool of MCP returns: a block for each
        return _found(low["content"], depth - 1)
    one = _passage(low)
    if one is None and isinstance(low.get("context"), str):
        return _found(low["context"], depth - 1)
    if one is not None:
        return (one,)
    others = (_of_list(value, 0) for value in low.values() if isinstance(value, list) and all(isinstance(each, Mapping) for each in value))
    return next((found for found in others if found), None)


def _of_list(output: list[Any], depth: int) -> tuple[Passage, ...] | None:
    """() of an empty list; None if it is filled and holds no text."""
    passages = tuple(_each(output, depth))
    return passages if passages or not output or all(one == [] for one in output) else None


def _each(items: list[Any], depth: int) -> Iterator[Passage]:
    for item in items:
        if isinstance(item, str):
            yield from (Passage(item),) if item.strip() else ()
        elif _scored(item):
            yield from (Passage(one.text, one.id, float(item[1]), one.source) for one in _each([item[0]], depth))
        elif _row(item):
            yield Passage(max((one for one in item if isinstance(one, str)), key=len))
        elif isinstance(item, list) and depth:  # a list for each of several queries
            yield from _each(item, depth - 1)
        elif isinstance(item, Mapping) and (one := _passage(_lowered(item))) is not None:
            yield one


def _scored(item: Any) -> bool:
    """True for a passage with its score beside it, as some stores return them."""
    return isinstance(item, list) and len(item) == 2 and isinstance(item[0], str | Mapping) and _number(item[1]) is not None


def _row(item: Any) -> bool:
    """True for the row of a table: texts and numbers side by side; the longest of its texts is the passage."""
    return (
        isinstance(item, list)
        and any(isinstance(one, str) and one.strip() for one in item)
        and any(_number(one) is not None for one in item)
        and not any(isinstance(one, Mapping | list) for one in item)
    )


def _passage(item: Mapping[str, Any]) -> Passage | None:
    inside = list(_inside(item))
    places = [item, *inside, *(place for one in inside for place in _inside(one))]
    text = next((found for place in places if (found := _text(place)) is not None), None)
    if text is None:
        return None
    score = next((number for place in places for name in SCORES if (number := _number(place.get(name))) is not None), None)
    return Passage(text, _name(places, IDS), score, _name(places, SOURCES))


def _inside(item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    yield from (_lowered(value) for name in INNER if isinstance(value := item.get(name), Mapping))


def _text(place: Mapping[str, Any]) -> str | None:
    found = next((value for name in TEXTS if isinstance(value := place.get(name), str) and value.strip()), None)
    if found is not None:
        return found
    if blocks := next((text for name in TEXTS if (text := _joined(place.get(name)))), None):
        return blocks
    halves = [value for name in ("q", "a") if isinstance(value := place.get(name), str) and value.strip()]
    return "\n".join(halves) or None


def _joined(blocks: Any) -> str | None:
    """The text of a passage that is told in blocks or pieces."""
    texts = blocks if isinstance(blocks, list) and all(isinstance(one, str) for one in blocks) else None
    return "\n\n".join(texts) if texts else blocks_in(blocks)


def _name(places: list[Mapping[str, Any]], names: tuple[str, ...]) -> str | None:
    values = (place.get(name) for place in places for name in names)
    told = (str(value) for value in values if isinstance(value, str | int) and not isinstance(value, bool))
    return next((text for text in told if text.strip()), None)


def _number(value: Any) -> float | None:
    if isinstance(value, list):  # FastGPT: a score of each stage, the last one counts
        value = value[-1].get("value") if value and isinstance(value[-1], Mapping) else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _lowered(item: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(key).casefold(): value for key, value in item.items()}
