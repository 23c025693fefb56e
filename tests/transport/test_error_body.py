import orjson
import pytest

from ragstone.transport.error_body import holds_error, read_error, read_json


@pytest.mark.parametrize(
    ("body", "message", "code"),
    [
        ({"error": {"message": "no", "type": "invalid", "param": None, "code": "c1"}}, "no", "c1 invalid"),
        ({"error": {"code": "1301", "message": "系统检测到"}}, "系统检测到", "1301"),
        ({"error": "plain"}, "plain", ""),
        ({"message": "m"}, "m", ""),
        ({"detail": "d"}, "d", ""),
        (
            {"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted", "input": "private"}]},
            "body.seed: Extra inputs are not permitted",
            "",
        ),
        ({"detail": {"message": "inner"}}, "inner", ""),
        ({"code": 20024, "message": "Json mode", "data": None}, "Json mode", "20024"),
        ({"code": 1, "msg": "短"}, "短", "1"),
        ({"errors": [{"message": "first"}, {"message": "second"}]}, "first", ""),
        ({"errors": ["bare"]}, "bare", ""),
        ({"object": "error", "message": "flat", "type": "T", "code": 400}, "flat", "400 T"),
        ({"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}, "insufficient balance", "1008"),
        ({"error_code": 17, "error_msg": "daily limit"}, "daily limit", "17"),
        ({"Response": {"Error": {"Code": "AuthFailure", "Message": "m"}}}, "m", "AuthFailure"),
    ],
)
def test_error_bodies_of_every_shape_are_read(body: dict, message: str, code: str) -> None:
    error = read_error(400, orjson.dumps(body), body)
    assert (error.message, error.code, error.status) == (message, code, 400)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"<html><head><title> 502\n Bad Gateway</title></head></html>", "502 Bad Gateway"),
        (b"<p>down</p>", "down"),
        (b"upstream  reset\n", "upstream reset"),
        (b"", ""),
        (b"[1]", "[1]"),
        (b"\xff", "�"),
    ],
)
def test_what_is_no_object_is_shown_from_its_start(raw: bytes, message: str) -> None:
    assert read_error(502, raw, read_json(raw)).message == message


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"choices": [], "error": None}, False),
        ({"choices": [], "base_resp": {"status_code": 0, "status_msg": "success"}}, False),
        ({"choices": [{}], "error": {"message": "broke off"}}, True),
        ({"choices": None, "base_resp": {"status_code": 1002}}, True),
        ({"code": 50505, "message": "busy", "data": None}, True),
        ({"object": "error"}, True),
        ({"object": "list", "data": [], "message": "ok"}, False),
        ({"id": "x"}, False),
        ({"choices": [{"error": {"code": 502, "message": "broke off"}, "message": {"content": "ha"}}]}, True),
        ({"choices": [{"error": None, "message": {"content": "ha"}}]}, False),
        ({"choices": [None]}, False),
    ],
)
def test_an_error_under_http_200_is_seen(body: dict, error: bool) -> None:
    assert holds_error(body) is error


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"error": {"message": "x", "code": 429}}, 429),
        ({"error": "Rate limit reached"}, 429),
        ({"error": "请求过于频繁"}, 429),
        ({"error": "model overloaded"}, 503),
        ({"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}, 402),
        ({"base_resp": {"status_code": 1004, "status_msg": "login fail"}}, 401),
        ({"base_resp": {"status_code": 1026, "status_msg": "input new_sensitive"}}, 400),
        ({"error": "The model `x` does not exist"}, 404),
        ({"error": "prompt is too long"}, 400),
        ({"error": "something broke"}, 500),
        ({"error": "connection refused by the backend"}, 500),
        # MiniMax
        ({"base_resp": {"status_code": 1002, "status_msg": "x"}}, 429),
        ({"base_resp": {"status_code": 1004, "status_msg": "x"}}, 401),
        ({"base_resp": {"status_code": 2049, "status_msg": "x"}}, 401),
        ({"base_resp": {"status_code": 1008, "status_msg": "x"}}, 402),
        ({"base_resp": {"status_code": 1026, "status_msg": "x"}}, 400),
        ({"base_resp": {"status_code": 1027, "status_msg": "x"}}, 400),
        ({"base_resp": {"status_code": 1039, "status_msg": "token limit"}}, 429),
        ({"base_resp": {"status_code": 1039, "status_msg": "prompt is too long, exceeds context window"}}, 400),
        ({"base_resp": {"status_code": 2013, "status_msg": "invalid params"}}, 400),
        ({"base_resp": {"status_code": 1013, "status_msg": "x"}}, 500),
        ({"base_resp": {"status_code": 1234567, "status_msg": "odd"}}, 500),
        # GLM
        ({"error": {"code": "1302", "message": "x"}}, 429),
        ({"error": {"code": "1002", "message": "x"}}, 401),
        ({"error": {"code": "1113", "message": "x"}}, 402),
        ({"error": {"code": "1211", "message": "x"}}, 404),
        ({"error": {"code": "1261", "message": "x"}}, 400),
        ({"error": {"code": "1301", "message": "x"}}, 400),
        # SiliconFlow, DashScope, Tencent, OpenRouter, vLLM, FastAPI, litellm
        ({"code": 20024, "message": "Json mode is not supported for this model.", "data": None}, 400),
        ({"code": 20012, "message": "Model does not exist. Please check it carefully.", "data": None}, 404),
        ({"code": 30001, "message": "Sorry, your account balance is insufficient", "data": None}, 402),
        ({"code": 50505, "message": "Model service overloaded. Please try again later.", "data": None}, 503),
        ({"code": "Throttling.RateQuota", "message": "Requests rate limit exceeded", "request_id": "r"}, 429),
        ({"code": "InvalidParameter", "message": "temperature must be in range", "request_id": "r"}, 400),
        ({"Response": {"Error": {"Code": "AuthFailure.SecretIdNotFound", "Message": "x"}, "RequestId": "r"}}, 401),
        ({"Response": {"Error": {"Code": "RequestLimitExceeded", "Message": "x"}}}, 429),
        ({"Response": {"Error": {"Code": "OperationDenied.TextIllegalDetected", "Message": "x"}}}, 400),
        ({"error": {"code": 502, "message": "Provider returned error", "metadata": {"provider_name": "p"}}}, 502),
        ({"choices": [{"error": {"code": 429, "message": "slow"}, "message": {"content": ""}}]}, 429),
        ({"object": "error", "message": "max_tokens must be at least 1", "type": "BadRequestError", "code": 400}, 400),
        ({"detail": "model overloaded"}, 503),
        ({"error": {"message": "litellm.RateLimitError: AzureException - x", "code": "429"}}, 429),
        ({"error": {"message": "litellm.AuthenticationError: OpenAIException - x"}}, 401),
        ({"error": {"message": "litellm.ContextWindowExceededError: x"}}, 400),
    ],
)
def test_the_status_meant_is_found_from_the_words(body: dict, status: int) -> None:
    assert read_error(200, orjson.dumps(body), body).status == status


