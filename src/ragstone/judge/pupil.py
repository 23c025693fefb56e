"""Keeps what an endpoint teaches: takes it in from earlier runs, tells it once, writes it down when it has proved itself."""

import time
from collections.abc import Callable
from typing import Any

from ragstone.judge import lessons
from ragstone.judge.base import LOGPROBS
from ragstone.judge.dialect import Dialect
from ragstone.judge.lessons import Lesson
from ragstone.transport.memory import DAYS, Memory

FACT = "dialect"
"""Under this name the lessons stand among the facts of an endpoint and model."""
_TOLD = {
    "format": "taught_format",
    "drop": "taught_drop",
    "send": "taught_send",
    "rename": "taught_rename",
    "add": "taught_add",
    "limit": "taught_limit",
}
"""The text that tells of each kind of lesson."""


class Pupil:
    """The lessons of one dialect, between runs.

    Args:
        dialect: what learns.
        memory: where lessons are kept; None = nowhere.
        who: address and model they belong to.
        tell: is called with the name of a text and its values.
    """

    def __init__(self, dialect: Dialect, memory: Memory | None, who: tuple[str, str], tell: Callable[..., None]) -> None:
        self._dialect, self._memory, self._who, self._tell = dialect, memory, who, tell
        self._begun = False
        self._known: list[Lesson] = []
        self._told = self._kept = dialect.lessons
        self._least: int | None = None
        """The smallest length limit that was told."""

    def begin(self) -> None:
        """Take in what earlier runs were taught. At the first question, so that a run answered from the cache reads nothing."""
        if self._begun:
            return
        self._begun = True
        if self._memory is None:
            return
        facts = self._memory.recall(*self._who)
        self._known = lessons.read(facts.get(FACT), time.time() - DAYS * 86400)
        if taken := self._dialect.recall(self._known):
            names = ", ".join(dict.fromkeys(lesson.name for lesson in taken))
            self._tell("remembered", names=names, since=min(lesson.since for lesson in taken))
        self._told = self._kept = self._dialect.lessons
        if facts.get(LOGPROBS) is True:
            self._dialect.ask_logprobs()

    def settle(self, usable: bool) -> None:
        """Call after every reply that was no refusal. What led to a usable one is kept for later runs."""
        now = self._dialect.lessons
        if now is not self._told:
            for lesson in now:
                if not lesson.since and not any(lesson is old for old in self._told) and self._new(lesson):
                    self._tell(_TOLD[lesson.change], **self._values(lesson))
            self._told = now
        if usable and now is not self._kept:
            self._keep()

    def _new(self, lesson: Lesson) -> bool:
        """False for a limit no smaller than one that was told: where counts contradict each other one follows the other for ever."""
        if lesson.change != "limit":
            return True
        known, self._least = self._least, min(lesson.sent, self._least or lesson.sent)
        return known is None or lesson.sent < known

    def _keep(self) -> None:
        # a lesson that was taken in and is there no more has turned out to be wrong
        now = self._dialect.lessons
        gone = [old for old in self._kept if not any(old is lesson for lesson in now)]
        self._dialect.lessons = now = [lessons.dated(lesson, time.time()) for lesson in now]
        self._kept = self._told = now
        if self._memory is not None:
            known = [old for old in self._known if not any(old.same(lesson) for lesson in gone)]
            self._known = lessons.together(known, now)
            facts = {name: held for name, held in self._memory.recall(*self._who).items() if name not in ("since", "at")}
            facts |= {LOGPROBS: False} if self._dialect.refused_logprobs else {}
            self._memory.keep(*self._who, {**facts, FACT: lessons.written(self._known)})

    def _values(self, lesson: Lesson) -> dict[str, Any]:
        formats = self._dialect.shape.formats
        now = formats[0] if lesson.change == "format" and formats else "text" if lesson.change == "format" else lesson.sent
        return {"what": lesson.name, "now": now, "refused": lesson.refused, "why": lesson.why}
