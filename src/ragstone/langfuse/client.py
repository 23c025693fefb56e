"""Requests to one Langfuse server: what is asked again, what ends everything, and what is the caller's to judge."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from ragstone.errors import AuthError, EndpointError, StoppedError
from ragstone.transport.answer import Answer
from ragstone.transport.error_body import is_page, read_error
from ragstone.transport.exchange import DONE, Spared, Step, Tally
from ragstone.transport.retry import Backoff, demanded, retry_after
from ragstone.transport.wire import Sleep, Wire

if TYPE_CHECKING:
    from ragstone.langfuse.access import Host
    from ragstone.transport.endpoint import Endpoint
    from ragstone.transport.stops import Stops

API = "api/public"
CONCURRENCY = 4
"""Requests on their way at once: the rate limits are per minute, more would only wait."""
RETRIES, RETRIES_AT_FIRST = 7, 3
"""How often a request is sent again: for about a minute, the span of the rate limits; for a few seconds as long as nobody has answered."""
TIMEOUT = 60.0
"""Seconds one try may take."""
MOST_FAILING = 20
"""Requests in a row that end in a server error, however often they are sent again: the server is broken then, not the request."""
LONGEST = 400
"""Characters of the server's own words that are kept."""
_WORDS = {408: "timeout", 429: "rate_limited", 502: "bad_gateway", 503: "bad_gateway", 504: "bad_gateway"}


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server said to one request."""

    status: int
    body: Any
    """The JSON value; None if there was none."""
    message: str = ""
    """Of a refusal: the server's words, without secrets."""

    @property
    def good(self) -> bool:
        """True if the request was taken, 207 included."""
        return 200 <= self.status < 300

    @property
    def closed(self) -> bool:
        """True if this server has no such operation."""
        return self.status in (404, 405, 410, 501)


@dataclass(frozen=True, slots=True)
class Project:
    """The project that the keys open."""

    id: str
    name: str


class _Call:
    """One request, and the reply it got."""

    spared: Spared = None

    def __init__(self, method: str, body: bytes = b"", headers: Mapping[str, str] | None = None, *, keys: bool = False) -> None:
        self.tally = Tally()
        self.method, self.headers, self.keys = method, headers, keys
        """`keys`: it asks what the keys open, so that a refusal is theirs."""
        self.reply: Reply | None = None
        self._body = body

    def body(self) -> bytes:
        """The body, the same at every try."""
        return self._body


class _Sorting:
    """Sorts the answers of one server for the wire."""

    def __init__(self, host: Host, stops: Stops, waits: Callable[[float | None], None]) -> None:
        self._host, self._stops, self._waits = host, stops, waits

    def sort(self, answer: Answer, data: Any, call: _Call, url: str) -> tuple[Step, bool]:
        """Return what follows, and whether the server has taken the request. Raises StoppedError for what would meet every request."""
        status = answer.status
        if 200 <= status < 300:
            if data is None and answer.raw.strip() not in (b"", b"null"):
                raise self._stop(EndpointError, "foreign", answer, data, asked=self._host.scrub(url))
            call.reply = Reply(status, data)
            return DONE, True
        if 300 <= status < 400:
            raise self._stop(EndpointError, "redirected", answer, data, target=answer.target)
        if status in (408, 425, 429) or (status >= 500 and status != 501):
            return self._passing(answer, data, call), False
        if status == 401:
            raise self._stop(AuthError, "keys_refused", answer, data)
        if status in (402, 403) and not is_page(answer.raw):
            kind, name = (AuthError, "no_project") if call.keys else (StoppedError, "suspended")
            raise self._stop(kind, name, answer, data)
        call.reply = Reply(status, data, said(answer, data, self._host))
        return DONE, False

    def _passing(self, answer: Answer, data: Any, call: _Call) -> Step:
        status, headers = answer.status, answer.headers
        message = said(answer, data, self._host)
        after = retry_after(headers)
        if status == 429:
            call.tally.rate_limits += 1
            after = demanded(headers, message)
            self._waits(after)
        call.reply = Reply(status, data, message)
        return Step("wait", _WORDS.get(status, "server_error"), message, after, status == 429, status)

    def _stop(self, kind: type[StoppedError], name: str, answer: Answer, data: Any, **values: object) -> StoppedError:
        told = {"status": answer.status, "message": said(answer, data, self._host), **values}
        return self._stops.stop(kind, name, None, **told)


