"""What one endpoint and model accept: the shape of a request, and how a refusal changes it. No I/O."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from ragstone.questions.base import Kind, Question
from ragstone.resources import read_toml
from ragstone.transport.error_body import ApiError

FORMATS = ("json_schema", "json_object")
"""Reply formats, strictest first; with none left the reply is free text."""
LIMITS = ("max_tokens", "max_completion_tokens")
LARGER = 8192
"""Tokens asked for when a reply was cut and no limit is set."""
RESERVED = ("messages", "model", "n", "stream")
"""Keys of the request that extra_body may not set."""
_FORMAT_WORDS = r"response_?format|json_schema|json_object|json[ _]?mode|structured[ _]output|grammar|text\.format"
_OPTIONAL = ("temperature", "top_p", "seed")


def thinking_off(host: str, model: str) -> dict[str, Any]:
    """Return what turns thinking off for a model of a known host; {} for all others."""
    for row in read_toml("judge", "thinking.toml")["hosts"]:
        if re.search(row["host"], host) and re.search(row.get("models", ""), model):
            return dict(row["body"])
    return {}


def thinking_switch(error: ApiError) -> dict[str, Any]:
    """Return the switch for thinking that a refusal demands to be off; {} if it names none."""
    switches: list[dict[str, Any]] = read_toml("judge", "thinking.toml")["switches"]
    return next((dict(row["body"]) for row in switches if error.mentions(row["demand"])), {})


@dataclass(frozen=True)
class Shape:
    """Everything of a request that is the same for all questions. Frozen: a refusal makes a new one."""

    model: str
    parameters: Mapping[str, Any]
    """Top-level keys as sent, the length limit and the reply format left out."""
    formats: tuple[str, ...] = FORMATS
    limit_name: str = "max_tokens"
    limit: int | None = None
    _frames: dict[Any, tuple[bytes, bytes]] = field(default_factory=dict, compare=False, repr=False)

    def format_for(self, kind: Kind) -> str | None:
        """Return the strictest format still accepted; a kind without a schema cannot use json_schema."""
        return next((f for f in self.formats if f != "json_schema" or kind.schema is not None), None)

    def body(self, question: Question, limit: int | None = None) -> bytes:
        """Return the request body; `limit` replaces the length limit, 0 leaves it out."""
        wanted = self.limit if limit is None else limit
        key = (question.kind.name, question.kind.version, question.prompt, wanted)
        frame = self._frames.get(key)
        if frame is None:
            frame = self._frames[key] = self._frame(question, wanted)
        return frame[0] + orjson.dumps(question.body.decode()) + frame[1]

    def _frame(self, question: Question, limit: int | None) -> tuple[bytes, bytes]:
        """The bytes before and after the user's text."""
        rest: dict[str, Any] = dict(self.parameters)
        if (name := self.format_for(question.kind)) is not None:
            rest["response_format"] = _response_format(name, question.kind)
        if limit:
            rest[self.limit_name] = limit
        head = b'{"model":' + orjson.dumps(self.model) + b',"messages":[{"role":"system","content":' + orjson.dumps(question.prompt)
        tail = orjson.dumps(rest)[1:]
        return head + b'},{"role":"user","content":', b"}]" + (b"," if rest else b"") + tail


def _response_format(name: str, kind: Kind) -> dict[str, Any]:
    if name != "json_schema":
        return {"type": name}
    strict = {"strict": True} if _closed(kind.schema) else {}
    return {"type": name, "json_schema": {"name": kind.name, "schema": kind.schema, **strict}}


def _closed(schema: Any) -> bool:
    """True if strict mode would take the schema: in every object all keys are required and no other is allowed."""
    if isinstance(schema, list):
        return all(_closed(item) for item in schema)
    if not isinstance(schema, dict):
        return True
    properties = schema.get("properties")
    if isinstance(properties, dict):
        whole = schema.get("additionalProperties") is False and set(schema.get("required", ())) == set(properties)
        return whole and all(_closed(p) for p in properties.values())
    return schema.get("type") != "object" and all(_closed(v) for v in schema.values())


