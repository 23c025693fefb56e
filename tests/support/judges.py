"""Judges for tests of the driver: they count, fail and stop on purpose."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from ragstone.judge.base import Identity, Judge, RawReply
from ragstone.questions.base import Question


@dataclass
class Counting:
    """Passes questions on to another judge, counts them, and answers some itself."""

    inner: Judge
    answer: Callable[[Question, int], RawReply | Exception | None] = lambda question, number: None
    """(question, how often it was asked before) -> reply or exception instead of the inner judge's, None for the inner's."""
    asked: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    bodies: list[bytes] = field(default_factory=list)
    closed: bool = False

    @property
    def identity(self) -> Identity:
        """The inner judge's."""
        return self.inner.identity

    async def complete(self, question: Question) -> RawReply:
        """Count, then answer."""
        number = self.asked[question.key]
        self.asked[question.key] += 1
        self.kinds[question.kind.name] += 1
        self.bodies.append(question.kind.name.encode() + question.body)
        await asyncio.sleep(0)
        own = self.answer(question, number)
        if isinstance(own, Exception):
            raise own
        return own or await self.inner.complete(question)

    async def close(self) -> None:
        """Remember that it was closed."""
        self.closed = True
        await self.inner.close()
