"""What is met while the texts of one batch are asked for, in as many requests as it takes."""

from dataclasses import dataclass, field

from ragstone.transport.error_body import ApiError
from ragstone.transport.exchange import Step

PASSING = ("server_error", "timeout", "connection", "bad_gateway")
"""What may be the fault of one text, and else passes or is the endpoint's own."""


@dataclass(slots=True)
class Course:
    """Troubles on the way to some vectors."""

    texts: int
    """How many are asked for."""
    refusals: list[ApiError] = field(default_factory=list)
    """Of texts sent alone, for no reason that has a word."""
    in_vain: int = 0
    """Requests in a row that met passing trouble."""
    trouble: str = ""
    """What the last request met of it."""

    def note(self, step: Step) -> None:
        """Take in how a request ended."""
        self.trouble = step.word if step.word in PASSING else ""
        self.in_vain = self.in_vain + 1 if self.trouble else 0

    @property
    def hopeless(self) -> bool:
        """True after more requests in vain than it takes to find one bad text by halves: the endpoint is down."""
        return self.in_vain >= self.texts.bit_length() + 2
