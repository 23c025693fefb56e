"""What Langfuse has taken of a run, noted in the run folder: what is there and has not changed since is not sent again."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, Self

from ragstone.analysis.ids import Ids
from ragstone.errors import RunFolderError
from ragstone.folder import FolderLock
from ragstone.langfuse.units import Unit
from ragstone.store import LOCK, Appender, read_rows
from ragstone.text import say, screen_language
from ragstone.types import Language

FOLDER = "exports"
FORMAT = "langfuse/1"
Given = Literal["dataset", "run"]
_NO_DIGEST = "0" * 16


def ledger_path(folder: Path, host: str, project_id: str) -> Path:
    """Return where the ledger of a run folder stands for one project of one server."""
    return folder / FOLDER / f"langfuse-{sha256(f'{host}|{project_id}'.encode()).hexdigest()[:8]}.jsonl"


class Ledger:
    """What one project of one server has taken of a run; holds the run folder's exports for itself until it is closed.

    Where there is no run folder, or it cannot be written, it remembers for as long as it lives.
    """

    def __init__(self, folder: Path | None, *, host: str, project_id: str, run_name: str, timestamp: str, read_only: bool = False) -> None:
        """Read what is there.

        Args:
            folder: the run folder; None, or what is no folder (an exported file): there is none.
            host: address of the server, without a slash at its end.
            project_id: the project.
            run_name: how the run is called there; told to people who read the file.
            timestamp: of the run, if the ledger does not name one yet.
            read_only: only look: no file is made, and nothing is locked.

        Raises:
            RunFolderError: another export of the run is under way, or the file is no ledger of this project (named with its byte).
        """
        self.timestamp = timestamp
        """Of the first export: that of a run whose manifest names none."""
        self._facts: dict[str, str] = {}
        self._data_sets = 0
        self._ids, self._digests = Ids(), array("Q")
        self._lock: FolderLock | None = None
        self._file: Appender | None = None
        self._head = {"ledger": FORMAT, "host": host, "project_id": project_id, "run_name": run_name, "timestamp": timestamp}
        if folder is not None and folder.is_dir():
            try:
                self._open(ledger_path(folder, host, project_id), read_only)
            except BaseException:
                self.close()
                raise

    @property
    def noted(self) -> bool:
        """True if what is taken is noted in the run folder."""
        return self._file is not None

    def notice(self, lang: Language) -> str | None:
        """Return what a person should know: nothing can be noted. None if it can."""
        return None if self.noted else say("observed.no_ledger", lang)

    def __len__(self) -> int:
        return len(self._ids)

    def holds(self, unit: Unit) -> bool:
        """Return whether a unit was taken as it is now."""
        at = self._ids.find(self._named(unit.kind, unit.id))
        return at is not None and self._digests[at] == int(unit.digest, 16)

    def add(self, units: Iterable[Unit]) -> None:
        """Note units that were taken. Raises StoppedError if the disk does not take it."""
        for unit in units:
            digest = unit.digest
            if self._note(unit.kind, unit.id, digest) and self._file is not None:
                self._file.append({"kind": unit.kind, "id": unit.id, "digest": digest})

    def given(self, kind: Given, name: str) -> str | None:
        """Return the id that the server gave to a data set, or to a run where it has runs of its own; None = not known."""
        return self._facts.get(f"{kind}|{name}")

    def keep(self, kind: Given, name: str, value: str) -> None:
        """Note an id that the server gave to what is called so. Raises StoppedError if the disk does not take it."""
        fact = f"{kind}|{name}"
        if self._facts.get(fact) != value:
            self._know(fact, value)
            if self._file is not None:
                self._file.append({"kind": "fact", "id": fact, "digest": _NO_DIGEST, "value": value})

    def forget(self, dataset: str) -> None:
        """Note that the server had a data set no more, so that everything is to be sent again. Raises StoppedError as `keep` does."""
        self.keep("dataset", dataset, "")

    def close(self) -> None:
        """Let go of the folder."""
        file, lock, self._file, self._lock = self._file, self._lock, None, None
        if file is not None:
            file.close()
        if lock is not None:
            lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # ------------------------------------------------------------------ the file
    def _open(self, path: Path, read_only: bool) -> None:
        if not read_only and _writable(path):
            self._lock = _locked(path.parent)
            self._file = Appender(path)
            if not self._file.size:
                self._file.append(self._head)
        for number, (_, row) in enumerate(read_rows(path, _entry_problem)):
            if isinstance(row.get("value"), str):
                self._know(row["id"], row["value"])
            elif number and "kind" in row:
                self._note(row["kind"], row["id"], row["digest"])
            elif not number:
                self._take_head(path, row)

    def _take_head(self, path: Path, row: dict[str, Any]) -> None:
        told = self._head
        if any(row.get(name) != told[name] for name in ("ledger", "host", "project_id")) or not isinstance(row.get("timestamp"), str):
            said = say("observed.foreign_ledger", screen_language(), path=path, host=told["host"], project=told["project_id"])
            raise RunFolderError(said)
        self.timestamp = row["timestamp"]

    def _know(self, fact: str, value: str) -> None:
        """Take in an id that the server gave. A data set that was made anew has none of the items that the one before had."""
        self._data_sets += fact.startswith("dataset|") and fact in self._facts
        self._facts[fact] = value

    def _named(self, kind: str, name: str) -> str:
        return f"{kind}{'' if kind == 'dataset' else self._data_sets}|{name}"

    def _note(self, kind: str, name: str, digest: str) -> bool:
        """Remember a digest; False if it is the one that was known."""
        at, value = self._ids.number(self._named(kind, name)), int(digest, 16)
        if at == len(self._digests):
            self._digests.append(value)
            return True
        known, self._digests[at] = self._digests[at], value
        return known != value


def _locked(folder: Path) -> FolderLock:
    try:
        return FolderLock(folder)
    except RunFolderError as held:
        raise RunFolderError(say("observed.locked", screen_language(), path=folder)) from held


def _writable(path: Path) -> bool:
    """Return whether the ledger can be written; makes its folder if it can."""
    try:
        path.parent.mkdir(exist_ok=True)
        for name in (path, path.with_name(LOCK)):
            name.open("ab").close()
    except OSError:
        return False
    return True


def _entry_problem(row: dict[str, Any]) -> str | None:
    """Return what keeps a line from being read: None for a head, whatever it says, and for what was noted."""
    if "ledger" in row:
        return None
    wrong = [name for name in ("kind", "id", "digest") if not isinstance(row.get(name), str)]
    if not wrong and not (len(row["digest"]) == 16 and {*row["digest"]} <= {*"0123456789abcdef"}):
        wrong = ["digest"]
    return ", ".join(wrong) or None
