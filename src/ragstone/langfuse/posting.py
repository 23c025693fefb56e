"""Packs of units as requests, and what each reply says of its units."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import orjson

from ragstone import __version__
from ragstone.langfuse.strategy import WAYS, Strategy, Way

if TYPE_CHECKING:
    from ragstone.langfuse.client import Client, Reply
    from ragstone.langfuse.units import Unit

_OTLP = {"x-langfuse-ingestion-version": "4"}
_THING_UNKNOWN = re.compile(r"\b(item|trace|observation)\b", re.IGNORECASE)
"""A 404 whose words name such a thing is about that thing; without them the operation itself is not there."""
_PAGE = 100
_MESSAGES = 5
"""Different messages on one list that are kept."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """A unit, and its body as JSON."""

    unit: Unit
    raw: bytes


Pack = Sequence[Parcel]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a pack."""

    refused: Mapping[str, str] = field(default_factory=dict)
    """Id of a unit that was not taken -> the server's words. All others were taken, unless `unclear`."""
    unclear: str | None = None
    """The server's words if some, or all, were not taken and nobody says which: to be asked again in smaller packs."""
    part: int | None = None
    """Beside `unclear`: how many of a list were not taken, the others were; None if the request was refused as a whole."""
    shown: bool = True
    """False: the reply does not tell whether the server takes such requests at all."""


TAKEN = Verdict()


class Posting:
    """Sends packs to one server, each kind in the way it takes it. Every method raises StoppedError as `Client` does."""

    def __init__(self, client: Client, strategy: Strategy) -> None:
        self._client, self._strategy = client, strategy
        self._asking = asyncio.Lock()
        self._linked = False
        self._packed: bool | None = None
        self.run_id: str | None = None
        """Id of the run on a server with run items, once one was taken."""

    async def traces(self, pack: Pack) -> Verdict:
        """Send the spans of some traces; one bad span has the server refuse them all."""
        body, packed = _otlp(pack), self._packed is not False
        reply = await self._client.post("otel/v1/traces", body, packed=packed, headers=_OTLP)
        if reply.good:
            self._packed = packed
            return _of_spans(reply.body)
        if reply.status in (400, 415) and self._packed is None and len(pack) == 1:  # what stands before a server may not unpack
            plain = await self._client.post("otel/v1/traces", body, headers=_OTLP)
            self._packed = not plain.good
            if plain.good:
                return _of_spans(plain.body)
        return Verdict(unclear=_words(reply))

    async def item(self, pack: Pack) -> Verdict:
        """Send one item of a data set."""
        return _of_one(pack, await self._client.post("dataset-items", pack[0].raw))

    async def run_item(self, pack: Pack) -> Verdict | None:
        """Link one item to the run; None if this server has no such links."""
        if self._strategy.run_items is False:
            return None
        reply = await self._client.post("dataset-run-items", pack[0].raw)
        if reply.good:
            self._linked = True
            self._strategy.links(True)
            run_id = reply.body.get("datasetRunId") if isinstance(reply.body, dict) else None
            self.run_id = run_id if isinstance(run_id, str) else self.run_id
            return TAKEN
        if reply.closed and not self._linked and not (reply.status == 404 and _THING_UNKNOWN.search(reply.message)):
            self._strategy.links(False)
            return None
        return _of_one(pack, reply)

    async def links_of(self, dataset_id: str, run_name: str) -> AsyncIterator[str]:
        """Yield the traces that the run is linked to: links have no id of ours, so one that is sent twice stands there twice."""
        page, pages = 1, 1
        while page <= pages and self._strategy.run_items is not False:
            wanted = urlencode({"datasetId": dataset_id, "runName": run_name, "page": page, "limit": _PAGE})
            reply = await self._client.get(f"dataset-run-items?{wanted}")
            rows = reply.body.get("data") if reply.good and isinstance(reply.body, dict) else None
            if not isinstance(rows, list):
                return
            for row in rows:
                if isinstance(row, dict) and isinstance(row.get("traceId"), str):
                    self.run_id = row["datasetRunId"] if isinstance(row.get("datasetRunId"), str) else self.run_id
                    yield row["traceId"]
            meta = reply.body.get("meta")
            total = meta.get("totalPages") if isinstance(meta, dict) else None
            page, pages = page + 1, total if isinstance(total, int) else 0

    async def dataset(self, parcel: Parcel, *, known: bool) -> tuple[str | None, str, bool]:
        """Return the data set's id, or None and the server's words; and whether it was made, as it is unless it is `known` to be there."""
        if known:
            reply = await self._client.get(f"v2/datasets/{quote(parcel.unit.id, safe='')}")
            if (id_ := _id(reply)) is not None:
                return id_, "", False
        reply = await self._client.post("v2/datasets", parcel.raw)
        return _id(reply), _words(reply), True

    # ------------------------------------------------------------------ scores
    async def scores(self, pack: Pack) -> Verdict:
        """Send scores in the way this server takes them."""
        way, sure = self._strategy.way, self._strategy.sure
        if way is not None and sure and (found := await self._by(way, pack)) is not None:
            return found
        async with self._asking:  # the others wait until one pack has shown the way
            if self._strategy.sure and not (sure and self._strategy.way == way):
                found = await self._by(self._strategy.way or WAYS[0], pack)
                if found is not None:
                    return found
            return await self._found_out(pack)

    async def _found_out(self, pack: Pack) -> Verdict:
        """Try the remembered way, then every other one, and keep the first that takes something."""
        last = Verdict()
        remembered = self._strategy.way
        for way in dict.fromkeys([remembered, *WAYS] if remembered else WAYS):
            found = await self._by(way, pack)
            if found is None:
                self._strategy.unfit(way)
                continue
            if found.shown:
                self._strategy.took(way)
            if found.shown or found.unclear is not None:
                return found
            last = found
        return last

    async def _by(self, way: Way, pack: Pack) -> Verdict | None:
        """Send in one way; None if the server does not take scores so."""
        match way:
            case "array":
                return await self._array(pack)
            case "events":
                return await self._events(pack)
            case "single":
                return await self._single(pack)

    async def _array(self, pack: Pack) -> Verdict | None:
        reply = await self._client.post("scores", b"[" + b",".join(one.raw for one in pack) + b"]")
        if reply.status == 207:
            return _counted(pack, reply.body)
        if reply.good:
            return TAKEN
        if reply.closed or (reply.status == 400 and not self._sure("array")):
            return None
        return Verdict(unclear=_words(reply), shown=False)

    async def _events(self, pack: Pack) -> Verdict | None:
        reply = await self._client.post("ingestion", b'{"batch":[' + b",".join(_event(one) for one in pack) + b"]}")
        if reply.good:
            return _told(pack, reply.body)
        if reply.closed or (reply.status == 400 and not self._sure("events")):
            return None
        return Verdict(unclear=_words(reply), shown=False)

    async def _single(self, pack: Pack) -> Verdict | None:
        refused = dict[str, str]()
        for one in pack:
            reply = await self._client.post("scores", one.raw)
            if reply.closed:
                return None
            if not reply.good:
                refused[one.unit.id] = _words(reply)
        return Verdict(refused, shown=len(refused) < len(pack))

    def _sure(self, way: Way) -> bool:
        return self._strategy.sure and self._strategy.way == way


