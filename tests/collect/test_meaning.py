"""What answers of applications mean, platform by platform."""

from typing import Any

import orjson
import pytest

from ragstone.collect import mapping
from ragstone.collect.base import Received
from ragstone.collect.meaning import Meaning, Meant, codes
from ragstone.collect.spec import Spec
from ragstone.transport.answer import Answer

CHAT = Spec(answer="choices[0].message.content", contexts="responseData[].quoteList[]", error="error")
DIFY = Spec(answer="answer", contexts="metadata.retriever_resources", error="code && message || null")
RAGFLOW = Spec(answer="data.answer", contexts="data.reference.chunks", error="code && code != `0` && message || null")


def meant(status: int, body: Any, spec: Spec = CHAT, *, answered: bool = True, lang: Any = "en", **headers: str) -> Meant | None:
    """What follows such an answer; None if it is good."""
    raw = body if isinstance(body, bytes) else orjson.dumps(body)
    data = None if isinstance(body, bytes) else body
    answer = Answer(status, {name.replace("_", "-"): value for name, value in headers.items()}, raw)
    meaning = Meaning(spec, lang, str)
    if not 200 <= status < 300:
        return meaning.refused(answer, data, answered=answered)
    parsed = mapping.parsed(spec, Received("ask", raw.decode() if data is None else data))
    trouble = mapping.look(spec, parsed, (), lang).trouble
    return None if trouble is None else meaning.whole(answer, data, trouble)


def word(found: Meant | None) -> str | None:
    return None if found is None else found.trouble.word


FASTGPT_KEY = {"code": 514, "statusText": "unAuthApiKey", "message": "Api Key 不合法", "data": None}
TOLD: list[tuple[str, int, Any, Spec, str]] = [
    ("fastgpt key", 200, FASTGPT_KEY, CHAT, "key"),
    ("fastgpt key, 500", 500, FASTGPT_KEY, CHAT, "key"),
    ("fastgpt key, status text alone", 200, {"code": 500, "statusText": "unAuthApiKey", "message": "", "data": None}, CHAT, "key"),
    ("fastgpt app", 500, {"code": 502000, "statusText": "appUnExist", "message": "应用不存在", "data": None}, CHAT, "app"),
    ("fastgpt rights", 200, {"code": 403, "statusText": "unAuthorization", "message": "凭证错误"}, CHAT, "key"),
    ("fastgpt points", 500, {"code": 510, "statusText": "aiPointsNotEnough", "message": "AI 积分不足"}, CHAT, "quota"),
    ("dify quota", 400, {"code": "provider_quota_exceeded", "message": "no more", "status": 400}, DIFY, "quota"),
    ("dify plan", 429, {"code": "rate_limit_error", "message": "plan", "status": 429}, DIFY, "quota"),
    ("dify type", 400, {"code": "not_chat_app", "message": "mode", "status": 400}, DIFY, "app"),
    ("dify down", 400, {"code": "app_unavailable", "message": "App unavailable", "status": 400}, DIFY, "app"),
    ("dify agent", 400, {"code": "invalid_param", "message": "Agent Chat App does not support blocking mode", "status": 400}, DIFY, "app"),
    ("dify key word", 400, {"code": "unauthorized", "message": "no", "status": 400}, DIFY, "key"),
    ("ragflow chat", 200, {"code": 102, "message": "You don't own the chat c7"}, RAGFLOW, "app"),
    ("ragflow key", 200, {"code": 109, "message": "Authentication error: API key is invalid!", "data": False}, RAGFLOW, "key"),
    ("ragflow data set", 200, {"code": 102, "message": "You don't own the dataset d1"}, RAGFLOW, "app"),
    ("maxkb key", 200, {"code": 1002, "message": "身份验证信息不正确！非法用户", "data": None}, RAGFLOW, "key"),
    ("maxkb app", 200, {"code": 500, "message": "应用未发布，请发布后再使用", "data": None}, RAGFLOW, "app"),
    ("anythingllm workspace", 400, {"id": "u", "type": "abort", "error": "Workspace hr is not a valid workspace."}, CHAT, "app"),
    ("coze key", 200, {"code": 4100, "msg": "authentication is invalid", "detail": {"logid": "2"}}, Spec(answer="text"), "key"),
    ("openai key", 400, {"error": {"code": "invalid_api_key", "message": "Incorrect key", "type": "x"}}, CHAT, "key"),
    ("openai quota", 429, {"error": {"code": "insufficient_quota", "message": "You exceeded your current quota"}}, CHAT, "quota"),
    ("fastgpt filter, 500", 500, {"code": 500, "statusText": "error", "message": "content_filter: 内容不合规"}, CHAT, "blocked"),
    ("fastgpt old key", 500, {"code": 500, "statusText": "", "message": "Key is error. Use the app key."}, CHAT, "key"),
    ("zh key", 200, {"code": 1, "msg": "密钥无效"}, Spec(answer="text"), "key"),
    ("zh app", 200, {"code": 1, "msg": "应用不存在"}, Spec(answer="text"), "app"),
    ("own key words", 200, {"code": 88, "msg": "who are you"}, Spec(answer="text", key_pattern=r"^88 "), "key"),
    ("own app words", 400, {"code": "E7", "msg": "x"}, Spec(answer="text", app_pattern="E7"), "app"),
]


