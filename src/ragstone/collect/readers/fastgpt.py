"""FastGPT: search nodes anywhere in `responseData` (or a stream's `flowResponses`), and the results of a search without an answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragstone.collect.expressions import search
from ragstone.collect.values import text_of

_FORMS = ("userSelect", "formInput")
_DEEPEST = 64


def read(body: Any) -> Any:
    """Return the body with `chunks`, a list of `{id, text, score, source}`; null where no search node tells what it found.

    A chunk whose text the server left out has `text` null.
    """
    if not isinstance(body, dict):
        return body
    nodes = _nodes(body)
    if nodes is None and "data" in body and "choices" not in body:
        return _searched(body)
    shaped = {**body, "chunks": _chunks(nodes) if isinstance(nodes, list) else None, "interactive": _interactive(body, nodes)}
    if not body.get("error") and not _answer(body) and (failed := _failure(nodes)):
        shaped["error"] = failed
    message = search("choices[0].message", body)
    if isinstance(nodes, list) and isinstance(message, dict) and message.get("content") is None:
        shaped["choices"] = [{**body["choices"][0], "message": {**message, "content": ""}}]
    return shaped


def _nodes(body: dict[str, Any]) -> Any:
    """The nodes of the flow: whole, at the end of a stream, or one by one in a stream."""
    for name in ("responseData", "flowResponses"):
        if body.get(name) is not None:
            return body[name]
    events = body.get("events")
    sent = [event for event in events if isinstance(event, dict)] if isinstance(events, list) else []
    return [event.get("data") for event in sent if event.get("event") == "flowNodeResponse"] or None


def _searched(body: dict[str, Any]) -> dict[str, Any]:
    """A search without an answer: `data.list`, in older versions `data` itself."""
    data = body["data"]
    found = data.get("list") if isinstance(data, dict) else data
    return {**body, "chunks": [_chunk(item) for item in found if isinstance(item, dict)]} if isinstance(found, list) else body


def _chunks(nodes: list[Any]) -> list[dict[str, Any]] | None:
    """Chunks of all search nodes in their order; null if there are search nodes, but none tells its chunks."""
    searches = [node for node in walked(nodes) if _searches(node)]
    found = [node for node in searches if node.get("moduleType") == "datasetSearchNode" and isinstance(node.get("quoteList"), list)]
    # the AI node of some versions tells once more what the search nodes have found
    told = [node["quoteList"] for node in found or searches if isinstance(node.get("quoteList"), list)]
    if searches and not told:
        return None
    return [_chunk(item) for quotes in told for item in quotes if isinstance(item, dict)]


def _searches(node: dict[str, Any]) -> bool:
    return node.get("moduleType") == "datasetSearchNode" or isinstance(node.get("quoteList"), list)


def walked(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Yield every node of a flow, those inside tools, plugins and loops after the one that holds them."""
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        if "moduleType" in value or "quoteList" in value:
            yield value
        inner = [item for key, item in value.items() if key != "quoteList" and isinstance(item, list | dict)]
    else:
        inner = value if isinstance(value, list) else []
    for item in inner:
        yield from walked(item, depth + 1)


def _chunk(item: dict[str, Any]) -> dict[str, Any]:
    return {**item, "text": _text(item), "source": item.get("sourceName")}


def _text(item: dict[str, Any]) -> str | None:
    texts = [item.get(name) for name in ("q", "a")]
    if all(text is None for text in texts):
        return None
    return "\n".join(text for text in texts if isinstance(text, str) and text)


def _interactive(body: dict[str, Any], nodes: Any) -> Any:
    """The form a flow shows instead of answering; nodes that had one are asked only where there is no answer."""
    if body.get("interactive") or _answer(body):
        return body.get("interactive")
    asking = (node.get("interactive") or (node if node.get("moduleType") in _FORMS else None) for node in walked(nodes))
    return next((form for form in asking if form), None)


def _answer(body: dict[str, Any]) -> str:
    return (text_of(search("choices[0].message.content", body)) or "").strip()


def _failure(nodes: Any) -> Any:
    """What the last node says went wrong."""
    last = nodes[-1] if isinstance(nodes, list) and nodes and isinstance(nodes[-1], dict) else {}
    return last.get("error") or last.get("errorText")
