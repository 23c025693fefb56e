"""OpenTelemetry: one trace a sample and one for the run, as OTLP/JSON over HTTP, with the GenAI conventions' attribute names.

The variables are those of every OpenTelemetry exporter: OTEL_EXPORTER_OTLP_TRACES_ENDPOINT (sent to as it stands) or
OTEL_EXPORTER_OTLP_ENDPOINT (`/v1/traces` is added), OTEL_EXPORTER_OTLP_TRACES_HEADERS or OTEL_EXPORTER_OTLP_HEADERS, and
OTEL_SERVICE_NAME. Ids and times depend on the run alone: a second export sends the same spans again, under the same ids.
"""

from __future__ import annotations

import asyncio
import gzip
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

import orjson

from ragstone import __version__
from ragstone.errors import AuthError, ConfigError, EndpointError
from ragstone.export.base import Order, Sink
from ragstone.export.content import Content
from ragstone.export.otel_spans import Span, run_spans, sample_spans
from ragstone.export.receipt import Receipt, Rejected
from ragstone.plain_json import dumped
from ragstone.text import say, screen_language
from ragstone.transport.answer import Answer
from ragstone.transport.endpoint import Endpoint, Key, Role
from ragstone.transport.error_body import is_page, read_error
from ragstone.transport.exchange import DONE, Posted, Spared, Step, Tally
from ragstone.transport.key import Secret
from ragstone.transport.retry import Backoff, demanded
from ragstone.transport.stops import Stops
from ragstone.transport.wire import Wire

PACK_BYTES = 1_000_000
"""Of JSON in one request, as far as one sample fits into it: collectors take 4 MB or more."""
AT_ONCE = 4
TIMEOUT = 30.0
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_HEADERS = ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_AWAY = ("unreachable", "never_accepted", "gone", "refused", "certificate", "proxy_key")
_WORDS = {429: "rate_limited", 408: "timeout", 502: "bad_gateway", 503: "bad_gateway", 504: "bad_gateway"}


class OtelSink(Sink):
    """Sends spans to a collector, or to any product that takes OTLP/HTTP in JSON."""

    name = "otel"

    def __init__(self, backoff: Backoff | None = None) -> None:
        """`backoff`: waits between repeats."""
        self._backoff = backoff or Backoff()

    def check(self, order: Order) -> None:
        """Raise ConfigError if there is no address, or it or a header cannot be used."""
        super().check(order)
        _address(order.environ)

    async def send(self, content: Content, order: Order) -> Receipt:
        """Send every span. See `Sink.send`."""
        endpoint, path, headers = _address(order.environ)
        wire = Wire(
            endpoint,
            timeout=TIMEOUT,
            retries=5,
            concurrency=AT_ONCE,
            backoff=self._backoff,
            sleep=asyncio.sleep,
            headers={"Content-Type": "application/json", "Content-Encoding": "gzip", "Accept": "application/json", **headers},
            meaning=_Meaning,
        )
        sending = _Sending(wire, path, content, order)
        try:
            await sending.run()
        finally:
            await wire.close()
        return sending.receipt(endpoint.at(path))


class _Sending:
    """One export on its way."""

    def __init__(self, wire: Wire, path: str, content: Content, order: Order) -> None:
        self._wire, self._path, self._content, self._order = wire, path, content, order
        self._due, self._taken = Counter[str](), Counter[str]()
        self._rejected: list[Rejected] = []
        self._packs = 0

    async def run(self) -> None:
        """Send pack after pack, a few at a time; memory holds those alone."""
        under_way = set[asyncio.Task[None]]()
        try:
            for spans in packs(all_spans(self._content)):
                self._packs += 1
                self._due["span"] += len(spans)
                if self._order.dry_run:
                    continue
                under_way.add(asyncio.create_task(self._post(spans)))
                if len(under_way) >= AT_ONCE:
                    under_way = await _some(under_way)
            while under_way:
                under_way = await _some(under_way)
        finally:
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)

    async def _post(self, spans: list[Span]) -> None:
        request = _Request(body_of(spans, self._content, self._order.environ))
        step = await self._wire.ask(self._path, request)
        if step.then != "done":
            reason = step.message or step.word or ""
            self._rejected += [Rejected("span", span.id, reason, span.sample_id, span.metric) for span in spans]
            return
        lost, why = _partial(request.data)
        self._taken["span"] += max(0, len(spans) - lost)
        if lost:  # the protocol tells how many, not which
            named = f"{lost}/{len(spans)}"
            self._rejected.append(Rejected("span", named, why, f"{spans[0].sample_id} … {spans[-1].sample_id}"))

    def receipt(self, target: str) -> Receipt:
        """Return what became of it."""
        content, dry = self._content, self._order.dry_run
        return Receipt(
            to=OtelSink.name,
            target=target.partition("?")[0],
            due=dict(self._due),
            accepted=dict(self._taken),
            rejected=tuple(self._rejected),
            retried=0 if dry else self._wire.sent - self._packs,
            requests=self._packs if dry else self._wire.sent,
            unmeasured=content.unmeasured,
            dry_run=dry,
            signature=content.facts.signature,
            notice=content.facts.notice,
        )


async def _some(tasks: set[asyncio.Task[None]]) -> set[asyncio.Task[None]]:
    done, rest = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        task.result()
    return rest


# ------------------------------------------------------------------ what is sent
def all_spans(content: Content) -> Iterator[list[Span]]:
    """Yield the spans of the run's own trace, then those of each sample."""
    yield list(run_spans(content))
    for line in content.lines():
        yield list(sample_spans(line, content))


