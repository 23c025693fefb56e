"""What can be asked of a judge: the question on the wire, and what reading its reply gives.

Records that are made for every request are named tuples: frozen too, and made at a third of what a frozen dataclass takes.
"""

import functools
import hashlib
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from ragstone.resources import read_text
from ragstone.types import Language

MAX_CONTEXTS = 12
"""Contexts in one request; more are asked in groups."""
MAX_CLAIMS = 20
"""Claims in one request; more are asked in groups."""


TOO_MUCH = frozenset({"truncated", "too_long"})
"""Failure words of work that may fit in parts: the reply was cut by length, the prompt is too long."""


@dataclass(frozen=True, slots=True)
class Failed:
    """What could not be had; `reason` is a word of the closed list of failure reasons."""

    reason: str


Slot = tuple[str, int]
"""A place in a reply that was asked for: the list it belongs to and the id there, e.g. ("reference", 2)."""


class Reading(NamedTuple):
    """What a raw reply says. `parsed` is the reply in the wire shape of its kind with verdict words made canonical.

    `problem` is the word for what is wrong with a reply that cannot be used at all (then `parsed` is None).
    `missing` are the places of the reply that hold nothing readable, or unlike verdicts; `asked` counts all places.
    """

    parsed: Any = None
    problem: str | None = None
    missing: tuple[Slot, ...] = ()
    notes: tuple[str, ...] = ()
    asked: int = 0


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of question: its name and version stand in the first line of its system prompt."""

    name: str
    version: int
    schema: dict[str, Any] | None
    read: Callable[[dict[str, Any], str], Reading]
    """(user JSON, raw reply text) -> Reading; pure."""
    prompted: bool = True
    """False for kinds answered without a judge (cosine)."""


class Question(NamedTuple):
    """One request to a judge or embedder. `key` never depends on endpoint, plan, metric or parameters."""

    kind: Kind
    language: Language
    input: dict[str, Any]
    """The user JSON."""
    body: bytes
    """The user JSON as sent, UTF-8."""
    prompt: str
    """The system prompt; empty for kinds without one."""
    prompt_hash: str | None
    repeat: int
    key: str


class Reply(NamedTuple):
    """A reply as the questions see it: the raw text read, or the reason word why there is none."""

    key: str
    raw: str | None
    reading: Reading
    error: str | None = None
    """A failure word (`timeout`, `blocked`, `truncated`, …) when no readable text came back."""


Asks = Generator[list[Question], list[Reply], Any]


def ask(kind: Kind, language: Language, repeat: int, prompt: str, input: dict[str, Any]) -> Question:
    """Build a question and its key from the kind, the language, the prompt, the user JSON and the repeat."""
    body = orjson.dumps(input)
    digest = prompt_digest(prompt) if kind.prompted else None
    parts = (f"{kind.name}/{kind.version}", language, digest or "", str(repeat))
    key = hashlib.sha256("\x1f".join(parts).encode() + b"\x1f" + body).hexdigest()[:32]
    return Question(kind, language, input, body, prompt if kind.prompted else "", digest, repeat, key)


def system_prompt(kind: Kind, language: Language) -> str:
    """Return the system prompt of a kind: its first line names kind and version, the rest is the prompt file.

    Raises:
        ValueError: if the kind is answered without a judge.
    """
    if not kind.prompted:
        raise ValueError(f"questions of kind {kind.name} have no prompt")
    return _prompt_text(kind.name, kind.version, language)


@functools.cache
def _prompt_text(name: str, version: int, language: Language) -> str:
    return f"task: {name}/{version}\n" + read_text("questions", "prompts", f"{name}.{language}.md").strip()


@functools.cache
def prompt_digest(prompt: str) -> str:
    """Return the short hash under which a system prompt is stored."""
    return hashlib.sha256(prompt.encode()).hexdigest()[:16]
