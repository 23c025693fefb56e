from typing import Any

import orjson
import pytest
from support.asking import KIND, PROMPT, SCHEMA, question

from ragstone.judge.dialect import Dialect
from ragstone.judge.thinking import thinking_off
from ragstone.questions.base import Kind, Reading
from ragstone.transport.error_body import ApiError


def dialect(extra: dict[str, Any] | None = None, thinking: dict[str, Any] | None = None, **parameters: Any) -> Dialect:
    return Dialect("m", {"temperature": 0.0, **parameters}, extra or {}, thinking or {})


def body(d: Dialect, limit: int | None = None, kind: Kind = KIND) -> dict[str, Any]:
    return orjson.loads(d.shape.body(question(kind=kind), limit))


def refuse(d: Dialect, message: str, param: str = "", sure: bool = True) -> bool:
    return d.learn(ApiError(400, message, "", param), d.shape, question(), sure)


def test_a_request_holds_two_messages_and_what_is_set() -> None:
    sent = body(dialect(seed=7, max_tokens=90, extra=None))
    assert sent["messages"] == [{"role": "system", "content": PROMPT}, {"role": "user", "content": '{"text":"一天 has 24 hours"}'}]
    assert {k: v for k, v in sent.items() if k != "messages"} == {
        "model": "m",
        "temperature": 0.0,
        "seed": 7,
        "max_tokens": 90,
        "response_format": {"type": "json_schema", "json_schema": {"name": "split_claims", "schema": SCHEMA}},
    }


@pytest.mark.parametrize(("limit", "sent"), [(None, 50), (200, 200), (0, None)])
def test_the_length_limit_of_one_question_replaces_the_set_one(limit: int | None, sent: int | None) -> None:
    assert body(dialect(max_tokens=50), limit).get("max_tokens") == sent


def test_extra_keys_win_and_may_name_the_limit() -> None:
    d = dialect({"temperature": 1, "max_completion_tokens": 9, "enable_thinking": True}, {"enable_thinking": False}, max_tokens=5)
    sent = body(d)
    assert (sent["temperature"], sent["max_completion_tokens"], sent["enable_thinking"], "max_tokens" in sent) == (1, 9, True, False)
    assert not refuse(d, "unknown parameter enable_thinking"), "what a person set is never dropped silently"


def test_a_format_given_by_a_person_stays() -> None:
    d = dialect({"response_format": {"type": "text"}})
    assert not refuse(d, "response_format not supported")
    assert (body(d)["response_format"], d.effective["response_format"]) == ({"type": "text"}, {"type": "text"})


CLOSED = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (CLOSED, True),
        (CLOSED | {"required": []}, False),
        (SCHEMA, False),
        (CLOSED | {"properties": {"a": {"type": "array", "items": CLOSED}}}, True),
        (CLOSED | {"properties": {"a": {"type": "array", "items": SCHEMA}}}, False),
        (CLOSED | {"properties": {"a": {"anyOf": [CLOSED, {"type": "object"}]}}}, False),
    ],
)
def test_strict_mode_is_asked_for_only_where_the_schema_allows_it(schema: dict[str, Any], strict: bool) -> None:
    sent = body(dialect(), kind=Kind("k", 1, schema, lambda _u, _r: Reading()))
    assert sent["response_format"]["json_schema"].get("strict", False) is strict


def test_a_kind_without_a_schema_asks_for_an_object() -> None:
    kind = Kind("k", 1, None, lambda _u, _r: Reading())
    d = dialect()
    assert body(d, kind=kind)["response_format"] == {"type": "json_object"}
    assert d.learn(ApiError(400, "'response_format.type' must be 'json_schema' or 'text'"), d.shape, question(kind=kind), True)
    assert ("response_format" in body(d, kind=kind), body(d)["response_format"]["type"]) == (False, "json_schema")


