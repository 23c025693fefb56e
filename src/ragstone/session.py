"""A run being written: what is already there, what is due, where replies and scores go."""

import os
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from shutil import rmtree
from typing import Any, Protocol

import orjson

from ragstone import manifest as manifests
from ragstone.compact import LastLines, PerCell
from ragstone.errors import RunFolderError, StoppedError
from ragstone.folder import FolderLock, check_folder, create, unanswered
from ragstone.lost import Work
from ragstone.manifest import Setup
from ragstone.metrics.base import Metric
from ragstone.prices import Prices
from ragstone.progress import Counts
from ragstone.questions.base import Question
from ragstone.store import (
    REPLIES,
    SAMPLES,
    SCORES,
    Appender,
    cell_of,
    read_manifest,
    read_rows,
    rewrite_scores,
    stored_ids,
    write_atomically,
    write_manifest,
)
from ragstone.stored import reply_problem, sample_problem, score_problem
from ragstone.taking import Comparison
from ragstone.text import say, screen_language
from ragstone.types import Sample, Score

ALWAYS_AGAIN = ("interrupted", "budget")
"""Reasons of failed cells that every resumed run asks again."""

STANDS = 1

COUNTED = ("requests", "retries", "rate_limits", "bad_replies", "unknown_usage", "from_cache", "prompt_cut")
"""What of the counts stands under `counts` in the manifest; the rest is under `tokens`."""


def stands(row: Mapping[str, Any], *, retry_failed: bool) -> bool:
    """True if a stored cell needs nothing more."""
    return row["status"] != "failed" or not (retry_failed or row.get("reason") in ALWAYS_AGAIN)


class Due(Protocol):
    """What still has to be done."""

    repeats: int

    def samples(self) -> Iterator[Sample]:
        """Yield the samples in order."""
        ...

    def due(self, sample: Sample, metrics: Sequence[Metric], repeat: int) -> list[Metric]:
        """Return the metrics a sample still needs in a repeat."""
        ...


