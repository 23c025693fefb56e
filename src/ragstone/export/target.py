"""The file or folder that an export is written to: checked before any work, written beside, put in its place whole."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from glob import escape
from pathlib import Path
from typing import IO

from ragstone.errors import ConfigError, StoppedError, reason_of
from ragstone.text import say, screen_language

Fill = Callable[[IO[bytes] | str], None]


def sweep(path: Path) -> None:
    """Remove what killed processes left beside a file or folder; only for one that nobody else is writing."""
    for draft in path.parent.glob(f".{escape(path.name[:100])}.????????.part"):
        shutil.rmtree(draft, ignore_errors=True)


class Target:
    """Where an export goes. A process that is killed leaves the old file or none, and perhaps a `.part` beside it."""

    def __init__(self, path: Path, run: Path | None, *, force: bool, parts: Sequence[str] | None = None) -> None:
        """`run`: folder or JSON export of the run, which no export replaces. `parts`: a folder is to be written, of such names."""
        self.path, self._run, self._force, self._folder, self._parts = path, run, force, parts is not None, parts or ()

    def check(self) -> None:
        """Raise ConfigError if the target is of the wrong kind, is there already, or cannot be written."""
        lang = screen_language()
        path = self.path
        try:
            kind = path.stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            self._check_place(path)
            return
        except OSError as bad:
            raise self._refused(bad) from bad
        if stat.S_ISDIR(kind) != self._folder and (stat.S_ISDIR(kind) or stat.S_ISREG(kind)):
            raise ConfigError(say("export.is_a_file" if self._folder else "export.is_a_folder", lang, path=path))
        if self._is_of_the_run():
            raise ConfigError(say("export.of_the_run", lang, path=path, run=self._run))
        if self._folder:
            self._check_held(path)
        if stat.S_ISREG(kind) and not self._force:
            raise ConfigError(say("export.exists", lang, path=path))
        self._check_place(path)

    def _check_held(self, folder: Path) -> None:
        """A folder is replaced with all it holds: only what an export of the kind left may be in it."""
        lang = screen_language()
        try:
            names = sorted(os.listdir(folder))
        except OSError as bad:
            raise self._refused(bad) from bad
        foreign = next((name for name in names if not any(fnmatchcase(name, part) for part in self._parts)), None)
        if foreign is not None:
            raise ConfigError(say("export.holds_other", lang, path=folder, name=foreign))
        if names and not self._force:
            raise ConfigError(say("export.exists", lang, path=folder))

    def _is_of_the_run(self) -> bool:
        """True for the run itself, one of its files, and a folder that it lies in: put in their place, an export would end the run."""
        if self._run is None:
            return False
        path, run = self.path.resolve(), self._run.resolve()
        return path == run or path in run.parents or (path.parent == run and path.is_file())

    def write(self, fill: Fill) -> int:
        """Write the whole target and return its size in bytes.

        Raises ConfigError if the place cannot be written, StoppedError if the disk does not take it.
        """
        path = self.path
        if path.exists() and not path.is_dir() and not path.is_file():  # a device, a pipe: nothing can be put in its place
            return self._streamed(fill)
        path = path.resolve() if path.is_symlink() else path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            draft = Path(tempfile.mkdtemp(prefix=f".{path.name[:100]}.", suffix=".part", dir=path.parent))
        except OSError as bad:
            raise self._refused(bad) from bad
        try:
            return self._in_place(draft, path, fill)
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def measure(self, fill: Fill) -> int:
        """Return the size that the target would have; it is written to the system's temporary folder and removed again."""
        with tempfile.TemporaryDirectory() as folder:
            return self._made(Path(folder) / "draft", fill)

    # ------------------------------------------------------------------ writing
    def _streamed(self, fill: Fill) -> int:
        try:
            file = self.path.open("wb")
        except OSError as bad:
            raise self._refused(bad) from bad
        try:
            return self._filled(file, fill)
        finally:
            with suppress(OSError):  # what it would not take has been told
                file.close()

    def _in_place(self, draft: Path, path: Path, fill: Fill) -> int:
        new, old = draft / "new", draft / "old"
        size = self._made(new, fill)
        try:
            if self._folder and path.exists():
                path.rename(old)
            elif path.exists():
                shutil.copymode(path, new)
            new.replace(path)
        except OSError as bad:
            with suppress(OSError):
                old.rename(path)
            raise self._lost(bad) from bad
        return size

    def _made(self, new: Path, fill: Fill) -> int:
        if not self._folder:
            file = new.open("w+b")
            try:
                return self._filled(file, fill)
            finally:
                with suppress(OSError):  # closing a file that is full fails again, and without its name
                    file.close()
        new.mkdir()
        try:
            fill(str(new))
        except OSError as bad:
            raise self._lost(bad) from bad
        return sum(one.stat().st_size for one in new.rglob("*") if one.is_file())

    def _filled(self, file: IO[bytes], fill: Fill) -> int:
        try:
            fill(file)
            file.flush()
            with suppress(OSError):  # of devices and pipes, which keep nothing
                os.fsync(file.fileno())
            return file.tell() if file.seekable() else 0
        except BrokenPipeError:
            raise
        except OSError as bad:
            raise self._lost(bad) from bad

    # ------------------------------------------------------------------ what the system refuses
    def _check_place(self, path: Path) -> None:
        """The nearest folder above that is there must be one, and one that can be written into."""
        above = next((one for one in path.absolute().parents if one.exists()), Path("/"))
        if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
            reason = say("errors.system_not_allowed" if above.is_dir() else "export.above_is_a_file", screen_language())
            raise ConfigError(say("export.unwritable", screen_language(), path=path, above=above, reason=reason))

    def _refused(self, bad: OSError) -> ConfigError:
        lang = screen_language()
        return ConfigError(say("export.unwritable", lang, path=self.path, above=self.path.parent, reason=reason_of(bad, lang)))

    def _lost(self, bad: OSError) -> StoppedError:
        lang = screen_language()
        return StoppedError(say("export.lost", lang, path=self.path, reason=reason_of(bad, lang)))
