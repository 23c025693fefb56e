"""The file of the reply cache: one SQLite table of keys and values, shared by every process of one user.

Write-ahead logging lets one process read while another writes; a killed process leaves nothing half written. The least
recently used entries go when the file outgrows its size.

A connection keeps the pages it read until another connection writes, and knows its own writes: reading and writing through
one connection is several times cheaper than through two.
"""

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

NAME = "replies-1.sqlite"
"""The number is that of the layout; a file of another layout is left alone."""
PATIENCE = 30.0
"""Seconds to wait for another process that writes."""
MB = 1_000_000
ROOM = 0.9
"""Share of the size that is left standing when entries have to go, so that they do not go one by one."""
AT_ONCE = 500
"""Keys looked up by one statement."""

_TABLE = """
CREATE TABLE IF NOT EXISTS entries(key BLOB PRIMARY KEY, vector INTEGER NOT NULL, used REAL NOT NULL, value BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS entries_used ON entries(used);
"""

_REMOVED = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_FULL)
"""Errors of a file of other tables, and of a disk so full that deleting finds no room: the file itself has to go."""

_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_VERSION = "PRAGMA data_version"
"""A number that changes when another connection has written."""

Entry = tuple[bytes, bool, bytes]
"""(key, whether it is a vector, value)"""


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """What a cache holds."""

    path: Path
    replies: int = 0
    vectors: int = 0
    bytes: int = 0
    """Size of what is held; the file itself may be larger for a moment."""
    oldest: float | None = None
    """Unix time of the longest unused entry; None = nothing is held."""


