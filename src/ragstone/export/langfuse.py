"""A run in Langfuse: the gold set as a data set, a trace a sample, a score a measured cell, and the means of the run."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import orjson

from ragstone.errors import ConfigError
from ragstone.export.base import Order, Sink
from ragstone.export.identity import began
from ragstone.export.receipt import Receipt
from ragstone.langfuse.access import Host, host_of
from ragstone.langfuse.bodies import dataset_name, dataset_unit
from ragstone.langfuse.client import Client, Project
from ragstone.langfuse.delivery import Delivery, Due, origins_of
from ragstone.langfuse.frame import Frame, frame_of, stamp
from ragstone.langfuse.ledger import FOLDER, Ledger
from ragstone.langfuse.posting import Posting
from ragstone.langfuse.sending import Sending, packs
from ragstone.langfuse.strategy import Strategy
from ragstone.text import say
from ragstone.transport.memory import Memory
from ragstone.transport.retry import Backoff
from ragstone.transport.wire import Sleep

if TYPE_CHECKING:
    from ragstone.export.content import Content
    from ragstone.langfuse.units import Unit
    from ragstone.types import Language

HOBBY: Mapping[str, int] = {"trace": 1000, "score": 30, "mean": 30, "dataset": 100, "item": 100}
"""Requests a minute on the free plan of the cloud, by what they send."""
_SCARCE = (("trace",), ("score", "mean"), ("dataset", "item"))
"""Kinds that share a limit."""
_READS = 2
"""Requests that only read: version and project."""


class LangfuseSink(Sink):
    """Sends a run to Langfuse, every generation of its server, without its SDK.

    Sent twice, it changes nothing: ids and times are those of the run, and the run folder keeps a list of what was taken.
    """

    name = "langfuse"

    def __init__(self, *, backoff: Backoff | None = None, sleep: Sleep = asyncio.sleep) -> None:
        """`backoff` and `sleep`: how long it is waited before a request is sent again, and how."""
        self._backoff, self._sleep = backoff, sleep

    def check(self, order: Order) -> None:
        """Raise ConfigError if the address or a key is not set or cannot be used."""
        super().check(order)
        host_of(order.environ, order.lang)

    async def send(self, content: Content, order: Order) -> Receipt:
        """Send what is not there yet.

        Raises:
            ConfigError: a key or the address is not set or wrong, or a sample was read from another project.
            RunFolderError: another export of the run is under way, or its list of what was taken is not one.
            AuthError: the keys are not taken, or open no project.
            EndpointError: nobody answers at the address, or not as Langfuse does.
            StoppedError: the server takes nothing more now, or refuses the data set or everything of a kind.
        """
        if order.dry_run:
            return _planned(content, order)
        host = host_of(order.environ, order.lang)
        client = Client(host, backoff=self._backoff, sleep=self._sleep, waits=_Waits(host, order))
        try:
            version = await client.version()
            project = await client.project()
            frame, ledger = _opened(content, order, host.url, project.id)
            with ledger:
                strategy = Strategy(host.url, version, Memory(Path(order.cache)) if order.cache else None)
                origins = origins_of(content, frame, order.lang)
                delivery = Delivery(Due(content, frame, origins), Sending(ledger, host), Posting(client, strategy), ledger)
                await delivery.run()
                notices = [notice for notice in [ledger.notice(order.lang)] if notice]
                return _receipt(content, delivery, client, project, notices)
        finally:
            await client.close()


class _Waits:
    """Tells once that the server lets an export wait."""

    def __init__(self, host: Host, order: Order) -> None:
        self._host, self._tell, self._told = host, order.tell, False

    def __call__(self, seconds: float | None) -> None:
        if not self._told:
            self._told = True
            self._tell(self._host.say("waiting", seconds=math.ceil(seconds or 1)))


def _opened(content: Content, order: Order, url: str, project_id: str, *, read_only: bool = False) -> tuple[Frame, Ledger]:
    """Return the frame and the ledger: the time of a run that names none is that of its scores at its first export."""
    written = datetime.fromtimestamp(began(content) / 1e9, UTC)
    otherwise = stamp(written.isoformat()) or stamp(datetime.now(UTC).isoformat()) or ""
    frame = frame_of(content, order.settings.langfuse, host=url, project_id=project_id, otherwise=otherwise)
    ledger = Ledger(
        _folder(content), host=url, project_id=project_id, run_name=frame.run_name, timestamp=frame.timestamp, read_only=read_only
    )
    if stamp(content.facts.created_at) is None:
        frame = replace(frame, timestamp=ledger.timestamp)
    return frame, ledger


def _folder(content: Content) -> Path | None:
    path = content.run.path
    return path if path is not None and path.is_dir() else None


# ------------------------------------------------------------------ what became of it
def _receipt(content: Content, delivery: Delivery, client: Client, project: Project, notices: list[str]) -> Receipt:
    sending = delivery.sending
    return Receipt(
        to=LangfuseSink.name,
        target=_target(client.host.url, project),
        due=dict(sending.due),
        accepted=dict(sending.accepted),
        kept=dict(sending.kept),
        rejected=tuple(sending.rejected),
        at_first=tuple(sending.at_first),
        retried=client.retried + sending.resent,
        requests=client.requests,
        unmeasured=content.unmeasured,
        signature=content.facts.signature,
        notice=content.facts.notice,
        links=_links(client.host.url, project, delivery),
        notices=tuple(notices),
    )


def _target(url: str, project: Project) -> str:
    name = " ".join(project.name.split())
    return f"{url} · {name}" if name == project.id else f"{url} · {name} ({project.id})"


def _links(url: str, project: Project, delivery: Delivery) -> tuple[str, ...]:
    base, dataset = f"{url}/project/{quote(project.id, safe='')}", delivery.due.frame.dataset_id
    if delivery.run_id is None or dataset is None:
        return (f"{base}/traces",)
    run = quote(delivery.run_id, safe="")
    if delivery.linked:
        return (f"{base}/datasets/{quote(dataset, safe='')}/runs/{run}",)
    return (f"{base}/experiments/results?baseline={run}",)


# ------------------------------------------------------------------ dry run
def _planned(content: Content, order: Order) -> Receipt:
    """Tell what would be sent, from the run folder alone."""
    url, notices = _named_host(order)
    project_id = _known_project(_folder(content), url)
    frame, ledger = _opened(content, order, url, project_id, read_only=True) if project_id else (_guessed(content, order, url), None)
    if ledger is not None and (dataset := ledger.given("dataset", dataset_name(frame))):
        frame = frame.within(dataset)
    with ledger or Ledger(None, host=url, project_id="", run_name=frame.run_name, timestamp=frame.timestamp) as notes:
        counts = _Plan(Due(content, frame, origins_of(content, frame, order.lang)), notes)
    return Receipt(
        to=LangfuseSink.name,
        target=f"{url} · {project_id}" if project_id else url or LangfuseSink.name,
        due=dict(counts.due),
        kept=dict(counts.kept),
        requests=sum(counts.requests.values()) + _READS,
        unmeasured=content.unmeasured,
        dry_run=True,
        signature=content.facts.signature,
        notice=content.facts.notice,
        notices=(*notices, *_costs(counts.requests, order.lang)),
    )


def _named_host(order: Order) -> tuple[str, list[str]]:
    """The address, "" where it or a key is not set, and what is to be said of that: a dry run needs neither."""
    try:
        return host_of(order.environ, order.lang).url, []
    except ConfigError as unset:
        return "", [str(unset)]


def _costs(requests: Mapping[str, int], lang: Language) -> Iterator[str]:
    yield say("sending.plan", lang, reads=_READS, **_shown(requests))
    if minutes := _minutes(requests):
        yield say("sending.plan_limits", lang, minutes=minutes)


class _Plan:
    """What an export would send, and in how many requests at least."""

    def __init__(self, due: Due, ledger: Ledger) -> None:
        self.due, self.kept, self.requests = Counter[str](), Counter[str](), Counter[str]()
        dataset = [dataset_unit(due.frame)] if due.origins.own else []
        run_id = ledger.given("run", due.frame.run_key) or due.frame.experiment_id or ""
        for units in (dataset, due.items(), due.traces(), due.scores(), due.means(run_id)):
            for pack in packs(unit for unit in units if self._missing(unit, ledger)):
                self.requests[pack[0].unit.kind] += 1

    def _missing(self, unit: Unit, ledger: Ledger) -> bool:
        self.due[unit.kind] += 1
        held = ledger.holds(unit)
        if held:
            self.kept[unit.kind] += 1
        return not held


def _minutes(requests: Mapping[str, int]) -> int:
    """Minutes it takes at least on the free plan of the cloud."""
    return sum(math.ceil(max(0, sum(requests.get(kind, 0) for kind in kinds) / HOBBY[kinds[0]] - 1)) for kinds in _SCARCE)


def _shown(requests: Mapping[str, int]) -> dict[str, int]:
    items, traces = requests.get("item", 0) + requests.get("dataset", 0), requests.get("trace", 0)
    return {"items": items, "traces": traces, "scores": requests.get("score", 0) + requests.get("mean", 0)}


def _guessed(content: Content, order: Order, url: str) -> Frame:
    return frame_of(content, order.settings.langfuse, host=url, project_id="", otherwise="2000-01-01T00:00:00.000Z")


def _known_project(folder: Path | None, url: str) -> str | None:
    """The project that the run was exported to at this address, if it was to exactly one."""
    found = set[str]()
    for path in (folder / FOLDER).glob("langfuse-*.jsonl") if folder else ():
        with suppress(OSError, orjson.JSONDecodeError), path.open("rb") as file:
            head = orjson.loads(file.readline())
            if isinstance(head, dict) and head.get("host") == url and isinstance(head.get("project_id"), str):
                found.add(head["project_id"])
    return found.pop() if len(found) == 1 else None
