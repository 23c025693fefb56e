"""Tries and waits: one endpoint, one pooled session. What is asked and how it is read is the exchange's matter."""

import asyncio
import io
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress

import aiohttp

from ragstone import __version__
from ragstone.errors import EndpointError, StoppedError
from ragstone.transport.answer import Answer, in_utf8
from ragstone.transport.endpoint import Endpoint
from ragstone.transport.error_body import ApiError, read_json
from ragstone.transport.exchange import AGAIN, DONE, Exchange, Posted, Sent, Sorter, Spared, Step, Tally
from ragstone.transport.limiter import Gate, Limiter, Sleep
from ragstone.transport.meaning import Meaning
from ragstone.transport.pace import Pace
from ragstone.transport.purse import Purse
from ragstone.transport.retry import Allowance, Backoff, Repeats
from ragstone.transport.stops import Stops, Watch
from ragstone.transport.trouble import trouble

__all__ = ["AGAIN", "DONE", "Exchange", "Posted", "Sleep", "Spared", "Step", "Tally", "Wire"]

CONNECT = 20.0
"""Seconds for a connection to stand; longer is `connection`, not `timeout`."""
GRACE = 5.0
"""Seconds that replies on their way are waited for when the run must stop."""
LARGE = 1 << 20
"""Bytes above which aiohttp wants a body as a stream."""
LARGEST = 64 << 20
"""Bytes of a reply that are read; no judge or embedder has a use for more."""
MOST_CHANGES = 20
"""How often one request may be changed and repeated: a guard against servers that refuse in circles."""