@pytest.mark.parametrize(("status", "body", "spec", "expected"), [t[1:] for t in TOLD], ids=[t[0] for t in TOLD])
@pytest.mark.parametrize("answered", [True, False])
def test_refusals_told_in_bodies_are_counted_not_repeated(status: int, body: Any, spec: Spec, expected: str, answered: bool) -> None:
    found = meant(status, body, spec, answered=answered)
    assert (word(found), found and found.then) == (expected, "fail")


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (401, {"code": "unauthorized", "message": "Access token is invalid", "status": 401}, "key"),
        (401, b"", "key"),
        (403, {"error": "Invalid API Key"}, "key"),
        (403, b"<html><title>Forbidden</title></html>", "key"),
        (402, {"detail": "pay first"}, "quota"),
        (403, {"error": {"message": "insufficient_quota"}}, "quota"),
    ],
)
def test_statuses_of_key_and_account_stop_at_once(status: int, body: Any, expected: str) -> None:
    found = meant(status, body)
    assert (word(found), found and found.then) == (expected, "stop")


@pytest.mark.parametrize("status", [404, 405, 410, 501])
@pytest.mark.parametrize("body", [{"detail": "Not Found"}, b"404 page not found", {"code": 404, "message": "x"}])
def test_an_address_that_is_not_there_stops_before_the_first_answer(status: int, body: Any) -> None:
    assert [(word(m), m and m.then) for m in (meant(status, body, answered=a) for a in (False, True))] == [("app", "stop"), ("app", "fail")]


@pytest.mark.parametrize(
    ("status", "body", "expected", "busy"),
    [
        (429, {"code": "too_many_requests", "message": "slow down", "status": 429}, "rate_limited", True),
        (
            429,
            {"error": {"type": "rate_limit_error", "message": "Number of requests has exceeded your per-minute limit"}},
            "rate_limited",
            True,
        ),
        (429, b"", "rate_limited", True),
        (408, b"", "timeout", False),
        (500, {"code": "internal_server_error", "message": "boom", "status": 500}, "server_error", False),
        (500, {"detail": "chain failed"}, "server_error", False),
        (502, b"<html><title>Bad Gateway</title></html>", "bad_gateway", False),
        (503, b"", "bad_gateway", True),
        (503, {"message": "The model is currently unavailable"}, "bad_gateway", True),
        (500, {"message": "chat model temporarily unavailable"}, "server_error", True),
        (502, {"message": "unauthorized"}, "bad_gateway", False),
        (524, b"", "bad_gateway", False),
        (200, {"code": 429, "message": "请求过于频繁，请稍后再试"}, "rate_limited", True),
        (200, {"code": 1, "message": "系统繁忙"}, "platform_error", True),
        (200, {"code": 500, "message": "model overloaded"}, "platform_error", True),
        (200, {"code": 503, "message": "later"}, "bad_gateway", True),
    ],
)
def test_what_waiting_may_cure_is_waited_for(status: int, body: Any, expected: str, busy: bool) -> None:
    found = meant(status, body, RAGFLOW)
    assert found is not None
    assert (found.trouble.word, found.then, found.busy) == (expected, "wait", busy)


def test_the_wait_a_server_names_is_kept() -> None:
    first, second = meant(429, {"message": "x"}, Retry_After="7"), meant(503, {"message": "x"}, Retry_After="3")
    assert first is not None
    assert first.after == 7
    assert second is not None
    assert second.after == 3


@pytest.mark.parametrize(("status", "body"), [(418, {"message": "tea"}), (200, {"code": 777, "message": "again"}), (500, {"code": 777})])
def test_what_the_settings_want_repeated_is_repeated(status: int, body: Any) -> None:
    found = meant(status, body, Spec(answer="data.answer", error="code && message", retry=(418, 777)))
    assert found is not None
    assert found.then == "wait"


