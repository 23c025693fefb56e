"""The ids of rows: those given, each of which may come once, and those made up for rows that have none."""

from __future__ import annotations

import hashlib
import unicodedata
from array import array

from ragstone.analysis.ids import Ids


class RowIds:
    """Ids of one pass over a source, in about 30 bytes a row."""

    def __init__(self, earlier: RowIds | None = None) -> None:
        """`earlier`: the ids of an earlier pass over the same rows; no made-up id takes one that was given there."""
        self.clashes = False
        """True if an id that was made up came as a given one further down: then a second pass is needed."""
        self.suffixes: array[int] = array("I")
        """Of each row the number its made-up id got, 0 for none; rows after the last one that got a number are left out."""
        self._earlier = earlier
        self._ids = Ids()
        self._first: array[int] = array("I")
        """Of each id the first row it was given to, 0 if it was only made up."""
        self._bases = Ids()
        self._latest: array[int] = array("I")
        """Of each made-up id that was not free the number that was last tried for it."""

    def take(self, given: str, row: int) -> int:
        """Take the id that a row has, and return the first row that had it."""
        number = self._ids.number(given)
        if number == len(self._first):
            self._first.append(row)
        elif not self._first[number]:
            self.clashes = True
            self._first[number] = row
        return self._first[number]

    def make(self, question: str | None, row: int) -> str:
        """Make up an id for a row: the hash of its question, with a number from 2 on if it is not free."""
        base = made_id(question, 0)
        if self._free(base):
            return base
        at = self._bases.number(base)
        if at == len(self._latest):
            self._latest.append(1)
        self._latest[at] += 1
        while not self._free(made := made_id(question, self._latest[at])):
            self._latest[at] += 1
        self.suffixes.extend([0] * (row + 1 - len(self.suffixes)))
        self.suffixes[row] = self._latest[at]
        return made

    def _free(self, made: str) -> bool:
        """Take a made-up id if nobody has it."""
        if self._ids.find(made) is not None or (self._earlier is not None and self._earlier.gave(made)):
            return False
        self._ids.number(made)
        self._first.append(0)
        return True

    def gave(self, name: str) -> bool:
        """True if a row came with this id."""
        number = self._ids.find(name)
        return number is not None and self._first[number] > 0


def made_id(question: str | None, suffix: int) -> str:
    """Return the id of a row that has none: the first 12 hex digits of the SHA-256 of its NFC question, and a number if there is one."""
    base = hashlib.sha256(unicodedata.normalize("NFC", question or "").encode()).hexdigest()[:12]
    return f"{base}-{suffix}" if suffix else base
