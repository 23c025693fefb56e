"""Judges for tests of the driver: they count, fail and stop on purpose, or tell how sure they are."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import orjson

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


KINDS = ("check_claims", "rate_contexts", "check_all", "match_claims", "invert_answer")


def sure_of(kind: str, list: str, id: int) -> float:
    """How sure `Sure` is of a verdict: another number for every kind, list and id."""
    return round(0.15 * (KINDS.index(kind) + 1) + 0.07 * (list in ("reference", "contexts")) + id / 1000, 4)


@dataclass
class Sure:
    """Passes questions on to another judge and tells of every verdict how sure it is of it."""

    inner: Judge

    @property
    def identity(self) -> Identity:
        """The inner judge's."""
        return self.inner.identity

    async def complete(self, question: Question) -> RawReply:
        """Answer, and say how sure."""
        raw = await self.inner.complete(question)
        if raw.text is None or question.kind.name not in KINDS:
            return raw
        lists = orjson.loads(raw.text).items()
        places = [(name, item.get("id", place)) for name, items in lists for place, item in enumerate(items, 1)]
        return replace(raw, confidence={f"{name}/{id}": sure_of(question.kind.name, name, id) for name, id in places})

    async def close(self) -> None:
        """Close the inner judge."""
        await self.inner.close()
