"""The runs that lie side by side in one folder, and when each was made. Only manifests are read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ragstone.errors import RunFolderError
from ragstone.results import Run, load
from ragstone.run_files import MANIFEST, SCORES, existing
from ragstone.text import say, screen_language


@dataclass(frozen=True)
class DatedRun:
    """A run of a folder of runs."""

    run: Run
    path: Path
    at: datetime
    in_manifest: bool
    """False where the manifest tells no date: then it is that of the file of scores."""

    @property
    def gold_fingerprint(self) -> str | None:
        """Which gold set the run measured; None = not known."""
        found = self.run.manifest.get("gold_fingerprint")
        return None if found is None else str(found)


def runs_in(folder: str | Path) -> tuple[list[DatedRun], list[tuple[Path, str]]]:
    """Return the runs right below a folder, oldest first, and (path, problem) of each that cannot be read.

    A folder without `scores.jsonl` and `manifest.json` is no run and passed over; a manifest that cannot be read makes a run
    unreadable, since nobody knows then what it measured; a link to a run beside it (`latest`) is no second run.

    Raises:
        RunFolderError: there is no such folder, or it is a run itself.
    """
    parent = Path(folder)
    if not parent.exists():
        raise RunFolderError(say("history.no_such_folder", screen_language(), path=parent))
    existing(parent)
    if (parent / SCORES).is_file():
        raise RunFolderError(say("history.is_a_run", screen_language(), path=parent, parent=parent.absolute().parent))
    found: list[DatedRun] = []
    bad: list[tuple[Path, str]] = []
    for path in sorted(parent.iterdir(), key=lambda path: _natural(path.name)):
        try:
            if path.is_dir() and any((path / name).is_file() for name in (SCORES, MANIFEST)) and not _beside(path):
                found.append(_dated(path))
        except (RunFolderError, OSError) as problem:
            bad.append((path, str(problem)))
    return sorted(found, key=lambda dated: dated.at), bad


def _beside(path: Path) -> bool:
    """True for a second name of a run of the same folder: it would be counted twice."""
    return path.is_symlink() and path.resolve().parent == path.parent.resolve()


def _dated(path: Path) -> DatedRun:
    run = load(path)
    if any(notice.code == "manifest_unreadable" for notice in run.notices):  # it would pass for a run of another gold set
        raise RunFolderError(say("history.manifest_unreadable", screen_language()))
    told = _moment(run.manifest.get("created_at"))
    at = told or datetime.fromtimestamp((path / SCORES).stat().st_mtime, UTC)
    return DatedRun(run, path, at, told is not None)


def _moment(told: Any) -> datetime | None:
    """Read a date of a manifest; one without a zone is taken for UTC."""
    try:
        found = datetime.fromisoformat(told)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        return None


def _natural(name: str) -> list[tuple[int, str]]:
    """Sort run-9 before run-10; of two runs of one second the name decides."""
    return [(int(part), "") if part.isdecimal() and part.isascii() else (-1, part) for part in re.split(r"(\d+)", name)]
