"""How answers are taken in, and what is advised where an app is no app for this request."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.collect import mapping
from ragstone.collect.address import Address
from ragstone.collect.base import Received, Trouble
from ragstone.collect.meaning import Meaning
from ragstone.collect.refusals import Refusals
from ragstone.collect.sending import Request, Sorting
from ragstone.collect.spec import Spec, Step
from ragstone.errors import EndpointError
from ragstone.transport.answer import Answer
from ragstone.transport.endpoint import COLLECT, Key
from ragstone.transport.stops import Stops

KEY = "app-7Qx2LmZr9TbWk4Vd"


def address(lang: Any = "en", **fields: Any) -> Address:
    return Address(Spec(url="https://rag.example", **fields), Key(KEY, COLLECT.key), {"GATE": "Gate/77 Secret=="}, lang)


def sorting(where: Address) -> Sorting:
    return Sorting(where, Stops(where), Meaning(Spec(), where.lang, str), Refusals())


@pytest.mark.parametrize(
    ("message", "status", "advice"),
    [
        ("mode (HTTP 400, code not_chat_app)", 400, {"en": "--platform dify-workflow", "zh": "--platform dify-workflow"}),
        ("mode (HTTP 400, code not_workflow_app)", 400, {"en": "--platform dify-chat", "zh": "--platform dify-chat"}),
        ("Agent Chat App does not support blocking mode", 400, {"en": "only answer in streams", "zh": "只能以流式方式"}),
        ("Not Found (HTTP 404)", 404, {"en": "the base address of the platform?", "zh": "平台的基础地址吗"}),
        ("You don't own the chat", 200, {"en": "whether the app is published", "zh": "是否已发布"}),
    ],
)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_stop_says_what_to_do(message: str, status: int, advice: dict[str, str], lang: str) -> None:
    received = Received("ask", {}, status, "POST", "https://rag.example/v1/x")
    stop = sorting(address(lang, app="hr-7")).stop(Trouble("app", message), received)
    assert isinstance(stop, EndpointError)
    for part in (message, "POST https://rag.example/v1/x", "hr-7", "app…Vd", advice[lang]):
        assert part in str(stop)


@pytest.mark.parametrize(("lang", "path", "none"), [("en", "path and method", "app"), ("zh", "path 和 method", "应用 ")])
def test_an_address_that_is_none_names_the_settings_there_are(lang: str, path: str, none: str) -> None:
    received = Received("ask", {}, 404, "POST", "https://rag.example/v1/x")
    known = str(sorting(address(lang)).stop(Trouble("app", "Not Found"), received)).replace("app…Vd", "")
    assert "[collect] url" in known
    assert none not in known
    assert path not in known
    own = str(sorting(address(lang, own=("path",))).stop(Trouble("app", "Not Found"), received)).replace("app…Vd", "")
    assert f"[collect] {path}" in own
    assert none not in own.replace("The application", "").replace("应用在", "")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from([KEY, f"x{KEY}y", "Gate/77 Secret=="]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.sampled_from([KEY, f"Bearer {KEY}"]), inner, max_size=4),
    max_leaves=12,
)


@given(JSON, st.booleans())
def test_no_json_value_keeps_a_secret(value: Any, echoes: bool) -> None:
    where = address(headers={"X-Gate": "$env.GATE"}, then=(Step(path="/x", headers={"X-Token": "Token literal-5511"}),))
    clean = (
        orjson.dumps(where.cleaned([value, "literal-5511"], echoes=echoes), option=orjson.OPT_NON_STR_KEYS, default=str).decode()
        if sized(value)
        else ""
    )
    assert not any(secret in clean for secret in (KEY, "Gate/77 Secret==", "literal-5511"))


def sized(value: Any) -> bool:
    """True if a file can hold the numbers of a value."""
    if isinstance(value, dict):
        return all(map(sized, value.values()))
    if isinstance(value, list):
        return all(map(sized, value))
    return not isinstance(value, int) or -(2**63) <= value < 2**64


def test_the_code_an_event_of_a_stream_tells_counts_like_that_of_a_whole_response() -> None:
    spec = Spec(answer="answer", error="code && message || null")
    event = {"event": "error", "code": "provider_quota_exceeded", "message": "no more", "status": 400}

    def examine(request: Request, received: Received) -> Trouble | None:
        request.parsed = mapping.parsed(spec, received)
        return mapping.look(spec, request.parsed).trouble

    request = Request("ask", "POST", {}, lambda: b"", examine)
    raw = b"data: " + orjson.dumps(event) + b"\n\n"
    step, _ = sorting(address()).sort(Answer(200, {"Content-Type": "text/event-stream"}, raw), None, request, "https://rag.example/x")
    assert (step.then, step.word) == ("fail", "quota")
