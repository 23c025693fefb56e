"""Switches for thinking: whose they are, which a refusal names, what a person has set."""

from typing import Any

import pytest

from ragstone.judge.thinking import merged, thinking_off, thinking_switch, wants_thinking
from ragstone.transport.error_body import ApiError


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
        ("api.hunyuan.cloud.tencent.com", "hy4", {"thinking": {"type": "disabled"}, "enable_enhancement": False}),
        ("api.hunyuan.cloud.tencent.com", "hunyuan-lite", {"enable_enhancement": False}),
        ("api.minimaxi.com", "MiniMax-M2", {"reasoning_split": True}),
        ("api.minimax.io", "MiniMax-M2.5", {"reasoning_split": True}),
        ("api.minimax.io", "abab6.5s-chat", {}),
    ],
)
def test_known_hosts_have_an_off_switch(host: str, model: str, switch: dict[str, Any]) -> None:
    assert thinking_off(host, model) == switch


@pytest.mark.parametrize(
    ("host", "port", "sent"),
    [
        ("localhost", 11434, True),
        ("127.0.0.1", 11434, True),
        ("192.168.1.20", 11434, True),
        ("172.20.0.3", 11434, True),
        ("10.0.0.8", 11434, True),
        ("::1", 11434, True),
        ("localhost", 8000, False),
        ("localhost", None, False),
        ("example.com", 11434, False),
        ("8.8.8.8", 11434, False),
        ("10.example.com", 11434, False),
    ],
)
def test_the_port_of_ollama_counts_in_a_private_network_only(host: str, port: int | None, sent: bool) -> None:
    assert thinking_off(host, "qwen3:8b", port) == ({"reasoning_effort": "none"} if sent else {})


QWEN = {"enable_thinking": False}
TEMPLATE = {"chat_template_kwargs": {"enable_thinking": False}}
DEEP = {"thinking": {"type": "disabled"}}


@pytest.mark.parametrize(
    ("message", "switch"),
    [
        ("parameter.enable_thinking must be set to false for non-streaming calls", QWEN),
        ("Json mode response is not supported when enable_thinking is true", QWEN),
        ("json_object is not supported with enable_thinking=true", QWEN),
        ("Please disable enable_thinking for this request", QWEN),
        ("enable_thinking 必须为 false（非流式调用）", QWEN),
        ("非流式调用请关闭 enable_thinking", QWEN),
        ("enable_thinking 开启时不支持 JSON 模式，请设置为 false", QWEN),
        ("不支持在 enable_thinking 为 true 时使用 response_format", QWEN),
        ("set chat_template_kwargs={'enable_thinking': false} for structured output", TEMPLATE),
        ("thinking.type must be disabled when response_format is used", DEEP),
        ("response_format is not supported when thinking.type is enabled", DEEP),
        ("thinking.type 必须为 disabled", DEEP),
        ("reasoning_effort must be 'none' with response_format json_schema", {"reasoning_effort": "none"}),
        ("请将 reasoning_effort 设置为 none", {"reasoning_effort": "none"}),
        ("reasoning.enabled must be false for this model", {"reasoning": {"enabled": False}}),
        ("thinking_budget must be set to 0", {"thinking_budget": 0}),
        ("thinking_budget 必须设置为 0", {"thinking_budget": 0}),
        # these demand nothing of the kind
        ("enable_thinking is not supported by this model", {}),
        ("unknown field: thinking", {}),
        ("reasoning_effort must be one of low, medium, high", {}),
        ("Reasoning is mandatory for this endpoint and cannot be disabled", {}),
        ("temperature must be 1 when thinking", {}),
        ("thinking_budget must be greater than 1024", {}),
    ],
)
def test_the_switch_a_refusal_names(message: str, switch: dict[str, Any]) -> None:
    assert thinking_switch(ApiError(400, message)) == switch


@pytest.mark.parametrize(
    ("extra", "on"),
    [
        ({}, False),
        ({"top_k": 1}, False),
        ({"enable_thinking": True}, True),
        ({"enable_thinking": False}, False),
        ({"chat_template_kwargs": {"enable_thinking": True}}, True),
        ({"chat_template_kwargs": {"enable_thinking": False}}, False),
        ({"chat_template_kwargs": {"thinking": True}}, True),
        ({"thinking": {"type": "enabled", "budget_tokens": 2000}}, True),
        ({"thinking": {"type": "disabled"}}, False),
        ({"thinking": {"type": "auto"}}, True),
        ({"reasoning": {"effort": "high"}}, True),
        ({"reasoning": {"enabled": False}}, False),
        ({"reasoning_effort": "low"}, True),
        ({"reasoning_effort": "none"}, False),
        ({"thinking_budget": 0}, False),
        ({"thinking_budget": 500}, True),
    ],
)
def test_a_person_who_wants_thinking_is_understood(extra: dict[str, Any], on: bool) -> None:
    assert wants_thinking(extra) is on


def test_objects_are_merged_and_the_upper_wins() -> None:
    assert merged({"a": {"x": 1, "y": 2}, "b": 1}, {"a": {"y": 3}, "c": {}}) == {"a": {"x": 1, "y": 3}, "b": 1, "c": {}}
    assert merged({"a": {"x": 1}}, {"a": 5}) == {"a": 5}