@pytest.mark.parametrize(
    ("status", "body", "spec", "expected"),
    [
        (400, {"code": "invalid_param", "message": "query is required", "status": 400}, DIFY, "refused"),
        (422, {"detail": [{"loc": ["body", "input"], "msg": "Field required"}]}, CHAT, "refused"),
        (400, {"detail": "missing key: question"}, CHAT, "refused"),
        (400, {"message": "the key 'query' is required"}, CHAT, "refused"),
        (400, {"message": "Unexpected token } in JSON at position 3"}, CHAT, "refused"),
        (400, {"message": "参数 key 不能为空"}, CHAT, "refused"),
        (400, {"error": {"code": "content_filter", "message": "x"}}, CHAT, "blocked"),
        (403, {"error": {"message": "content policy violation: inappropriate content"}}, CHAT, "blocked"),
        (200, {"code": 1301, "message": "内容包含敏感词"}, RAGFLOW, "blocked"),
        (200, {"code": 500, "message": "boom", "data": {"answer": "**ERROR**: boom", "reference": []}}, RAGFLOW, "platform_error"),
        (200, {"code": 100, "message": "KeyError('x')"}, RAGFLOW, "platform_error"),
        (200, {"data": {"answer": "", "reference": {}}, "code": 0}, RAGFLOW, "empty_answer"),
        (200, {"data": {"reply": "x"}, "code": 0}, RAGFLOW, "no_answer"),
        (200, b"plain words", CHAT, "not_json"),
        (200, b"", CHAT, "not_json"),
        (200, b"<!doctype html><html><title>Welcome</title><form action='/login'></form></html>", CHAT, "login_page"),
    ],
)
def test_what_is_one_rows_own_trouble_stays_with_it(status: int, body: Any, spec: Spec, expected: str) -> None:
    found = meant(status, body, spec)
    assert (word(found), found and found.then) == (expected, "fail")


@pytest.mark.parametrize(
    "body",
    [
        {"code": 0, "message": "success", "data": {"answer": "The API key is invalid until the token has expired."}},
        {"code": 0, "message": "ok", "data": {"answer": "应用不存在时请联系管理员，密钥无效时请重新申请。"}},
        {"code": 0, "data": {"answer": "Too many requests mean that the quota is exceeded (HTTP 401)."}},
    ],
)
def test_answers_that_speak_of_keys_and_errors_are_good(body: Any) -> None:
    assert meant(200, body, RAGFLOW) is None


@pytest.mark.parametrize(
    ("location", "answered", "expected"),
    [
        ("/login?next=x", False, ("login_page", "fail")),
        ("https://sso.corp.cn/cas/x", True, ("login_page", "fail")),
        ("https://h/signin", False, ("login_page", "fail")),
        ("https://elsewhere/v1", False, ("app", "stop")),
        ("https://elsewhere/v1", True, ("app", "fail")),
        ("", False, ("app", "stop")),
    ],
)
def test_redirects_lead_to_a_login_or_from_a_wrong_address(location: str, answered: bool, expected: tuple[str, str]) -> None:
    found = meant(302, b"", answered=answered, Location=location)
    assert found is not None
    assert (found.trouble.word, found.then) == expected


@pytest.mark.parametrize(
    ("lang", "told"),
    [("en", "Api Key 不合法 (HTTP 500, code 514 unAuthApiKey)"), ("zh", "Api Key 不合法（HTTP 500，错误码 514 unAuthApiKey）")],
)
def test_a_trouble_says_what_the_server_said_and_where(lang: str, told: str) -> None:
    found = meant(500, FASTGPT_KEY, lang=lang)
    assert found is not None
    assert found.trouble.message == told


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"code": 0}, ""),
        ({"code": 200, "message": "ok"}, ""),
        ({"code": True}, ""),
        ({"code": "a_b", "error": {"code": "c"}}, "a_b c"),
        ({"code": 514, "statusText": "unAuth"}, "514 unAuth"),
        ({"error": "text"}, ""),
        ([], ""),
        (None, ""),
    ],
)
def test_codes_of_a_body(body: Any, expected: str) -> None:
    assert codes(body) == expected


def test_what_a_model_that_failed_says_stands_in_the_content_of_maxkb() -> None:
    body = {"code": 500, "message": "成功", "data": {"content": "Exception:Connection error.", "is_end": True}}
    assert "Exception:Connection error." in str(meant(500, body, RAGFLOW).trouble)
