"""One call of a pipeline while it runs: the file, the index, the run it is about, and what later steps need of earlier ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.errors import ConfigError
from ragstone.pipeline.base import LeftOut, Outcome
from ragstone.pipeline.file import LAST, Pipeline
from ragstone.pipeline.index import Index, RunEntry, StepRecord, new_name, write_index
from ragstone.pipeline.prints import of_file, of_files
from ragstone.results import Run, load
from ragstone.store import SCORES
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.pipeline.checks import Checked
    from ragstone.types import Language


@dataclass(frozen=True, slots=True)
class Baseline:
    """The run that the new one is held against."""

    name: str
    folder: Path


@dataclass(slots=True)
class Course:
    """What the steps of one call share."""

    pipeline: Pipeline
    index: Index
    checked: Checked
    begin: str | None = None
    """The step that `--from` names."""
    retry_failed: bool = False
    samples: Path | None = None
    """The file of samples that was collected, or is to be."""
    entry: str | None = None
    """Name of the run."""
    found: dict[str, Any] = field(default_factory=dict)
    """What steps worked out in this call, by step, for those that show it."""
    shares: dict[str, bool] = field(default_factory=dict)
    """By baseline: does it have a sample in common with the run?"""
    written: bool = True
    """False in a dry run: the index stays as it is."""

    @property
    def lang(self) -> Language:
        """Language of the screen and of pages."""
        return self.pipeline.lang

    @property
    def work(self) -> Path:
        """The work folder."""
        return self.pipeline.work

    @property
    def folder(self) -> Path:
        """The run folder; raises ConfigError if there is no run yet."""
        return self.work / self.run_entry.name

    @property
    def run_entry(self) -> RunEntry:
        """The run; raises ConfigError if there is none yet."""
        found = self.index.run(self.entry) if self.entry is not None else self.index.latest
        if found is None:
            raise ConfigError(say("pipeline.no_run", self.lang, work=self.work))
        return found

    def run(self) -> Run:
        """Return the run, with the levels of the file."""
        from ragstone.analysis.levels import Levels

        run = load(self.folder)
        run.levels = Levels(**self.pipeline.config.levels.model_dump())
        return run

    # ------------------------------------------------------------------ the index
    def save(self, index: Index) -> None:
        """Take over an index, on disk first."""
        if self.written:
            write_index(self.work, index)
        self.index = index

    def enter(self, entry: RunEntry) -> None:
        """Make a run the one this call is about, and the latest of the index."""
        if self.index.latest != entry:
            self.save(self._cleared().with_run(entry))
        self.entry = entry.name

    def new_entry(self, identity: str, gold_fingerprint: str, samples: Path) -> RunEntry:
        """Return a run that begins now; it stands in no index yet."""
        born = datetime.now(UTC)
        taken = {*(one.name for one in self.index.runs), *(path.name for path in self.work.iterdir())} if self.work.is_dir() else ()
        return RunEntry(
            name=new_name(born, taken),
            created_at=born.isoformat(timespec="seconds"),
            identity=identity,
            gold_fingerprint=gold_fingerprint,
            samples=self.named(samples),
        )

    def _cleared(self) -> Index:
        """The index without runs that never came to have a folder."""
        return self.index.without(one.name for one in self.index.runs if not one.steps and not (self.work / one.name).exists())

    def held(self, step: str) -> StepRecord | None:
        """Return the record of a step, None if it never came to its end."""
        if step == "collect":
            return self.index.collections.get(self.named(self.samples)) if self.samples is not None else None
        return self.run_entry.steps.get(step)

    def keep(self, step: str, fingerprint: str, outcome: Outcome) -> None:
        """Record how a step ended."""
        files = {self.named(Path(path)): print_ for path, print_ in of_files(outcome.files).items()}
        record = StepRecord(
            fingerprint=fingerprint,
            exit_code=outcome.exit_code,
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            texts={str(lang): text for lang, text in outcome.texts.items()},
            files=files,
            numbers=dict(outcome.numbers),
            notices={self.lang: list(outcome.notices)} if outcome.notices else {},
        )
        if step == "collect" and self.samples is not None:
            self.save(replace(self.index, collections={**self.index.collections, self.named(self.samples): record}))
        elif step != "collect":
            self.save(self.index.with_step(self.run_entry.name, step, record))

    def forget(self, step: str) -> None:
        """Take away the record of a step whose outcome counts no more."""
        if self.held(step) is None:
            return
        if step != "collect":
            self.save(self.index.with_step(self.run_entry.name, step, None))
        elif self.samples is not None:
            gone = self.named(self.samples)
            self.save(replace(self.index, collections={name: one for name, one in self.index.collections.items() if name != gone}))

    def moved(self, old: Path, new: Path) -> None:
        """Take note that samples lie elsewhere now: what earlier runs judged must not pass for what comes in their place."""
        self.save(self.index.with_samples_at(self.named(old), self.named(new)))

    def withdraw(self, step: str) -> None:
        """Take away the record of a step and the pages it wrote into the run folder."""
        held = self.held(step)
        self.forget(step)
        for path in (self.work / name for name in (held.files if held is not None else ())):
            if path.parent == self.folder:
                path.unlink(missing_ok=True)

    def now(self, record: StepRecord | None) -> Mapping[str, str | None]:
        """Return the files of a record with the fingerprints they have now."""
        return {name: of_file(self.work / name) for name in record.files} if record is not None else {}

    def named(self, path: Path) -> str:
        """Return a path as it stands in the index: relative to the work folder, where it is below it."""
        whole, work = path.absolute(), self.work.absolute()
        return whole.relative_to(work).as_posix() if whole.is_relative_to(work) else str(whole)

    # ------------------------------------------------------------------ the baseline
    def baseline(self) -> Baseline | LeftOut:
        """Return the run to be compared with: the last before this one, one that has a tag, or one that is named by its folder."""
        named, lang = self.pipeline.baseline, self.lang
        if named == LAST and LAST not in self.index.tags:
            before = self.index.before(self.run_entry.name, lambda one: (self.work / one.name / SCORES).is_file())
            if before is None:
                return LeftOut(say("pipeline.no_baseline_yet", lang))
            return self._comparable(before.name, self.work / before.name)
        folder = baseline_folder(self.pipeline, self.index)
        if folder is None:
            return LeftOut(say("pipeline.no_baseline_tagged", lang, name=named, work=self.work))
        if folder.resolve() == self.folder.resolve():
            return LeftOut(say("pipeline.baseline_is_run", lang, name=named))
        return self._comparable(named, folder)

    def _comparable(self, name: str, folder: Path) -> Baseline | LeftOut:
        """Of another gold set there may be nothing to compare; then every later call would end with 2 for want of a newer run."""
        base = load(folder)
        if base.manifest.get("gold_fingerprint") == self.run().manifest.get("gold_fingerprint"):
            return Baseline(name, folder)
        if name not in self.shares:
            self.shares[name] = _share(base, self.run())
        return Baseline(name, folder) if self.shares[name] else LeftOut(say("pipeline.baseline_shares_nothing", self.lang, name=name))


def _share(base: Run, new: Run) -> bool:
    """True if two runs have a sample in common: by its id or by its question; also where a run does not hold its samples."""

    def names(run: Run) -> set[Any]:
        return {value for row in run.sample_rows([]) for value in (("id", str(row["id"])), ("question", row.get("question")))}

    one, other = names(base), names(new)
    return not one or not other or bool((one & other) - {("question", None)})


def baseline_folder(pipeline: Pipeline, index: Index) -> Path | None:
    """Return the run folder that a tag or path names; None for `last`, and for a name nothing has yet."""
    tagged = index.tags.get(pipeline.baseline)
    if tagged is not None:
        return pipeline.work / tagged
    for path in (pipeline.beside(pipeline.baseline), pipeline.work / pipeline.baseline):
        if (path / SCORES).is_file():
            return path
    return None
