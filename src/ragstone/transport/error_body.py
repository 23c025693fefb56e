"""What an endpoint says when it refuses: error bodies of every shape seen, and what their words mean."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import orjson

from ragstone.transport.error_codes import BASE_RESP, GLM

LONGEST = 400
"""Characters of an endpoint's own words that are kept."""
_INNER = ("error", "errors", "base_resp", "Response", "Error")
_TEXTS = ("message", "msg", "error_msg", "status_msg", "Message", "detail", "error_description", "title")
_WORDS = ("code", "type", "error_code", "status_code", "Code")


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_BLOCKED = _any(
    r"content[_ -]?filter|content (management )?polic|content_?policy|data_?inspection|inappropriate|moderation|\bflagged\b",
    r"responsibleaipolicy|prohibited[_ ]content|safety (system|filter|polic|setting)|new_sensitive|sensitive[_ ]?(content|word|info)",
    r"content exists risk|risk[_ ]?(control|detection)|considered high risk|usage polic|unsafe content|illegal ?detected|illegal content",
    r"敏感|违规|违禁|不当内容|不合规|不安全内容|内容安全|内容审核|安全审核|审核(未|不)通过|未通过.{0,6}审核|风控|风险控制|涉政|涉黄",
)
_TOO_LONG = _any(
    r"context_length|context ?(length|window|size)|maximum context|exceed_context",
    r"(prompt|input|text|request)[ _](length )?(is )?too[ _](long|large)",
    r"too many (input |prompt )?tokens|range of input length|reduce the length|string_above_max|entity too large|payload too large",
    r"(input|prompt|sequence|tokens?)\b[^.\n]{0,60}\b(exceed|longer than|maximum)|(less|fewer|more) than \d+ tokens",
    r"prompt_tokens\b[^.\n]{0,40}less than|max_?(seq|model|input)_?len",
    r"(exceed|maximum|max)[^.\n]{0,40}(input|prompt|sequence|token)[^.\n]{0,20}(length|limit|count)",
    r"上下文(长度|窗口)|超[过出出长].{0,12}(长度|token|字符)|(输入|文本|内容).{0,8}(过长|太长|超长)|(文本|输入|内容|提示词?)(的)?(总)?长度.{0,4}超",
)
_BALANCE = _any(
    r"insufficient[_ -](user[_ -])?(quota|balance|credit|fund)|exceeded_current_quota|billing_(hard|not)|arrear|overdue",
    r"balance (is )?(insufficient|not enough|too low|exhausted)|out of (credit|balance)|ChargeResourceExhaust",
    r"余额|欠费|额度(不足|已用[尽完])",
)
_KEY = _any(
    r"(invalid|incorrect|missing|expired|wrong)[_ ](api|access)[_ -]?key|api[_ ]?key[_ ](not[_ ]valid|invalid|expired|not found)",
    r"invalid_authentication|authfailure|unauthori[sz]ed|authentication (fail|error)|AuthenticationError|login fail",
    r"无效的?\s*(令牌|密钥|api.?key)|身份验证|鉴权",
)
_RATE = _any(r"rate.?limit|too many requests|request_?limit_?exceeded|\b(rpm|tpm|qps)\b|throttl|频率|频繁|限流|并发|速率")
_OVERLOADED = _any(
    r"overload|EngineServerLimitExceeded|temporarily unavailable|(server|system|service) (is )?(too )?busy|loading model|繁忙|过载"
)
_MODEL = _any(
    r"model[_ ]not[_ ](found|exist)|unknown model|invalid model|unsupported model|no such model|模型.{0,20}(不存在|未找到|无效|不支持)",
    r"\bmodel\b[^.\n]{0,80}(不存在|未找到|not exist|not found|no such|unknown|is not supported|not available|no access)",
)
_REFUSED = _any(
    r"not? support|n't support|unsupported|unavailable|not available|invalid|unknown|unrecognized|unexpected|not permitted|not allowed",
    r"must |should |only |range|too (large|big|high|many|small)|deprecat|forbidden|extra |deserialize|cannot|exceed|greater|less than",
    r"at most|batch.?size",
    r"不支持|无效|非法|错误|范围|必须|不允许|不能",
)
_BLAMED = _any(r"refused|rejected|not accept|malformed", r"有误|不可|不合法|不正确|不接受|超[出过]|仅支持|只能|应[为该在小大]|大于|小于")
"""More words of a refusal, which mean one only beside the name of a parameter."""
_PARAMETER = _any(
    r"\b(temperature|top_p|seed|max_(completion_)?tokens|response_format|json_(schema|object)|reasoning_effort|encoding_format)\b",
    r"enable_thinking|thinking\.type|batch.?size",
)
_MEANT = (
    (_BALANCE, 402),
    (_KEY, 401),
    (_RATE, 429),
    (_OVERLOADED, 503),
    (_BLOCKED, 400),
    (_TOO_LONG, 400),
    (_MODEL, 404),
    (_REFUSED, 400),
)
"""What the words of an error under HTTP 200 mean; first hit wins."""
_BLOCKED_CODES = {"1301", "1026", "1027"}
"""Codes of content moderation: GLM's, and MiniMax's for the prompt and for the reply."""
_TOO_LONG_CODES = {"1261"}
"""Code of GLM for a prompt that is too long."""
_HELD = re.compile(
    r"(?:try again|retry|wait|reset)\D{0,24}?(\d+(?:\.\d+)?)\s*(ms|milliseconds?|s\b|secs?|seconds?|m\b|min(?:ute)?s?)"
    r"|(\d+(?:\.\d+)?)\s*(毫秒|秒|分钟)(?:之?后|再)",
    re.IGNORECASE,
)
_UNITS = {"ms": 0.001, "mi": 60.0, "m": 60.0, "s": 1.0, "se": 1.0, "毫秒": 0.001, "秒": 1.0, "分钟": 60.0}