class Client:
    """A Langfuse server as its caller sees it: replies to judge, or the exception that ends everything.

    408, 425, 429, 5xx and lost connections are asked again, `RETRIES` times, when the server says or after growing waits.

    Raises:
        AuthError: from any request: the keys are not taken, or open no project.
        EndpointError: from any request: nobody answers there, or something that is no Langfuse.
        StoppedError: from any request: the server takes nothing from this project now.
    """

    def __init__(
        self,
        host: Host,
        *,
        backoff: Backoff | None = None,
        sleep: Sleep = asyncio.sleep,
        waits: Callable[[float | None], None] = lambda _: None,
    ) -> None:
        """`waits` hears of every request that was refused because of a rate limit, with the seconds it is to wait."""
        self.host, self._waits = host, waits
        self._retried = self._failing = 0
        self._wire = Wire(
            host,
            timeout=TIMEOUT,
            retries=RETRIES,
            concurrency=CONCURRENCY,
            backoff=backoff or Backoff(),
            sleep=sleep,
            headers={"Content-Type": "application/json", "Accept": "application/json", **host.header()},
            meaning=self._sorted_by,
        )

    def _sorted_by(self, _: Endpoint, stops: Stops, __: Callable[[], bool]) -> _Sorting:
        return _Sorting(self.host, stops, lambda after: self._waits(after))

    @property
    def requests(self) -> int:
        """Requests sent so far, repeated ones included."""
        return self._wire.sent

    @property
    def retried(self) -> int:
        """Requests that were sent again."""
        return self._retried

    async def version(self) -> str:
        """Return the server's version, "" if it does not tell. Raises EndpointError if nobody answers."""
        reply = await self._ask("health", _Call("GET"), RETRIES_AT_FIRST)
        version = reply.body.get("version") if isinstance(reply.body, dict) else None
        return str(version) if reply.good and version else ""

    async def project(self) -> Project:
        """Return the project of the keys.

        Raises:
            AuthError: the server does not take them, or they are those of an organisation.
            EndpointError: there is no such operation: this is no Langfuse.
        """
        reply = await self._ask("projects", _Call("GET", keys=True))
        rows = reply.body.get("data") if isinstance(reply.body, dict) else None
        first = rows[0] if isinstance(rows, list) and rows else None
        if not reply.good or not isinstance(first, dict) or not isinstance(first.get("id"), str):
            raise EndpointError(self.host.say("no_langfuse", status=reply.status, message=reply.message))
        return Project(first["id"], str(first.get("name") or first["id"]))

    async def get(self, path: str) -> Reply:
        """Read something; `path` may hold a query, quoted by the caller."""
        return await self._ask(path, _Call("GET"))

    async def post(self, path: str, body: bytes, *, packed: bool = False, headers: Mapping[str, str] | None = None) -> Reply:
        """Send JSON, compressed if `packed`."""
        more = dict(headers or {})
        if packed:
            body, more["Content-Encoding"] = gzip.compress(body, 6, mtime=0), "gzip"
        return await self._ask(path, _Call("POST", body, more))

    async def close(self) -> None:
        """Close the pooled connections."""
        await self._wire.close()

    async def _ask(self, path: str, call: _Call, retries: int | None = None) -> Reply:
        try:
            step = await self._wire.ask(f"{API}/{path}", call, retries)
        finally:
            self._retried += max(0, call.tally.attempts - 1)
        self._failing = 0 if step.then == "done" else self._failing + 1
        if step.then != "done" and (step.word != "server_error" or call.reply is None or self._failing >= MOST_FAILING):
            raise EndpointError(self.host.say("away", tries=call.tally.attempts, trouble=step.message or step.word))
        assert call.reply is not None
        return call.reply


def said(answer: Answer, data: Any, host: Host) -> str:
    """Return the words of a refusal: its message, and what it lists as wrong."""
    error = read_error(answer.status, answer.raw, data, host.scrub)
    if not isinstance(data, dict) or not isinstance(data.get("message"), str):
        return error.message
    listed = data.get("error")
    issues = "; ".join(_issue(one) for one in listed) if isinstance(listed, list) else ""
    return host.scrub(": ".join(part for part in (data["message"].strip(), issues) if part))[:LONGEST]


def _issue(issue: Any) -> str:
    if not isinstance(issue, dict):
        return issue if isinstance(issue, str) else orjson.dumps(issue).decode()
    place = ".".join(str(step) for step in issue.get("path") or ())
    return f"{place}: {issue.get('message')}" if place else str(issue.get("message"))