@pytest.mark.parametrize(
    ("trait", "message"),
    [
        ("blocked", "Input data may contain inappropriate content."),
        ("blocked", "<400> InternalError.Algo.DataInspectionFailed: Output data may contain"),
        ("blocked", "The response was filtered due to the prompt triggering content management policy"),
        ("blocked", "内容安全检查未通过"),
        ("too_long", "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens"),
        ("too_long", "Range of input length should be [1, 30720]"),
        ("too_long", "the request exceeds the available context size"),
        ("too_long", "input must have less than 512 tokens"),
        ("too_long", "prompt is too long: 210000 tokens > 200000 maximum"),
        ("too_long", "输入内容过长"),
        ("too_long", "litellm.ContextWindowExceededError: OpenAIException - x"),
        ("blocked", "Content Exists Risk"),
        ("blocked", "The request was rejected because it was considered high risk"),
        ("blocked", "InputTextSensitiveContentDetected"),
        ("blocked", "OutputTextRiskDetection"),
        ("blocked", "OperationDenied.TextIllegalDetected"),
        ("blocked", "litellm.ContentPolicyViolationError: AzureException"),
        ("blocked", "系统检测到输入或生成内容可能包含不安全或敏感内容"),
        ("blocked", "内容审核未通过"),
        ("blocked", "您的输入未通过安全审核"),
        ("blocked", "触发风控策略"),
        ("balance", "Sorry, your account balance is insufficient"),
        ("balance", "您的账户已欠费，请充值后重试"),
        ("balance", "ResourceInsufficient.ChargeResourceExhaust"),
        ("key", "AuthFailure.SignatureFailure"),
        ("balance", "Insufficient Balance"),
        ("balance", "You exceeded your current quota (insufficient_quota)"),
        ("balance", "账户余额不足"),
        ("key", "Incorrect API key provided"),
        ("key", "API key not valid. Please pass a valid API key."),
        ("key", "无效的令牌"),
        ("model", "Model Not Exist"),
        ("model", "The model `gpt-x` does not exist or you do not have access to it."),
        ("model", "模型 x 不存在"),
    ],
)
def test_words_are_understood_and_not_mixed_up(trait: str, message: str) -> None:
    error = read_error(400, b"", {"error": {"message": message}})
    traits = {"blocked", "too_long", "balance", "key", "model"}
    assert {t for t in traits if getattr(error, t)} == {trait}