@dataclass(frozen=True, slots=True)
class ApiError:
    """An error an endpoint answered with. `status` is the one meant, where HTTP 200 carries an error body."""

    status: int
    message: str
    code: str = ""
    """Code and type words, joined."""
    param: str = ""
    """The parameter the endpoint blames, if it names one in a field."""
    after: float | None = None
    """Seconds the endpoint wants to be left alone, as far as its body tells; a header may tell, too."""

    @property
    def _said(self) -> str:
        return f"{self.code} {self.param} {self.message}"

    @property
    def blocked(self) -> bool:
        """True if content moderation stopped the request."""
        return not _BLOCKED_CODES.isdisjoint(self.code.split()) or bool(_BLOCKED.search(self._said))

    @property
    def busy(self) -> bool:
        """True if the endpoint is asked too much at once."""
        return self.status in (429, 503, 529) or (self.status >= 500 and bool(_OVERLOADED.search(self._said)))

    @property
    def too_long(self) -> bool:
        """True if the request is longer than the model or the server takes."""
        return self.status in (413, 414) or self.too_long_by_code or bool(_TOO_LONG.search(self._said))

    @property
    def too_long_by_code(self) -> bool:
        """True if a code word says so, or the words of llama.cpp; some servers use a 5xx status for it."""
        coded = not _TOO_LONG_CODES.isdisjoint(self.code.split()) or bool(re.search(r"exceed_context|context_length", self.code))
        return coded or "too large to process" in self.message

    @property
    def of_parameter(self) -> bool:
        """True if the words refuse something of the request by its name: some gateways pass that on as 500 or 403."""
        return bool(self.param or _PARAMETER.search(self._said)) and bool(_REFUSED.search(self._said))

    @property
    def balance(self) -> bool:
        """True if the account has nothing left; waiting does not help."""
        return self.status == 402 or bool(_BALANCE.search(self._said))

    @property
    def key(self) -> bool:
        """True if the key is not taken."""
        return self.status in (401, 403) or bool(_KEY.search(self._said))

    @property
    def model(self) -> bool:
        """True if the model is not known there."""
        return bool(_MODEL.search(self._said))

    @property
    def unsupported(self) -> bool:
        """True if the endpoint says that something is not supported, whatever it is."""
        return bool(re.search(r"not? support|n't support|unsupported|requested parameters|不支持", self._said, re.IGNORECASE))

    def mentions(self, pattern: str) -> bool:
        """True if the error's words match `pattern`."""
        return bool(re.search(pattern, self._said, re.IGNORECASE))

    def refuses(self, name: str) -> bool:
        """True if the error blames the request parameter `name`."""
        if self.param == name or self.param.startswith(f"{name}."):
            return True
        if not self.mentions(rf"(?<![A-Za-z0-9_-]){re.escape(name)}(?![A-Za-z0-9_-])"):
            return False
        return bool(_REFUSED.search(self._said) or _BLAMED.search(self._said))


