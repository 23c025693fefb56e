"""A run being written: what is already there, what is due, where replies and scores go."""

import hashlib
import os
import time
from collections.abc import Container, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import Any

import orjson

from ragstone import manifest as manifests
from ragstone.errors import RunFolderError, StoppedError
from ragstone.folder import FolderLock, check_folder, create, unanswered
from ragstone.manifest import Setup
from ragstone.metrics.base import Metric
from ragstone.progress import Counts
from ragstone.questions.base import Question
from ragstone.run import Work
from ragstone.store import (
    REPLIES,
    SAMPLES,
    SCORES,
    Appender,
    read_manifest,
    read_rows,
    rewrite_scores,
    write_atomically,
    write_manifest,
)
from ragstone.stored import reply_problem, sample_problem, score_problem
from ragstone.text import say, screen_language
from ragstone.types import Sample, Score

ALWAYS_AGAIN = ("interrupted", "budget")
"""Reasons of failed cells that every resumed run asks again."""

_JUDGED = (
    "question",
    "answer",
    "contexts",
    "reference",
    "reference_points",
    "reference_alternatives",
    "reference_contexts",
    "expected_behavior",
    "error",
    "language",
)


class Session:
    """One writer on one run folder. Knows finished cells and held replies by small keys, never by whole rows."""

    def __init__(
        self, folder: Path, setup: Setup, facts: dict[str, Any], *, repeats: int, retry_failed: bool = False, limited: bool = False
    ) -> None:
        """Open or create the folder and take its lock. Nothing is changed before every check has passed.

        `limited` = only the first rows of a file are taken: rows of the run that are not among them stay as they are.

        Raises RunFolderError if the folder is no run, is locked, or was made with another setup. A run that was never
        answered anything (a wrong address, say) holds nothing to protect and starts over with any setup.
        """
        self.folder, self.repeats, self.notices = folder, repeats, list[str]()
        self._retry_failed, self._limited = retry_failed, limited
        check_folder(folder)
        existed = folder.exists()
        create(folder)
        self._lock = FolderLock(folder)
        try:
            self._unanswered = existed and unanswered(folder) and manifests.asked(read_manifest(folder)) != []
            old = read_manifest(folder) if existed and not self._unanswered else {}
            new = manifests.fresh(setup, repeats=repeats, **facts)
            _refuse_other_setup(folder, old, new)
            self.manifest = manifests.continued(old, new) if old else {**_birth(), **new}
            self.repeats = self.manifest["repeats"]
            self._open()
        except BaseException:
            self._lock.release()
            raise

    def _open(self) -> None:
        self.counts = Counts()
        self._scores: Appender | None = None
        self._taken: int | None = None
        self._started = time.monotonic()
        self._replies = Appender(self.folder / REPLIES)
        self._held: dict[bytes, int] = {}
        self._prompts = {path.stem for path in (self.folder / "prompts").glob("*.txt")}
        self._finished: dict[str, set[tuple[str, int]]] = {}
        try:
            for offset, row in read_rows(self._replies.path, reply_problem):
                self._recall(offset, row)
        except BaseException:
            self._replies.close()
            raise

    def _recall(self, offset: int, row: dict[str, Any]) -> None:
        """Only whole, readable replies of an earlier session are used again; the others are asked anew."""
        self.counts.add(row)
        key = bytes.fromhex(row["key"])
        if row.get("error") is None:
            self._held[key] = offset
        else:
            self._held.pop(key, None)

    # -------------------------------------------------------------- samples
    def take(self, samples: Iterable[Sample]) -> None:
        """Store the samples of this run and find the cells that stand. `samples` is read twice.

        Rows whose judged text changed lose their scores, rows that are gone leave the run; both are told in `notices`.
        """
        path = self.folder / SAMPLES
        before = {} if self._unanswered else {row["id"]: judged_digest(row) for row in _rows(path)}
        now = {s.id: judged_digest(s.to_dict()) for s in samples} if before else {}
        if before:
            self._drop_stale(before, now)
        if self._unanswered:
            (self.folder / SCORES).unlink(missing_ok=True)
        rest = (row for row in _rows(path) if row["id"] not in now) if before and self._limited else ()
        rows = chain((s.to_dict() for s in samples), rest)
        write_atomically(path, (orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))
        write_manifest(self.folder, self.manifest)
        self._taken = len(now) if before else None
        self._scores = Appender(self.folder / SCORES)
        self._read_scores(now if before and self._limited else None)

    def samples(self) -> Iterator[Sample]:
        """Yield the samples as they were taken: what becomes of the file they came from does not touch the run."""
        return (Sample.read(row) for _, row in islice(read_rows(self.folder / SAMPLES), self._taken))

    def _drop_stale(self, before: dict[str, bytes], now: dict[str, bytes]) -> None:
        """Stale scores go before the new rows are stored: a run killed in between must not mistake them for fresh.

        Raises RunFolderError if not one row is left: these are other samples, and the old scores would be lost.
        """
        gone = before.keys() - now.keys()
        if len(gone) == len(before):
            raise RunFolderError(say("store.other_samples", screen_language(), path=self.folder, n=len(before)))
        gone = set() if self._limited else gone
        changed = {i for i in before.keys() & now.keys() if before[i] != now[i]}
        for key, rows in (("rows_gone", gone), ("rows_changed", changed)):
            if rows:
                self.notices.append(say(f"store.{key}", screen_language(), n=len(rows)))
        if gone or changed:
            _drop_rows(self.folder / SCORES, gone | changed)

    def _read_scores(self, among: Container[str] | None) -> None:
        for _, row in read_rows(self.folder / SCORES, score_problem):
            if among is not None and row["sample_id"] not in among:
                continue
            cell = (row["metric"], row.get("repeat") or 0)
            cells = self._finished.setdefault(row["sample_id"], set())
            if row["status"] == "failed" and (self._retry_failed or row.get("reason") in ALWAYS_AGAIN):
                cells.discard(cell)
            else:
                cells.add(cell)

    def due(self, sample: Sample, metrics: Sequence[Metric], repeat: int) -> list[Metric]:
        """Return the metrics this sample still needs in this repeat."""
        finished = self._finished.get(sample.id, ())
        return [m for m in metrics if (m.text, repeat) not in finished]

    def standing(self, metrics: Sequence[Metric]) -> int:
        """Return how many cells of these metrics need nothing more."""
        names = {m.text for m in metrics}
        return sum(metric in names and repeat < self.repeats for cells in self._finished.values() for metric, repeat in cells)

    # -------------------------------------------------------------- Records
    def held(self, question: Question) -> dict[str, Any] | None:
        """Return the stored line that answers the question, or None."""
        offset = self._held.get(bytes.fromhex(question.key))
        return None if offset is None else self._replies.row_at(offset)

    def keep_reply(self, question: Question, line: dict[str, Any]) -> None:
        """Store a reply; the prompt it answers is stored once, first."""
        if question.prompt_hash and question.prompt_hash not in self._prompts:
            folder = self.folder / "prompts"
            try:
                folder.mkdir(exist_ok=True, mode=0o700)
            except OSError as bad:
                raise StoppedError(say("store.cannot_write", screen_language(), path=folder, problem=bad.strerror)) from bad
            write_atomically(folder / f"{question.prompt_hash}.txt", [question.prompt.encode()])
            self._prompts.add(question.prompt_hash)
        self._held[bytes.fromhex(question.key)] = self._replies.append(line)

    def keep_score(self, score: Score) -> None:
        """Store a finished cell."""
        if self._scores is None:
            raise RuntimeError("samples must be taken before scores are kept")
        self._scores.append(score.to_dict())

    # -------------------------------------------------------------- the end
    def finish(self, setup: Setup, *, complete: bool, embedding_requests: int = 0) -> None:
        """Close the run: scores in sample order if it is complete, and the manifest with what it took.

        A run that ends before its samples were taken has nothing to close.
        """
        if self._scores is None:
            return
        self._scores.close()
        if complete:
            if not (self.folder / SAMPLES).exists():
                raise StoppedError(say("store.file_gone", screen_language(), path=self.folder / SAMPLES))
            ids = (row["id"] for _, row in read_rows(self.folder / SAMPLES))
            rewrite_scores(self.folder, ids, list(self.manifest["metrics"]), self.repeats)
        counts = {name: getattr(self.counts, name) for name in Counts.__slots__}
        counts["embedding_requests"] = embedding_requests + (self.manifest.get("counts") or {}).get("embedding_requests", 0)
        tokens = {name.removesuffix("_tokens"): counts.pop(name) for name in ("prompt_tokens", "completion_tokens", "cached_tokens")}
        wall = round(float(self.manifest.get("wall_s", 0.0)) + time.monotonic() - self._started, 3)
        self.manifest = manifests.finished(self.manifest, setup, complete=complete, counts=counts, tokens=tokens, wall_s=wall)
        write_manifest(self.folder, self.manifest)

    def close(self) -> None:
        """Let go of the folder."""
        self._replies.close()
        self._lock.release()


