"""A line of the samples file: the gold columns, and what collecting found. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragstone.collect.marks import cleaned

if TYPE_CHECKING:
    from ragstone.collect.base import Application, Chunk, Found, Kept, Reading, Row

COLUMNS = (
    *("answer", "answer_raw", "contexts", "context_ids", "context_scores", "context_sources"),
    *("citations", "latency_s", "usage", "error"),
)
"""Columns that every line has, null where there is nothing."""


def read_row(application: Application, row: Row, kept: Kept) -> dict[str, Any]:
    """Return the line of one row as the application reads what came back for it."""
    reading = application.read(kept)
    return row_of(row, kept, replace(reading, trouble=reading.trouble or kept.trouble))


def row_of(row: Row, kept: Kept, reading: Reading) -> dict[str, Any]:
    """Return the line of one row: its gold columns, and always every one of `COLUMNS`."""
    line = {**row.gold.to_dict(), "id": row.id}
    if row.repeat is not None:
        line["meta"] = {**line.get("meta", {}), "question_id": row.gold.id}
    line |= dict.fromkeys(COLUMNS)
    line["latency_s"] = kept.latency_s
    if reading.found:
        line |= _answer(reading.found)
    if reading.trouble:
        return line | {"error": str(reading.trouble), "citations": None}
    chunks = reading.found.chunks if reading.found else None
    return line if chunks is None else line | _columns(chunks)


def _answer(found: Found) -> dict[str, Any]:
    answer, raw, citations = cleaned(found)
    marks = [citation.model_dump() for citation in citations]
    return {"answer": answer, "answer_raw": raw, "citations": marks or None, "usage": found.usage}


def _columns(chunks: tuple[Chunk, ...]) -> dict[str, Any]:
    """Ids only if every chunk has one: a hole could not be told from an id; scores and sources may have holes."""
    ids = [chunk.id for chunk in chunks]
    scores = [chunk.score for chunk in chunks]
    sources = [chunk.source for chunk in chunks]
    return {
        "contexts": [chunk.text or "" for chunk in chunks],
        "context_ids": ids if chunks and None not in ids else None,
        "context_scores": scores if any(score is not None for score in scores) else None,
        "context_sources": sources if any(source is not None for source in sources) else None,
    }
