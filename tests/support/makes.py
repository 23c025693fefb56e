"""Chat servers of the makes there are: what each refuses, ignores and gives back, in its own words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
from support.server import Answer, Seen, refuse, say

LONG = ", ".join(map(str, range(1, 301)))


def verdicts(*words: str) -> str:
    lines = [{"id": i, "evidence": [1], "quote": "", "reason": "", "verdict": word} for i, word in enumerate(words, 1)]
    return orjson.dumps({"verdicts": lines}).decode()


Rule = Callable[[dict[str, Any]], Answer | None]
"""Looks at a request and refuses it, or lets it pass."""


@dataclass
class Make:
    """Answers chat requests as a server of some make would."""

    rules: tuple[Rule, ...] = ()
    limits: tuple[str, ...] = ("max_tokens",)
    """Names of the length limit that are kept to; others are ignored."""
    applies_schema: bool = True
    bare_json: bool = True
    """JSON mode is real: without it the JSON stands in a fence."""
    logprobs: bool = True
    usage: Mapping[str, Any] | None = field(default_factory=lambda: {"prompt_tokens": 9, "completion_tokens": 9})
    thinks: Callable[[dict[str, Any]], Mapping[str, Any]] = lambda body: {}
    """What a thought adds: fields of the message, `content` before the reply, `usage`."""
    served: str | None = None
    words: tuple[str, ...] = ("supported", "contradicted")

    def __call__(self, seen: Seen) -> Answer:
        body = seen.body
        for rule in self.rules:
            if (refused := rule(body)) is not None:
                return refused
        thought = dict(self.thinks(body))
        limit = next((body[name] for name in self.limits if name in body), None)
        text = self._text(body, seen.format)
        cut = limit is not None and len(text) > 8 * limit
        text = thought.pop("content", "") + (text[: 3 * limit] if cut else text)
        usage = dict(self.usage) | thought.pop("usage", {}) if self.usage is not None else None
        answer = say(text, finish="length" if cut else "stop", usage=usage, **thought)
        if body.get("logprobs") and self.logprobs:
            answer.body["choices"][0]["logprobs"] = {"content": [{"token": "{", "logprob": -0.01, "top_logprobs": []}]}
        return Answer(body=answer.body | ({"model": self.served} if self.served else {}))

    def _text(self, body: dict[str, Any], wanted: str | None) -> str:
        system = body["messages"][0]["content"]
        if system.startswith("task: check_claims"):
            return verdicts(*self.words)
        if "JSON" not in system:
            return LONG if "300" in body["messages"][1]["content"] else "42"
        if wanted == "json_schema" and self.applies_schema:
            return '{"seal_kq7":"south-59"}'
        return '{"colour":"blue"}' if wanted == "json_object" and self.bare_json else '```json\n{"colour":"blue"}\n```'


def no_format(name: str, status: int, body: Any) -> Rule:
    return lambda asked: refuse(status, body) if asked.get("response_format", {}).get("type") == name else None


def no_parameter(name: str, status: int, body: Any, bad: Callable[[Any], bool] = lambda value: True) -> Rule:
    return lambda asked: refuse(status, body) if name in asked and bad(asked[name]) else None


def openai_error(message: str, param: str, code: str = "unsupported_value") -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}


def good() -> Make:
    return Make(limits=("max_tokens", "max_completion_tokens"))


def deepseek() -> Make:
    refusal = openai_error("This response_format type is unavailable now", "", "invalid_request_error")

    def thinks(body: dict[str, Any]) -> dict[str, Any]:
        return {} if body.get("thinking") == {"type": "disabled"} else {"reasoning_content": "Let me see."}

    return Make(rules=(no_format("json_schema", 400, refusal),), thinks=thinks)


def openai_reasoning() -> Make:
    limit = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    rules = (
        no_parameter("max_tokens", 400, openai_error(limit, "max_tokens", "unsupported_parameter")),
        no_parameter(
            "temperature",
            400,
            openai_error(
                "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
                "temperature",
            ),
            lambda value: value != 1,
        ),
        no_parameter("logprobs", 400, openai_error("logprobs are not supported with reasoning models", "logprobs")),
    )

    def thinks(body: dict[str, Any]) -> dict[str, Any]:
        count = 0 if body.get("reasoning_effort") in ("none", "minimal") else 64
        return {"usage": {"completion_tokens_details": {"reasoning_tokens": count}}}

    return Make(rules=rules, limits=("max_completion_tokens",), thinks=thinks, served="o9-2026-01-01")


def lm_studio() -> Make:
    body = {"error": "'response_format.type' must be 'json_schema' or 'text'"}
    return Make(rules=(no_format("json_object", 400, body),), logprobs=False)


def minimax() -> Make:
    low = {"base_resp": {"status_code": 2013, "status_msg": "invalid params, temperature must be in (0, 1]"}}
    rules: tuple[Rule, ...] = (
        lambda asked: Answer(200, low) if asked.get("temperature") == 0 else None,
        lambda asked: (
            Answer(200, {"base_resp": {"status_code": 2013, "status_msg": "invalid params, response_format not supported"}})
            if "response_format" in asked
            else None
        ),
    )
    return Make(rules=rules, thinks=lambda body: {"content": "<think>\nhm\n</think>\n\n"}, bare_json=False, logprobs=False)


def ollama() -> Make:
    def thinks(body: dict[str, Any]) -> dict[str, Any]:
        return {} if body.get("reasoning_effort") == "none" else {"reasoning": "Let me see."}

    return Make(limits=("max_tokens",), thinks=thinks, logprobs=False)


def silent_vllm() -> Make:
    """Takes every parameter with HTTP 200 and applies none of them."""
    return Make(limits=(), applies_schema=False, bare_json=False, logprobs=False, usage=None)