def read_json(raw: bytes) -> Any:
    """Return the value of a JSON body, None if it is none. NaN and broken surrogates, which strict JSON has not, are let in."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        try:
            return json.loads(raw.decode("utf-8-sig", "replace"))
        except (ValueError, RecursionError):
            return None


def is_page(raw: bytes) -> bool:
    """True if a body is an HTML (or XML) page instead of JSON."""
    return raw.lstrip()[:1] == b"<"


def holds_error(data: dict[str, Any]) -> bool:
    """True if a body with HTTP status 200 is an error all the same."""
    if data.get("error") or data.get("errors") or _refused_by_base(data.get("base_resp")):
        return True
    choices = data.get("choices")
    if isinstance(choices, list):
        return bool(choices and isinstance(choices[0], dict) and choices[0].get("error"))
    if isinstance(data.get("data"), list):
        return False
    return data.get("object") == "error" or any(data.get(name) for name in (*_TEXTS, "code", "error_code"))


def _refused_by_base(base: Any) -> bool:
    return isinstance(base, dict) and base.get("status_code") not in (None, 0, "0")


def read_error(status: int, raw: bytes, data: Any, scrub: Callable[[str], str] = str) -> ApiError:
    """Read the error a response holds; with HTTP status 200 the status meant is found from its code and words.

    `scrub` masks secrets. It sees the words before they are cut, or the beginning of a key could stay at the cut.
    """
    fields = _innermost(data) if isinstance(data, dict) else {}
    text = scrub(next((t for name in _TEXTS if (t := _text(fields.get(name)))), "") or _start(raw, scrub))
    code = " ".join(str(fields[name]) for name in _WORDS if isinstance(fields.get(name), str | int))
    param = fields.get("param")
    error = ApiError(status, text[:LONGEST], code, param if isinstance(param, str) else "", _after(fields, text))
    return (
        error if status >= 300 else replace(error, status=_meant(error, isinstance(data, dict) and isinstance(data.get("base_resp"), dict)))
    )


def _innermost(data: dict[str, Any]) -> dict[str, Any]:
    for name in _INNER:
        inner = data.get(name)
        inner = inner[0] if isinstance(inner, list) and inner else inner
        if isinstance(inner, dict):
            return _innermost(inner)
        if isinstance(inner, str) and inner:
            return {"message": inner, **data}
    choices = data.get("choices")  # a choice of an otherwise whole completion may be an error
    return _innermost(choices[0]) if isinstance(choices, list) and choices and isinstance(choices[0], dict) else data


def _after(fields: dict[str, Any], text: str) -> float | None:
    """The wait a body demands: in a field of its own, among headers that a router passes on, or in words."""
    metadata = fields.get("metadata")
    for held in (fields, metadata, metadata.get("headers") if isinstance(metadata, dict) else None):
        for name, value in held.items() if isinstance(held, dict) else ():
            unit = _WAITS.get(str(name).lower().replace("-", "_"))
            if unit is not None and (seconds := _seconds(value, unit)) is not None:
                return seconds
    if (said := _HELD.search(text)) is None:
        return None
    number, word = (said[1], said[2].lower()) if said[1] else (said[3], said[4])
    return float(number) * (_UNITS.get(word) or _UNITS.get(word[:2]) or 1.0)


_WAITS = {"retry_after": 1.0, "retry_after_seconds": 1.0, "retry_after_ms": 0.001}


def _seconds(value: Any, unit: float) -> float | None:
    try:
        seconds = float(value) * unit
    except (TypeError, ValueError):
        return None
    return seconds if 0 <= seconds < float("inf") else None


def _text(value: Any) -> str:
    """The words of a field: a text, or a list of what is wrong where (validation errors of FastAPI servers)."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, dict):
        return next((t for name in _TEXTS if (t := _text(value.get(name)))), "")
    if isinstance(value, list):
        return "; ".join(t for item in value if (t := _located(item)))
    return ""


def _located(item: Any) -> str:
    if not isinstance(item, dict):
        return _text(item)
    place = ".".join(str(step) for step in item.get("loc") or ())
    return f"{place}: {_text(item)}" if place else _text(item)


def _start(raw: bytes, scrub: Callable[[str], str]) -> str:
    text = scrub(raw[: 64 * LONGEST].decode("utf-8", "replace"))[: 4 * LONGEST]
    if is_page(raw):
        found = re.search(r"<title[^>]*>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
        text = found.group(1) if found else re.sub(r"<[^>]*>", " ", text)
    return " ".join(text.split())


def _meant(error: ApiError, base_resp: bool) -> int:
    for word in error.code.split():
        if not (word.isascii() and word.isdigit()):
            continue
        known = (BASE_RESP if base_resp else GLM).get(int(word), int(word))
        if 400 <= known < 600:
            return 400 if known == 429 and error.too_long else known
    said = f"{error.code} {error.message}"
    return next((status for words, status in _MEANT if words.search(said)), 500)