def judged_digest(row: dict[str, Any]) -> bytes:
    """Return a short digest of everything of a row that can change a score."""
    judged = {name: row.get(name) for name in _JUDGED}
    judged["contexts"] = None if judged["contexts"] is None else [c if isinstance(c, str) else c["text"] for c in judged["contexts"]]
    return hashlib.sha256(orjson.dumps(judged)).digest()[:8]


def work(session: Session, metrics: Sequence[Metric], case_of: Any) -> Iterator[Work]:
    """Yield what is still to be done, in the order of the samples that were taken."""
    for sample in session.samples():
        for repeat in range(session.repeats):
            if due := session.due(sample, metrics, repeat):
                case, clipped = case_of(sample, repeat)
                yield case, due, clipped


def _birth() -> dict[str, Any]:
    now = datetime.now(UTC)
    return {"run_id": f"{now:%Y%m%d-%H%M%S}-{os.urandom(3).hex()}", "created_at": now.isoformat(timespec="seconds")}


def _refuse_other_setup(folder: Path, old: dict[str, Any], new: dict[str, Any]) -> None:
    found = manifests.differences(old, new)
    if not found:
        return
    lang = screen_language()
    lines = []
    for what, before, after in found:
        kind, _, metric = what.partition(" ")
        lines.append(say("store.differs", lang, path=folder, what=say(f"store.what_{kind}", lang, metric=metric), old=before, new=after))
    raise RunFolderError("\n".join([*lines, say("store.differs_advice", lang)]))


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    return (row for _, row in read_rows(path, sample_problem))


def _drop_rows(path: Path, ids: set[str]) -> None:
    if path.exists():
        kept = (row for _, row in read_rows(path, score_problem) if row["sample_id"] not in ids)
        write_atomically(path, (orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in kept))