class CacheFile:
    """One connection to the file. Every method raises sqlite3.Error or OSError when the file cannot be used."""

    def __init__(self, folder: Path, most_mb: float, *, tended: bool = False) -> None:
        """Open the file, made for its owner only where it does not exist; so is a folder that holds nothing else.

        `tended`: somebody calls `tend` on another connection, so that writing here never waits for the disk.
        """
        self.path = folder / NAME
        self._most = most_mb * MB
        _make_private(folder, self.path)
        # one thread at a time uses it, not always the same one
        self._db = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        try:
            _patiently(lambda: self._prepare(tended))
            version = self._one(_VERSION)
            self._own = version if not self._one("SELECT EXISTS (SELECT 1 FROM entries)") else None
        except BaseException:
            self._db.close()
            raise

    def _prepare(self, tended: bool) -> None:
        new = not self._one("SELECT count(*) FROM sqlite_master WHERE name = 'entries_used'")
        # setting it takes the lock of a writer, for which an open cache need not wait
        settings = ["auto_vacuum = INCREMENTAL"] if new else []
        settings += ["journal_mode = WAL", "synchronous = NORMAL", "secure_delete = ON", *(["wal_autocheckpoint = 0"] if tended else [])]
        for setting in settings:
            self._db.execute(f"PRAGMA {setting}")
        if new:
            with self._writing():
                for statement in filter(str.strip, _TABLE.split(";")):
                    self._db.execute(statement)

    def read(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the values of those keys that are held."""
        found: dict[bytes, bytes] = {}
        for start in range(0, len(keys), AT_ONCE):
            some = keys[start : start + AT_ONCE]
            marks = ",".join("?" * len(some))
            found.update(self._db.execute(f"SELECT key, value FROM entries WHERE key IN ({marks})", some))
        return found

    def only_own(self) -> bool:
        """True if the file holds nothing but what this connection has written since it was opened."""
        if self._own is not None and self._one(_VERSION) != self._own:
            self._own = None
        return self._own is not None

    def write(self, entries: Collection[Entry] = (), used: Mapping[bytes, float] | None = None) -> None:
        """Store entries, and when others were last used (Unix time)."""
        if not entries and not used:
            return
        now = time.time()
        with self._writing():
            self._db.executemany("UPDATE entries SET used = ?2 WHERE key = ?1", list((used or {}).items()))
            self._db.executemany(
                "INSERT OR REPLACE INTO entries(key, vector, used, value) VALUES (?, ?, ?, ?)",
                [(key, vector, now, value) for key, vector, value in entries],
            )

    def write_if_free(self, entries: Collection[Entry], used: Mapping[bytes, float] | None = None) -> bool:
        """Store as `write` does unless another process is writing; returns whether it was done."""
        self._db.execute("PRAGMA busy_timeout = 0")
        try:
            self.write(entries, used)
        except sqlite3.OperationalError as busy:
            if busy.sqlite_errorcode & 0xFF not in _BUSY:
                raise
            return False
        finally:
            self._db.execute(f"PRAGMA busy_timeout = {PATIENCE * 1000:.0f}")
        return True

    def tend(self) -> None:
        """Make the file fit its size, and carry what has gathered in the log over into it."""
        self.trim()
        self._db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def trim(self) -> None:
        """Drop the least recently used entries if the file is larger than it may be."""
        if (size := self._size()) <= self._most:
            return
        surplus = size - ROOM * self._most
        with self._writing():
            self._db.executemany("DELETE FROM entries WHERE rowid = ?", list(self._oldest(surplus)))
        self._db.execute("PRAGMA incremental_vacuum").fetchall()

    def _oldest(self, surplus: float) -> Iterator[tuple[int]]:
        for rowid, held in self._db.execute("SELECT rowid, length(value) + 100 FROM entries ORDER BY used").fetchall():
            if surplus <= 0:
                return
            surplus -= held
            yield (rowid,)

    def info(self) -> CacheInfo:
        """Count what is held."""
        counted: Mapping[int, int] = dict(self._db.execute("SELECT vector, count(*) FROM entries GROUP BY vector"))
        oldest = self._one("SELECT min(used) FROM entries")
        return CacheInfo(self.path, counted.get(0, 0), counted.get(1, 0), self._size(), oldest)

    def clear(self) -> None:
        """Drop every entry and give the room back; other processes go on with an empty cache."""
        with self._writing():
            self._db.execute("DELETE FROM entries")
        self._db.execute("VACUUM")
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def _size(self) -> int:
        pages, free, size = (int(self._one(f"PRAGMA {name}")) for name in ("page_count", "freelist_count", "page_size"))
        return (pages - free) * size

    def _one(self, statement: str) -> float:
        value: float = self._db.execute(statement).fetchone()[0]
        return value

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")  # a lock taken later would not wait its turn
        try:
            yield
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")


def look(folder: Path) -> CacheInfo:
    """Return what the cache in `folder` holds, without making one; raises sqlite3.Error or OSError if it cannot be read."""
    if not (folder / NAME).exists():
        return CacheInfo(folder / NAME)
    with contextlib.closing(CacheFile(folder, float("inf"))) as file:
        return file.info()


def clear(folder: Path) -> CacheInfo:
    """Empty the cache in `folder` and return what it held; a file that is no cache, or on a full disk, is removed."""
    try:
        held = look(folder)
        if held.path.exists():
            with contextlib.closing(CacheFile(folder, float("inf"))) as file:
                file.clear()
    except sqlite3.DatabaseError as bad:
        # else another process holds it, or the system refuses: nothing wrong with the file
        if isinstance(bad, sqlite3.OperationalError) and bad.sqlite_errorcode not in _REMOVED:
            raise
        held = CacheInfo(folder / NAME)
        for end in ("", "-wal", "-shm"):
            held.path.with_name(NAME + end).unlink(missing_ok=True)
    return held


def _make_private(folder: Path, path: Path) -> None:
    """Company text is for its owner's eyes: the folder 0700 if it is the cache's own, the file 0600."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if all(inside.name.startswith((NAME, "dialects.json")) for inside in folder.iterdir()) and folder.stat().st_mode & 0o077:
        with contextlib.suppress(PermissionError):  # another's folder that this user may write in: the file is private all the same
            folder.chmod(0o700)
    # Closing a file that SQLite has open elsewhere in this process would drop SQLite's locks on it (POSIX), so only a new one is touched.
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)


def _patiently(action: Callable[[], None]) -> None:
    """Switching to write-ahead logging does not wait for another process that does the same at that moment."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            action()
        except sqlite3.OperationalError as busy:
            if busy.sqlite_errorcode & 0xFF not in _BUSY or time.monotonic() > end:
                raise
            time.sleep(0.02)
        else:
            return
