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
_FEW = 8
"""A list of which less than one in so many is refused is halved to find them; more are found sooner one by one."""
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
        self.at_first: list[Rejected] = []
        """What was in such a pack, or named by the server, with its words: each once, whatever became of it in the end."""
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
        self.rejected.append(_rejected(unit, self._words(reason)))

    def _words(self, reason: str) -> str:
        return self.host.scrub(reason)[:LONGEST]

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
        if len(pack) > 1 and (verdict.unclear is not None or 0 < len(verdict.refused) < len(pack)):
            self._note_first(pack, verdict)
        await self._settle(pack, verdict, post)

    async def _settle(self, pack: Pack, verdict: Verdict, post: Post) -> None:
        if verdict.unclear is not None:
            self._count_refusal(pack, verdict.unclear)
            if len(pack) == 1:
                self.reject(pack[0].unit, verdict.unclear)
            else:
                await self._divide(pack, verdict, post)
            return
        refused = [one for one in pack if one.unit.id in verdict.refused]
        self.take([one.unit for one in pack if one.unit.id not in verdict.refused])
        if refused and len(refused) < len(pack):
            await self._settle(refused, await self._again(refused, post), post)
        elif refused:
            self._count_refusal(pack, next(iter(verdict.refused.values())))
            for one in refused:
                self.reject(one.unit, verdict.refused[one.unit.id])

    async def _divide(self, pack: Pack, verdict: Verdict, post: Post) -> None:
        """Send halves of a pack, or what is in it one by one where halves would take more requests than that."""
        middle = len(pack) // 2
        halves, rest = (pack[:middle], pack[middle:]), pack
        if verdict.part is None:
            for half in halves:
                await self._settle(half, await self._again(half, post), post)
            return
        if verdict.part * _FEW <= len(pack):
            asked = [(half, await self._again(half, post)) for half in halves]
            by_list = _by_list(verdict.part, [found for _, found in asked])
            for half, found in asked:
                if not by_list or found.unclear is None:
                    await self._settle(half, found, post)
            rest = [one for half, found in asked if by_list and found.unclear is not None for one in half]
        for one in rest:
            await self._settle([one], await self._again([one], post), post)

    async def _again(self, pack: Pack, post: Post) -> Verdict:
        self.resent += 1
        return await post(pack)

    def _note_first(self, pack: Pack, verdict: Verdict) -> None:
        """Note what must be sent again: of a list whose refused ones are not named, everything in it."""
        words = {name: self._words(said) for name, said in verdict.refused.items()}
        unclear = None if verdict.unclear is None else self._words(verdict.unclear)
        for unit in (one.unit for one in pack):
            if (said := words.get(unit.id, unclear)) is not None:
                self.at_first.append(_rejected(unit, said))

    def _count_refusal(self, pack: Pack, words: str) -> None:
        """Raise StoppedError if this server has refused so much, and taken nothing of the kind, that the rest would be refused too."""
        kind = pack[0].unit.kind
        if self.accepted[kind]:
            return
        self._in_vain[kind] += 1
        if self._in_vain[kind] >= MOST_REFUSED:
            raise StoppedError(self.host.say("refuses_all", kind=kind, count=MOST_REFUSED, message=self._words(words)))


def _rejected(unit: Unit, words: str) -> Rejected:
    return Rejected(unit.kind, unit.id, words, unit.sample_id, unit.metric)


def _by_list(part: int, halves: Sequence[Verdict]) -> bool:
    """True if the halves of a list refuse more than the list did: it is the list that is refused then, whatever stands in it."""
    return sum(one.part or len(one.refused) for one in halves) > part


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