# ------------------------------------------------------------------ bodies
def _otlp(pack: Pack) -> bytes:
    """The request that holds the spans of a pack; each parcel is a JSON list of spans."""
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "ragstone"}}]}
    scope = orjson.dumps({"name": "ragstone", "version": __version__})
    spans = b",".join(inner for one in pack if (inner := one.raw.strip()[1:-1]))
    scoped = b'[{"scope":' + scope + b',"spans":[' + spans + b"]}]"
    return b'{"resourceSpans":[{"resource":' + orjson.dumps(resource) + b',"scopeSpans":' + scoped + b"}]}"


def _event(one: Parcel) -> bytes:
    """A score as an event. Servers drop a second event of one id, so the id changes with the content."""
    head = orjson.dumps({"id": event_id(one.unit), "type": "score-create", "timestamp": one.unit.body["timestamp"]})
    return head[:-1] + b',"body":' + one.raw + b"}"


def event_id(unit: Unit) -> str:
    """Return the id of the event that carries a score."""
    return f"{unit.id}-{unit.digest}"


# ------------------------------------------------------------------ replies
def _words(reply: Reply) -> str:
    return f"HTTP {reply.status}: {reply.message}" if reply.message else f"HTTP {reply.status}"


def _of_one(pack: Pack, reply: Reply) -> Verdict:
    return TAKEN if reply.good else Verdict({one.unit.id: _words(reply) for one in pack})


def _of_spans(body: Any) -> Verdict:
    """Spans may be taken in part, which the reply counts."""
    told = body.get("partialSuccess") if isinstance(body, dict) else None
    if not isinstance(told, dict) or str(told.get("rejectedSpans") or 0) == "0":
        return TAKEN
    return Verdict(unclear=str(told.get("errorMessage") or "partialSuccess"))


def _id(reply: Reply) -> str | None:
    found = reply.body.get("id") if reply.good and isinstance(reply.body, dict) else None
    return found if isinstance(found, str) else None


def _counted(pack: Pack, body: Any) -> Verdict:
    """A list taken in part: the reply counts and tells messages, but not whose they are."""
    held = body if isinstance(body, dict) else {}
    errors, rejected = held.get("errors"), held.get("rejected")
    messages = [_message(one) for one in errors] if isinstance(errors, list) else []
    if rejected == 0 and held.get("accepted") == len(pack):
        return TAKEN
    if rejected == len(pack) == len(messages):
        return Verdict(dict(zip((one.unit.id for one in pack), messages, strict=True)))
    words = "; ".join([*dict.fromkeys(messages)][:_MESSAGES]) or "HTTP 207"
    if len(pack) == 1:
        return Verdict({pack[0].unit.id: words})
    told = isinstance(rejected, int) and 0 < rejected < len(pack)
    return Verdict(unclear=words, part=rejected if told else len(pack))


def _told(pack: Pack, body: Any) -> Verdict:
    """A batch of events: of each that was not taken the reply tells why, under the event's id."""
    held = body if isinstance(body, dict) else {}
    errors, taken = ({str(one.get("id")): one for one in _rows(held.get(name))} for name in ("errors", "successes"))
    refused = dict[str, str]()
    for one in pack:
        name = event_id(one.unit)
        if name in errors or name not in taken:
            refused[one.unit.id] = _message(errors[name]) if name in errors else "HTTP 207"
    return Verdict(refused)


def _rows(told: Any) -> list[dict[str, Any]]:
    return [one for one in told if isinstance(one, dict)] if isinstance(told, list) else []


def _message(error: Any) -> str:
    held = error if isinstance(error, dict) else {"message": error}
    words = [str(held[name]) for name in ("message", "error") if isinstance(held.get(name), str) and held[name]]
    return ": ".join(words) or "HTTP 207"
