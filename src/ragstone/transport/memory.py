"""What endpoints have taught earlier runs, kept with a date in the cache folder, so that nobody is taught the same twice."""

import os
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

FILE = "dialects.json"
DAYS = 30
"""After so many days something taught is forgotten: endpoints learn to take more, too."""
Facts = dict[str, Any]


class Memory:
    """Facts by endpoint and model. Reads the file anew each time, so that runs side by side see what the others were taught.

    Nothing secret is ever kept: an address without credentials, a model name, parameter names, and words of the endpoint with
    keys masked. A file that cannot be read or written costs the memory, never the run.
    """

    def __init__(self, folder: Path, now: Callable[[], float] = time.time) -> None:
        """Keep facts in `folder`, which is made when there is something to keep."""
        self._path, self._now = folder / FILE, now

    def recall(self, endpoint: str, model: str) -> Facts:
        """Return what is known of a model at an endpoint, {} if nothing or too old; `since` is the day it was taught."""
        facts = self._all().get(_name(endpoint, model))
        if not isinstance(facts, dict) or not isinstance(facts.get("at"), int | float):
            return {}
        return {**facts, "since": time.strftime("%Y-%m-%d", time.gmtime(facts["at"]))} if self._fresh(facts) else {}

    def keep(self, endpoint: str, model: str, facts: Facts) -> None:
        """Keep what is known of a model at an endpoint, in place of what was known before; {} forgets it."""
        known = {name: held for name, held in self._all().items() if isinstance(held, dict) and self._fresh(held)}
        known.pop(_name(endpoint, model), None)
        if facts:
            known[_name(endpoint, model)] = {**facts, "at": int(self._now())}
        with suppress(OSError):
            self._write(orjson.dumps(known, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))

    def count(self) -> int:
        """Return of how many models at endpoints something is known."""
        return sum(isinstance(held, dict) and self._fresh(held) for held in self._all().values())

    def forget(self) -> int:
        """Forget everything and return of how many models at endpoints something was known; raises OSError if it cannot."""
        known = self.count()
        self._path.unlink(missing_ok=True)
        return known

    def _fresh(self, facts: Facts) -> bool:
        at = facts.get("at")
        return isinstance(at, int | float) and 0 <= self._now() - at < DAYS * 86400

    def _all(self) -> dict[str, Any]:
        try:
            found = orjson.loads(self._path.read_bytes())
        except (OSError, orjson.JSONDecodeError):
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self, raw: bytes) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = self._path.with_name(f"{FILE}.{secrets.token_hex(4)}.part")
        try:
            fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(fd, "wb") as file:
                file.write(raw)
            draft.replace(self._path)
        finally:
            draft.unlink(missing_ok=True)


def _name(endpoint: str, model: str) -> str:
    return f"{model} @ {endpoint}"
