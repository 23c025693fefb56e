"""From a gold set to samples: every question is put to the application once, what came back is kept, and read into rows."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ragstone.collect.base import Application, Kept, Row
from ragstone.collect.earlier import Earlier
from ragstone.collect.files import check_target, copy_aside, make_ready
from ragstone.collect.gold_rows import GoldRows
from ragstone.collect.heads import continued
from ragstone.collect.journal import Journal, WriterLock, raw_of
from ragstone.collect.rows import read_row
from ragstone.collect.samples_file import Failures, SamplesFile, besides
from ragstone.config import Config
from ragstone.errors import RagstoneError, StoppedError
from ragstone.progress import RowMeter, RowProgress
from ragstone.samples import SampleSource
from ragstone.text import say, screen_language
from ragstone.together import together, within

ALWAYS_AGAIN = frozenset({"key", "app", "quota"})
"""Words of failed rows that every later call asks again: the row had no part in it."""
PASSING = frozenset({"timeout", "rate_limited", "server_error", "bad_gateway", "connection"})
"""Words of failed rows that another try may cure."""
MOST = 100
"""Rows lost to passing trouble beyond which it has lasted: to meet it once more would help nobody."""
GRACE = 5.0
"""Seconds that answers on their way are waited for when the call must stop."""
STREAK = 64
"""Failed rows in a row that are remembered, for the case that the application turns out to fail them all."""
_STANDS, _DUE, _AGAIN, _ASKED = range(4)
"""_AGAIN: an earlier call has asked, and the row failed."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What one call of collecting came to. Counts are of rows, repeats included."""

    samples: Path
    raw: Path
    rows: int
    """Rows the gold set asks for."""
    ok: int
    """Rows with a usable answer."""
    failed: int
    reasons: dict[str, Failures]
    """Failed rows by word, the most frequent first."""
    asked: int
    """Rows asked in this call."""
    kept: int
    """Rows that stand from earlier calls."""
    requests: int
    """Requests of this call: those before and after each question too, tries included."""
    wall_s: float
    exposed: int
    """Good rows whose chunks the application tells."""
    empty: int
    """Those of them for which nothing was retrieved."""
    notices: tuple[str, ...] = ()
    """What to know about the samples as a whole, in the screen's language; not told to `on_notice`."""

    @property
    def coverage(self) -> float:
        """Share of rows with a usable answer."""
        return self.ok / self.rows

    def covered(self, min_coverage: float) -> bool:
        """True if enough rows have a usable answer."""
        return self.ok >= min_coverage * self.rows - 1e-9

    def to_dict(self) -> dict[str, Any]:
        """The document of `--json`."""
        counts = {
            name: getattr(self, name) for name in ("rows", "ok", "failed", "coverage", "asked", "kept", "requests", "exposed", "empty")
        }
        reasons = {word: failures.to_dict() for word, failures in self.reasons.items()}
        files = {"samples": str(self.samples), "raw": str(self.raw)}
        return {**files, **counts, "wall_s": round(self.wall_s, 3), "reasons": reasons, "notices": list(self.notices)}


async def collect_source(
    source: SampleSource,
    application: Application,
    *,
    to: Path,
    config: Config,
    repeat: int = 1,
    on_progress: Callable[[RowProgress], None] | None = None,
    on_notice: Callable[[str], None] | None = None,
) -> Collected:
    """Ask the application every question that is still due, write the samples, and close it.

    `repeat`: how often each question is asked; from 2 on rows are named `q1#0`, `q1#1` with `meta.question_id`.

    Raises ConfigError, DataError, RunFolderError before any request if the files cannot be used or were collected otherwise, ConfigError
    for a mapping that fits no response; StoppedError (AuthError, EndpointError) when every further row would fail. What was finished is on
    disk then, in gold order, and the same call goes on from there.
    """
    started, rows = time.monotonic(), GoldRows(source, repeat)
    async with AsyncExitStack() as closing:
        closing.push_async_callback(application.close)
        rows.check()
        check_target(to, source.name)
        closing.callback(WriterLock(to).release)
        tell = on_notice or (lambda _: None)
        if (hear := getattr(application, "hear", None)) is not None:
            hear(tell)
        make_ready(to, tell, force=config.force)
        journal = Journal(raw_of(to))
        closing.callback(journal.close)
        as_before = continued(journal, application, rows, source.gold_fingerprint, to, tell, retry=config.retry_failed)
        collection = _Collection(rows, application, journal, SamplesFile(to, len(rows)), config, tell)
        closing.callback(collection.file.close)
        collection.take_up(as_before=as_before)
        await collection.run(on_progress)
        for notice in getattr(application, "notices", ()):
            tell(notice)
    return collection.collected(time.monotonic() - started)


