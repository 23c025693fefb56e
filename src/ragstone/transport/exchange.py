"""One request as its owner sees it, and what follows each of its tries."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from ragstone.transport.answer import Answer
from ragstone.transport.error_body import ApiError

Spared = Callable[[], Awaitable[bool]] | None
"""Asked when the turn of a request has come: True if it need not be sent any more."""


@dataclass(frozen=True, slots=True)
class Step:
    """What follows one try: done, ask again at once (the request has changed), wait and ask again, or fail."""

    then: Literal["done", "again", "wait", "fail"]
    word: str | None = None
    """The reason word if nothing better comes."""
    message: str | None = None
    after: float | None = None
    """Seconds the server demands to be left alone."""
    busy: bool = False
    """True if the endpoint was asked too much: it said so, or let the connection fall."""
    status: int = 0
    """The HTTP status that was meant, 0 if there was none."""


DONE = Step("done")
AGAIN = Step("again")


@dataclass(slots=True)
class Tally:
    """What one exchange took."""

    attempts: int = 0
    rate_limits: int = 0
    latency_s: float = 0.0
    """Seconds of the last try."""
    fresh: bool = False
    """True if the next try wants a connection of its own, because the one that lay ready had been closed."""


class Posted:
    """The usual request: posted, with no headers but those of the session."""

    __slots__ = ()
    method = "POST"
    headers: Mapping[str, str] | None = None


class Sorter(Protocol):
    """Reads the answers of one endpoint."""

    def sort(self, answer: Answer, data: Any, exchange: Any, url: str) -> tuple[Step, bool]:
        """Return what follows, and whether the endpoint has accepted the request. `data` is the body's JSON value.

        Raises StoppedError for what would fail every request.
        """
        ...


class Sent(Protocol):
    """One request as the wire sees it."""

    tally: Tally
    spared: Spared

    @property
    def method(self) -> str:
        """The HTTP method."""
        ...

    @property
    def headers(self) -> Mapping[str, str] | None:
        """Headers of this request alone, which win over those of the session."""
        ...

    def body(self) -> bytes:
        """Return the request as it has to be sent now, b"" = without a body; called for every try."""
        ...


class Exchange(Sent, Protocol):
    """One request as its owner sees it: what `Meaning` asks about its answers."""

    def known(self, data: dict[str, Any]) -> bool:
        """Return True if the object has the shape of an answer to such a request, whatever it says."""
        ...

    def read(self, data: dict[str, Any]) -> Step:
        """Take in an answer of the endpoint that is no error."""
        ...

    def refused(self, error: ApiError, sure: bool) -> Step | None:
        """Say what to do about a refusal; None = nothing known. Asked first with `sure` (named), last without (any clue)."""
        ...
