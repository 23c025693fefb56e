"""Open WebUI: `sources`, each with parallel lists of texts, their metadata and their distances."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def read(body: Any) -> Any:
    """Return the body with `chunks`, a list of `{id, text, score, source}`; null where the response has no `sources`."""
    if not isinstance(body, dict):
        return body
    sources = body.get("sources")
    told = list(sources) if isinstance(sources, list) else None
    sent = [data["data"] for data in _sent(body) if isinstance(data.get("data"), dict)]
    if told is None and not sent:
        return {**body, "chunks": None}
    return {**body, "chunks": [chunk for source in (told or sent) if isinstance(source, dict) for chunk in _chunks(source)]}


def _sent(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Sources that a stream sends one by one."""
    events = body.get("events")
    for event in events if isinstance(events, list) else ():
        data = event.get("data") if isinstance(event, dict) else None
        inner = data.get("event") if isinstance(data, dict) else None
        if isinstance(inner, dict) and inner.get("type") in ("source", "citation"):
            yield inner


def _chunks(source: dict[str, Any]) -> Iterator[dict[str, Any]]:
    texts, metadata, distances = (_list(source.get(name)) for name in ("document", "metadata", "distances"))
    about = source.get("source") if isinstance(source.get("source"), dict) else {}
    for at, text in enumerate(texts):
        meta = metadata[at] if at < len(metadata) and isinstance(metadata[at], dict) else {}
        yield {
            "id": meta.get("id") or meta.get("chunk_id"),
            "text": text if isinstance(text, str) else None,
            "score": distances[at] if at < len(distances) else None,
            "source": meta.get("name") or (about or {}).get("name") or meta.get("source"),
            "metadata": meta,
        }


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
