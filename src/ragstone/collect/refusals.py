"""When refusals that an application tells in its answers end the asking: the first few rows in a row, later ten."""

from __future__ import annotations

FIRST, LATER = 3, 10
"""Rows in a row: before the first good answer (fewer, if fewer are asked), and after it."""
TOLD = frozenset({"key", "app", "quota", "login_page", "not_json"})
"""What every further row would meet as well, if the application means it."""


class Refusals:
    """Counts rows in a row that met what every row would meet. A body that is refused (`refused`) may be one row's fault: it takes ten."""

    def __init__(self) -> None:
        self.answered = False
        """True once a row has got a good answer."""
        self._rows = FIRST
        self._told = self._refused = 0

    def expect(self, rows: int) -> None:
        """Take in how many rows are going to be asked."""
        self._rows = max(1, rows)

    def good(self) -> None:
        """Take in a good answer."""
        self.answered, self._told, self._refused = True, 0, 0

    def other(self) -> None:
        """Take in a row that failed for a reason of its own."""
        self._told = self._refused = 0

    def met(self, word: str) -> int | None:
        """Take in a row's trouble. Returns how many rows in a row met such a thing if it ends the asking, else None."""
        if word in TOLD:
            self._told, self._refused = self._told + 1, 0
            return self._told if self._told >= (LATER if self.answered else min(FIRST, self._rows)) else None
        if word == "refused" and not self.answered:
            self._told, self._refused = 0, self._refused + 1
            return self._refused if self._refused >= LATER else None
        self.other()
        return None