class Dialect:
    """The shape in use, and what was dropped from it and why.

    Args:
        model: name of the model.
        parameters: what the settings ask for; None = not sent. A length limit stands under one of `LIMITS`.
        extra: keys merged at the top level; they win.
        thinking: what turns thinking off, dropped again if refused.
        switch: whether a switch for thinking may be added when a refusal demands it.
    """

    def __init__(
        self, model: str, parameters: Mapping[str, Any], extra: Mapping[str, Any], thinking: Mapping[str, Any], *, switch: bool = False
    ) -> None:
        sent = {**{n: v for n, v in parameters.items() if v is not None}, **thinking, **extra}
        limit_name = next((name for name in reversed(LIMITS) if name in sent), LIMITS[0])
        limit = sent.get(limit_name)
        for name in LIMITS:
            sent.pop(name, None)
        formats = () if "response_format" in sent else FORMATS
        self._droppable = frozenset(_OPTIONAL) | (frozenset(thinking) - frozenset(extra))
        self.shape = Shape(model, sent, formats, limit_name, limit)
        self._switch = switch
        self.dropped: dict[str, str] = {}
        self.added: dict[str, str] = {}

    @property
    def effective(self) -> dict[str, Any]:
        """What is sent besides model and messages; under `dropped` what is not, under `added` what nobody had set, and why."""
        shape = self.shape
        limit = {shape.limit_name: shape.limit} if shape.limit else {}
        formats = {} if "response_format" in shape.parameters else {"response_format": shape.formats[0] if shape.formats else "none"}
        changes = {name: dict(why) for name, why in (("dropped", self.dropped), ("added", self.added)) if why}
        return {**shape.parameters, **limit, **formats, **changes}

    def learn(self, error: ApiError, sent: Shape, question: Question, sure: bool) -> bool:
        """Change the shape after a refusal of `sent`; True if the same question should be asked again.

        With `sure` only a parameter the error names is changed. Without, "not supported" alone costs the reply format.
        A request that met a refusal another one has already learned from is just asked again.
        """
        named = sent.format_for(question.kind)
        if named is not None and (error.mentions(_FORMAT_WORDS) if sure else error.unsupported):
            return self._change(sent, error, named, formats=tuple(f for f in self.shape.formats if f != named))
        if not sure:
            return False
        if sent.limit and (self.renames(error, sent) or self._drops_limit(error, sent)):
            return True
        for name in sent.parameters:
            if name in self._droppable and error.refuses(name):
                left = {n: v for n, v in self.shape.parameters.items() if n != name}
                return self._change(sent, error, name, parameters=left)
        return self._switch and self._adds(error, sent)

    def _adds(self, error: ApiError, sent: Shape) -> bool:
        """Add the switch for thinking that the error demands, unless it was sent and did not help."""
        wanted = thinking_switch(error)
        if not wanted or wanted.keys() & sent.parameters.keys():
            return False
        self.added |= dict.fromkeys(wanted.keys() - self.shape.parameters.keys(), _told(error))
        self.shape = replace(self.shape, parameters={**wanted, **self.shape.parameters}, _frames={})
        return True

    def renames(self, error: ApiError, sent: Shape) -> bool:
        """Take the other name for the length limit if the error asks for it; once."""
        mine = sent.limit_name
        other = LIMITS[1 - LIMITS.index(mine)]
        blames = error.param == mine or error.mentions(
            rf"(not? support|unsupported|instead|use)[^\n]*{other}|{mine}[^\n]*(not? support|unsupported)"
        )
        if self.shape.limit_name != mine:
            return blames
        if not blames or mine in self.dropped or other in self.dropped or error.mentions("too (large|big)"):
            return False
        return self._change(sent, error, mine, limit_name=other)

    def _drops_limit(self, error: ApiError, sent: Shape) -> bool:
        if not error.refuses(sent.limit_name):
            return False
        return self._change(sent, error, sent.limit_name, limit=None)

    def _change(self, sent: Shape, error: ApiError, name: str, **changes: Any) -> bool:
        changed = replace(self.shape, **changes, _frames={})
        if changed != self.shape:
            self.dropped[name] = _told(error)
            self.shape = changed
            return True
        return self.shape != sent


def _told(error: ApiError) -> str:
    return f"HTTP {error.status}: {error.message[:200]}"
