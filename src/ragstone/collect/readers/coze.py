"""Coze: a list of messages, or the events of a stream; answers are of type `answer`, what was recalled is JSON in `verbose` ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragstone.collect.events import json_value

_TEXTS = ("slice", "content", "text")
_DEEPEST = 8


def read(body: Any) -> Any:
    """Return the body with `answer`, and `chunks` (a list of `{id, text, score, source}`); null where no message tells them."""
    if not isinstance(body, dict):
        return body
    messages = list(_messages(body))
    if not messages:
        return body
    recalled = [chunks for message in messages if (chunks := _recalled(message)) is not None]
    return {**body, "answer": _answer(messages), "chunks": [chunk for chunks in recalled for chunk in chunks] if recalled else None}


def _messages(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The finished messages; of a stream without any, its deltas."""
    events = body.get("events")
    if not isinstance(events, list):
        data = body.get("data")
        listed = data if isinstance(data, list) else body.get("messages")
        yield from (item for item in (listed if isinstance(listed, list) else ()) if isinstance(item, dict) and "type" in item)
        return
    finished = list(_sent(events, "completed"))
    yield from finished
    if not any(message.get("type") == "answer" for message in finished):
        pieces = [m["content"] for m in _sent(events, "delta") if m.get("type") == "answer" and isinstance(m.get("content"), str)]
        if pieces:
            yield {"type": "answer", "content": "".join(pieces)}


def _sent(events: list[Any], kind: str) -> Iterator[dict[str, Any]]:
    for event in events:
        if isinstance(event, dict) and event.get("event") == f"conversation.message.{kind}" and isinstance(event.get("data"), dict):
            yield event["data"]


def _answer(messages: list[dict[str, Any]]) -> str | None:
    texts = [m["content"] for m in messages if m.get("type") == "answer" and isinstance(m.get("content"), str)]
    return "\n".join(texts) if texts else None


def _recalled(message: dict[str, Any]) -> list[dict[str, Any]] | None:
    """The chunks a message tells, null if it is about something else."""
    content = _value(message.get("content")) if message.get("type") == "verbose" else None
    if not isinstance(content, dict) or content.get("msg_type") != "knowledge_recall":
        return None
    data = _value(content.get("data"))
    chunks = data.get("chunks", data.get("data")) if isinstance(data, dict) else data
    return [_chunk(item) for item in chunks if isinstance(item, dict)] if isinstance(chunks, list) else []


def _value(value: Any, depth: int = 0) -> Any:
    """JSON within JSON, as deep as it was packed."""
    while isinstance(value, str) and depth < _DEEPEST:
        parsed = json_value(value)
        if parsed == value:
            return value
        value, depth = parsed, depth + 1
    return value


def _chunk(item: dict[str, Any]) -> dict[str, Any]:
    meta = item.get("meta") if isinstance(item.get("meta"), dict) else {}
    document = (meta or {}).get("document")
    text = next((item[name] for name in _TEXTS if isinstance(item.get(name), str)), None)
    source = document.get("name") if isinstance(document, dict) else item.get("document_name")
    return {"id": item.get("id") or item.get("slice_id"), "text": text, "score": item.get("score"), "source": source}
