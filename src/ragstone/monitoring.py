"""Online sampling: production traces of an application become samples, whose scores go back onto the same traces."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from ragstone.collect.files import check_target, copy_aside, make_ready
from ragstone.collect.journal import WriterLock, raw_of
from ragstone.collect.values import plain
from ragstone.errors import ConfigError, RagstoneError, StoppedError
from ragstone.langfuse.access import Host, host_of
from ragstone.langfuse.kept import KeptTraces
from ragstone.langfuse.reading import Listed, Reader, UnreadTrace
from ragstone.langfuse.traces import moment_of, retrievers, sample_of
from ragstone.langfuse.window import OWN, Window, is_own, share, window_of
from ragstone.progress import RowMeter, RowProgress
from ragstone.store import read_lines, write_atomically
from ragstone.text import say, screen_language
from ragstone.together import together, within

if TYPE_CHECKING:
    from ragstone.config import Config
    from ragstone.langfuse.client import Client

PLATFORM = "langfuse"
"""Name of the source in `--from` and in `[collect] platform`."""
MOST_UNREAD = 20
"""Traces that the server may fail to tell before it has told one: it tells none then."""
WORKERS = 4
"""Traces that are read at once."""


@dataclass(frozen=True, slots=True)
class Monitored:
    """What one call of reading traces came to."""

    samples: Path
    raw: Path
    host: str
    project: str
    """Id of the project."""
    window: Window
    counts: Mapping[str, int]
    """`listed` traces of the window with the tags, `own` of ragstone, experiments and evaluators, `sampled` of the others; of these `rows`
    that are samples, `bare` with neither question nor answer, `gone` before they were read, `failed` that the
    server lists and does not tell; of the rows `hidden` whose passages nobody
    tells, `unread` of them whose retriever tells no texts, `empty` for which nothing was retrieved; `read` in this call, `kept` before."""
    requests: int
    wall_s: float
    notices: tuple[str, ...] = ()
    """What to know about the samples as a whole, in the screen's language; not told to `on_notice`."""

    @property
    def rows(self) -> int:
        """Samples in the file."""
        return self.counts["rows"]

    @property
    def exit_code(self) -> int:
        """0; 1 if there is no sample, or the server has not told some of the traces."""
        return 0 if self.rows and not self.counts["failed"] else 1

    def to_dict(self) -> dict[str, Any]:
        """The document of `--json`."""
        places = {"samples": str(self.samples), "raw": str(self.raw), "host": self.host, "project_id": self.project}
        cost = {"requests": self.requests, "wall_s": round(self.wall_s, 3)}
        return {**places, "window": self.window.to_dict(), **self.counts, **cost, "notices": list(self.notices)}


async def collect_traces(
    *,
    to: Path,
    config: Config,
    environ: Mapping[str, str],
    on_progress: Callable[[RowProgress], None] | None = None,
    on_notice: Callable[[str], None] | None = None,
    now: datetime | None = None,
    client: Callable[[Host], Client] | None = None,
) -> Monitored:
    """Read the traces that `[collect.langfuse]`, `seed` and `limit` mean, and write their samples.

    A file that was begun for a window goes on with it, whatever the time is now.

    Raises ConfigError before any request if the settings mean nothing, or the file was begun for other traces; StoppedError (AuthError,
    EndpointError) when nothing more can be read. What was read is on disk then, and the same call goes on from there.
    """
    from ragstone.langfuse.client import Client as Usual

    tell = on_notice or (lambda _: None)
    host = host_of(environ)
    asked = asked_of(config, host)
    window = window_of(asked["since"], asked["until"], now or datetime.now(UTC), screen_language())
    async with AsyncExitStack() as closing:
        check_target(to)
        closing.callback(WriterLock(to).release)
        make_ready(to, tell, force=config.force)
        kept = KeptTraces(raw_of(to), host)
        closing.callback(kept.close)
        kept.check(to, asked)
        talk = (client or Usual)(host)
        closing.push_async_callback(talk.close)
        call = _Call(to, kept, talk, config, asked, window, tell)
        await call.run(on_progress)
        return call.monitored()


