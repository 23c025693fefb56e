"""The seam between the driver and whatever answers: a judge takes a question and returns a raw reply."""

from dataclasses import dataclass, field
from typing import Any, Protocol

from ragstone.questions.base import Question


@dataclass(frozen=True, slots=True)
class Identity:
    """Who answers: stands in the manifest and the signature. Never holds a key."""

    model: str
    endpoint: str
    """Base URL without credentials; "local" or "scripted" when nothing is called."""
    parameters: dict[str, Any] = field(default_factory=dict)
    """Effective parameters: what is sent; under `dropped` what is not and why, under `changed` what has another value than asked for
    and why, under `added` what nobody had set and why, under `largest_output` the longest reply in tokens where it is known."""
    notice: str | None = None
    """Key of a text to be shown with every number (the smoke-test notice of the local judge)."""
    answered_by: list[str] | None = None
    """The models that answered, as the endpoint names them."""
    fingerprints: list[str] | None = None
    """What the endpoint calls the state of its servers (`system_fingerprint`); a few of them."""


NOT_SENT = frozenset({"dropped", "changed", "added", "largest_output"})
"""Names among the effective parameters that tell of the others and are not sent."""
LOGPROBS = "logprobs"
"""The parameter that asks for the probabilities of tokens, and the fact of an endpoint and model that they are given. It changes no
reply, so no two runs differ by it."""
NOBODY = "none"
"""Model and endpoint of the identity that stands for no judge and no embedder."""

NO_TOKENS = {"prompt_tokens": 0, "completion_tokens": 0}
"""Usage of a judge that is no model: known, and nothing."""


@dataclass(frozen=True, slots=True)
class RawReply:
    """One reply before it is read. Exactly one of `text` and `error` is set.

    `error` is a word of the closed list: timeout, rate_limited, server_error, bad_gateway, connection, empty_reply,
    truncated, too_long, blocked, bad_reply (bad_reply: the HTTP body itself is no chat completion).
    """

    text: str | None = None
    error: str | None = None
    message: str | None = None
    """What the endpoint said of the error, keys masked."""
    usage: dict[str, Any] | None = None
    """{"prompt_tokens", "completion_tokens", "cached_tokens"}; None when the endpoint does not tell."""
    latency_s: float = 0.0
    attempts: int = 1
    """Requests this reply took; 0 where nothing is sent."""
    rate_limits: int = 0
    """How many of them were answered 429."""
    from_cache: bool = False
    """True of a reply that an earlier run was given."""
    reasoning: str | None = None
    """What the model thought before it replied, keys masked; never read as a reply."""
    notes: tuple[str, ...] = ()
    """What is worth knowing about how the reply was had, as ASCII words; stands under `notes` in `replies.jsonl`."""
    confidence: dict[str, float] | None = None
    """Probability of verdicts in [0, 1], by list and id of the reply ("verdicts/3"); None where the endpoint does not tell."""


class Judge(Protocol):
    """Anything that answers questions. Raises StoppedError when the whole run must stop."""

    @property
    def identity(self) -> Identity:
        """Model, endpoint and effective parameters as known now."""
        ...

    async def complete(self, question: Question) -> RawReply:
        """Answer one question; failures of this question alone come back as `RawReply.error`."""
        ...

    async def close(self) -> None:
        """Release connections and threads."""
        ...
