"""What a run folder already holds, looked at without touching it: for a rehearsal, which writes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from ragstone import manifest as manifests
from ragstone.compact import LastLines, PerCell
from ragstone.folder import check_folder, unanswered
from ragstone.manifest import Setup
from ragstone.metrics.base import Metric
from ragstone.questions.base import Question
from ragstone.session import STANDS, less_unasked, refuse_other_setup, stands
from ragstone.store import MANIFEST, REPLIES, SAMPLES, SCORES, cell_of, load_row, opened, read_manifest, read_rows
from ragstone.stored import reply_problem, sample_problem, score_problem
from ragstone.taking import Comparison
from ragstone.types import Sample, Score


class Past:
    """Finished cells and held replies of a folder; of one that does not exist or was never answered anything, none."""

    def __init__(self, folder: Path | None, setup: Setup, samples: Iterable[Sample], *, repeats: int, retry_failed: bool) -> None:
        """`samples` are those of now, read twice; of a sample whose judged text changed nothing stands.

        Raises RunFolderError if the folder is no run, or was made with another setup.
        """
        self.repeats, self._samples, self._retry_failed = repeats, samples, retry_failed
        self._finished = PerCell("b")
        self._file: IO[bytes] | None = None
        self._held = LastLines(self._row_at)
        self._replies = Path()
        self.found = set[str]()
        """Keys of the questions that a reply of the folder answers."""
        if folder is not None:
            check_folder(folder)
            if (folder / MANIFEST).exists() and not unanswered(folder):
                self._read(folder, setup)

    def _read(self, folder: Path, setup: Setup) -> None:
        old = read_manifest(folder)
        new = manifests.fresh(setup, repeats=self.repeats)
        refuse_other_setup(folder, less_unasked(folder, old, new), new)
        self.repeats = max(self.repeats, int(old.get("repeats", 1)))
        rows = Comparison(row for _, row in read_rows(folder / SAMPLES, sample_problem))
        rows.compare(sample.to_dict() for sample in self._samples)
        for _, row in read_rows(folder / SCORES, score_problem):
            if row["sample_id"] in rows and not rows.is_changed(row["sample_id"]):
                self._finished[cell_of(row)] = STANDS if stands(row, retry_failed=self._retry_failed) else 1 - STANDS
        self._replies = folder / REPLIES
        for offset, row in read_rows(self._replies, reply_problem):
            self._held.add(row["key"], offset)

    def _row_at(self, offset: int) -> dict[str, Any]:
        if self._file is None:
            self._file = opened(self._replies)
        self._file.seek(offset)
        return load_row(self._replies, offset, self._file.readline())

    # -------------------------------------------------------------- what is due
    def samples(self) -> Iterator[Sample]:
        """Yield the samples of now."""
        return iter(self._samples)

    def due(self, sample: Sample, metrics: Sequence[Metric], repeat: int) -> list[Metric]:
        """Return the metrics this sample still needs in this repeat."""
        return [m for m in metrics if self._finished[sample.id, m.text, repeat] != STANDS]

    def standing(self, metrics: Sequence[Metric]) -> int:
        """Return how many cells of these metrics need nothing more."""
        names = {m.text for m in metrics}
        return sum(cells.count(STANDS) for metric, repeat, cells in self._finished.lanes() if metric in names and repeat < self.repeats)

    # -------------------------------------------------------------- Records
    def held(self, question: Question) -> dict[str, Any] | None:
        """Return the stored line that a resumed run would use again, None if there is none."""
        _, row = self._held.find(question.key) or (0, None)
        usable = row if row is not None and row.get("error") is None else None
        self.found.update([question.key] if usable else ())
        return usable

    def keep_reply(self, question: Question, line: dict[str, Any]) -> None:
        """A rehearsal keeps nothing."""

    def keep_score(self, score: Score) -> None:
        """A rehearsal keeps nothing."""

    def close(self) -> None:
        """Let go of the file of replies."""
        if self._file is not None:
            self._file.close()
