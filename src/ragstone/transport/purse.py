"""Who pays: asked before every request, told afterwards what it cost."""

from typing import Any, Protocol


class Ticket(Protocol):
    """One request that was allowed."""

    def settle(self, data: dict[str, Any] | None) -> None:
        """Take in the JSON object that came back, whatever its status; None if none came. Called once."""
        ...


class Purse(Protocol):
    """What a run may spend on an endpoint. Called from one event loop."""

    def take(self, body: bytes) -> Ticket | None:
        """Allow one request with this body; None = there is nothing left to pay it with, so it must not be sent."""
        ...
