"""Replay: every score computed again from the stored replies, with no network, and compared with what is stored."""

import asyncio
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import orjson

from ragstone import plans
from ragstone.compact import ABSENT, Cell, LastLines, PerCell
from ragstone.errors import RunFolderError, StoppedError
from ragstone.folder import FolderLock
from ragstone.judge.base import Identity, RawReply
from ragstone.lost import Work
from ragstone.metrics import parse
from ragstone.metrics.base import Metric
from ragstone.plans.base import Case
from ragstone.questions.base import Question
from ragstone.run import Driver
from ragstone.run_files import existing
from ragstone.samples import clip
from ragstone.store import REPLIES, SAMPLES, SCORES, cell_of, load_row, opened, read_manifest, read_rows, write_atomically
from ragstone.stored import reply_problem, sample_problem, score_problem
from ragstone.text import say, screen_language
from ragstone.types import Sample, Score

if TYPE_CHECKING:
    from ragstone.embed.base import Vector

MISSING = "reply_missing"
"""Reason given to a cell whose replies are not all stored; only replay uses it."""


@dataclass(frozen=True, slots=True)
class Change:
    """A cell that came out differently: value or reason, before and now."""

    sample_id: str
    metric: str
    repeat: int
    old: float | str | None
    new: float | str | None


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """What replaying gave: how many cells were computed again, and those that differ."""

    cells: int
    changed: list[Change] = field(default_factory=list)


def replay(folder: Path, *, write: bool = False) -> ReplayResult:
    """Compute every stored score again from `replies.jsonl`; with `write`, put the new lines in place of the old.

    Raises RunFolderError if there is no such folder, or it lacks what is needed (manifest with metrics, samples, replies, scores).
    """
    return asyncio.run(_replay(folder, write))


async def _replay(folder: Path, write: bool) -> ReplayResult:
    manifest = read_manifest(existing(folder))
    lacking = [name for name in (SAMPLES, REPLIES, SCORES) if not (folder / name).exists()]
    if lacking or not manifest.get("metrics"):
        lacking += [] if manifest.get("metrics") else ["manifest.json (metrics)"]
        raise RunFolderError(say("store.replay_lacks", screen_language(), path=folder, files=", ".join(lacking)))
    # nobody writes to a folder that is read-only (an archive, a colleague's), and reading it needs no lock
    lock = FolderLock(folder) if write or os.access(folder, os.W_OK) else None
    try:
        records = _Recorded(folder)
        driver = Driver(plans.get(manifest.get("plan", "separate")), _Nobody(), _Nobody(), records)
        with closing(records):
            await driver.run(_work(folder, manifest, records), workers=1, total=0)
            changed = list(records.differing())
            if write and changed:
                write_atomically(folder / SCORES, records.lines())
        return ReplayResult(len(records.last), changed)
    finally:
        if lock is not None:
            lock.release()


def _work(folder: Path, manifest: dict[str, Any], records: "_Recorded") -> Iterator[Work]:
    metrics = _metrics(manifest)
    limits, language = manifest.get("limits") or {}, manifest.get("language", "auto")
    for _, row in read_rows(folder / SAMPLES, sample_problem):
        sample, clipped = clip(Sample.read(row), **limits)
        for repeat in range(int(manifest.get("repeats", 1))):
            due = [m for m in metrics if records.last[sample.id, m.text, repeat] != ABSENT]
            if due:
                yield Case(sample, sample.language if language == "auto" else language, repeat), due, clipped


def _metrics(manifest: dict[str, Any]) -> Sequence[Metric]:
    """The metrics of the manifest with the parameters they had; names this version does not know are left alone."""
    found = []
    for text, stored in manifest["metrics"].items():
        metric = parse(text, {stored.get("name", text): stored.get("parameters") or {}})
        found.append(metric)
    return found


