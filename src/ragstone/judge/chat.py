"""One question on its way to a judge: which shape it was sent in, its second chances, what came back."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from ragstone.judge.base import RawReply
from ragstone.judge.confidence import told
from ragstone.judge.dialect import LARGER, Dialect
from ragstone.judge.pupil import Pupil
from ragstone.judge.replies import Completion, add_usage, read_completion
from ragstone.judge.shape import Shape
from ragstone.judge.witness import CUT, Witness
from ragstone.questions.base import Question
from ragstone.transport.error_body import ApiError
from ragstone.transport.wire import AGAIN, DONE, Posted, Spared, Step, Tally

STALE = 0.25
"""Seconds after which it is worth looking again whether another run has been given the reply meanwhile."""

Recall = Callable[[Question], Awaitable[RawReply | None]]
"""Finds the reply that another run was given."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What all questions of a judge share."""

    dialect: Dialect
    pupil: Pupil
    witness: Witness
    scrub: Callable[[str], str]


class Chat(Posted):
    """The exchange of one question."""

    __slots__ = (
        *("_cut_at", "_desk", "_empty", "_limit", "_looked", "_question", "_recall", "_sent"),
        *("confidence", "notes", "reasoning", "recalled", "spared", "tally", "text", "usage"),
    )

    def __init__(self, question: Question, desk: Desk, recall: Recall | None) -> None:
        self._recall, self._looked = recall, time.monotonic()
        self.spared: Spared = self._spared if recall else None
        self.recalled: RawReply | None = None
        self._question, self._desk = question, desk
        self._sent: Shape = desk.dialect.shape
        self._limit: int | None = None
        """A limit of this question alone, after its reply was cut; 0 = none."""
        self._cut_at: int | None = None
        """Tokens of the reply that was cut, if known."""
        self._empty = False
        self.tally = Tally()
        self.text: str | None = None
        self.reasoning: str | None = None
        self.usage: dict[str, Any] | None = None
        self.notes: tuple[str, ...] = ()
        self.confidence: dict[str, float] | None = None

    async def _spared(self) -> bool:
        if self._recall is not None and time.monotonic() - self._looked > STALE:
            self.recalled = await self._recall(self._question)
            self._looked = time.monotonic()
        return self.recalled is not None

    def body(self) -> bytes:
        """Return the request in the shape that is known to be taken by now."""
        self._sent = self._desk.dialect.shape
        return self._sent.body(self._question, self._limit)

    def known(self, data: dict[str, Any]) -> bool:
        """True if the object looks like a chat completion."""
        return "choices" in data

    def read(self, data: dict[str, Any]) -> Step:
        """Take in a completion: whole, cut, empty, blocked, or broken off."""
        desk, completion = self._desk, read_completion(data)
        self.usage = add_usage(self.usage, completion.usage)
        self.reasoning = completion.reasoning
        self.confidence = told(self._question, completion.text, data) if completion.text is not None else None
        desk.witness.hear(data, desk.scrub)
        desk.witness.thought(completion)
        cut = desk.witness.cut(self._question, data.get("usage"), completion.usage)
        if cut is not None:
            self.notes = (CUT,)
        usable = completion.text is not None and desk.dialect.saw(self._sent, self._question, completion.text)
        desk.pupil.settle(usable)
        if cut == "window":
            return Step("fail", "too_long")
        if completion.text is not None and not usable and self._sent.formats != desk.dialect.shape.formats:
            return AGAIN  # spoiled by a format that has been given up
        return self._step(completion)

    def _step(self, completion: Completion) -> Step:
        word = completion.word
        if completion.usage:
            self._desk.dialect.went_to(completion.usage["completion_tokens"] or 0)
        if word is None:
            self.text = completion.text
            return DONE
        if word == "truncated":
            return self._enlarge(completion)
        if word == "server_error":  # the model broke off: passing trouble, however it is worded
            return Step("wait", word, self._words(completion))
        if word == "blocked" or self._empty:
            return Step("fail", word, self._words(completion))
        self._empty = True
        return AGAIN

    def _words(self, completion: Completion) -> str | None:
        return None if completion.ending is None else self._desk.scrub(completion.ending)

    # ------------------------------------------------------------------ a reply that was cut
    def _enlarge(self, completion: Completion) -> Step:
        usage, before = completion.usage or {}, self._cut_at
        now = self._cut_at = usage.get("completion_tokens") or None
        if self._limit is not None:
            if now and now == before and self._limit != now and not _at_window(now + (usage.get("prompt_tokens") or 0)):
                self._desk.dialect.ends_at(now)
            return Step("fail", "truncated")
        sent, most = self._sent.limit, self._desk.dialect.largest
        larger = 4 * sent if sent else max(LARGER, 2 * (now or 0))
        larger = min(larger, most) if most else larger
        if most and larger <= max(sent or 0, now or 0):
            return Step("fail", "truncated")  # to be asked again in vain
        self._limit = larger
        return AGAIN

    def refused(self, error: ApiError, sure: bool) -> Step | None:
        """Change the request after a refusal, if that may help."""
        if self._limit:
            return self._larger_refused(error, self._limit)
        return AGAIN if self._desk.dialect.learn(error, self._sent, self._question, sure) else None

    def _larger_refused(self, error: ApiError, limit: int) -> Step:
        dialect = self._desk.dialect
        if dialect.renames(error, self._sent):
            return AGAIN
        if (most := dialect.caps(error, limit)) is not None:
            self._limit = most
            return AGAIN if most > max(self._sent.limit or 0, self._cut_at or 0) else Step("fail", "truncated", error.message)
        self._limit = 0
        # Without a limit of its own the question has already been asked, and cut.
        return AGAIN if self._sent.limit else Step("fail", "truncated", error.message)


def _at_window(tokens: int) -> bool:
    """True if prompt and reply together fill a window: then the reply ended there for want of room, and another would end elsewhere."""
    return tokens >= 1024 and any(0.99 * size <= tokens <= size + 1 for size in (1024 << n for n in range(12)))
