"""Tokens of every stored reply by its question key, some 40 bytes each: a run of 100,000 samples has 700,000 replies."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass

from ragstone.analysis.ids import Ids
from ragstone.results import Run


@dataclass(frozen=True, slots=True)
class Spent:
    """What some replies took."""

    prompt: int
    """Tokens of what was sent."""
    completion: int
    """Tokens of what came back."""
    replies: int


class Usage:
    """Tokens by question key."""

    def __init__(self) -> None:
        self._keys = Ids()
        self._prompt, self._completion = array("q"), array("q")

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, key: str, prompt: int, completion: int) -> None:
        """Say what a reply took; of a key with several replies the last counts."""
        at = self._keys.number(key)
        if at == len(self._prompt):
            self._prompt.append(prompt)
            self._completion.append(completion)
        else:
            self._prompt[at], self._completion[at] = prompt, completion

    def of(self, keys: Iterable[str]) -> Spent | None:
        """Return what the replies of some keys took together; None if of none of them something is known."""
        found = [at for key in dict.fromkeys(keys) if (at := self._keys.find(key)) is not None]
        return Spent(sum(self._prompt[at] for at in found), sum(self._completion[at] for at in found), len(found)) if found else None


def usage_of(run: Run) -> Usage:
    """Read the replies of a run once and keep their tokens; nothing is known where it holds none, or the judge told none."""
    found = Usage()
    for row in run.reply_rows():
        key, told = row.get("key"), row.get("usage")
        if isinstance(key, str) and isinstance(told, dict):
            found.add(key, _tokens(told.get("prompt_tokens")), _tokens(told.get("completion_tokens")))
    return found


def _tokens(count: object) -> int:
    return count if isinstance(count, int) and 0 <= count < 2**53 else 0
