"""What a file of samples holds that was not collected into it: rows of another set, answers mended by hand, lines that are none.

The file is written anew from the raw responses at every call, and such things would be gone without a word.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from ragstone.analysis.ids import Ids
from ragstone.store import read_lines

if TYPE_CHECKING:
    from ragstone.collect.journal import Journal

_NONE = 0
_READ = ("answer", "contexts")


class Earlier:
    """An earlier file of samples; holds a few bytes of each row. Failed rows say nothing that anybody could miss."""

    def __init__(self, path: Path, journal: Journal) -> None:
        """Read the file, if there is one."""
        self.strange = False
        """True if it holds what was not collected into it, as far as was seen."""
        self._ids, self._digests = Ids(), array("Q")
        for _, line in read_lines(path):
            row = _row(line)
            name = row.get("id")
            if not isinstance(name, str):
                self.strange = True
                continue
            failed = row.get("error") is not None
            self.strange = self.strange or not (failed or journal.knows(name))
            self._note(name, _NONE if failed else _digest(row))

    def _note(self, name: str, digest: int) -> None:
        number = self._ids.number(name)
        if number == len(self._digests):
            self._digests.append(digest)
        self._digests[number] = digest

    def watched(self, rows: Iterable[tuple[int, dict[str, Any]]]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield rows as they are read today, and see whether the file says the same of them."""
        for place, row in rows:
            number = self._ids.find(row["id"])
            if number is not None and self._digests[number] not in (_NONE, _digest(row)):
                self.strange = True
            yield place, row


def _row(line: bytes) -> Mapping[str, Any]:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return row if isinstance(row, dict) else {}


def _digest(row: Mapping[str, Any]) -> int:
    read = orjson.dumps([row.get(name) for name in _READ])
    return int.from_bytes(blake2b(read, digest_size=8).digest(), "big") or 1
