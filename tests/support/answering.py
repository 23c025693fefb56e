"""A RAG application in memory, whose every reply a test decides."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from ragstone.collect.base import Chunk, Found, Kept, Reading, Received, Row, Trouble
from ragstone.config import Config
from ragstone.samples import SampleSource, scan

GOOD: Mapping[str, Any] = {"text": "yes", "chunks": ["c"]}


def body(row: Row, nth: int) -> Any:
    """An answer that names the row and how often it was asked before."""
    return {"text": f"{row.id}/{nth}", "chunks": [f"chunk of {row.id}"]}


@dataclass
class FakeApplication:
    """Answers with what `reply(row, nth)` returns: a body, a Trouble, or a whole Kept; an exception is raised."""

    reply: Callable[[Row, int], Any] = body
    asked: Mapping[str, Any] = field(default_factory=lambda: {"platform": "fake", "url": "http://127.0.0.1:1"})
    mapping: Mapping[str, Any] = field(default_factory=lambda: {"answer": "text", "contexts": "chunks"})
    counts: Counter[str] = field(default_factory=Counter)
    order: list[str] = field(default_factory=list)
    expected: list[int] = field(default_factory=list)
    closed: int = 0
    wait: Callable[[Row], Any] | None = None

    def expect(self, rows: int) -> None:
        self.expected.append(rows)

    async def ask(self, row: Row) -> Kept:
        nth = self.counts[row.id]
        self.counts[row.id] += 1
        self.order.append(row.id)
        await (self.wait(row) if self.wait else asyncio.sleep(0))
        said = self.reply(row, nth)
        if isinstance(said, BaseException):
            raise said
        if isinstance(said, Kept):
            return said
        if isinstance(said, Trouble):
            return Kept(row.id, attempts=1, trouble=said)
        return Kept(row.id, (Received("ask", said, method="POST", url="http://127.0.0.1:1/ask"),), 0.25, 1)

    def read(self, kept: Kept) -> Reading:
        if kept.trouble is not None or not kept.received:
            return Reading(None, kept.trouble or Trouble("no_answer", "nothing came"))
        said = kept.received[-1].body
        answer, chunks = said.get(self.mapping["answer"]), said.get(self.mapping["contexts"])
        if answer is None:
            return Reading(None, Trouble("no_answer", "null"))
        return Reading(Found(answer, None if chunks is None else tuple(Chunk(text) for text in chunks)))

    async def close(self) -> None:
        self.closed += 1


def gold(*ids: str, **more: Any) -> SampleSource:
    """A gold set with these ids."""
    return scan([{"id": name, "question": f"What is {name}?", "reference": f"It is {name}.", **more} for name in ids])


def settings(**more: Any) -> Config:
    """Settings with these on top."""
    return Config.model_validate({"concurrency": 4, **more})


def lines(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of lines."""
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]