class Session:
    """One writer on one run folder. Knows finished cells and held replies by a few bytes each, never by whole rows."""

    def __init__(
        self, folder: Path, setup: Setup, facts: dict[str, Any], *, repeats: int, retry_failed: bool = False, limited: bool = False
    ) -> None:
        """Open or create the folder and take its lock. Nothing is changed before every check has passed.

        `limited` = only the first rows of a file are taken: rows of the run that are not among them stay as they are.

        Raises RunFolderError if the folder is no run, is locked, or was made with another setup. A run that was never
        answered anything (a wrong address, say) holds nothing to protect and starts over with any setup; one that got no
        cosine yet goes on with any embeddings.
        """
        self.folder, self.repeats, self.notices = folder, repeats, list[str]()
        self._retry_failed, self._limited = retry_failed, limited
        self._withdrawn = False
        check_folder(folder)
        existed = self._existed = folder.exists()
        create(folder)
        self._lock = FolderLock(folder)
        try:
            self._unanswered = existed and unanswered(folder) and manifests.asked(read_manifest(folder)) != []
            old = read_manifest(folder) if existed and not self._unanswered else {}
            new = manifests.fresh(setup, repeats=repeats, **facts)
            old = less_unasked(folder, old, new)
            refuse_other_setup(folder, old, new)
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
        self._begun = self._replies.size
        self._held: LastLines | None = None
        self._prompts = {path.stem for path in (self.folder / "prompts").glob("*.txt")}
        self._finished = PerCell("b")
        try:
            for _, row in read_rows(self._replies.path, reply_problem):
                self.counts.add(row)
            self.counts.resume((self.manifest.get("tokens") or {}).get("by_metric") or {})
        except BaseException:
            self._replies.close()
            raise

    # -------------------------------------------------------------- samples
    def take(self, samples: Iterable[Sample]) -> None:
        """Store the samples of this run and find the cells that stand. `samples` is read twice.

        Rows whose judged text changed lose their scores, rows that are gone leave the run; both are told in `notices`.
        """
        path = self.folder / SAMPLES
        rows = Comparison(() if self._unanswered else _rows(path))
        if rows.before:
            rows.compare(s.to_dict() for s in samples)
            self._drop_stale(rows)
        if self._unanswered:
            (self.folder / SCORES).unlink(missing_ok=True)
        limited = self._limited and rows.before > 0
        rest = (row for row in _rows(path) if row["id"] not in rows) if limited else ()
        stored = chain((s.to_dict() for s in samples), rest)
        write_atomically(path, (orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in stored))
        write_manifest(self.folder, self.manifest)
        self._taken = rows.now if rows.before else None
        self._scores = Appender(self.folder / SCORES)
        self._read_scores(rows if limited else None)

    def samples(self) -> Iterator[Sample]:
        """Yield the samples as they were taken: what becomes of the file they came from does not touch the run."""
        return (Sample.read(row) for _, row in islice(read_rows(self.folder / SAMPLES), self._taken))

    def _drop_stale(self, rows: Comparison) -> None:
        """Stale scores go before the new rows are stored: a run killed in between must not mistake them for fresh.

        Raises RunFolderError if not one row is left: these are other samples, and the old scores would be lost.
        """
        gone, changed = rows.gone, rows.changed
        if gone == rows.before:
            raise RunFolderError(say("store.other_samples", screen_language(), path=self.folder, n=gone))
        gone = 0 if self._limited else gone
        for key, count in (("rows_gone", gone), ("rows_changed", changed)):
            if count:
                self.notices.append(say(f"store.{key}", screen_language(), n=count))
        if gone or changed:
            _drop_rows(self.folder / SCORES, lambda sample_id: rows.is_changed(sample_id) or (gone > 0 and rows.is_gone(sample_id)))

    def _read_scores(self, among: Container[str] | None) -> None:
        for _, row in read_rows(self.folder / SCORES, score_problem):
            if among is None or row["sample_id"] in among:
                self._finished[cell_of(row)] = STANDS if stands(row, retry_failed=self._retry_failed) else 1 - STANDS

    def due(self, sample: Sample, metrics: Sequence[Metric], repeat: int) -> list[Metric]:
        """Return the metrics this sample still needs in this repeat."""
        return [m for m in metrics if self._finished[sample.id, m.text, repeat] != STANDS]

    def standing(self, metrics: Sequence[Metric]) -> int:
        """Return how many cells of these metrics need nothing more."""
        names = {m.text for m in metrics}
        lanes = self._finished.lanes()
        return sum(cells.count(STANDS) for metric, repeat, cells in lanes if metric in names and repeat < self.repeats)

    # -------------------------------------------------------------- Records
    def held(self, question: Question) -> dict[str, Any] | None:
        """Return the stored line that answers the question, or None.

        Of earlier sessions only whole, readable replies are used again; the others are asked anew.
        """
        offset, row = self._lines().find(question.key) or (0, None)
        return None if row is None or (offset < self._begun and row.get("error") is not None) else row

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
        self._lines().add(question.key, self._replies.append(line))

    def _lines(self) -> LastLines:
        """Where the replies stand; found out when the first question comes, since a run with nothing left asks none."""
        if self._held is None:
            self._held = LastLines(self._replies.row_at)
            for offset, row in read_rows(self._replies.path):
                self._held.add(row["key"], offset)
        return self._held

    def keep_score(self, score: Score) -> None:
        """Store a finished cell."""
        if self._scores is None:
            raise RuntimeError("samples must be taken before scores are kept")
        self._scores.append(score.to_dict())

    # -------------------------------------------------------------- the end
    def finish(self, setup: Setup, *, complete: bool, embedded: Mapping[str, int] | None = None, prices: Prices | None = None) -> None:
        """Close the run: scores in sample order if it is complete, and the manifest with what it took.

        `embedded`: what this call counted of the embeddings, by its name in the manifest's counts. A run that ends before its
        samples were taken has nothing to close.
        """
        if self._scores is None:
            return
        try:
            for file in (self._scores, self._replies):
                file.check()
        finally:
            self._scores.close()
        self._held, self._finished = None, PerCell("b")  # putting the scores in order takes room of its own
        if complete:
            if not (self.folder / SAMPLES).exists():
                raise StoppedError(say("store.file_gone", screen_language(), path=self.folder / SAMPLES))
            rewrite_scores(self.folder, stored_ids(self.folder), list(self.manifest["metrics"]), self.repeats)
        before, tokens = self.manifest.get("counts") or {}, self.counts.tokens
        counts = {name: getattr(self.counts, name) for name in COUNTED}
        counts |= {name: count + before.get(name, 0) for name, count in ({"embedding_requests": 0} | dict(embedded or {})).items()}
        cost = prices.cost(tokens, counts) if prices else None
        self.manifest = {name: value for name, value in self.manifest.items() if name != "cost"} | ({"cost": cost} if cost else {})
        wall = round(float(self.manifest.get("wall_s", 0.0)) + time.monotonic() - self._started, 3)
        self.manifest = manifests.finished(self.manifest, setup, complete=complete, counts=counts, tokens=tokens, wall_s=wall)
        write_manifest(self.folder, self.manifest)

    def withdraw(self) -> None:
        """Leave nothing behind at the close, unless the folder was there before: what ends as a mistake must not look like a run."""
        self._withdrawn = not self._existed

    def close(self) -> None:
        """Let go of the folder."""
        self._replies.close()
        self._lock.release()
        if self._withdrawn:
            rmtree(self.folder, ignore_errors=True)


def work(session: Due, metrics: Sequence[Metric], case_of: Any) -> Iterator[Work]:
    """Yield what is still to be done, in the order of the samples that were taken."""
    for sample in session.samples():
        for repeat in range(session.repeats):
            if due := session.due(sample, metrics, repeat):
                case, clipped = case_of(sample, repeat)
                yield case, due, clipped


def _birth() -> dict[str, Any]:
    now = datetime.now(UTC)
    return {"run_id": f"{now:%Y%m%d-%H%M%S}-{os.urandom(3).hex()}", "created_at": now.isoformat(timespec="seconds")}


def less_unasked(folder: Path, old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return the old manifest without its embedder if that is another one now and no stored reply rests on its vectors."""
    if "embedder" not in {what for what, _, _ in manifests.differences(old, new)}:
        return old
    if any(row["kind"] == "cosine" for _, row in read_rows(folder / REPLIES, reply_problem)):
        return old
    return {name: value for name, value in old.items() if name != "embedder"}


def refuse_other_setup(folder: Path, old: dict[str, Any], new: dict[str, Any]) -> None:
    """Raise RunFolderError if a run was made with something that may not change."""
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


def _drop_rows(path: Path, stale: Callable[[str], bool]) -> None:
    if path.exists():
        kept = (row for _, row in read_rows(path, score_problem) if not stale(cell_of(row)[0]))
        write_atomically(path, (orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in kept))
