"""One application described by data: a platform's TOML file, overlaid with the table `[collect]` of the settings."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from ragstone.types import Record

Stream = Literal["none", "openai-sse", "event-sse", "jsonl"]


class Step(Record):
    """A further request, sent before the question (`before`) or after the answer (`then`)."""

    method: str = "GET"
    path: str
    """Below the URL; slots as in `Spec.path`, and `$response.…` (the answer's response), `$chunk.…` and `$id` (of the chunk)."""
    headers: dict[str, str] = Field(default_factory=dict)
    body: Any = None
    per: Literal["answer", "chunk"] = "answer"
    """`chunk`: sent for every chunk that came without text."""
    text: str | None = None
    """per chunk: where the chunk's text stands in the step's response."""
    answer: str | None = None
    """per answer: where the answer stands; unset = in the first response."""
    contexts: str | None = None
    """per answer: where the chunks stand; unset = in the first response."""
    error: str | None = None
    """Where an error message stands; unset = as for the question."""
    until: str | None = None
    """Expression that is true once the step need not be sent again; unset = sent once."""


class Spec(Record):
    """How an application is asked and how its responses are read. Names on the right of fields are JMESPath."""

    platform: str = "custom"
    url: str = ""
    app: str | None = None
    method: str = "POST"
    path: str = ""
    """Below `url`; may hold slots: `$app`, `$row.column`, `$question`; each is URL-encoded."""
    headers: dict[str, str] = Field(default_factory=dict)
    """More headers; `$env.NAME` is a secret from the environment."""
    auth: str = "Bearer"
    """Scheme in front of the key in `Authorization`."""
    body: Any = None
    """JSON with slots; a text that is one slot becomes the value itself, slots within a text become text. Sent as query by GET."""
    answer: str | None = None
    """None = the application only retrieves."""
    contexts: str | None = None
    context_id: str | None = None
    context_text: str | None = None
    context_score: str | None = None
    context_source: str | None = None
    error: str | None = None
    usage: str | None = None
    strip: tuple[str, ...] = ()
    """Regular expressions of marks taken out of the answer."""
    strip_context: tuple[str, ...] = ()
    """Regular expressions of what is taken out of chunks."""
    fail_if: tuple[str, ...] = ()
    """Regular expressions; an answer in which one is found is an error text."""
    stream: Stream = "none"
    replace: str | None = None
    """In events of a stream: text that takes the place of all before it."""
    success: str | None = None
    """Expression that is true of a good response."""
    retry: tuple[int, ...] = ()
    """HTTP statuses, and codes in the body, that are asked again besides the usual ones."""
    timeout: float = 120.0
    retries: int = 5
    concurrency: int = 16
    before: Step | None = None
    then: tuple[Step, ...] = ()
    reader: str | None = None
    """Name of a module in `ragstone.collect.readers` whose `read(body)` brings a response into the shape the fields above expect."""
    key_pattern: str | None = None
    """Regular expression of error texts (code and message) that say the key is wrong, besides the usual ones."""
    app_pattern: str | None = None
    """Regular expression of error texts that say the address, the app or its type is wrong."""
    own: tuple[str, ...] = ()
    """Names of fields the user has given, as opposed to the platform's file."""


def in_query(step: Spec | Step) -> bool:
    """Return whether the top-level keys of `body` are sent as query parameters, for want of a body."""
    return step.method.upper() in ("GET", "HEAD")
