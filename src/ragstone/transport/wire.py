"""Tries, waits and stops: one endpoint, one pooled session. What is asked and how it is read is the exchange's matter."""

import asyncio
import io
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import aiohttp

from ragstone import __version__
from ragstone.errors import AuthError, EndpointError, StoppedError
from ragstone.transport.answer import Answer
from ragstone.transport.endpoint import Endpoint
from ragstone.transport.error_body import ApiError, holds_error, is_page, read_error, read_json
from ragstone.transport.limiter import Gate, Limiter
from ragstone.transport.purse import Purse
from ragstone.transport.retry import Backoff, retry_after

CONNECT = 20.0
"""Seconds for a connection to stand; longer is `connection`, not `timeout`."""
LARGE = 1 << 20
"""Bytes above which aiohttp wants a body as a stream."""
LARGEST = 64 << 20
"""Bytes of a reply that are read; no judge or embedder has a use for more."""
PIECE = 120
"""Characters shown of what came back from something that is no such API."""
MOST_CHANGES = 20
"""How often one request may be changed and repeated: a guard against servers that refuse in circles."""

Sleep = Callable[[float], Awaitable[Any]]


Spared = Callable[[], Awaitable[bool]] | None
"""Asked when the turn of a request has come: True if it need not be sent any more."""


@dataclass(frozen=True, slots=True)
class Step:
    """What follows one try: done, ask again at once (the request has changed), wait and ask again, or fail."""

    then: Literal["done", "again", "wait", "fail"]
    word: str | None = None
    """The reason word if nothing better comes."""
    message: str | None = None
    after: float | None = None
    """Seconds the server demands to be left alone."""


DONE = Step("done")
AGAIN = Step("again")


@dataclass(slots=True)
class Tally:
    """What one exchange took."""

    attempts: int = 0
    rate_limits: int = 0
    latency_s: float = 0.0
    """Seconds of the last try."""


class Exchange(Protocol):
    """One request as its owner sees it."""

    tally: Tally
    spared: Spared

    def body(self) -> bytes:
        """Return the request as it has to be sent now; called for every try."""
        ...

    def known(self, data: dict[str, Any]) -> bool:
        """Return True if the object has the shape of an answer to such a request, whatever it says."""
        ...

    def read(self, data: dict[str, Any]) -> Step:
        """Take in an answer of the endpoint that is no error."""
        ...

    def refused(self, error: ApiError, sure: bool) -> Step | None:
        """Say what to do about a refusal; None = nothing known. Asked first with `sure` (named), last without (any clue)."""
        ...


