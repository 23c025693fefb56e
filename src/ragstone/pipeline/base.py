"""What every step of a pipeline is: it says what it rests on, and does its work; and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from ragstone.errors import RagstoneError

if TYPE_CHECKING:
    from ragstone.pipeline.course import Course
    from ragstone.progress import Progress, RowProgress
    from ragstone.types import Language

LANGUAGES: tuple[Language, ...] = ("en", "zh")

Status = Literal["done", "skipped", "not_run", "failed"]
"""`skipped`: nothing has changed, or there is nothing to be done; `failed`: ended with 2 or 3, or with nothing that
later ones could go on with; `not_run`: one before it did."""


class NothingToJudge(RagstoneError):
    """A step came to its end and there is no sample: nothing is wrong, and nothing can be measured."""

    exit_code = 1


class Listener(Protocol):
    """Hears how far a step is, and what a person should know."""

    def progress(self, progress: Progress | RowProgress) -> None:
        """Take note of how far the step is."""
        ...

    def notice(self, text: str) -> None:
        """Tell one thing worth knowing."""
        ...


Hearing = Callable[[], AbstractContextManager[Listener]]
"""Gives a listener for one step."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A step that has nothing to do, with the reason."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What a step rests on."""

    fingerprint: str
    hint: str | None = None
    """What to say beside the result where it is skipped, since no fingerprint can tell it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a step came to."""

    exit_code: int
    texts: Mapping[Language, str]
    """In a line, in each language."""
    files: tuple[Path, ...] = ()
    """What it wrote and later steps, or people, read. A folder stands for all files in it."""
    numbers: Mapping[str, Any] = field(default_factory=dict)
    now: str = ""
    """What is said of this call alone, in the language of the screen."""
    notices: tuple[str, ...] = ()
    """What must be said beside it, in the language of the screen."""


class Step(Protocol):
    """One step. Both may raise RagstoneError; what raises is not recorded and done again by the next call."""

    def inputs(self, course: Course) -> Inputs | LeftOut:
        """Return what the step rests on, or why there is nothing to do. Sends nothing and writes nothing but the index."""
        ...

    def work(self, course: Course, hear: Listener) -> Outcome:
        """Do the step. Killed at any moment and called again, it ends as if it had not been."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """What became of a step in one call."""

    step: str
    status: Status
    exit_code: int | None
    """None if it was not run, or had nothing to do."""
    text: str
    seconds: float = 0.0
    files: tuple[str, ...] = ()
    """Relative to the work folder, where they stand in it."""
    numbers: Mapping[str, Any] = field(default_factory=dict)
    notices: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """One step of the document of `run --json`."""
        plain = {name: getattr(self, name) for name in ("step", "status", "exit_code", "text")}
        lists = {"files": list(self.files), "notices": list(self.notices)}
        return {**plain, "seconds": round(self.seconds, 3), "numbers": dict(self.numbers), **lists}