@dataclass(slots=True)
class _Collection:
    """One call: which rows are due, what came back, what was lost on the way."""

    rows: GoldRows
    application: Application
    journal: Journal
    file: SamplesFile
    config: Config
    tell: Callable[[str], None]
    due: bytearray = field(init=False)
    """Of each row whether it stands, is due, or was asked by now."""
    lost: list[tuple[int, Row]] = field(default_factory=list)
    streak: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=STREAK))
    """Words and ids of the rows that failed since the last good one."""
    stop: RagstoneError | None = None
    """What the call must stop with, once a row has met it."""
    last_call: asyncio.Timeout = field(init=False)
    """Ends the waiting for answers once the call must stop."""
    asked: int = 0
    requests: int = 0

    def __post_init__(self) -> None:
        self.due = bytearray(len(self.rows))

    # ------------------------------------------------------------ before
    def take_up(self, *, as_before: bool) -> None:
        """Read what earlier calls were told, and find the rows that are due. `as_before`: responses are read as they were then."""
        limited = self.config.limit is not None
        self.file.begin(self._seen(as_before), besides(self.file.path, self.rows.ids()) if limited else ())
        if self.file.ok and (accepted := getattr(self.application, "accepted", None)) is not None:
            accepted()
        if not any(self.due):
            failed, lang, path = self.file.done - self.file.ok, screen_language(), self.file.path
            told = say("collecting.failed_stand", lang, path=path, n=failed) if failed else say("collecting.nothing_due", lang, path=path)
            self.tell(told)

    def _seen(self, as_before: bool) -> Iterator[tuple[int, dict[str, Any]]]:
        """The known rows; at their end, before they take the place of the file, it is copied if something of it would be lost."""
        earlier = Earlier(self.file.path, self.journal)
        yield from earlier.watched(self._known()) if as_before else self._known()
        if earlier.strange:
            aside = copy_aside(self.file.path)
            self.tell(say("collecting.changed_by_hand", screen_language(), path=self.file.path, aside=aside))

    def _known(self) -> Iterator[tuple[int, dict[str, Any]]]:
        changed = 0
        for place, row in enumerate(self.rows):
            held = self.journal.answer_to(row)
            if held is None or not held.asks(row, self._uses(row)):
                changed += held is not None
                self.due[place] = _DUE
                continue
            found = read_row(self.application, row, held.kept)
            if (word := _word(found)) is not None:
                self.due[place] = _AGAIN if held.again or word in ALWAYS_AGAIN or self.config.retry_failed else _STANDS
            yield place, found
        if changed:
            self.tell(say("collecting.rows_changed", screen_language(), n=changed))

    def _uses(self, row: Row) -> Any:
        return uses(row) if (uses := getattr(self.application, "uses", None)) is not None else None

    # ------------------------------------------------------------ asking
    async def run(self, on_progress: Callable[[RowProgress], None] | None) -> None:
        """Ask every row that is due; whatever ends the call, the file is in gold order afterwards."""
        total = len(self.rows) - self.due.count(_STANDS)
        meter = RowMeter(total, on_progress, _name_of(self.application))
        try:
            if total:
                self.application.expect(total)
                async with within(self.config.deadline, self._late):
                    await together([self._rounds(meter), meter.beat()])
        except BaseException:
            with suppress(Exception):  # what ended the call may be what it would be told to
                meter.stop()
            with suppress(RagstoneError):  # what ended the call is told, not what follows from it
                self.file.finish()
            held = {"done": self.file.done, "failed": self.file.done - self.file.ok, "total": len(self.rows), "path": self.file.path}
            self.tell(say("collecting.so_far", screen_language(), **held))
            raise
        self.file.finish()

    def _late(self) -> RagstoneError:
        return self.stop or StoppedError(say("collecting.deadline", screen_language(), seconds=f"{self.config.deadline:g}"))

    async def _rounds(self, meter: RowMeter) -> None:
        """All rows that are due; then once more those lost to trouble that mostly passed."""
        try:
            for state in (_DUE, _AGAIN):  # what failed once more often fails again, and too much of it in a row looks like the end
                if state in self.due:
                    await self._round(((place, row) for place, row in enumerate(self.rows) if self.due[place] == state), meter)
            lost, self.lost = self.lost, []
            if lost and len(lost) <= MOST and 2 * len(lost) <= meter.total:
                meter.take_back(len(lost))
                await self._round(iter(lost), meter)
        finally:
            meter.over.set()

    async def _round(self, due: Iterator[tuple[int, Row]], meter: RowMeter) -> None:
        """Ask the rows. Where the call must stop, answers that are on their way are waited for: they need not be asked for again."""
        workers = self.config.collect.concurrency or self.config.concurrency
        try:
            async with asyncio.timeout(None) as self.last_call:
                await together([self._worker(due, meter) for _ in range(workers)])
        except TimeoutError:
            if not self.last_call.expired():
                raise
        if self.stop is not None:
            raise self.stop

    async def _worker(self, due: Iterator[tuple[int, Row]], meter: RowMeter) -> None:
        for place, row in due:
            try:
                kept = await self.application.ask(row)
            except StoppedError as stop:  # may come before the row that met it, or while others are about to be answered
                self._stop_with(stop)
                return
            self.asked += self.due[place] != _ASKED
            self.due[place] = _ASKED
            self._keep(place, row, kept, meter)
            if kept.stop is not None:
                self._stop_with(kept.stop)
            if self.stop is not None:
                return
            await asyncio.sleep(0)  # an application that never waits would otherwise keep Ctrl-C from having a turn

    def _stop_with(self, stop: RagstoneError) -> None:
        if self.stop is None:
            self.stop = stop
            self.last_call.reschedule(asyncio.get_running_loop().time() + GRACE)

    def _keep(self, place: int, row: Row, kept: Kept, meter: RowMeter) -> None:
        """Write the raw line, then the sample: a row that is asked again after a kill was not written at all."""
        found = read_row(self.application, row, kept)
        word = _word(found)
        if word is None:
            self.streak.clear()
        else:
            self.streak.append((word, row.id))
        self.journal.keep(row, kept, uses=self._uses(row), good=word is None, stopped=self._stopped_over(kept))
        self.file.put(place, found)
        if word in PASSING and len(self.lost) <= MOST:
            self.lost.append((place, row))
        requests = kept.attempts if kept.requests is None else kept.requests
        self.requests += requests
        meter.tick(failed=word is not None, requests=requests)

    def _stopped_over(self, kept: Kept) -> tuple[str, ...]:
        """Ids of the rows that met what the call stops over; a mapping that does not fit is no matter of the responses."""
        if not isinstance(kept.stop, StoppedError) or not self.streak:
            return ()
        return tuple(name for word, name in self.streak if word == self.streak[-1][0])

    # ------------------------------------------------------------ after
    def collected(self, wall_s: float) -> Collected:
        """Return what the call came to."""
        file, total = self.file, len(self.rows)
        reasons = file.failures(self.rows.ids())
        counts = {"rows": total, "ok": file.ok, "failed": total - file.ok, "asked": self.asked, "kept": self.due.count(_STANDS)}
        _, empty, filled = file.contexts()
        counts |= {"requests": self.requests, "exposed": empty + filled, "empty": empty}
        notices = tuple(self._notices())
        return Collected(file.path, raw_of(file.path), **counts, reasons=reasons, wall_s=wall_s, notices=notices)

    def _notices(self) -> Iterator[str]:
        hidden, empty, filled = self.file.contexts()
        if hidden and not empty and not filled:
            yield say("collecting.no_contexts", screen_language())
        elif empty and not filled and not hidden:
            yield say("collecting.all_empty", screen_language(), n=empty)


def _word(sample: dict[str, Any]) -> str | None:
    """The word of a failed row, None for a good one."""
    error = sample.get("error")
    return None if error is None else str(error).partition(":")[0]


def _name_of(application: Application) -> str:
    """Who is asked, in a word: the host, else the platform."""
    asked = application.asked
    return urlsplit(str(asked.get("url") or "")).netloc or str(asked.get("platform") or "")
