"""Production traces of one project, page by page: which there are, and each one whole."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from ragstone.errors import EndpointError
from ragstone.langfuse.traces import PRIVATE, is_root, moment_of, root_of
from ragstone.langfuse.window import zulu
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.langfuse.client import Client, Reply
    from ragstone.langfuse.window import Window

Row = dict[str, Any]
OBSERVATIONS, TRACES = "v2/observations", "traces"
"""Where servers 4 (and the cloud), and where servers 3 tell what there is."""
LISTED = "core,basic,trace_context"
WHOLE = "core,basic,io,usage,metrics,trace_context"
MOST = {OBSERVATIONS: 1000, TRACES: 100}
"""Rows of a page at most."""
WHOLE_PAGE = 100
"""Observations with their texts that are read at once: a page should not grow beyond what is read of a reply."""


class UnreadTrace(EndpointError):
    """The server lists a trace, and cannot tell it: others may be read all the same."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A trace as the list of traces tells it."""

    id: str
    timestamp: str
    environment: str | None
    tags: tuple[str, ...]


class Reader:
    """Reads traces by the operations that the server has.

    Raises:
        StoppedError, AuthError, EndpointError: from any request, as the client; for pages of an unknown shape, too.
        UnreadTrace: from `whole`, if this trace alone is not told.
    """

    def __init__(self, client: Client) -> None:
        """Nothing is asked yet."""
        self._client = client
        self._by: str | None = None

    async def listed(self, window: Window, tags: Iterable[str] = ()) -> AsyncIterator[Listed]:
        """Yield every trace that began within the window, each once; with every tag."""
        seen, wanted = set[str](), set(tags)
        pages = self._roots(window) if await self._way(window) == OBSERVATIONS else self._traces(window, wanted)
        async for one in pages:
            if one.id not in seen and wanted <= set(one.tags) and window.holds(moment_of(one.timestamp)):
                seen.add(one.id)
                yield one

    async def whole(self, trace_id: str, window: Window) -> Row | None:
        """Return a trace as {"trace": …, "observations": […]} without what names a person; None if it is not there any more."""
        if await self._way(window) == OBSERVATIONS:
            rows = [row async for row in self._rows({"traceId": trace_id, "fields": WHOLE}, WHOLE_PAGE, UnreadTrace)]
            return {"trace": {}, "observations": [_bare(row) for row in rows]} if root_of(rows) is not None else None
        reply = await self._client.get(f"{TRACES}/{quote(trace_id, safe='')}")
        if reply.status == 404:
            return None
        if not reply.good or not isinstance(reply.body, dict) or not isinstance(reply.body.get("id"), str):
            raise self._strange(reply, TRACES, UnreadTrace)
        rows = [row for row in reply.body.get("observations") or () if isinstance(row, dict)]
        facts = {name: value for name, value in reply.body.items() if name not in ("observations", "scores")}
        return {"trace": _bare(facts), "observations": [_bare(row) for row in rows]}

    # -------------------------------------------------------------- which operations there are
    async def _way(self, window: Window) -> str:
        """Find the operation by asking for one row: servers without it say so, some older ones that they do not know its parameters."""
        if self._by is None:
            reply = await self._client.get(_path(OBSERVATIONS, {"limit": 1, **_span(window, "StartTime")}))
            self._by = OBSERVATIONS if reply.good else TRACES
            if not reply.good and not reply.closed and reply.status != 400:
                raise self._strange(reply, OBSERVATIONS)
        return self._by

    # -------------------------------------------------------------- servers 4
    async def _roots(self, window: Window) -> AsyncIterator[Listed]:
        asked = {**_span(window, "StartTime"), "isRootObservation": "true", "fields": LISTED}
        async for row in self._rows(asked, MOST[OBSERVATIONS]):
            if is_root(row) and isinstance(row.get("traceId"), str):  # servers that do not know the parameter tell all of them
                yield _listed(row, row["traceId"], row.get("startTime"))

    async def _rows(self, asked: Mapping[str, Any], limit: int, kind: type[EndpointError] = EndpointError) -> AsyncIterator[Row]:
        cursor, passed = "", set[str]()
        while True:
            reply = await self._client.get(_path(OBSERVATIONS, {**asked, "limit": limit, **({"cursor": cursor} if cursor else {})}))
            rows, meta = self._page(reply, OBSERVATIONS, kind)
            for row in rows:
                yield row
            passed.add(cursor)
            if not (cursor := str(meta.get("cursor") or "")):
                return
            if cursor in passed:
                raise EndpointError(say("monitored.same_cursor", self._client.host.lang, url=self._client.host.url))

    # -------------------------------------------------------------- servers 3
    async def _traces(self, window: Window, tags: Iterable[str]) -> AsyncIterator[Listed]:
        """The oldest first, from the last one on: neither traces that come in meanwhile nor deleted ones move what is still to be told."""
        asked = {"fields": "core", "orderBy": "timestamp.asc", "limit": MOST[TRACES], "tags": sorted(tags)}
        span, page = _span(window, "Timestamp"), 1
        while True:
            rows, meta = self._page(await self._client.get(_path(TRACES, {**span, **asked, "page": page})), TRACES)
            for row in rows:
                if isinstance(row.get("id"), str):
                    yield _listed(row, row["id"], row.get("timestamp"))
            pages = meta.get("totalPages")
            if not rows or (isinstance(pages, int) and page >= pages):
                return
            last = max(moment_of(row.get("timestamp")) for row in rows)
            since = zulu(last)
            if moment_of(since) > moment_of(span["fromTimestamp"]) and last == moment_of(rows[-1].get("timestamp")):
                span, page = {**span, "fromTimestamp": since}, 1
            else:  # more traces of one moment than a page holds, or a server that does not sort
                page += 1

    # -------------------------------------------------------------- pages
    def _page(self, reply: Reply, path: str, kind: type[EndpointError] = EndpointError) -> tuple[list[Row], Row]:
        body = reply.body
        if not reply.good or not isinstance(body, dict) or not isinstance(body.get("data"), list):
            raise self._strange(reply, path, kind)
        meta = body.get("meta")
        return [row for row in body["data"] if isinstance(row, dict)], meta if isinstance(meta, dict) else {}

    def _strange(self, reply: Reply, path: str, kind: type[EndpointError] = EndpointError) -> EndpointError:
        host = self._client.host
        known = {"url": host.url, "path": f"/api/public/{path}", "status": reply.status}
        if reply.closed and kind is EndpointError:
            return EndpointError(say("monitored.unknown_server", host.lang, **known))
        return kind(host.scrub(say("monitored.strange_page", host.lang, **known, message=reply.message or "–")))


def _listed(row: Row, trace_id: str, timestamp: Any) -> Listed:
    environment, tags = row.get("environment"), row.get("tags")
    named = tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else ()
    return Listed(trace_id, str(timestamp), environment if isinstance(environment, str) else None, named)


def _span(window: Window, name: str) -> dict[str, str]:
    return {f"from{name}": zulu(window.since), f"to{name}": zulu(window.until)}


def _path(path: str, query: Mapping[str, Any]) -> str:
    return f"{path}?{urlencode(query, doseq=True)}"


def _bare(row: Mapping[str, Any]) -> Row:
    return {name: value for name, value in row.items() if name not in PRIVATE}
