"""The index of a work folder: which runs a pipeline made, what each step came to, and which runs have a name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from ragstone.errors import RunFolderError
from ragstone.store import opened, write_atomically
from ragstone.text import say, screen_language

INDEX = "runs.json"
FORMAT = 1
"""Of the index; a newer one is left alone."""
FINISHED = (0, 1)
"""Exit codes of steps that came to their end; what ended with another one is not recorded."""

_TABLES = ("texts", "files", "numbers", "notices")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord:
    """How a step ended, and what it rested on."""

    fingerprint: str
    """Of everything that went into it."""
    exit_code: int
    at: str
    """When it ended, in UTC."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """What it came to, in a line, by language."""
    files: Mapping[str, str | None] = field(default_factory=dict)
    """Files it wrote, relative to the work folder where they stand in it, each with the fingerprint of its bytes."""
    numbers: Mapping[str, Any] = field(default_factory=dict)
    """What a reader wants to know without opening the files, e.g. means by metric."""
    notices: Mapping[str, Any] = field(default_factory=dict)
    """What must be said beside it, by the language it was told in."""

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the file."""
        plain = {name: getattr(self, name) for name in ("fingerprint", "exit_code", "at")}
        return {**plain, **{name: dict(getattr(self, name)) for name in _TABLES}}

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> StepRecord:
        """Return the record of a row of the file; raises KeyError, TypeError, ValueError for one that is none."""
        known = {name: dict(row.get(name) or {}) for name in _TABLES}
        return cls(fingerprint=str(row["fingerprint"]), exit_code=int(row["exit_code"]), at=str(row["at"]), **known)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEntry:
    """One run of a work folder."""

    name: str
    """Of its folder."""
    created_at: str
    identity: str
    """Fingerprint of all that its scores rest on: another one is another run."""
    gold_fingerprint: str | None = None
    samples: str | None = None
    """The file of samples it judged, relative to the work folder."""
    steps: Mapping[str, StepRecord] = field(default_factory=dict)

    @property
    def evaluated(self) -> bool:
        """True if its evaluation came to its end."""
        return "evaluate" in self.steps

    def to_dict(self) -> dict[str, Any]:
        """As it stands in the file."""
        plain = {name: getattr(self, name) for name in ("name", "created_at", "identity", "gold_fingerprint", "samples")}
        return {**plain, "steps": {name: record.to_dict() for name, record in self.steps.items()}}

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> RunEntry:
        """Return the run of a row of the file; raises KeyError, TypeError, ValueError for one that is none."""
        named = {name: row.get(name) for name in ("gold_fingerprint", "samples")}
        steps = {str(name): StepRecord.read(record) for name, record in (row.get("steps") or {}).items()}
        return cls(name=_name(row["name"]), created_at=str(row["created_at"]), identity=str(row["identity"]), **named, steps=steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """All runs of a work folder, oldest first, with the collections they judged and the tags people gave."""

    runs: tuple[RunEntry, ...] = ()
    collections: Mapping[str, StepRecord] = field(default_factory=dict)
    """By file of samples, relative to the work folder."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """Name -> run."""

    @property
    def latest(self) -> RunEntry | None:
        """The run that was begun, or gone on with, last."""
        return self.runs[-1] if self.runs else None

    def run(self, name: str) -> RunEntry | None:
        """Return a run by the name of its folder."""
        return next((one for one in self.runs if one.name == name), None)

    def before(self, name: str, there: Callable[[RunEntry], bool] = lambda _: True) -> RunEntry | None:
        """Return the newest evaluated run before one of this name that is still `there`; None if there is none."""
        names = [one.name for one in self.runs]
        earlier = self.runs[: names.index(name)] if name in names else self.runs
        return next((one for one in reversed(earlier) if one.evaluated and there(one)), None)

    def tags_of(self, name: str) -> list[str]:
        """Return the tags of a run."""
        return [tag for tag, run in self.tags.items() if run == name]

    def with_run(self, entry: RunEntry) -> Index:
        """Return an index with a run as the latest; one of its name goes."""
        return replace(self, runs=(*(one for one in self.runs if one.name != entry.name), entry))

    def with_step(self, name: str, step: str, record: StepRecord | None) -> Index:
        """Return an index where a run has a record of a step, or none any more."""
        return replace(self, runs=tuple(_with_step(one, step, record) if one.name == name else one for one in self.runs))

    def with_samples_at(self, old: str, new: str) -> Index:
        """Return an index where runs that judged a file of samples name it by where it lies now."""
        return replace(self, runs=tuple(replace(one, samples=new) if one.samples == old else one for one in self.runs))

    def without(self, names: Iterable[str]) -> Index:
        """Return an index without some runs."""
        gone = set(names)
        tags = {tag: run for tag, run in self.tags.items() if run not in gone}
        return replace(self, runs=tuple(one for one in self.runs if one.name not in gone), tags=tags)

    def to_dict(self) -> dict[str, Any]:
        """The document of `runs --json`, and the content of the file."""
        collections = {name: record.to_dict() for name, record in self.collections.items()}
        latest = self.latest.name if self.latest else None
        runs = [{**one.to_dict(), "tags": self.tags_of(one.name)} for one in self.runs]
        return {"format": FORMAT, "latest": latest, "tags": dict(self.tags), "runs": runs, "collections": collections}


def _with_step(entry: RunEntry, step: str, record: StepRecord | None) -> RunEntry:
    others = {name: held for name, held in entry.steps.items() if name != step}
    return replace(entry, steps=others if record is None else {**others, step: record})


def _name(given: Any) -> str:
    """Return what a run folder is called; raises ValueError for what would lie elsewhere than right below the work folder."""
    if not isinstance(given, str) or given in ("", ".", "..") or "/" in given or "\\" in given:
        raise ValueError(given)
    return given


def read_index(work: Path) -> Index:
    """Return the index of a work folder; an empty one if there is none yet.

    Raises RunFolderError if it cannot be read.
    """
    path = work / INDEX
    if not path.exists():
        return Index()
    with opened(path) as file:
        raw = file.read()
    try:
        found = orjson.loads(raw)
        if found.get("format", FORMAT) > FORMAT:
            raise RunFolderError(say("pipeline.index_newer", screen_language(), path=path, format=found["format"]))
        collections = {str(name): StepRecord.read(row) for name, row in (found.get("collections") or {}).items()}
        tags = {str(tag): _name(run) for tag, run in (found.get("tags") or {}).items()}
        return Index(runs=tuple(map(RunEntry.read, found["runs"])), collections=collections, tags=tags)
    except (KeyError, TypeError, ValueError, AttributeError) as bad:
        raise RunFolderError(say("pipeline.index_unreadable", screen_language(), path=path, problem=repr(bad))) from bad


def write_index(work: Path, index: Index) -> None:
    """Replace the index whole; raises StoppedError when the disk does not take it."""
    write_atomically(work / INDEX, [orjson.dumps(index.to_dict(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)])


def new_name(born: datetime, taken: Iterable[str]) -> str:
    """Return a name for a run born then, in UTC, that is not taken."""
    used, name = set(taken), f"{born:%Y-%m-%dT%H%M%SZ}"
    return name if name not in used else next(f"{name}-{n}" for n in range(2, len(used) + 3) if f"{name}-{n}" not in used)