def packs(traces: Iterable[list[Span]]) -> Iterator[list[Span]]:
    """Yield spans in packs of about PACK_BYTES; a trace is never torn."""
    held, size = list[Span](), 0
    for spans in traces:
        more = sum(len(span.json) for span in spans)
        if held and size + more > PACK_BYTES:
            yield held
            held, size = [], 0
        held += spans
        size += more
    if held:
        yield held


def body_of(spans: Iterable[Span], content: Content, environ: Mapping[str, str]) -> bytes:
    """Return an ExportTraceServiceRequest, compressed."""
    facts = content.facts
    told = {
        "service.name": environ.get("OTEL_SERVICE_NAME") or "ragstone",
        "ragstone.run.id": facts.run_id,
        "ragstone.signature": facts.signature,
        "ragstone.notice": facts.notice,
        "ragstone.gold_fingerprint": facts.gold_fingerprint,
    }
    resource = {"attributes": [{"key": key, "value": {"stringValue": value}} for key, value in told.items() if value]}
    scope = {"name": "ragstone", "version": __version__}
    held = {"scope": scope, "spans": [orjson.Fragment(span.json) for span in spans]}
    return gzip.compress(
        orjson.dumps({"resourceSpans": [{"resource": orjson.Fragment(dumped(resource)), "scopeSpans": [held]}]}), 5, mtime=0
    )


def _partial(data: Any) -> tuple[int, str]:
    """How many spans a collector has dropped of a request it has taken, and why."""
    told = data.get("partialSuccess") if isinstance(data, dict) else None
    if not isinstance(told, dict):
        return 0, ""
    try:
        return max(0, int(told.get("rejectedSpans") or 0)), str(told.get("errorMessage") or "partialSuccess")
    except (TypeError, ValueError):
        return 0, ""


# ------------------------------------------------------------------ where it goes
def _address(environ: Mapping[str, str]) -> tuple[Endpoint, str, dict[str, str]]:
    """Return the endpoint, the path below it, and the headers that the environment names."""
    given = {name: value.strip() for name in _ENDPOINTS if (value := environ.get(name, "")).strip()}
    if not given:
        raise ConfigError(say("export.otel_no_endpoint", screen_language(), names=" / ".join(reversed(_ENDPOINTS))))
    name, url = next(iter(given.items()))
    path = "v1/traces"
    if name == _ENDPOINTS[0]:
        address, mark, query = url.partition("?")
        base, _, path = address.rpartition("/")
        url, path = (base + mark + query, path) if "://" in base else (url, "")
    headers = _headers(environ)
    role = Role(_HEADERS[1], name, name, name, "http://host:4318")
    words = [Key(word, _HEADERS[1]) for value in headers.values() for word in {value, value.rpartition(" ")[2]}]
    return _Collector(url, "otlp", Key(None, _HEADERS[1]), role, secrets=words, whole=True), path, headers


def _headers(environ: Mapping[str, str]) -> dict[str, str]:
    """Read `name=value,name=value`, values as in URLs."""
    name = next((name for name in _HEADERS if environ.get(name, "").strip()), _HEADERS[1])
    found = dict[str, str]()
    for part in filter(None, (part.strip() for part in environ.get(name, "").split(","))):
        key, _, value = part.partition("=")
        key, value = key.strip(), unquote(value).strip()
        if not _TOKEN.fullmatch(key) or not value.isprintable() or not value.isascii():
            raise ConfigError(say("export.otel_bad_headers", screen_language(), name=name))
        found[key] = Secret(value)
    return found


class _Collector(Endpoint):
    """Whoever takes the spans; speaks of a collector where an endpoint would speak of a model."""

    def say(self, name: str, **values: object) -> str:
        """Return what is said of an address where nobody takes anything, in words of an export."""
        if name not in _AWAY:
            return super().say(name, **values)
        trouble = values.get("trouble") or ("HTTP 407" if name == "proxy_key" else name)
        return self.scrub(say("export.otel_away", self.lang, url=self.url, trouble=trouble, setting=self.role.url))


class _Request(Posted):
    """One pack on its way."""

    spared: Spared = None

    def __init__(self, body: bytes) -> None:
        self.tally, self.data, self._body = Tally(), None, body  # type: Tally, Any, bytes

    def body(self) -> bytes:
        return self._body


class _Meaning:
    """Reads the answers of a collector."""

    def __init__(self, endpoint: Endpoint, stops: Stops, accepted: object) -> None:
        self._endpoint, self._stops = endpoint, stops

    def sort(self, answer: Answer, data: Any, exchange: _Request, url: str) -> tuple[Step, bool]:
        """Return what follows. Raises StoppedError for a wrong key or address."""
        status = answer.status
        if 200 <= status < 300 and not is_page(answer.raw):
            exchange.data = data
            return DONE, True
        error = read_error(status, answer.raw, data, self._endpoint.scrub)
        told = {"url": url.partition("?")[0], "status": status, "message": error.message}
        if status in (401, 403):
            raise AuthError(say("export.otel_key", self._endpoint.lang, setting=_HEADERS[1], **told))
        if status < 400 or status in (404, 405, 501):  # a page in place of an answer: somebody else is there, a login perhaps
            raise EndpointError(say("export.otel_no_receiver", self._endpoint.lang, setting=self._endpoint.role.url, **told))
        if status in (408, 425, 429) or status >= 500:
            wait = demanded(answer.headers, error.message or "")
            return Step("wait", _WORDS.get(status, "bad_gateway"), error.message, wait, status in (429, 503), status), False
        return Step("fail", "refused", say("export.otel_refused", self._endpoint.lang, **told), status=status), False
