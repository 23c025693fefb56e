"""Replay: every score computed again from the stored replies, with no network, and compared with what is stored."""

import asyncio
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from ragstone import plans
from ragstone.errors import RunFolderError
from ragstone.folder import FolderLock
from ragstone.judge.base import Identity, RawReply
from ragstone.metrics import parse
from ragstone.metrics.base import Metric
from ragstone.plans.base import Case
from ragstone.questions.base import Question
from ragstone.results import existing
from ragstone.run import Driver, Work
from ragstone.samples import clip
from ragstone.store import REPLIES, SAMPLES, SCORES, load_row, opened, read_manifest, read_rows, write_atomically
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
        try:
            await driver.run(_work(folder, manifest, records), workers=1, total=0)
        finally:
            records.close()
        changed = list(records.differing())
        if write and changed:
            write_atomically(folder / SCORES, records.lines())
        return ReplayResult(len(records.stored), changed)
    finally:
        if lock is not None:
            lock.release()


def _work(folder: Path, manifest: dict[str, Any], records: "_Recorded") -> Iterator[Work]:
    metrics = _metrics(manifest)
    limits, language = manifest.get("limits") or {}, manifest.get("language", "auto")
    for _, row in read_rows(folder / SAMPLES, sample_problem):
        sample, clipped = clip(Sample.read(row), **limits)
        for repeat in range(int(manifest.get("repeats", 1))):
            due = [m for m in metrics if (sample.id, m.text, repeat) in records.stored]
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
    """The stored replies and scores of a run, as the driver's records."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / REPLIES
        self._held = {bytes.fromhex(row["key"]): offset for offset, row in read_rows(self._path, reply_problem)}
        self.stored: dict[tuple[str, str, int], dict[str, Any]] = {}
        for _, row in read_rows(folder / SCORES, score_problem):
            self.stored[row["sample_id"], row["metric"], row.get("repeat") or 0] = row
        self._new: dict[tuple[str, str, int], dict[str, Any]] = {}
        self._replies = opened(self._path)

    def held(self, question: Question) -> dict[str, Any] | None:
        offset = self._held.get(bytes.fromhex(question.key))
        if offset is None:
            return None
        self._replies.seek(offset)
        return load_row(self._path, offset, self._replies.readline())

    def keep_reply(self, question: Question, line: dict[str, Any]) -> None:
        """Nothing new is learnt in a replay."""

    def keep_score(self, score: Score) -> None:
        self._new[score.sample_id, score.metric, score.repeat] = orjson.loads(orjson.dumps(score.to_dict()))

    def differing(self) -> Iterator[Change]:
        for cell, old in self.stored.items():
            new = self._new.get(cell)
            # a failed cell may rest on questions that were never answered: that it cannot be replayed is no change
            if new == old or (old["status"] == "failed" and new and new["reason"] == MISSING):
                continue
            yield Change(*cell, _short(old), _short(new) if new else MISSING)

    def lines(self) -> Iterator[bytes]:
        for cell, old in self.stored.items():
            new = self._new.get(cell, old)
            yield orjson.dumps(old if new["reason"] == MISSING else new, option=orjson.OPT_APPEND_NEWLINE)

    def close(self) -> None:
        self._replies.close()


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