class _Recorded:
    """The stored replies and scores of a run, as the driver's records. Of a cell only what differs is kept, and that on disk."""

    def __init__(self, folder: Path) -> None:
        with ExitStack() as opening:  # a file that cannot be read must not leave the other open
            self._replies, self._scores = (opening.enter_context(closing(_Reader(folder / name))) for name in (REPLIES, SCORES))
            self._held = LastLines(self._replies.row_at)
            for offset, row in read_rows(self._replies.path, reply_problem):
                self._held.add(row["key"], offset)
            self.last = PerCell("q")
            """Where the last line of each cell stands."""
            for offset, row in read_rows(self._scores.path, score_problem):
                self.last[cell_of(row)] = offset
            opening.pop_all()
        self._same = PerCell("b", self.last.ids)
        self._new = PerCell("q", self.last.ids)
        self._spool: IO[bytes] | None = None

    def held(self, question: Question) -> dict[str, Any] | None:
        found = self._held.find(question.key)
        return found and found[1]

    def keep_reply(self, question: Question, line: dict[str, Any]) -> None:
        """Nothing new is learnt in a replay."""

    def keep_score(self, score: Score) -> None:
        cell = score.sample_id, score.metric, score.repeat
        line = orjson.dumps(score.to_dict(), option=orjson.OPT_APPEND_NEWLINE)
        old, new = self._scores.row_at(self.last[cell]), orjson.loads(line)
        # a failed cell may rest on questions that were never answered: that it cannot be replayed is no change
        if new == old or (old["status"] == "failed" and new["reason"] == MISSING):
            self._same[cell] = 1
        else:
            self._new[cell] = self._spooled(line)

    def _spooled(self, line: bytes) -> int:
        """Put a line aside and return where."""
        try:
            if self._spool is None:
                self._spool = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the records)
            offset = self._spool.seek(0, os.SEEK_END)
            self._spool.write(line)
        except OSError as bad:
            place = tempfile.gettempdir()
            raise StoppedError(say("store.cannot_write", screen_language(), path=place, problem=bad.strerror)) from bad
        return offset

    def _stored(self) -> Iterator[tuple[Cell, dict[str, Any], dict[str, Any] | None]]:
        """Yield (cell, stored row, row that came out differently or None), in file order."""
        for offset, row in read_rows(self._scores.path, score_problem):
            cell = cell_of(row)
            if self.last[cell] == offset:
                yield cell, row, self._differing(cell)

    def _differing(self, cell: Cell) -> dict[str, Any] | None:
        if self._spool is None or (offset := self._new[cell]) == ABSENT:
            return None
        self._spool.seek(offset)
        return dict(orjson.loads(self._spool.readline()))

    def differing(self) -> Iterator[Change]:
        for cell, old, new in self._stored():
            if self._same[cell] == ABSENT:
                yield Change(*cell, _short(old), _short(new) if new else MISSING)

    def lines(self) -> Iterator[bytes]:
        self._scores.close()  # not every system replaces a file that is open
        for _, old, new in self._stored():
            yield orjson.dumps(old if new is None or new["reason"] == MISSING else new, option=orjson.OPT_APPEND_NEWLINE)

    def close(self) -> None:
        for file in (self._replies, self._scores, self._spool):
            if file is not None:
                file.close()


class _Reader:
    """Gives back the rows of a file by their offsets."""

    def __init__(self, path: Path) -> None:
        self.path, self._file = path, opened(path)

    def row_at(self, offset: int) -> dict[str, Any]:
        self._file.seek(offset)
        return load_row(self.path, offset, self._file.readline())

    def close(self) -> None:
        self._file.close()


def _short(row: dict[str, Any]) -> float | str | None:
    value: float | str | None = row["value"] if row.get("value") is not None else row.get("reason")
    return value


class _Nobody:
    """Stands where judge and embedder stand: whatever is not stored is missing."""

    identity = Identity("replay", "replay")
    requests = 0

    async def complete(self, question: Question) -> RawReply:
        return RawReply(error=MISSING, attempts=0)

    async def embed(self, texts: Sequence[str]) -> "list[Vector | str]":
        return [MISSING for _ in texts]

    async def close(self) -> None:
        """Nothing to release."""
