"""Texts whose vectors are on their way, and the calls that wait for them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragstone.embed.base import Vector


class Asked:
    """A text that is asked for. A call that gives up takes the vector from nobody else who waits for it."""

    __slots__ = ("_calls", "outcome")

    def __init__(self) -> None:
        self.outcome: Vector | str | Exception = "connection"
        """Holds once `all_of` is over."""
        self._calls: list[_Call] = []

    def settle(self, outcome: Vector | str | Exception) -> None:
        """Tell the outcome to all who wait."""
        self.outcome = outcome
        for call in self._calls:
            call.note()


async def all_of(asked: Collection[Asked]) -> None:
    """Wait until each of the texts, of which there is one at least, has its outcome."""
    call = _Call(len(asked))
    for text in asked:
        text._calls.append(call)
    await call.ready


class _Call:
    """One that waits for several texts: a future for all of them together, for one a text costs as much as the text itself."""

    __slots__ = ("_left", "ready")

    def __init__(self, left: int) -> None:
        self._left = left
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def note(self) -> None:
        """Take in that one more text has its outcome."""
        self._left -= 1
        if not self._left and not self.ready.done():
            self.ready.set_result(None)
