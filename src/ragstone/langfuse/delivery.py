"""The order of an export: the gold set, its traces, links between the two, scores, and the means of the whole run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from ragstone.errors import ConfigError, StoppedError
from ragstone.langfuse.bodies import dataset_unit, gold_row, item_id, item_unit, run_item_unit
from ragstone.langfuse.origin import origin_of
from ragstone.langfuse.posting import Pack, Verdict
from ragstone.langfuse.scores import mean_units, score_units
from ragstone.langfuse.sending import packs
from ragstone.langfuse.spans import trace_unit
from ragstone.langfuse.usage import Usage, usage_of
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.export.content import Content, Line
    from ragstone.langfuse.frame import Frame
    from ragstone.langfuse.ledger import Ledger
    from ragstone.langfuse.posting import Posting
    from ragstone.langfuse.sending import Sending
    from ragstone.langfuse.units import Unit
    from ragstone.types import Language


@dataclass(frozen=True, slots=True)
class Origins:
    """Where the samples of a run come from."""

    own: int
    """Samples that get a trace of their own."""
    read: int
    """Samples that were read from traces of this project: their scores go back onto them."""


def origins_of(content: Content, frame: Frame, lang: Language) -> Origins:
    """Look at every sample once.

    Raises:
        ConfigError: one was read from another server or project than the one that is connected. Its scores would be lost there.
    """
    own = read = 0
    for line in content.bare_lines():
        found = origin_of(line.sample)
        if found is None:
            own += 1
        elif frame.origin(line) is not None:
            read += 1
        else:
            there, here = f"{found.host}, {found.project_id}", f"{frame.host}, {frame.project_id}"
            raise ConfigError(say("sending.other_project", lang, sample=line.id, there=there, here=here))
    return Origins(own, read)


class Due:
    """Every unit of a run, kind by kind, made anew on each pass."""

    def __init__(self, content: Content, frame: Frame, origins: Origins) -> None:
        self.frame, self.origins = frame, origins
        self._content = content
        self._used: Usage | None = None

    def items(self) -> Iterator[Unit]:
        """Yield an item a gold row, once where several answers were collected for it."""
        several = set[str]()
        for line in self._own(self._content.bare_lines()):
            if (row := gold_row(line)) != line.id:
                if row in several:
                    continue
                several.add(row)
            yield item_unit(line, self.frame)

    def traces(self) -> Iterator[Unit]:
        """Yield a trace a sample."""
        self._used = self._used or usage_of(self._content.run)
        for line in self._own(self._content.lines()):
            yield trace_unit(line, self.frame, self._used)

    def run_items(self, without: set[str]) -> Iterator[Unit]:
        """Yield a link a sample, but for items that are not there."""
        for line in self._own(self._content.bare_lines()):
            if item_id(line, self.frame) not in without:
                yield run_item_unit(line, self.frame)

    def scores(self) -> Iterator[Unit]:
        """Yield a score a measured cell."""
        return chain.from_iterable(score_units(line, self.frame) for line in self._content.lines())

    def means(self, run_id: str) -> Iterator[Unit]:
        """Yield a score a metric on the run; none where every sample was read from Langfuse, for there is no run then."""
        return mean_units(self._content.summary, self.frame, run_id) if self.origins.own else iter(())

    @staticmethod
    def _own(lines: Iterator[Line]) -> Iterator[Line]:
        return (line for line in lines if origin_of(line.sample) is None)


class Delivery:
    """Sends what is due, in the order in which one thing needs the other. `run` raises StoppedError; what was taken is noted."""

    def __init__(self, due: Due, sending: Sending, posting: Posting, ledger: Ledger) -> None:
        self.due, self.sending, self._posting, self._ledger = due, sending, posting, ledger
        self.run_id: str | None = None
        """What the server calls the run; None as long as there is none."""
        self.linked = False
        """True if the server has runs of its own, with links to the items."""

    async def run(self) -> None:
        """Send everything that is not there yet."""
        if self.due.origins.own:
            await self._dataset()
            await self.sending.send(self.due.items(), self._posting.item)
            await self.sending.send(self.due.traces(), self._posting.traces)
            await self._links()
        await self.sending.send(self.due.scores(), self._posting.scores)
        if self.due.origins.own:
            self.run_id = (self._ledger.given("run", self.due.frame.run_key) if self.linked else None) or self.due.frame.experiment_id
            await self.sending.send(self.due.means(self.run_id or ""), self._posting.scores)

    async def _dataset(self) -> None:
        unit = dataset_unit(self.due.frame)
        new = self.sending.missing(unit)
        (parcel,) = next(packs([unit]))
        found, words, made = await self._posting.dataset(parcel, known=not new)
        if found is None:
            raise StoppedError(self.sending.host.say("no_dataset", dataset=unit.id, message=words))
        if new:
            self.sending.take([unit])
        elif made:  # who has lost the data set may have lost the rest
            self._ledger.forget(unit.id)
        self._ledger.keep("dataset", unit.id, found)
        self.due.frame = self.due.frame.within(found)

    # ------------------------------------------------------------------ links
    async def _links(self) -> None:
        """Link the items to the run where the server does it by requests of their own; elsewhere the traces say it."""
        without = {one.id for one in self.sending.rejected if one.kind == "item"}
        first = next((unit for unit in self.due.run_items(without) if not self._ledger.holds(unit)), None)
        if first is not None:
            await self._note_links(without)
        asked = dict[str, Verdict]()
        if first is not None and not self._ledger.holds(first):
            verdict = await self._link(next(packs([first])))
            if verdict is None:
                return
            asked[first.id] = verdict
        self.linked = True

        async def post(pack: Pack) -> Verdict:
            name = pack[0].unit.id
            return asked.pop(name, None) or await self._link(pack) or Verdict({name: "HTTP 404"})

        await self.sending.send(self.due.run_items(without), post)

    async def _note_links(self, without: set[str]) -> None:
        """Note the links that are there already, sent by an export that was killed or whose list was removed."""
        frame = self.due.frame
        there = {trace async for trace in self._posting.links_of(frame.dataset_id or "", frame.run_name)}
        if there:
            self._ledger.add(unit for unit in self.due.run_items(without) if unit.id in there)
            self._note_run()

    async def _link(self, pack: Pack) -> Verdict | None:
        verdict = await self._posting.run_item(pack)
        self._note_run()
        return verdict

    def _note_run(self) -> None:
        if self._posting.run_id is not None:
            self._ledger.keep("run", self.due.frame.run_key, self._posting.run_id)