@pytest.mark.parametrize(
    ("message", "param", "refused"),
    [
        ("Unsupported value: 'temperature' does not support 0", None, "temperature"),
        ("bad", "top_p", "top_p"),
        ("body.seed: Extra inputs are not permitted", None, "seed"),
        ("temperature 参数非法", None, "temperature"),
        ("the temperature outside is 20", None, None),
        ("Unsupported parameter: 'max_tokens'", None, "max_tokens"),
        ("invalid top_p_decay", None, None),
        ("参数temperature不合法", None, "temperature"),
        ("temperature超出范围", None, "temperature"),
        ("temperature 应小于 1", None, "temperature"),
        ("seed was rejected", None, "seed"),
        ("connection refused", None, None),
    ],
)
def test_the_blamed_parameter_is_found(message: str, param: str | None, refused: str | None) -> None:
    error = read_error(400, b"", {"error": {"message": message, "param": param}})
    assert [n for n in ("temperature", "top_p", "seed", "max_tokens") if error.refuses(n)] == ([refused] if refused else [])


def test_nan_broken_surrogates_and_byte_marks_are_let_in_and_nonsense_is_none() -> None:
    assert read_json(b'{"a":[NaN]}')["a"][0] != read_json(b'{"a":[NaN]}')["a"][0]
    assert read_json(b'{"a":"\\ud800"}') == {"a": "\ud800"}
    assert read_json(b'\n\n {"a":1}') == {"a": 1}
    assert read_json(b'\xef\xbb\xbf{"a":1}') == {"a": 1}
    assert read_json(b'{"a":') is None
    assert read_json(b"[" * 100_000) is None


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        ({"error": {"code": 429, "message": "x", "metadata": {"headers": {"Retry-After": "12"}}}}, 12.0),
        ({"error": {"code": 429, "message": "x", "metadata": {"retry_after_seconds": 3}}}, 3.0),
        ({"error": {"code": 429, "message": "x", "metadata": {"headers": {"retry-after-ms": "1500"}}}}, 1.5),
        ({"error": {"message": "x", "retry_after": 7}}, 7.0),
        ({"error": {"message": "Rate limit reached for m. Please try again in 20s."}}, 20.0),
        ({"error": {"message": "Rate limit reached. Please try again in 350ms."}}, 0.35),
        ({"error": {"message": "Please retry after 6 seconds."}}, 6.0),
        ({"error": {"message": "Try again in 1.5 minutes"}}, 90.0),
        ({"error": {"message": "请求过于频繁，请 5 秒后重试"}}, 5.0),
        ({"error": {"message": "请在 2 分钟后再试"}}, 120.0),
        ({"error": {"message": "too many requests"}}, None),
        ({"error": {"message": "x", "retry_after": "soon", "metadata": None}}, None),
        ({"error": {"message": "x", "retry_after": -1}}, None),
        ({"error": {"message": "limit 500000 tokens per min"}}, None),
    ],
)
def test_the_wait_a_body_demands_is_found(body: dict, seconds: float | None) -> None:
    assert read_error(429, b"", body).after == (pytest.approx(seconds) if seconds is not None else None)