def asked_of(config: Config, host: Host) -> dict[str, Any]:
    """Return what decides which traces are meant, as it was given; stands at the head of the raw file."""
    wanted = config.collect.langfuse
    times = {"since": wanted.since, "until": wanted.until}
    sampling = {"rate": wanted.rate, "seed": config.seed, "limit": config.limit}
    return {"platform": PLATFORM, "url": host.url, **times, "tags": sorted({*wanted.tags}), **sampling}


@dataclass(slots=True)
class _Call:
    """One call: which traces there are, which are read by now."""

    to: Path
    kept: KeptTraces
    client: Client
    config: Config
    asked: Mapping[str, Any]
    window: Window
    tell: Callable[[str], None]
    began: float = field(default_factory=time.monotonic)
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("listed", "own", "sampled", "read", "kept", "gone", "failed"), 0))
    notices: list[str] = field(default_factory=list)
    project: str = ""
    unread: str = ""
    """What the server said of the first trace that it did not tell."""

    async def run(self, on_progress: Callable[[RowProgress], None] | None) -> None:
        """Read every trace that is due; whatever ends the call, the samples of what was read are written."""
        self.counts["kept"] = len(self.kept)
        self._go_on()
        try:
            async with within(self.config.deadline, self._late):
                if not self._complete():
                    await self._read(on_progress)
        except BaseException:
            with suppress(RagstoneError):  # what ended the call is told, not what follows from it
                self._write()
                self.tell(say("monitored.so_far", screen_language(), done=self.counts["rows"], path=self.to))
            raise
        self._write()

    def _go_on(self) -> None:
        """Take up the window and the project of an earlier call."""
        lang, head = screen_language(), self.kept.head
        if not len(self.kept):
            return  # an empty window is no reason to keep to it
        self.window = Window(moment_of(head["window"]["since"]), moment_of(head["window"]["until"]))
        self.project = str(head.get("project_id") or "")
        key = "monitored.complete" if self._complete() else "monitored.continues"
        self.tell(say(key, lang, path=self.to, **self.window.to_dict()))

    def _complete(self) -> bool:
        return bool(len(self.kept)) and isinstance(self.kept.head.get("complete"), dict)

    def _late(self) -> StoppedError:
        return StoppedError(say("monitored.deadline", screen_language(), seconds=f"{self.config.deadline:g}"))

    # -------------------------------------------------------------- asking
    async def _read(self, on_progress: Callable[[RowProgress], None] | None) -> None:
        project = (await self.client.project()).id
        if self.project not in ("", project):
            raise self._other_project(project)
        self.project = project
        window = self.window.to_dict()
        if not len(self.kept):
            self.kept.begin(self.asked, window, project_id=project)
        reader = Reader(self.client)
        due = [one.id for one in await self._chosen(reader) if not self.kept.knows(one.id)]
        await self._each(reader, due, on_progress)
        if len(self.kept) and not self.counts["failed"]:
            told = {name: self.counts[name] for name in ("listed", "own", "sampled", "gone")}
            self.kept.begin(self.asked, window, project_id=project, complete=told)

    def _other_project(self, project: str) -> RagstoneError:
        return ConfigError(say("monitored.other_project", screen_language(), path=self.to, old=self.project, new=project))

    async def _chosen(self, reader: Reader) -> list[Listed]:
        """The sample of the window: the traces that stand lowest for the seed, so that a larger one holds a smaller one."""
        tags, own = self.asked["tags"], {self.config.export.langfuse.environment}
        chosen, rate, limit = list[tuple[float, Listed]](), self.asked["rate"], self.asked["limit"]
        async for one in reader.listed(self.window, tags):
            self.counts["listed"] += 1
            if is_own(one.environment, () if OWN in tags else one.tags, own):
                self.counts["own"] += 1
            elif (place := share(self.asked["seed"], one.id)) < rate:
                chosen.append((place, one))
        chosen.sort(key=lambda pair: (pair[0], pair[1].id))
        self.counts["sampled"] = len(chosen[:limit])
        return sorted((one for _, one in chosen[:limit]), key=lambda one: (one.timestamp, one.id))

    async def _each(self, reader: Reader, due: list[str], on_progress: Callable[[RowProgress], None] | None) -> None:
        meter = RowMeter(len(due), on_progress, self.client.host.host)
        names = iter(due)
        if not due:
            return
        try:
            await together([self._workers(reader, names, meter), meter.beat()])
        except BaseException:
            with suppress(Exception):
                meter.stop()
            raise

    async def _workers(self, reader: Reader, names: Iterator[str], meter: RowMeter) -> None:
        try:
            await together([self._worker(reader, names, meter) for _ in range(WORKERS)])
        finally:
            meter.over.set()

    async def _worker(self, reader: Reader, names: Iterator[str], meter: RowMeter) -> None:
        for name in names:
            told = await self._told(reader, name)
            if told is not None:
                self.counts["read"] += 1
                self.kept.keep(name, told)
            meter.requests = self.client.requests
            meter.tick(failed=told is None, requests=0)

    async def _told(self, reader: Reader, name: str) -> Mapping[str, Any] | None:
        """Read one trace; None if it is gone, or the server fails to tell it, which a later call may ask again."""
        try:
            told = await reader.whole(name, self.window)
        except UnreadTrace as error:
            self.counts["failed"] += 1
            self.unread = self.unread or str(error)
            if self.counts["failed"] >= MOST_UNREAD and not self.counts["read"]:
                raise
            return None
        self.counts["gone"] += told is None
        return told

    # -------------------------------------------------------------- writing
    def _write(self) -> None:
        """Write the samples of everything that is kept, in the order of time."""
        self.counts |= dict.fromkeys(("rows", "bare", "hidden", "empty", "unread"), 0)
        if self._complete():
            self.counts |= self.kept.head["complete"]
        self._set_aside_changes()
        write_atomically(self.to, self._lines())

    def _set_aside_changes(self) -> None:
        """Copy a file that holds rows which were not read into it: it is about to be written anew."""
        ids = (row.get("id") for row in map(_row, (line for _, line in read_lines(self.to))))
        if any(not (isinstance(name, str) and self.kept.knows(name)) for name in ids):
            self.tell(say("collecting.changed_by_hand", screen_language(), path=self.to, aside=copy_aside(self.to)))

    def _lines(self) -> Iterator[bytes]:
        for trace in self.kept.traces():
            row = sample_of(trace, self.client.host.url, self.project)
            if row["question"] is None and row["answer"] is None:
                self.counts["bare"] += 1
                continue
            self.counts["rows"] += 1
            self.counts["hidden"] += row["contexts"] is None
            self.counts["empty"] += row["contexts"] == []
            self.counts["unread"] += row["contexts"] is None and bool(retrievers(trace))
            yield orjson.dumps(plain(row), option=orjson.OPT_APPEND_NEWLINE)

    # -------------------------------------------------------------- after
    def monitored(self) -> Monitored:
        """Return what the call came to."""
        spent = time.monotonic() - self.began
        place = self.client.host.url, self.project, self.window
        return Monitored(self.to, self.kept.path, *place, dict(self.counts), self.client.requests, spent, tuple(self._notices()))

    def _notices(self) -> Iterator[str]:
        lang, counts = screen_language(), self.counts
        for name, key in (("own", "monitored.own"), ("bare", "monitored.bare"), ("gone", "monitored.gone")):
            if counts[name]:
                yield say(key, lang, n=counts[name])
        if counts["failed"]:
            yield say("monitored.failed", lang, n=counts["failed"], message=self.unread)
        if counts["hidden"]:
            key = "monitored.unread" if counts["unread"] else "monitored.hidden"
            yield say(key, lang, n=counts["unread"] or counts["hidden"], rows=counts["rows"])


def _row(line: bytes) -> Mapping[str, Any]:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return row if isinstance(row, dict) else {}
