"""A run as it is read back: scores, samples and manifest of a run folder, or of rows held in memory.

Reading is tolerant: only sample_id, metric, value and status are needed, fields and metrics this version does not know
are fine, a line that cannot be read is left out and named. What cannot be true (a value of 1.5, "ok" without a value)
raises RunFolderError with the line.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ragstone.analysis.adapted import adapted
from ragstone.analysis.cells import INTERRUPTED, Cells, Notice, RowProblem
from ragstone.analysis.embedded import embedded
from ragstone.analysis.levels import USUAL, Levels
from ragstone.analysis.slices import SampleFacts
from ragstone.analysis.summary import RunFacts, Terms, summarise
from ragstone.errors import RunFolderError
from ragstone.facts import run_facts, text_or_none
from ragstone.lines import Lines, ListLines, Row
from ragstone.refusals import bad_row
from ragstone.run_files import SCORES, files_of
from ragstone.score_rows import check, digest, digests, failed_of, filled, names_of, record, rounded
from ragstone.terms import check_cluster, least_coverage, terms_of, unknown_key
from ragstone.text import say, screen_language

if TYPE_CHECKING:  # pydantic costs more to import than a small run costs to read
    import pandas

    from ragstone.shown.summary import ShownSummary
    from ragstone.types import Language, Sample, Score


def load(path: str | Path) -> Run:
    """Return the run of a run folder, or of a JSON export of one; its lines are read when they are needed.

    Raises:
        RunFolderError: there is nothing of that name, or it holds no scores; the text says what it is instead.
    """
    if Path(path).is_file():
        from ragstone.export_file import read_export

        held = read_export(Path(path))
        return Run(held.scores, held.samples, held.manifest, Path(path), held.notices)
    files = files_of(path)
    return Run(files.scores, files.samples, files.manifest, Path(path), files.notices, files.replies)


class Run:
    """Scores of some metrics on some samples, and where they come from."""

    def __init__(
        self,
        rows: Lines,
        samples: Lines | None = None,
        manifest: Row | None = None,
        path: Path | None = None,
        notices: Iterable[Notice] = (),
        replies: Lines | None = None,
    ) -> None:
        """Use `load` or `Run.from_scores`."""
        self._rows, self._samples, self._replies = rows, samples, replies
        self.manifest: Row = manifest or {}
        """What is known of the run; a missing field is unknown."""
        self.notices = tuple(notices)
        """What is wrong with the manifest: there is none (`manifest_missing`), or nobody can read it (`manifest_unreadable`)."""
        self.path = path
        """The run folder, or the JSON export; None for rows held in memory."""
        self.levels = USUAL
        """Limits of the levels of its means, unless a caller names others."""

    def __repr__(self) -> str:
        """One line: where the run is, how many samples it has, and the mean of each metric."""
        where = repr(str(self.path)) if self.path else "in memory"
        try:
            summary = self._summarised(SampleFacts(), worst=0, terms=Terms(intervals=False))
        except (RunFolderError, OSError) as bad:  # a debugger must be able to show a run that is broken
            return f"Run({where}, {bad})"
        means = (f"{m.metric}={rounded(m.mean)}" for m in summary.metrics)
        return f"Run({', '.join((where, f'samples={summary.samples}', *means))})"

    def __eq__(self, other: object) -> bool:
        """True for the same manifest, samples and scores; where a run is kept, and how its files are laid out, is no part of it."""
        if not isinstance(other, Run):
            return NotImplemented
        return (
            self.manifest == other.manifest
            and self._sample_digests() == other._sample_digests()
            and digests(self._rows) == digests(other._rows)
        )

    @classmethod
    def from_scores(cls, rows: Iterable[Row | Score], samples: Iterable[Row | Sample] | None = None, manifest: Row | None = None) -> Run:
        """Return a run of rows held in memory: the dicts of `scores.jsonl` (or Score records), with samples if there are any.

        Raises:
            RunFolderError: there are no rows, or one holds what cannot be; the text names it.
        """
        lines = ListLines("scores", rows)
        for _, number, row in lines.read([]):
            check(lines.name, number, row)
        if not lines.rows:
            raise RunFolderError(say("results.no_rows", screen_language()))
        return cls(lines, None if samples is None else ListLines("samples", samples), manifest)

    def read_through(self, wrap: Callable[[Lines], Lines]) -> Run:
        """Return the same run with its score rows read through what `wrap` makes of them."""
        found = Run(wrap(self._rows), self._samples, self.manifest, self.path, self.notices, self._replies)
        found.levels = self.levels
        return found

    @property
    def signature(self) -> str | None:
        """What the numbers depend on, in one line; None = not known."""
        return text_or_none(self.manifest.get("signature"))

    @property
    def notice(self) -> str | None:
        """Why these numbers are no measurement (local judge), in English; None for a real judge."""
        return say("judges.smoke_test", "en") if self.smoke_test else None

    @property
    def smoke_test(self) -> bool:
        """True if the local heuristic judge gave the verdicts."""
        judge = self.manifest.get("judge")
        if not isinstance(judge, dict):
            return judge == "local"
        return "local" in (judge.get("model"), judge.get("endpoint"))

    @property
    def scores(self) -> list[Score]:
        """Every score as a record, in file order; of a doubled cell the last line."""
        from ragstone.types import Score

        return [record(Score, self._rows.where, number, filled(row)) for number, row in self._final().values()]

    @property
    def samples(self) -> list[Row] | None:
        """The samples as dicts, in run order; None if the run holds none."""
        if self._samples is None:
            return None
        return list({str(row.get("id", number)): row for _, number, row in self._samples.read([])}.values())

    def _repr_html_(self) -> str | None:
        """The summary for a notebook; None (the plain text is shown) for a run that is broken."""
        try:
            return self.summary(worst=0)._repr_html_()
        except (RunFolderError, OSError):
            return None

    def summary(
        self,
        by: str | None = None,
        worst: int = 10,
        min_coverage: float | None = None,
        cluster: str | None = None,
        ci: str | None = None,
        levels: Levels | None = None,
        seed: int = 0,
        confidence: float = 0.95,
    ) -> ShownSummary:
        """Return the run in numbers; a notebook shows them as a table.

        Args:
            by: key of the samples' `meta` (or `language`, `expected_behavior`) to slice by; a sample without it is under None,
                and a warning lists the keys there are if no sample has it. None = `category`, if samples have one, of at most
                30 values; "" = no slices.
            worst: how many of the lowest scores to list.
            min_coverage: share of cells, failed ones included, that must be ok; unset = the run's own, else 0.95.
            cluster: key of samples that belong together, e.g. of one document; a sample without it is a cluster of its own.
            ci: method of the intervals (`ragstone.analysis.intervals.METHODS`); None = the one that fits.
            levels: limits of the levels; None = the run's own, else 0.8 and 0.5.
            seed: of the draws of some intervals.
            confidence: level of the intervals, in (0, 1).

        Raises:
            RunFolderError: a line holds what cannot be, or no line can be read.
            ConfigError: there is no such method, or no sample has the key `cluster`.
        """
        terms = terms_of(ci, cluster, confidence, seed, levels or self.levels)
        facts = SampleFacts(by or None, cluster, automatic=by is None)
        return self._summarised(facts, worst, min_coverage, terms)

    def _summarised(self, facts: SampleFacts, worst: int, min_coverage: float | None = None, terms: Terms | None = None) -> ShownSummary:
        notices: list[Notice] = []
        cells = self.cells(facts, notices)
        return self.summary_of(cells, facts, notices, worst, min_coverage, terms)

    def summary_of(
        self,
        cells: Cells,
        facts: SampleFacts,
        told: list[Notice],
        worst: int,
        min_coverage: float | None = None,
        terms: Terms | None = None,
    ) -> ShownSummary:
        """Return the run in numbers from what `cells` has read; `told` holds the notices it gave."""
        from ragstone.shown.summary import ShownSummary

        check_cluster(facts)
        limit = least_coverage(min_coverage, self.manifest)
        notices = [*self.notices, *adapted(self.manifest), *embedded(self.manifest), *told]
        known: dict[str, Any] = {"run": self.facts(), "worst": worst, "min_coverage": limit, "notices": notices, "terms": terms}
        return ShownSummary.of(summarise(cells, facts, self.row_at, **known))

    def cells(self, facts: SampleFacts, notices: list[Notice], into: Cells | None = None) -> Cells:
        """Return every cell as numbers; what is known of the samples goes to `facts`, what had to be left out to `notices`.

        Args:
            facts: takes in the rows of the samples.
            notices: takes in what a reader should know.
            into: cells that are filled and returned; None = new ones.

        Raises:
            RunFolderError: a line holds what cannot be, or no line can be read.
        """
        cells, held = Cells() if into is None else into, 0
        self._take_samples(cells, facts, notices)
        if facts.key is not None and not facts.automatic and facts.key not in facts.keys:
            notices.append(unknown_key(facts.key, facts.keys))
        for place, number, row in self._rows.read(notices):
            try:
                cells.add(row, place)
            except RowProblem as bad:
                raise bad_row(self._rows.where, number, bad) from bad
            held += 1
        promised = self._samples and self.manifest.get("metrics")
        if not held and not (promised and all(notice.code != "line_skipped" for notice in notices)):  # killed before its first score
            raise RunFolderError(say("results.no_readable_line", screen_language(), path=self._rows.where))
        return cells

    def to_pandas(self, kind: Literal["samples", "cells", "verdicts"] = "samples") -> pandas.DataFrame:
        """Return the run as a pandas data frame.

        Args:
            kind: what a row is.
                "samples": a sample, in run order. Columns: `id`; question, answer, contexts (texts), reference, language and
                expected_behavior where the run holds its samples; every key of `meta` (`meta.<key>` if the name is taken); for
                each metric its value as float64 (the mean of the ok repeats; NaN where the cell is not ok), `<metric>.status`
                and `<metric>.reason`. A cell that was never finished is failed, `interrupted`.
                "cells": a stored score: sample_id, metric, repeat, value, status, reason.
                "verdicts": a verdict line under a score: sample_id, metric, repeat, kind, id, text, verdict, evidence, reason,
                confidence (NaN where the judge does not tell it).

        Raises:
            ConfigError: pandas is not installed, or there is no such kind.
            RunFolderError: a line holds what cannot be, or no line can be read.
        """
        from ragstone import frames

        frames.pandas_or_hint()
        if kind == "samples":
            samples, rows = self._sample_rows([]), self._rows.read([])
            return frames.samples_frame(self.cells(SampleFacts(), []), (row for *_, row in samples), (row for *_, row in rows))
        make = {"cells": frames.cells_frame, "verdicts": frames.verdicts_frame}.get(kind)
        if make is None:
            raise frames.unknown_kind(kind)
        return make(row for _, row in self._final().values())

    def export(self, to: str, path: str | Path | None = None, *, force: bool = False, lang: Language | None = None, **settings: Any) -> Any:
        """Export the run as `ragstone.export_run` does, which says more; `pandas` and `dataset` without a path return their object."""
        from ragstone.exporting import export_by

        return export_by(self, to, path, force=force, lang=lang, **settings)

    def row_at(self, place: int) -> Row:
        """Return the score row that stands at a place of `cells`."""
        return self._rows.at(place)

    def fetching(self) -> AbstractContextManager[Callable[[int], Row]]:
        """Return what gets back the score rows at many places of `cells`, faster than `row_at`."""
        return self._rows.fetching()

    def placed_rows(self) -> Iterator[tuple[int, Row]]:
        """Yield (place, row) of every score row as stored, replaced ones too."""
        return ((place, row) for place, _, row in self._rows.read([]))

    def sample_rows(self, notices: list[Notice]) -> Iterator[Row]:
        """Yield the samples as stored; one without an id is left out and named in `notices`."""
        for *_, row in self._sample_rows(notices):
            yield row

    @property
    def holds_samples(self) -> bool:
        """True if the run holds its samples, be they none."""
        return self._samples is not None

    def rows_of(self, sample_id: str) -> list[Row]:
        """Return the score rows of one sample, of a doubled cell the last; a promised cell without a row as interrupted.

        [] for an unknown id.
        """
        rows = [row for _, row in self._final(sample_id).values()]
        promised = names_of(self.manifest.get("metrics")) if self.sample(sample_id) else []
        missing = set(promised) - {row["metric"] for row in rows}
        bare = {"sample_id": sample_id, "value": None, "status": INTERRUPTED[0], "reason": INTERRUPTED[1]}
        return rows + [{**bare, "metric": metric} for metric in promised if metric in missing]

    def sample(self, sample_id: str) -> Row | None:
        """Return one sample as a dict; None if the run does not hold it."""
        found = None
        for *_, row in self._sample_rows([]):
            if str(row["id"]) == sample_id:
                found = row
        return found

    def failed_rows(self) -> list[Row]:
        """Return one row a failed cell, in run order: its first failed repeat, or a bare row where a promised one is missing."""
        cells = Cells()
        self._take_samples(cells, SampleFacts(), [])
        names = dict.fromkeys(str(row["id"]) for *_, row in self._sample_rows([]))
        for place, _, row in self._rows.read([]):
            cells.add(row, place)
        return list(failed_of(cells, self._rows, iter(names)))

    def replies(self, keys: Collection[str]) -> dict[str, Row]:
        """Return the stored replies of some question keys; of a key with several lines the last. {} if the run holds none."""
        if not keys or self._replies is None:
            return {}
        return {row["key"]: row for _, _, row in self._replies.read([]) if row.get("key") in keys}

    def reply_rows(self) -> Iterator[Row]:
        """Yield every stored reply as it stands in the file; nothing if the run holds none."""
        yield from (row for *_, row in self._replies.read([])) if self._replies else ()

    def in_memory(self) -> Run:
        """Return the same run without its folder, which may go away then."""
        rows, samples, replies = (
            lines and ListLines(lines.name, (row for *_, row in lines.read([]))) for lines in (self._rows, self._samples, self._replies)
        )
        found = Run(rows or ListLines(SCORES, ()), samples, self.manifest, None, self.notices, replies)
        found.levels = self.levels
        return found

    def nearest_ids(self, sample_id: str, most: int = 3) -> list[str]:
        """Return the ids of the run most like `sample_id`, likest first."""
        ids = dict.fromkeys(str(row.get("sample_id")) for _, _, row in self._rows.read([]))
        return difflib.get_close_matches(sample_id, ids, n=most, cutoff=0.5) or list(ids)[:most]

    def _take_samples(self, cells: Cells, facts: SampleFacts, notices: list[Notice]) -> None:
        """Number the samples, and say which cells are promised of them."""
        for *_, row in self._sample_rows(notices):
            facts.add(cells.ids.number(str(row["id"])), row)
        cells.promise(names_of(self.manifest.get("metrics")))

    def _sample_rows(self, notices: list[Notice]) -> Iterator[tuple[int, int, Row]]:
        for place, number, row in self._samples.read(notices) if self._samples else ():
            if row.get("id") in (None, ""):
                notices.append(Notice("sample_without_id", (("line", number),)))
            else:
                yield place, number, row

    def _final(self, sample_id: str | None = None) -> dict[tuple[str, str, int], tuple[int, Row]]:
        found: dict[tuple[str, str, int], tuple[int, Row]] = {}
        name = self._rows.where
        for _, number, row in self._rows.read([]):
            if sample_id is None or str(row.get("sample_id")) == sample_id:
                found[check(name, number, row)] = number, row
        return found

    def _sample_digests(self) -> dict[str, bytes] | None:
        return {str(row["id"]): digest(row) for *_, row in self._sample_rows([])} if self.holds_samples else None

    def facts(self) -> RunFacts:
        """Return which run this is: path, id, signature, notice, what it took."""
        return run_facts(self.manifest, self.path, self.notice)
