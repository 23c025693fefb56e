"""What is due, in packs, one kind after the other: what was taken is noted at once, what was refused is found out one by one."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import orjson

from ragstone.errors import StoppedError
from ragstone.export.receipt import Rejected
from ragstone.langfuse.client import CONCURRENCY, LONGEST
from ragstone.langfuse.posting import Pack, Parcel, Verdict

if TYPE_CHECKING:
    from ragstone.langfuse.access import Host
    from ragstone.langfuse.units import Kind, Unit

GRACE = 5.0
"""Seconds that requests on their way are waited for when the export must stop: what they bring is taken."""
MOST_REFUSED = 100
"""Requests of a kind that are refused before anything of it was taken, after which the rest is not tried."""
_COMMAS = 2


@dataclass(frozen=True, slots=True)
class Size:
    """The most that one request holds."""

    units: int
    bytes: int


SIZES: dict[Kind, Size] = {
    "dataset": Size(1, 900_000),
    "item": Size(1, 900_000),
    "trace": Size(50, 3_500_000),
    "run_item": Size(1, 900_000),
    "score": Size(100, 900_000),
    "mean": Size(100, 900_000),
}
"""Servers take lists of scores up to 1 MB, and warn of spans above 16 MB. A unit that is larger goes alone."""
Post = Callable[[Pack], Awaitable[Verdict]]


class Notes(Protocol):
    """Where what was taken is noted: the ledger of the run folder."""

    def holds(self, unit: Unit) -> bool:
        """Return True if the server has the unit as it is now."""
        ...

    def add(self, units: Sequence[Unit]) -> None:
        """Note that the server has taken these."""
        ...


class Sending:
    """Sends units that are not there yet, and counts what becomes of all of them."""

    def __init__(self, notes: Notes, host: Host) -> None:
        self._notes, self.host = notes, host
        self.due, self.accepted, self.kept = Counter[str](), Counter[str](), Counter[str]()
        self.rejected: list[Rejected] = []
        self.resent = 0
        """Packs that were sent again because a larger one was refused, in part or whole."""
        self._in_vain = Counter[str]()

    def missing(self, unit: Unit) -> bool:
        """Count a unit as due; True if it has to be sent."""
        self.due[unit.kind] += 1
        if self._notes.holds(unit):
            self.kept[unit.kind] += 1
            return False
        return True

    def take(self, units: Sequence[Unit]) -> None:
        """Note that the server has taken these."""
        if units:
            self._notes.add(units)
            self.accepted.update(unit.kind for unit in units)

    def reject(self, unit: Unit, reason: str) -> None:
        """Tell that a unit was not taken, and why."""
        words = self.host.scrub(reason)[:LONGEST]
        self.rejected.append(Rejected(unit.kind, unit.id, words, unit.sample_id, unit.metric))

    async def send(self, units: Iterable[Unit], post: Post) -> None:
        """Send every unit of one kind that is not there yet, a few packs at once. Raises what `post` does."""
        running = set[asyncio.Task[None]]()
        try:
            for pack in packs(unit for unit in units if self.missing(unit)):
                if len(running) == CONCURRENCY:
                    running = await _one_ended(running)
                running.add(asyncio.ensure_future(self._deliver(pack, post)))
            while running:
                running = await _one_ended(running)
        except StoppedError:
            if running:
                await asyncio.wait(running, timeout=GRACE)
            raise
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _deliver(self, pack: Pack, post: Post) -> None:
        """Send a pack; of one that is not taken whole, smaller ones, until each refused unit stands alone."""
        verdict = await post(pack)
        if verdict.unclear is not None:
            self._count_refusal(pack, verdict.unclear)
            if len(pack) == 1:
                self.reject(pack[0].unit, verdict.unclear)
                return
            middle = len(pack) // 2
            for half in (pack[:middle], pack[middle:]):
                await self._again(half, post)
            return
        refused = [one for one in pack if one.unit.id in verdict.refused]
        self.take([one.unit for one in pack if one.unit.id not in verdict.refused])
        if refused and len(refused) < len(pack):
            await self._again(refused, post)
        elif refused:
            self._count_refusal(pack, next(iter(verdict.refused.values())))
            for one in refused:
                self.reject(one.unit, verdict.refused[one.unit.id])

    async def _again(self, pack: Pack, post: Post) -> None:
        self.resent += 1
        await self._deliver(pack, post)

    def _count_refusal(self, pack: Pack, words: str) -> None:
        """Raise StoppedError if this server has refused so much, and taken nothing of the kind, that the rest would be refused too."""
        kind = pack[0].unit.kind
        if self.accepted[kind]:
            return
        self._in_vain[kind] += 1
        if self._in_vain[kind] >= MOST_REFUSED:
            raise StoppedError(self.host.say("refuses_all", kind=kind, count=MOST_REFUSED, message=self.host.scrub(words)[:LONGEST]))


async def _one_ended(running: set[asyncio.Task[None]]) -> set[asyncio.Task[None]]:
    """Wait until one has ended and return the others. Raises what it ended with."""
    ended, rest = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
    for error in [task.exception() for task in ended]:
        if error is not None:
            running -= ended
            raise error
    return rest


def packs(units: Iterable[Unit]) -> Iterator[list[Parcel]]:
    """Yield units of one kind in packs that one request holds."""
    pack, size = list[Parcel](), 0
    for unit in units:
        most, raw = SIZES[unit.kind], orjson.dumps(unit.body)
        if pack and (len(pack) == most.units or size + len(raw) + _COMMAS > most.bytes):
            yield pack
            pack, size = [], 0
        pack.append(Parcel(unit, raw))
        size += len(raw) + _COMMAS
    if pack:
        yield pack