@pytest.mark.parametrize(
    "message",
    [
        "This response_format type is unavailable now",
        "Failed to deserialize: unknown variant `json_schema`",
        "Json mode is not supported for this model.",
        "body.response_format.type: Input should be 'text'",
        "structured output 暂不支持",
    ],
)
def test_a_refused_format_steps_down(message: str) -> None:
    d = dialect()
    steps = []
    for _ in range(2):
        assert refuse(d, message)
        steps.append(d.effective["response_format"])
    assert (steps, "response_format" in body(d)) == (["json_object", "none"], False)
    assert not refuse(d, message)
    assert set(d.dropped) == {"json_schema", "json_object"}


def test_not_supported_alone_costs_the_format_only_as_the_last_clue() -> None:
    d = dialect()
    assert not refuse(d, "feature not supported")
    assert refuse(d, "feature not supported", sure=False)
    assert d.effective["response_format"] == "json_object"
    assert not refuse(d, "something is odd", sure=False)


@pytest.mark.parametrize(
    ("message", "param", "dropped"),
    [
        ("Unsupported value: 'temperature' does not support 0.0 with this model.", "temperature", "temperature"),
        ("`temperature` must be 1", "", "temperature"),
        ("bad value", "top_p", "top_p"),
        ("body.seed: Extra inputs are not permitted", "", "seed"),
        ("thinking is not supported by this model", "", "thinking"),
        ("Invalid max_tokens value", "", "max_tokens"),
        ("'max_tokens' or 'max_completion_tokens' is too large: 8192.", "", "max_tokens"),
    ],
)
def test_a_named_parameter_is_dropped_and_the_reason_kept(message: str, param: str, dropped: str) -> None:
    d = dialect(thinking={"thinking": {"type": "disabled"}}, top_p=0.5, seed=1, max_tokens=90000)
    before = d.shape
    assert refuse(d, message, param)
    assert set(body(d)) == set(orjson.loads(before.body(question()))) - {dropped}
    assert d.effective["dropped"] == {dropped: f"HTTP 400: {message}"}
    assert d.learn(ApiError(400, message, "", param), before, question(), True), "a request sent before is just asked again"
    assert not refuse(d, message, param), "but what is no longer sent cannot be dropped again"


@pytest.mark.parametrize(
    ("message", "param"),
    [
        ("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "max_tokens"),
        ("max_tokens is not supported, use max_completion_tokens", ""),
        ("unsupported", "max_tokens"),
    ],
)
def test_the_length_limit_is_renamed_once_and_then_dropped(message: str, param: str) -> None:
    d = dialect(max_tokens=77)
    before = d.shape
    assert refuse(d, message, param)
    assert (body(d)["max_completion_tokens"], "max_tokens" in body(d)) == (77, False)
    assert d.learn(ApiError(400, message, "", param), before, question(), True)
    assert refuse(d, "max_completion_tokens is not supported", "max_completion_tokens")
    assert not {"max_tokens", "max_completion_tokens"} & set(body(d))
    assert set(d.dropped) == {"max_tokens", "max_completion_tokens"}


@pytest.mark.parametrize(
    ("host", "model", "switch"),
    [
        ("dashscope.aliyuncs.com", "qwen3-32b", {"enable_thinking": False}),
        ("dashscope-intl.aliyuncs.com", "qwen-plus", {"enable_thinking": False}),
        ("api.deepseek.com", "deepseek-v4-flash", {"thinking": {"type": "disabled"}}),
        ("open.bigmodel.cn", "GLM-4.6", {"thinking": {"type": "disabled"}}),
        ("open.bigmodel.cn", "glm-4-flash", {}),
        ("api.moonshot.cn", "kimi-k2.5", {"thinking": {"type": "disabled"}}),
        ("api.moonshot.cn", "moonshot-v1-8k", {}),
        ("ark.cn-beijing.volces.com", "ep-1", {"thinking": {"type": "disabled"}}),
        ("api.siliconflow.cn", "Qwen/Qwen3-8B", {"enable_thinking": False}),
        ("api.siliconflow.cn", "Qwen/Qwen2.5-7B", {}),
        ("api.openai.com", "gpt-5-mini", {}),
        ("api.deepseek.com.example.org", "deepseek-chat", {}),
        ("127.0.0.1", "qwen3:8b", {}),
    ],
)
def test_known_hosts_have_an_off_switch(host: str, model: str, switch: dict[str, Any]) -> None:
    assert thinking_off(host, model) == switch
