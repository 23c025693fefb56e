from typing import Any

import orjson
import pytest
from support.asking import KIND, PROMPT, SCHEMA, question

from ragstone.judge.shape import Shape
from ragstone.questions.base import Kind, Reading


def body(shape: Shape, limit: int | None = None, kind: Kind = KIND) -> dict[str, Any]:
    return orjson.loads(shape.body(question(kind=kind), limit))


def test_a_request_holds_two_messages_and_what_is_set() -> None:
    sent = body(Shape("m", {"temperature": 0.0, "seed": 7}, limit=90))
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
    assert body(Shape("m", {}, limit=50), limit).get("max_tokens") == sent


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
    sent = body(Shape("m", {}), kind=Kind("k", 1, schema, lambda _u, _r: Reading()))
    assert sent["response_format"]["json_schema"].get("strict", False) is strict
