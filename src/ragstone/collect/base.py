"""What collecting is made of: the row that is asked, what came back, what was found in it, and the application asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ragstone.errors import RagstoneError
from ragstone.types import Sample


@dataclass(frozen=True, slots=True)
class Row:
    """One question to ask: a gold row, in one of its repeats."""

    gold: Sample
    repeat: int | None = None
    """0, 1, … where every question is asked several times, else None."""

    @property
    def id(self) -> str:
        """The row's id in the file of samples: that of the gold row, with `#0`, `#1` … where it is repeated."""
        return self.gold.id if self.repeat is None else f"{self.gold.id}#{self.repeat}"


@dataclass(frozen=True, slots=True)
class Received:
    """One response as it came, without secrets; what a Python function returned has no method and no URL."""

    step: str
    """`ask` for the request that holds the question, `before` for what was sent first, `then` for what was sent after."""
    body: Any
    """The JSON value of the body, else its text (streams: the whole text)."""
    status: int = 200
    method: str = ""
    url: str = ""
    chunk: int | None = None
    """Index of the chunk a `then` was sent for."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a row has no usable answer."""

    word: str
    """One of `collect.words.WORDS`; `collect:<word>` is the reason of the row's cells."""
    message: str
    """In a person's words; what the application said, if it said something."""

    def __str__(self) -> str:
        """The text of the row's `error` column."""
        return f"{self.word}: {self.message}"


@dataclass(frozen=True, slots=True)
class Kept:
    """Everything that one row's asking gave: a line of the raw file."""

    id: str
    received: tuple[Received, ...] = ()
    latency_s: float | None = None
    """Seconds the application took for the answer, in its last try."""
    attempts: int = 0
    """Tries of the request that holds the question."""
    trouble: Trouble | None = None
    """What went wrong on the way; what is wrong with an answer that arrived is found by reading it."""
    requests: int | None = None
    """Requests that were sent for the row: those before and after the question too, each with all its tries. None = `attempts`."""
    stop: RagstoneError | None = field(default=None, compare=False)
    """Set if every further row would meet the same: the driver keeps this row, then raises it. Never stored."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One retrieved chunk as the application tells it."""

    text: str | None
    """None = the response names the chunk without its text."""
    id: str | None = None
    score: float | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What a row's responses hold."""

    answer: str | None
    """With its citation marks; None where the application only retrieves."""
    chunks: tuple[Chunk, ...] | None
    """In rank order. None = not exposed by the application, () = nothing retrieved."""
    usage: dict[str, Any] | None = None
    strip: tuple[str, ...] = ()
    """Regular expressions of the citation marks to be taken out of the answer, besides those known everywhere."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What the responses of one row come to: the answer that was found, the trouble, or both (an error text as the answer)."""

    found: Found | None = None
    trouble: Trouble | None = None


class Application(Protocol):
    """A RAG application that can be asked. One file a kind.

    One may also have: `hear(tell)`, which is given what tells a person something; `accepted()`, called where earlier calls have got good
    answers; `refit(kept)`, called with earlier responses that the mapping has to fit, which raises ConfigError if it does not;
    `uses(row)`, the values of a row besides question and history that its request depends on, as JSON, None where there are none;
    `notices`, what a person should know once rows were asked.
    """

    @property
    def asked(self) -> Mapping[str, Any]:
        """What can change an answer (platform, url, app, path, body, …), without secrets; stands at the head of the raw file."""
        ...

    @property
    def mapping(self) -> Mapping[str, Any]:
        """How answers are read; when it changes, kept responses are read anew instead of being asked for."""
        ...

    def expect(self, rows: int) -> None:
        """Hear how many rows are going to be asked."""
        ...

    async def ask(self, row: Row) -> Kept:
        """Ask one question in a new conversation.

        Raises StoppedError for what would fail every row, ConfigError for a mapping that fits no response. Trouble of this row alone
        is told in what is returned.
        """
        ...

    def read(self, kept: Kept) -> Reading:
        """Find answer and chunks in what was kept. Pure: also called for responses of an earlier call."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
