"""The shape of a request: everything of it that is the same for all questions. No I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from ragstone.questions.base import Kind, Question

FORMATS = ("json_schema", "json_object")
"""Reply formats, strictest first; with none left the reply is free text."""
LIMITS = ("max_tokens", "max_completion_tokens")
"""Names of the length limit; endpoints take one of them, and some refuse both at once."""


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
        for name in self.formats:
            if name != "json_schema" or kind.schema is not None:
                return name
        return None

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
