"""The reply cache as a run uses it: reads gathered into one statement a turn of the loop, writes gathered for a moment.

Both take microseconds an entry and wait for nobody, so handing them to a thread would cost many times what they take; a write
that would have to wait for another process is put off. What waits for the disk has a thread and a connection of its own.
A cache that fails is left alone for the rest of the run, which goes on without it.
"""

import asyncio
import hashlib
import sqlite3
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from ragstone.cache_file import MB, CacheFile, Entry
from ragstone.config import Config
from ragstone.errors import ConfigError
from ragstone.judge.base import Identity
from ragstone.sieve import Sieve
from ragstone.text import say, screen_language

WAIT = 0.25
"""Seconds an entry waits for company before it is written."""
LOOK = 0.05
"""Seconds for which it is believed that nobody else has written."""
UNTENDED_MB = 8
"""Megabytes that are written before the log is carried over into the file."""


class ReplyCache:
    """What earlier runs were answered, by key. Used by one run, from one event loop."""

    def __init__(self, folder: Path, most_mb: float, on_trouble: Callable[[str], None] = lambda _: None) -> None:
        """Open the cache in `folder`; `on_trouble` hears once why it is not used any more.

        Raises sqlite3.Error or OSError if it cannot be opened.
        """
        self._file, self._on_trouble = CacheFile(folder, most_mb, tended=True), on_trouble
        try:
            self._aside = CacheFile(folder, most_mb)
        except BaseException:
            self._file.close()
            raise
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ragstone-cache")
        self._failed = self._closing = False
        self._wanted: list[tuple[Sequence[bytes], asyncio.Future[dict[bytes, bytes]]]] = []
        self._fresh: list[Entry] = []
        self._put = Sieve()
        self._used: dict[bytes, float] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._untended, self._most_untended = 0, min(UNTENDED_MB, most_mb / 20) * MB
        self._tending: asyncio.Future[None] | None = None
        self._own, self._looked = False, 0.0

    @property
    def foreign(self) -> bool:
        """True if the file may hold something that this run has not put there."""
        if not self._failed and (now := time.monotonic()) - self._looked > LOOK:
            try:
                self._own, self._looked = self._file.only_own(), now
            except sqlite3.Error as bad:
                self._give_up(bad)
        return not self._failed and not self._own

    async def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the values of those keys that are held; {} once the cache has failed."""
        if self._failed or self._closing:
            return {}
        if not self.foreign:
            keys = [key for key in keys if key in self._put]
        if not keys:
            return {}
        loop = asyncio.get_running_loop()
        future: asyncio.Future[dict[bytes, bytes]] = loop.create_future()
        if not self._wanted:
            loop.call_soon(self._read)
        self._wanted.append((keys, future))
        return await future

    def put(self, key: bytes, value: bytes, *, vector: bool = False) -> None:
        """Store a value soon."""
        if not (self._failed or self._closing):
            self._put.add(key)
            self._fresh.append((key, vector, value))
            self._write_soon()

    async def close(self) -> None:
        """Write what is left, make the file fit its size, and let go of it."""
        self._closing = True
        if self._timer is not None:
            self._timer.cancel()
        if self._tending is not None:
            await self._tending
        if not self._failed:
            await self._on_thread(partial(self._aside.write, self._fresh, self._used), self._aside.trim)
        self._thread.shutdown()
        for file in (self._file, self._aside):
            file.close()

    def _read(self) -> None:
        """Answer all who wait."""
        wanted, self._wanted = self._wanted, []
        found: dict[bytes, bytes] = {}
        try:
            if not self._failed:
                found = self._file.read([key for keys, _ in wanted for key in keys])
        except sqlite3.Error as bad:
            self._give_up(bad)
        for keys, future in wanted:
            if not future.done():
                future.set_result({key: found[key] for key in keys if key in found})
        if found:
            self._used.update(dict.fromkeys(found, time.time()))
            self._write_soon()

    def _write_soon(self) -> None:
        if self._timer is None and not self._closing:
            self._timer = asyncio.get_running_loop().call_later(WAIT, self._write)

    def _write(self) -> None:
        """Write what has gathered, or put it off if another process is writing."""
        self._timer = None
        if self._failed:
            return
        try:
            written = self._file.write_if_free(self._fresh, self._used)
        except (sqlite3.Error, OSError) as bad:
            self._give_up(bad)
        else:
            self._written() if written else self._write_soon()

    def _written(self) -> None:
        self._untended += sum(len(value) for _, _, value in self._fresh)
        self._fresh, self._used = [], {}
        if self._untended > self._most_untended and self._tending is None:
            self._untended = 0
            self._tending = asyncio.ensure_future(self._on_thread(self._aside.tend))
            self._tending.add_done_callback(self._tended)

    def _tended(self, _: object) -> None:
        self._tending = None

    async def _on_thread(self, *actions: Callable[[], None]) -> None:
        """Run actions on the cache's own thread, until one fails."""
        try:
            for action in actions:
                await asyncio.get_running_loop().run_in_executor(self._thread, action)
        except (sqlite3.Error, OSError) as bad:
            self._give_up(bad)

    def _give_up(self, bad: Exception) -> None:
        if not self._failed:
            self._failed = True
            self._on_trouble(say("cache.failed", screen_language(), path=self._file.path.parent, problem=bad))


def open_cache(config: Config, tell: Callable[[str], None]) -> ReplyCache | None:
    """Return the cache the settings name, None if they want none or the user's own cannot be used, which `tell` hears.

    Raises:
        ConfigError: a folder named by a setting cannot be used.
    """
    if config.no_cache:
        return None
    folder = cache_folder(config)
    try:
        return ReplyCache(folder, config.cache_mb, tell)
    except (sqlite3.Error, OSError) as bad:
        lang = screen_language()
        if config.cache:
            raise ConfigError(say("cache.unusable", lang, path=folder, problem=bad)) from bad
        tell(say("cache.failed", lang, path=folder, problem=bad))
        return None


def cache_folder(config: Config) -> Path:
    """Return the folder of the cache: the setting unless it is empty, else `ragstone` in the user's cache folder.

    Raises ConfigError if the setting names the home of a user who is not known.
    """
    if config.cache:
        try:
            return Path(config.cache).expanduser()
        except RuntimeError as bad:
            raise ConfigError(say("cache.unusable", screen_language(), path=config.cache, problem=bad)) from bad
    from platformdirs import user_cache_path

    return user_cache_path("ragstone", appauthor=False)


def key_of(*parts: str | bytes, after: "hashlib._Hash | None" = None) -> bytes:
    """Return the key of some parts, in which no two different lists of parts are alike; `after`: those of `parts_of` first."""
    return _with(hashlib.sha256() if after is None else after.copy(), parts).digest()[:16]


def parts_of(*parts: str | bytes) -> "hashlib._Hash":
    """Return what many keys begin with, so that it is hashed once."""
    return _with(hashlib.sha256(), parts)


def _with(digest: "hashlib._Hash", parts: Sequence[str | bytes]) -> "hashlib._Hash":
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(raw).to_bytes(8, "big") + raw)
    return digest


def scope_of(who: Identity, requested: Any) -> bytes:
    """Return the part of a key that tells endpoints, models and requested parameters apart."""
    return key_of(who.endpoint, who.model, orjson.dumps(requested, option=orjson.OPT_SORT_KEYS))
