"""What one endpoint and model accept: how a refusal changes the shape of a request, and what is remembered of it. No I/O."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import orjson

from ragstone.judge import refusals
from ragstone.judge.base import LOGPROBS
from ragstone.judge.lessons import Lesson
from ragstone.judge.shape import FORMATS, LIMITS, Shape
from ragstone.judge.thinking import is_switch, merged, thinking_switch, wants_thinking
from ragstone.questions.base import Question
from ragstone.transport.error_body import ApiError

LARGER = 8192
"""Tokens asked for when a reply was cut and no limit is set."""
RESERVED = ("messages", "model", "n", "stream")
"""Keys of the request that extra_body may not set."""
EMPTY = 2
"""So many replies that are a bare {} show the same, be it to one question."""
UNUSABLE = 3
"""So many questions answered without one of the keys asked for, and none with them, show that a reply format is not applied."""
_FORMAT_WORDS = (
    r"response_?format|json_schema|json_object|json[ _]?mode|json[ _](output|schema)|structured[ _-]?outputs?|\bgrammar\b|text\.format"
    r"|word ?['\"‘“`]?json|json.{0,3}(字样|关键[词字]|模式|格式)"
)
_BARE = re.compile(r"\s*\{\s*\}\s*")
_OPTIONAL = ("temperature", "top_p", "seed")


class Dialect:
    """The shape in use, and the lessons that made it.

    Args:
        model: name of the model.
        parameters: what the settings ask for; None = not sent. A length limit stands under one of `LIMITS`.
        extra: keys merged at the top level, object by object; they win, and keep every preset away if they turn thinking on.
        thinking: what turns thinking off, dropped again if refused.
        switch: whether a switch for thinking may be added when a refusal demands it.
    """

    def __init__(
        self, model: str, parameters: Mapping[str, Any], extra: Mapping[str, Any], thinking: Mapping[str, Any], *, switch: bool = False
    ) -> None:
        on = wants_thinking(extra)
        presets = {name: value for name, value in thinking.items() if not (on and is_switch(name))}
        sent = merged({**{n: v for n, v in parameters.items() if v is not None}, **presets}, extra)
        limit_name = next((name for name in reversed(LIMITS) if name in sent), LIMITS[0])
        limit = sent.get(limit_name)
        for name in LIMITS:
            sent.pop(name, None)
        formats = () if "response_format" in sent else FORMATS
        self._presets = frozenset(presets) - frozenset(extra)
        self.shape = Shape(model, sent, formats, limit_name, limit)
        self._wanted = limit
        self._switch = switch and not on
        self.lessons: list[Lesson] = []
        """What was taught, in order."""
        self.largest: int | None = None
        """The longest reply the model gives, in tokens, as far as known."""
        self._applied: set[str] = set()
        """Reply formats that gave what was asked for at least once."""
        self._unusable: set[bytes] = set()
        """Questions that got no usable reply in the format asked for now."""
        self._bare = 0
        """Replies in that format that were a bare {}."""

    # ------------------------------------------------------------------ what is told
    @property
    def dropped(self) -> dict[str, str]:
        """What is not sent, and why."""
        return self._told("format", "drop", "rename")

    @property
    def changed(self) -> dict[str, str]:
        """What is sent with another value than asked for, and why."""
        sent = {name: why for name, why in self._told("send").items() if name in self.shape.parameters}
        capped = self._told("limit").get("largest_output") if self.shape.limit != self._wanted else None
        return {**sent, self.shape.limit_name: capped} if capped and self.shape.limit else sent

    @property
    def added(self) -> dict[str, str]:
        """What nobody had set, and why it is sent."""
        return self._told("add")

    def _told(self, *changes: str) -> dict[str, str]:
        return {name: lesson.told for lesson in self.lessons if lesson.change in changes for name in lesson.name.split(", ")}

    @property
    def effective(self) -> dict[str, Any]:
        """What is sent besides model and messages; under the names of `NOT_SENT` (judge/base.py) what was changed in it, and why."""
        shape = self.shape
        limit = {shape.limit_name: shape.limit} if shape.limit else {}
        formats = {} if "response_format" in shape.parameters else {"response_format": shape.formats[0] if shape.formats else "none"}
        told = {"dropped": self.dropped, "changed": self.changed, "added": self.added, "largest_output": self.largest}
        return {**shape.parameters, **limit, **formats, **{name: what for name, what in told.items() if what}}

    # ------------------------------------------------------------------ what is taken in
    def recall(self, lessons: Iterable[Lesson]) -> list[Lesson]:
        """Take in what earlier runs were taught, as far as it means what is asked for now; return that."""
        return [lesson for lesson in lessons if self._take(lesson)]

    def ask_logprobs(self) -> None:
        """Ask for the probabilities of tokens from now on, until they are refused; they change no reply."""
        if LOGPROBS not in self.shape.parameters:
            self._presets |= {LOGPROBS}
            self.shape = replace(self.shape, parameters={**self.shape.parameters, LOGPROBS: True}, _frames={})

    @property
    def refused_logprobs(self) -> bool:
        """True if probabilities were asked for and refused."""
        return LOGPROBS in self._presets and LOGPROBS not in self.shape.parameters

    def learn(self, error: ApiError, sent: Shape, question: Question, sure: bool) -> bool:
        """Change the shape after a refusal of `sent`; True if the same question should be asked again.

        With `sure` only what the error names is changed. Without, "not supported" alone costs a preset or the reply format.
        A request that met a refusal another one has already learned from is just asked again.
        """
        lesson = self._named(error, sent, question) if sure else self._guessed(error, sent, question)
        return lesson is not None and (self._take(lesson) or self.shape != sent)

    def renames(self, error: ApiError, sent: Shape) -> bool:
        """Take the other name for the length limit if the error asks for it."""
        lesson = self._rename(error, sent)
        return lesson is not None and (self._take(lesson) or self.shape != sent)

    def caps(self, error: ApiError, limit: int) -> int | None:
        """Return the largest limit that a refusal of `limit` names, and keep it in mind; None if it names none."""
        most = refusals.largest_allowed(error, limit)
        if most is not None:
            self._take(Lesson("limit", "largest_output", _why(error), refused=limit, sent=most))
        return most

    def ends_at(self, tokens: int) -> None:
        """Keep in mind that replies end after so many tokens whatever is asked for."""
        if self.largest is None or tokens < self.largest:
            self._take(Lesson("limit", "largest_output", f"replies end after {tokens} tokens whatever is asked for", sent=tokens))

    def went_to(self, tokens: int) -> None:
        """Take in how long a whole or cut reply was: what is longer than the largest shows that it was none."""
        if self.largest is not None and tokens > self.largest:
            self.lessons = [lesson for lesson in self.lessons if lesson.change != "limit"]
            self.largest = None

    def saw(self, sent: Shape, question: Question, text: str) -> bool:
        """Take in a reply; True if it holds what its schema asks for first.

        HTTP 200 proves nothing: a format under which not one of the first questions got a usable reply is not applied by the
        endpoint. A question that is asked again counts once, and one usable reply settles it for good.
        """
        name = sent.format_for(question.kind)
        if name in self._applied:
            return True
        usable = all(re.search(rf"""["']{key}\\?["']""", text) for key in (question.kind.schema or {}).get("required", ()))
        if usable:
            self._applied.add(name or "")
        elif name is not None and sent.formats == self.shape.formats:
            self._unusable.add(_origin(question))
            self._bare += _BARE.fullmatch(text) is not None
            if len(self._unusable) >= UNUSABLE or self._bare >= EMPTY:
                count = max(len(self._unusable), self._bare)
                self._unusable.clear()
                self._bare = 0
                self._take(Lesson("format", name, f"HTTP 200, but {count} requests got replies without the keys asked for"))
        return usable

    # ------------------------------------------------------------------ what a refusal teaches
    def _named(self, error: ApiError, sent: Shape, question: Question) -> Lesson | None:
        if self._switch and (lesson := _switched(error, sent)):
            return lesson
        name = sent.format_for(question.kind)
        if name is not None and error.mentions(_FORMAT_WORDS):
            return Lesson("format", name, _why(error))
        if sent.limit and (lesson := self._limited(error, sent, sent.limit)):
            return lesson
        named = [n for n in sent.parameters if n in (*_OPTIONAL, *self._presets, *self._recalled()) and error.refuses(n)]
        if len(named) > 1 and refusals.not_both(error):
            named = named[1:]
        return _blamed(error, named[0], sent.parameters[named[0]]) if named else None

    def _guessed(self, error: ApiError, sent: Shape, question: Question) -> Lesson | None:
        if not error.unsupported:
            return None
        preset = next((name for name in sent.parameters if name in self._presets and is_switch(name)), None)
        if preset is not None and error.mentions(r"think|reason|思考|推理"):
            return Lesson("drop", preset, _why(error), refused=sent.parameters[preset])
        name = sent.format_for(question.kind)
        return None if name is None else Lesson("format", name, _why(error))

    def _limited(self, error: ApiError, sent: Shape, limit: int) -> Lesson | None:
        if (most := refusals.largest_allowed(error, limit)) is not None:
            return Lesson("limit", "largest_output", _why(error), refused=limit, sent=most)
        if lesson := self._rename(error, sent):
            return lesson
        if not error.refuses(sent.limit_name):
            return None
        return Lesson("drop", sent.limit_name, _why(error), refused=limit, scope="all" if refusals.altogether(error) else "value")

    def _rename(self, error: ApiError, sent: Shape) -> Lesson | None:
        mine = sent.limit_name
        other = LIMITS[1 - LIMITS.index(mine)]
        blames = error.param == mine or (error.refuses(mine) and refusals.altogether(error))
        blames = blames or error.mentions(
            rf"(not? support|unsupported|instead|use|mean|改用|请使用|换用)[^\n]*{other}|{mine}[^\n]*(not? support|unsupported|不支持)"
        )
        if not blames or error.mentions("too (large|big)"):
            return None
        settled = any(n in LIMITS and not lesson.since for lesson in self.lessons for n in lesson.name.split(", "))
        return None if settled and self.shape.limit_name == mine else Lesson("rename", mine, _why(error), sent=other)

    def _recalled(self) -> Iterable[str]:
        """Names of what was added because an earlier run had been taught so; the endpoint may have changed."""
        return (name for lesson in self.lessons if lesson.change == "add" and lesson.since for name in lesson.name.split(", "))

    # ------------------------------------------------------------------ what follows from a lesson
    def _take(self, lesson: Lesson) -> bool:
        """Change the shape as a lesson says, unless it means something else than is sent now; True if it changed anything."""
        shape, largest = self._changed(lesson), lesson.sent if lesson.change == "limit" else self.largest
        if shape is None or (shape == self.shape and largest == self.largest):
            return False
        self.shape, self.largest = replace(shape, _frames={}), largest
        undone = lesson.name if lesson.change == "drop" else None
        self.lessons = [old for old in self.lessons if not (lesson.same(old) or (old.change == "add" and old.name == undone))]
        self.lessons.append(lesson)
        return True

    def _changed(self, lesson: Lesson) -> Shape | None:
        shape, name = self.shape, lesson.name
        match lesson.change:
            case "format":
                return replace(shape, formats=tuple(f for f in shape.formats if f != name))
            case "rename":
                return replace(shape, limit_name=lesson.sent) if shape.limit_name == name else None
            case "add":
                return replace(shape, parameters=merged(lesson.sent, shape.parameters)) if self._switch else None
            case "limit":
                most = lesson.sent if lesson.refused is not None and shape.limit and shape.limit > lesson.sent else shape.limit
                return replace(shape, limit=most)
            case "drop" if name in LIMITS:
                return replace(shape, limit=None) if name == shape.limit_name and shape.limit and lesson.means(shape.limit) else None
        if name not in shape.parameters or not lesson.means(shape.parameters[name]):
            return None
        rest = {n: v for n, v in shape.parameters.items() if n != name}
        return replace(shape, parameters=rest if lesson.change == "drop" else {**shape.parameters, name: lesson.sent})


def _origin(question: Question) -> bytes:
    """What is asked, whether for the first time or once more."""
    asked = {name: value for name, value in question.input.items() if name not in ("previous_reply", "problem")}
    return question.kind.name.encode() + orjson.dumps(asked)


def _switched(error: ApiError, sent: Shape) -> Lesson | None:
    """The switch for thinking that the error demands, unless it was sent and did not help."""
    wanted = thinking_switch(error)
    if not wanted or merged(wanted, sent.parameters) == sent.parameters:
        return None
    return Lesson("add", ", ".join(wanted), _why(error), sent=wanted)


def _blamed(error: ApiError, name: str, value: Any) -> Lesson:
    """What a refusal of one parameter teaches: another value, or none."""
    if name == "temperature" and isinstance(value, int | float):
        if (other := refusals.other_temperature(error, value)) is not None:
            return Lesson("send", name, _why(error), refused=value, sent=other)
        if refusals.only_one(error):
            return Lesson("drop", name, _why(error), refused=value, scope="all_but_one")
    return Lesson("drop", name, _why(error), refused=value, scope="all" if refusals.altogether(error) else "value")


def _why(error: ApiError) -> str:
    return f"HTTP {error.status}: {error.message[:200]}"
