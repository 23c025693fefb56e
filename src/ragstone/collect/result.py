"""Finding answer and chunks in a result whose names are known: what a Python function returned, a row of a file of answers. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from ragstone.collect.base import Chunk, Found, Reading, Trouble
from ragstone.collect.sizes import too_large
from ragstone.reading.columns import ALIASES
from ragstone.reading.table import kind_of
from ragstone.text import listing, say
from ragstone.types import Language

ANSWER = ("answer", *ALIASES["answer"], "result", "output_text", "content")
CONTEXTS = ("contexts", *ALIASES["contexts"], "context", "source_documents", "source_nodes", "documents", "chunks")
IDS = ("context_ids", *ALIASES["context_ids"])
SCORES, SOURCES, USAGE, ERROR = ("context_scores",), ("context_sources",), ("usage", "usage_metadata", "token_usage"), ("error",)
MESSAGES = ("messages",)
COUNTED = frozenset((*ANSWER, *CONTEXTS, *IDS, *SCORES, *SOURCES, *USAGE, *ERROR, *MESSAGES))
"""Keys of a result that are read, in lower case."""
QUIET = frozenset(ALIASES) | frozenset(ALIASES["question"]) | {"type", "metadata", "chat_history", "sources", "is_dummy_stream"}
"""Keys whose being left unread nobody needs to hear of."""

_TEXT = ("text", "content", "page_content")
_ID = ("id", "chunk_id", "node_id", "doc_id", "document_id", "_id")
_SCORE = ("score", "similarity", "relevance_score", "similarity_score")
_SOURCE = ("source", "file_name", "filename", "file_path", "url", "title")


class Unfit(Exception):
    """A result is not of a shape that can be read; the text says what was found."""


def read_result(body: Any, lang: Language) -> Reading:
    """Find answer and chunks in a result: None, a text, or an object with some of the known keys."""
    if isinstance(body, Mapping):
        try:
            return _read_object({str(key).casefold(): value for key, value in body.items() if value is not None}, body, lang)
        except Unfit as error:
            return Reading(trouble=Trouble("call_failed", str(error)))
    answer = body or ""
    return Reading(Found(answer, None), _blank(answer, lang) or too_large(answer, (), lang))


def unread_keys(body: Any) -> list[str]:
    """Return the keys of a result that mean nothing to ragstone."""
    return [key for key in body if key.casefold() not in COUNTED | QUIET] if isinstance(body, Mapping) else []


def _read_object(values: Mapping[str, Any], body: Mapping[str, Any], lang: Language) -> Reading:
    answer, chunks = _answer(values, lang), _chunks(values, lang)
    usage = _first(values, USAGE)
    found = Found(answer, chunks, dict(usage) if isinstance(usage, Mapping) else None)
    if (error := _first(values, ERROR)) not in (None, "", False):
        return Reading(found, Trouble("platform_error", error if isinstance(error, str) else str(error)))
    names = {str(key).casefold() for key in body}
    if answer is None and (names & {*ANSWER, *MESSAGES}):
        return Reading(found, Trouble("no_answer", say("calling.no_answer", lang)))
    if answer is None and not names & {*CONTEXTS}:
        raise Unfit(_no_key(body, lang))
    return Reading(found, (None if answer is None else _blank(answer, lang)) or too_large(answer, chunks or (), lang))


def _no_key(body: Mapping[str, Any], lang: Language) -> str:
    if not body:
        return say("calling.no_keys", lang)
    text = say("calling.unknown_keys", lang, keys=listing(map(str, body), lang))
    near = [match for key in body for match in get_close_matches(str(key).casefold(), (*ANSWER, *CONTEXTS), n=1, cutoff=0.7)]
    return text + say("calling.nearest", lang, name=near[0]) if near else text


def _blank(answer: str, lang: Language) -> Trouble | None:
    return None if answer.strip() else Trouble("empty_answer", say("calling.empty", lang))


def _first(values: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((values[name] for name in names if values.get(name) is not None), None)


# ------------------------------------------------------------------ the answer
def _answer(values: Mapping[str, Any], lang: Language) -> str | None:
    answer = _first(values, ANSWER)
    if answer is None and isinstance(messages := _first(values, MESSAGES), list) and messages:
        answer = messages[-1]
    return None if answer is None else _text_of(answer, lang)


def _text_of(answer: Any, lang: Language) -> str | None:
    """A text; a message with its `content`; the text blocks of one."""
    if isinstance(answer, str):
        return answer
    if isinstance(answer, Mapping) and "content" in answer:
        return None if answer["content"] is None else _text_of(answer["content"], lang)
    if isinstance(answer, list) and answer and all(_block(item) is not None for item in answer):
        return "".join(_block(item) or "" for item in answer)
    raise Unfit(say("calling.answer_type", lang, found=kind_of(answer, lang)))


def _block(item: Any) -> str | None:
    """The text of one block of a message, "" for one of another kind; None if it is no block."""
    if isinstance(item, str):
        return item
    if isinstance(item, Mapping) and "type" in item:
        return item["text"] if item["type"] == "text" and isinstance(item.get("text"), str) else ""
    return None


# ------------------------------------------------------------------ the chunks
def _chunks(values: Mapping[str, Any], lang: Language) -> tuple[Chunk, ...] | None:
    given = _first(values, CONTEXTS)
    if given is None:
        return None
    if isinstance(given, str):
        given = [given] if given.strip() else []
    if not isinstance(given, list):
        raise Unfit(say("calling.contexts_type", lang, found=kind_of(given, lang)))
    chunks = [_chunk(item, at, lang) for at, item in enumerate(given, 1)]
    ids, scores, sources = (_beside(values, names, len(chunks), lang) for names in (IDS, SCORES, SOURCES))
    return tuple(
        Chunk(chunk.text, chunk.id or _text(i), _number(s) if chunk.score is None else chunk.score, chunk.source or _text(f))
        for chunk, i, s, f in zip(chunks, ids, scores, sources, strict=True)
    )


def _beside(values: Mapping[str, Any], names: Sequence[str], count: int, lang: Language) -> list[Any]:
    """A column that runs beside the chunks."""
    given = _first(values, names)
    if given is None or given == []:
        return [None] * count
    if not isinstance(given, list) or len(given) != count:
        found = len(given) if isinstance(given, list) else kind_of(given, lang)
        raise Unfit(say("calling.uneven", lang, column=names[0], found=found, contexts=count))
    return given


def _chunk(item: Any, at: int, lang: Language) -> Chunk:
    if isinstance(item, str):
        return Chunk(item)
    if isinstance(item, list) and len(item) == 2 and isinstance(item[0], Mapping) and _number(item[1]) is not None:
        item = {**item[0], "score": item[1]}
    if not isinstance(item, Mapping):
        raise Unfit(say("calling.chunk_type", lang, at=at, found=kind_of(item, lang)))
    metadata = item["metadata"] if isinstance(item.get("metadata"), Mapping) else {}
    text = next((item[key] for key in _TEXT if isinstance(item.get(key), str)), None)
    if text is None:
        raise Unfit(say("calling.chunk_text", lang, at=at, keys=listing(map(str, item), lang)))
    identity, score, source = ((_first(item, names), _first(metadata, names)) for names in (_ID, _SCORE, _SOURCE))
    return Chunk(
        text,
        next((name for value in identity if (name := _text(value))), None),
        next((number for value in score if (number := _number(value)) is not None), None),
        next((name for value in source if (name := _text(value))), None),
    )


def _text(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return str(value) if str(value).strip() else None


def _number(value: Any) -> float | None:
    return None if isinstance(value, bool) or not isinstance(value, int | float) else float(value)