class Wire:
    """Sends exchanges to one endpoint.

    Repeats 408, 409, 425, 429, 5xx and transport errors up to `retries` times, each try within `timeout` seconds in all and all
    of them within three such times (a minute at least); up to thrice as often where the endpoint itself names the time to come
    back. All requests together repeat themselves no more often than `Allowance` has. How many go out at once follows what the
    endpoint stands, up to `concurrency`; `rpm` and `tpm` bound requests and tokens a minute. The first request goes out
    alone until one was accepted. Redirects are never followed.

    Raises:
        AuthError, EndpointError: from `ask`, for what would fail every request, and for an endpoint that fails them all
            before it has accepted one, or a hundred in a row later; later calls raise it unsent. Replies that are on their way
            are taken in first.
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
        rpm: int | None = None,
        tpm: int | None = None,
        purse: Purse | None = None,
        headers: Mapping[str, str] | None = None,
        meaning: Callable[[Endpoint, Stops, Callable[[], bool]], Sorter] = Meaning,
    ) -> None:
        """`headers` take the place of those that send JSON, want JSON and hold the key; `meaning` makes the reader of answers."""
        self.endpoint = endpoint
        self._timeout, self._retries, self._backoff, self._sleep = timeout, retries, backoff, sleep
        self._limiter, self._gate = Limiter(concurrency, backoff, sleep), Gate(patience=min(10.0, timeout))
        self._pace = Pace(rpm, tpm) if rpm or tpm else None
        self.purse = purse
        """What the run may spend; None = anything."""
        self._allowance = Allowance()
        self._tell: Callable[[str], None] = lambda _: None
        self._stops = Stops(endpoint)
        self._headers = headers
        self._meaning = meaning(endpoint, self._stops, lambda: self._gate.open)
        self._stood = False
        self._sockets = 0
        """Connections made so far."""
        self._sessions: dict[bool, aiohttp.ClientSession] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self.sent = 0
        """Requests sent so far."""

    @property
    def accepted(self) -> bool:
        """True once the endpoint has answered a request with something else than an error."""
        return self._gate.open

    @property
    def unrepeated(self) -> int:
        """Repeats that were wanted after the allowance was used up."""
        return self._allowance.refused

    def expect(self, requests: int, tell: Callable[[str], None], *, doubted: int = 1) -> None:
        """Allow the repeats that fit so many requests; `tell` is called once when they are used up.

        `doubted`: requests that must be used up before the endpoint is given up where not all of them are asked at once.
        """
        self._allowance.expect(requests)
        self._stops.doubted = doubted
        self._tell = tell

    def stop(self, error: ApiError) -> StoppedError:
        """Stop the run: the endpoint has refused everything so far for `error`. Returns the exception to raise."""
        return self._stops.stop(EndpointError, "refused", error)

    async def close(self) -> None:
        """Close the pooled connections; a later request opens new ones."""
        self._limiter.close()
        sessions, self._sessions = list(self._sessions.values()), {}
        if self._loop is asyncio.get_running_loop():
            for session in sessions:
                await session.close()

    async def ask(self, path: str, exchange: Sent, retries: int | None = None) -> Step:
        """Run the exchange to its end: DONE, or a step that says why it failed. `retries` holds for it alone."""
        watch = None if self._gate.open else self._stops.begin()
        try:
            step = await self._tries(self.endpoint.at(path), exchange, watch, self._retries if retries is None else retries)
            if error := self._stops.ended(step, exchange.tally.attempts):
                raise error
            return step
        except StoppedError:
            with suppress(TimeoutError):
                async with asyncio.timeout(GRACE):  # what is on the wire is paid for: let it come in
                    await self._limiter.idle()
            raise
        finally:
            if watch is not None:
                watch.tried()

    async def _tries(self, url: str, exchange: Sent, watch: Watch | None, retries: int) -> Step:
        repeats: Repeats | None = None
        changes = 0
        while True:
            step = await self._turn(url, exchange, first=repeats is not None)
            if step.then == "done":
                return step
            if step.then == "again" and (changes := changes + 1) <= MOST_CHANGES:
                continue
            if step.then != "wait":
                return Step("fail", step.word or "bad_reply", step.message)
            repeats = repeats or Repeats(retries, self._timeout, self._allowance)
            delay = self._after(step, exchange.tally, repeats, watch)
            if delay is None:
                return Step("fail", step.word, step.message)
            await self._sleep(delay)

    def _after(self, step: Step, tally: Tally, repeats: Repeats, watch: Watch | None) -> float | None:
        """Return the seconds to wait before the next try, None if there is none. Raises if the endpoint turns out to be down."""
        spent = self._allowance.refused
        delay = repeats.wait(self._backoff, tally.latency_s, step.after, step.busy)
        if self._allowance.refused and not spent:
            self._tell(self.endpoint.say("allowance_spent"))
        if watch is not None and not self._gate.open:
            if delay is None and step.word == "connection" and not self._stood:
                raise self._stops.stop(EndpointError, "unreachable", trouble=step.message, tries=repeats.tries)
            self._stops.met(step, repeats.tries, first=watch.tried(), last=delay is None)
            if error := self._stops.hopeless():
                raise error
        return delay

    async def _turn(self, url: str, exchange: Sent, *, first: bool) -> Step:
        turn = None if self._gate.open else await self._gate.enter()
        step, accepted, refused = DONE, False, None
        try:
            epoch = await self._limiter.enter(first)
            try:
                self._stops.check()
                if exchange.spared is not None and await exchange.spared():
                    return DONE
                step, accepted = await self._try(url, exchange)
                refused = step.busy if step.then != "again" or accepted else None
                return step
            finally:
                self._limiter.leave(epoch, refused, step.after)
        finally:
            if turn is not None:
                turn.leave(accepted, step.then == "wait")

    # ------------------------------------------------------------------ one try
    async def _try(self, url: str, exchange: Sent) -> tuple[Step, bool]:
        """Send the request once; returns what follows, and whether the endpoint has accepted it."""
        body, reserved, data = exchange.body(), 0.0, None
        if self._pace is not None:
            wait, reserved = self._pace.take(body)
            if wait > 0:
                await self._sleep(wait)
        self._stops.check()
        ticket = None if self.purse is None else self.purse.take(body)
        if self.purse is not None and ticket is None:
            return Step("fail", "budget"), False
        try:
            answer = await self._send(url, body, exchange)
            if isinstance(answer, Step):
                return answer, False
            data = read_json(answer.raw)
        finally:
            if ticket is not None:
                ticket.settle(data if isinstance(data, dict) else None)
        if self._pace is not None:
            self._pace.settle(reserved, data)
        return self._meaning.sort(answer, data, exchange, url)

    async def _send(self, url: str, body: bytes, exchange: Sent) -> Answer | Step:
        tally = exchange.tally
        tally.attempts += 1
        self.sent += 1
        fresh, tally.fresh = tally.fresh, False
        sockets = self._sockets
        clock = asyncio.get_running_loop().time  # the clock of the time limit
        began = clock()
        data = (body or None) if len(body) < LARGE else io.BytesIO(body)
        method, headers = exchange.method, exchange.headers
        try:
            async with self._open(fresh).request(method, url, data=data, headers=headers, allow_redirects=False) as response:
                self._stood = True
                raw = await _whole(response)
                if raw is None:
                    return Step("fail", "bad_reply", self.endpoint.say("too_large", megabytes=LARGEST >> 20))
                return Answer(response.status, response.headers, in_utf8(raw, response.headers.get("Content-Type", "")))
        except (aiohttp.ClientError, OSError) as error:
            return self._failed(error, tally, stale=not fresh and sockets == self._sockets)
        finally:
            tally.latency_s = clock() - began

    def _failed(self, error: aiohttp.ClientError | OSError, tally: Tally, *, stale: bool) -> Step:
        """Return what follows a try without an answer; `stale`: it went over a connection that had been used before."""
        if isinstance(error, aiohttp.ClientHttpProxyError):
            if error.status == 407:
                raise self._stops.stop(EndpointError, "proxy_key") from None
            return Step("wait", "connection", self._words(error))
        if isinstance(error, aiohttp.ClientSSLError | aiohttp.ClientConnectorCertificateError):
            raise self._stops.stop(EndpointError, "certificate", trouble=self._words(error)) from None
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            return Step("wait", "connection", self.endpoint.say("slow_connection", seconds=f"{min(CONNECT, self._timeout):g}"))
        self._stood = self._stood or not isinstance(error, aiohttp.ClientConnectorError)
        if isinstance(error, TimeoutError):
            return Step("wait", "timeout", self.endpoint.say("timeout", seconds=f"{self._timeout:g}"))
        if stale and isinstance(error, aiohttp.ServerDisconnectedError | ConnectionResetError | BrokenPipeError):
            tally.fresh = True  # the server may have closed it while it lay idle: no trouble yet, the next try takes a new one
            return Step("again", "connection", self._words(error))
        dropped = isinstance(error, aiohttp.ClientOSError | aiohttp.ServerDisconnectedError | aiohttp.ClientPayloadError | OSError)
        return Step("wait", "connection", self._words(error), busy=dropped)

    def _open(self, fresh: bool) -> aiohttp.ClientSession:
        """Return the session that keeps connections, or the one that makes a new one for every request."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._sessions = loop, {}
        if (session := self._sessions.get(fresh)) is None:
            usual = {"Content-Type": "application/json", "Accept": "application/json", **self.endpoint.key.header()}
            headers = usual if self._headers is None else self._headers
            session = self._sessions[fresh] = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self._limiter.most, ttl_dns_cache=300, force_close=fresh, socket_factory=self._socket),
                timeout=aiohttp.ClientTimeout(total=self._timeout, sock_connect=min(CONNECT, self._timeout)),
                headers={"User-Agent": f"ragstone/{__version__}", **headers},
                cookie_jar=aiohttp.DummyCookieJar(),
                proxy=self.endpoint.proxy(),
            )
        return session

    def _socket(self, address: aiohttp.AddrInfoType) -> socket.socket:
        family, kind, protocol, *_ = address
        self._sockets += 1
        return socket.socket(family, kind, protocol)

    def _words(self, error: BaseException) -> str:
        return self.endpoint.scrub(trouble(error, self.endpoint.lang))


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