class Wire:
    """Sends exchanges to one endpoint.

    Repeats 408, 409, 425, 429, 5xx and transport errors up to `retries` times, each try within `timeout` seconds in all.
    The first request goes out alone until one was accepted. Redirects are never followed.

    Raises:
        AuthError, EndpointError: from `ask`, at once, for what would fail every request; later calls raise it unsent.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        timeout: float,
        retries: int,
        concurrency: int,
        backoff: Backoff,
        sleep: Sleep,
        purse: Purse | None = None,
    ) -> None:
        self.endpoint, self._purse = endpoint, purse
        self._timeout, self._retries, self._backoff, self._sleep = timeout, retries, backoff, sleep
        self._limiter, self._gate = Limiter(concurrency), Gate(patience=min(10.0, timeout))
        self._heard = False
        self._stopped: tuple[type[StoppedError], str] | None = None
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.sent = 0
        """Requests sent so far."""

    @property
    def accepted(self) -> bool:
        """True once the endpoint has answered a request with something else than an error."""
        return self._gate.open

    async def ask(self, path: str, exchange: Exchange) -> Step:
        """Run the exchange to its end: DONE, or a step that says why it failed."""
        url, repeats, changes = self.endpoint.at(path), 0, 0
        while True:
            step = await self._turn(url, exchange)
            if step.then == "again" and (changes := changes + 1) <= MOST_CHANGES:
                continue
            if step.then != "wait":
                return step if step.then != "again" else Step("fail", "bad_reply", step.message)
            if (repeats := repeats + 1) > self._retries:
                return self._exhausted(step)
            await self._sleep(self._backoff.delay(repeats, step.after))

    async def close(self) -> None:
        """Close the pooled connections; a later request opens new ones."""
        session, self._session = self._session, None
        if session is not None and self._loop is asyncio.get_running_loop():
            await session.close()

    async def _turn(self, url: str, exchange: Exchange) -> Step:
        turn = None if self._gate.open else await self._gate.enter()
        accepted = False
        try:
            async with self._limiter:
                self._check()
                if exchange.spared is not None and await exchange.spared():
                    return DONE
                answer, data = await self._paid(url, exchange)
            if isinstance(answer, Step):
                return answer
            step, accepted = self._sort(answer, data, exchange, url)
            return step
        finally:
            if turn is not None:
                turn.leave(accepted)

    # ------------------------------------------------------------------ one try
    async def _paid(self, url: str, exchange: Exchange) -> tuple[Answer | Step, Any]:
        """Send once, if it can be paid; return what came back, and the JSON in it."""
        body, data = exchange.body(), None
        ticket = self._purse.take(body) if self._purse is not None else None
        if self._purse is not None and ticket is None:
            return Step("fail", "budget"), None
        try:
            answer = await self._post(url, body, exchange.tally)
            data = read_json(answer.raw) if isinstance(answer, Answer) else None
            return answer, data
        finally:
            if ticket is not None:
                ticket.settle(data if isinstance(data, dict) else None)

    async def _post(self, url: str, body: bytes, tally: Tally) -> Answer | Step:
        tally.attempts += 1
        self.sent += 1
        began = time.perf_counter()
        data = body if len(body) < LARGE else io.BytesIO(body)
        try:
            async with self._open().post(url, data=data, allow_redirects=False) as response:
                raw = await _whole(response)
                self._heard = True
                if raw is None:
                    return Step("fail", "bad_reply", self.endpoint.say("too_large", megabytes=LARGEST >> 20))
                return Answer(response.status, response.headers, raw)
        except aiohttp.ClientHttpProxyError as error:
            if error.status == 407:
                raise self._stop(EndpointError, "proxy_key") from None
            return Step("wait", "connection", f"proxy: HTTP {error.status}")
        except (aiohttp.ClientSSLError, aiohttp.ClientConnectorCertificateError) as error:
            raise self._stop(EndpointError, "certificate", trouble=self._words(error)) from None
        except TimeoutError as error:
            if isinstance(error, aiohttp.ConnectionTimeoutError):
                return Step("wait", "connection", self.endpoint.say("slow_connection", seconds=f"{min(CONNECT, self._timeout):g}"))
            return Step("wait", "timeout", self.endpoint.say("timeout", seconds=f"{self._timeout:g}"))
        except (aiohttp.ClientError, OSError) as error:
            return Step("wait", "connection", self._words(error))
        finally:
            tally.latency_s = time.perf_counter() - began

    def _open(self) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        if self._session is None or self._loop is not loop:
            self._loop = loop
            fixed = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": f"ragstone/{__version__}"}
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self._limiter.limit, ttl_dns_cache=300),
                timeout=aiohttp.ClientTimeout(total=self._timeout, sock_connect=min(CONNECT, self._timeout)),
                headers={**fixed, **self.endpoint.key.header()},
                cookie_jar=aiohttp.DummyCookieJar(),
                proxy=self.endpoint.proxy(),
            )
        return self._session

    # ------------------------------------------------------------------ what an answer means
    def _sort(self, answer: Answer, data: Any, exchange: Exchange, url: str) -> tuple[Step, bool]:
        """Return what follows, and whether the endpoint has accepted the request."""
        status = answer.status
        if 200 <= status < 300:
            if isinstance(data, dict) and not holds_error(data):
                if not self.accepted and not exchange.known(data):
                    raise self._foreign(answer, url)
                return exchange.read(data), True
            if not isinstance(data, dict):
                return self._no_object(answer, url), False
        if 300 <= status < 400:
            raise self._stop(EndpointError, "redirected", status=status, target=answer.target)
        error = read_error(status, answer.raw, data, self.endpoint.scrub)
        if error.status in (408, 409, 425, 429) or (error.status >= 500 and error.status != 501):
            return self._passing(error, answer, exchange.tally), False
        return self._refused(error, exchange), False

    def _no_object(self, answer: Answer, url: str) -> Step:
        # nothing at all, or an object that breaks off, may come of a bad line; anything else comes of a wrong address
        if not self.accepted and answer.raw.lstrip()[:1] not in (b"", b"{"):
            raise self._foreign(answer, url)
        if is_page(answer.raw):
            return Step("wait", "bad_gateway", self._page(answer))
        if not answer.raw.strip():
            return Step("wait", "empty_reply")
        return Step("wait", "bad_reply", read_error(answer.status, answer.raw, None, self.endpoint.scrub).message)

    def _foreign(self, answer: Answer, url: str) -> StoppedError:
        """Stop the run: what answers at this address has never been heard to speak the protocol."""
        said = read_error(answer.status, answer.raw, None, self.endpoint.scrub).message[:PIECE]
        hint = "" if self.endpoint.versioned else " " + self.endpoint.say("version_hint")
        name = "foreign_page" if is_page(answer.raw) else "foreign"
        return self._stop(EndpointError, name, asked=self.endpoint.scrub(url), status=answer.status, message=said, hint=hint)

    def _page(self, answer: Answer) -> str:
        hint = "" if self.endpoint.versioned else " " + self.endpoint.say("version_hint")
        said = read_error(answer.status, answer.raw, None, self.endpoint.scrub).message
        return self.endpoint.say("page", status=answer.status, message=said) + hint

    def _passing(self, error: ApiError, answer: Answer, tally: Tally) -> Step:
        """Trouble that waiting may cure."""
        if error.status == 429:
            tally.rate_limits += 1
            if error.balance:
                raise self._stop(AuthError, "balance", error)
        if error.too_long_by_code:
            return Step("fail", "too_long", error.message)
        page = is_page(answer.raw)
        word = "bad_gateway" if page and error.status >= 500 else _WORDS.get(error.status, "server_error")
        word = "bad_gateway" if 520 <= error.status < 530 else word
        return Step("wait", word, self._page(answer) if page else error.message, _longer(retry_after(answer.headers), error.after))

    def _refused(self, error: ApiError, exchange: Exchange) -> Step:
        """A refusal: cured by changing the request, or this request's own, or the whole run's."""
        if error.status != 401 and error.blocked:
            return Step("fail", "blocked", error.message)
        if error.balance:
            raise self._stop(AuthError, "balance", error)
        if error.key:
            raise self._stop(AuthError, "key_refused" if self.endpoint.key else "no_key", error)
        if step := exchange.refused(error, True):
            return step
        if error.too_long:
            return Step("fail", "too_long", error.message)
        if error.status in (404, 405, 410, 501) or error.model:
            hint = "" if self.endpoint.versioned else self.endpoint.say("version_hint")
            raise self._stop(EndpointError, "not_found", error, hint=hint)
        if step := exchange.refused(error, False):
            return step
        if not self.accepted:
            raise self._stop(EndpointError, "refused", error)
        return Step("fail", "bad_reply", error.message)

    def _exhausted(self, step: Step) -> Step:
        if step.word == "connection" and not self._heard:
            raise self._stop(EndpointError, "unreachable", trouble=step.message, tries=self._retries + 1)
        return Step("fail", step.word, step.message)

    # ------------------------------------------------------------------ stopping the run
    def _stop(self, kind: type[StoppedError], name: str, error: ApiError | None = None, **values: object) -> StoppedError:
        """Remember why every further request would fail, and return the exception to raise."""
        told = {"status": error.status, "message": error.message} if error else {}
        self._stopped = (kind, self.endpoint.say(name, **{**told, **values}))
        self._gate.release()
        return kind(self._stopped[1])

    def stop(self, error: ApiError) -> StoppedError:
        """Stop the run: the endpoint has refused everything so far for `error`. Returns the exception to raise."""
        return self._stop(EndpointError, "refused", error)

    def _check(self) -> None:
        if self._stopped is not None:
            raise self._stopped[0](self._stopped[1])

    def _words(self, error: BaseException) -> str:
        return self.endpoint.scrub(f"{type(error).__name__}: {error}".rstrip(": "))


def _longer(*waits: float | None) -> float | None:
    """The wait of a header or of the body: what both tell, the longer."""
    return max((wait for wait in waits if wait is not None), default=None)


async def _whole(response: aiohttp.ClientResponse) -> bytes | None:
    """The body, None if it has more than LARGEST bytes; a compressed one may hold far more than was sent."""
    if "Content-Encoding" not in response.headers and (response.content_length or LARGEST) < LARGEST:
        return await response.read()
    raw = bytearray()
    async for chunk in response.content.iter_any():
        raw += chunk
        if len(raw) > LARGEST:
            response.close()
            return None
    return bytes(raw)


_WORDS = {408: "timeout", 429: "rate_limited", 502: "bad_gateway", 503: "bad_gateway", 504: "bad_gateway"}
