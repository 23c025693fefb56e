"""The run folder as a whole: may it be used, is anybody writing it, can it be set aside."""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from ragstone.errors import RunFolderError
from ragstone.store import LOCK, MANIFEST, REPLIES, unusable
from ragstone.text import say, screen_language


def check_folder(folder: Path) -> None:
    """Raise RunFolderError if `folder` is a file, holds things but no run, or cannot be looked into."""
    try:
        inside = sorted(p.name for p in folder.iterdir())
    except FileNotFoundError:
        return
    except NotADirectoryError as bad:
        raise RunFolderError(say("store.is_a_file", screen_language(), path=folder)) from bad
    except OSError as bad:
        raise unusable(folder, bad) from bad
    if inside and not {MANIFEST, LOCK} & set(inside):
        raise RunFolderError(say("store.not_a_run", screen_language(), path=folder, found=", ".join(inside[:3])))


def create(folder: Path) -> None:
    """Make the folder, for its owner only, with the folders above it; raises RunFolderError if the system refuses."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as bad:
        raise RunFolderError(say("store.cannot_create", screen_language(), path=folder, problem=bad.strerror)) from bad


def unanswered(folder: Path) -> bool:
    """True for a run of ours whose every question is still open."""
    replies = folder / REPLIES
    return replies.is_file() and not replies.stat().st_size


def set_aside(folder: Path) -> Path | None:
    """Move an existing run out of the way and return where it went; None if there was none."""
    check_folder(folder)
    if not (folder / MANIFEST).exists():
        return None
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    lock = FolderLock(folder)
    target = folder.with_name(f"{folder.name}.{stamp}")
    try:
        folder.rename(target)
    except OSError as bad:
        raise unusable(folder, bad) from bad
    finally:
        lock.release()
    return target


class FolderLock:
    """Holds a run folder for one writer; the system lets go of it when the process ends, however it ends."""

    def __init__(self, folder: Path) -> None:
        """Take the lock; raises RunFolderError if another process holds it, or the folder cannot be written."""
        try:
            self._file = (folder / LOCK).open("a+b")
        except OSError as bad:
            raise unusable(folder, bad) from bad
        try:
            hold(self._file)
        except OSError as held:
            self._file.close()
            raise RunFolderError(say("store.locked", screen_language(), path=folder)) from held

    def release(self) -> None:
        """Let go of the folder."""
        self._file.close()


def hold(file: IO[bytes]) -> None:
    """Lock an open file for this process alone; raises OSError if another one holds it."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
