"""What an answer of a RAG application means: its HTTP status, and what its body says whatever the status is. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ragstone.collect.base import Trouble
from ragstone.collect.signs import APP, BUSY, KEY, LOGIN, PASSING, QUOTA, RATE
from ragstone.collect.told import shown
from ragstone.text import say
from ragstone.transport.answer import Answer
from ragstone.transport.error_body import ApiError, is_page, read_error
from ragstone.transport.retry import demanded, retry_after

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragstone.collect.spec import Spec
    from ragstone.types import Language

_STATUS_WORDS = {408: "timeout", 429: "rate_limited", 502: "bad_gateway", 503: "bad_gateway", 504: "bad_gateway"}
_GATEWAY = (502, 503, 504)
"""Statuses of what stands before an application; its words tell nothing about key or app."""
_CODE_WORDS = {"401": "key", "403": "key", "514": "key", "109": "key", "402": "quota", "404": "app", "405": "app"}
"""Numbers that stand in a body's `code`: those of HTTP, 514 of FastGPT, 109 of RAGFlow."""
_FINE_WORDS = ("成功", "success", "Success")
"""What MaxKB says beside the error text of a model that failed."""
_REFINED = frozenset({"platform_error", "no_answer", "not_json", "broken_stream"})
"""Troubles found in a whole answer that may be a refusal told in its body."""


@dataclass(frozen=True, slots=True)
class Meant:
    """What follows an answer that is no good one."""

    trouble: Trouble
    then: Literal["fail", "wait", "stop"] = "fail"
    """`wait`: waiting may cure it. `stop`: every further row would meet it, as the status says."""
    after: float | None = None
    """Seconds the server demands to be left alone."""
    busy: bool = False
    status: int = 0


class Meaning:
    """Says what is meant by the answers of one application, whose own codes and words stand in its spec."""

    def __init__(self, spec: Spec, lang: Language, scrub: Callable[[str], str]) -> None:
        self._spec, self._lang, self._scrub = spec, lang, scrub

    def refused(self, answer: Answer, data: Any, *, answered: bool) -> Meant:
        """Say what an answer with another status than 2xx means; `answered` = some row has got a good answer."""
        status = answer.status
        if 300 <= status < 400:
            return self._redirect(answer, answered=answered)
        error = read_error(status, answer.raw, data, self._scrub)
        code, said = codes(data), spoken(data, error)
        word = self._told(code, said, error)
        if self._again(status, code):
            return self._waiting(error, answer, said, code)
        if status in (401, 402, 403) and not (error.blocked and status != 401):
            word = "quota" if status == 402 else word or "key"
            return Meant(self._trouble(word, said, status, code), "stop", status=status)
        if status in (404, 405, 410, 501):
            return Meant(self._trouble(word or "app", said, status, code), "fail" if answered else "stop", status=status)
        if word and not (status == 429 and word in ("key", "app")):
            return Meant(self._trouble(word, said, status, code), status=status)
        if status == 500 and error.blocked and isinstance(data, dict):  # FastGPT sends every error with 500
            return Meant(self._trouble("blocked", said, status, code), status=status)
        if status in (408, 409, 425, 429) or status >= 500:
            return self._waiting(error, answer, said, code)
        return Meant(self._trouble("blocked" if error.blocked else "refused", said, status, code), status=status)

    def whole(self, answer: Answer, data: Any, found: Trouble) -> Meant:
        """Say what trouble with a whole answer (2xx) means: the row's own, or a refusal that is told in the body."""
        if found.word == "not_json" and is_page(answer.raw) and LOGIN.search(answer.raw[:20_000].decode("utf-8", "replace")):
            return Meant(Trouble("login_page", found.message))
        if found.word not in _REFINED:
            return Meant(found)
        code = codes(data)
        error = read_error(answer.status, answer.raw, data, self._scrub) if isinstance(data, dict) else ApiError(0, found.message)
        said = found.message if found.word in ("platform_error", "broken_stream") else spoken(data, error)
        if found.word != "platform_error" and not (isinstance(data, dict) and envelope(data)):
            return Meant(found)
        word = self._told(code, said, error)
        if word:
            return Meant(self._trouble(word, said, 0, code))
        if error.blocked:
            return Meant(self._trouble("blocked", said, 0, code))
        if self._again(0, code) or code in ("429", "502", "503", "504") or RATE.search(f"{code} {said}") or BUSY.search(said):
            return self._waiting(error, answer, said, code)
        return Meant(self._trouble("platform_error", said, 0, code))

    def _redirect(self, answer: Answer, *, answered: bool) -> Meant:
        where = answer.headers.get("Location", "")
        if LOGIN.search(where):
            message = self._scrub(say("asking.login_redirect", self._lang, status=answer.status, target=answer.target))
            return Meant(Trouble("login_page", message), status=answer.status)
        message = self._scrub(say("asking.redirect", self._lang, status=answer.status, target=answer.target))
        return Meant(Trouble("app", message), "fail" if answered else "stop", status=answer.status)

    def _told(self, code: str, said: str, error: ApiError) -> str | None:
        """The word of a refusal that every row would meet, by the body's code and words."""
        both = f"{code} {said}"
        for word, pattern in (("key", self._spec.key_pattern), ("app", self._spec.app_pattern)):
            if pattern and re.search(pattern, both, re.IGNORECASE):
                return word
        if _is_quota(code, error) or QUOTA.search(both):
            return "quota" if error.status != 429 or _is_quota(code, error) or error.balance else None
        if error.status in _GATEWAY:
            return None
        if KEY.search(both):
            return "key"
        if APP.search(both) and not (error.status >= 500 and PASSING.search(both)):
            return "app"
        return next((_CODE_WORDS[part] for part in code.split() if part in _CODE_WORDS), None)

    def _again(self, status: int, code: str) -> bool:
        """True if the settings want this status, or this code of the body, to be asked again."""
        return status in self._spec.retry or any(part.isdigit() and int(part) in self._spec.retry for part in code.split())

    def _waiting(self, error: ApiError, answer: Answer, said: str, code: str) -> Meant:
        status = answer.status if answer.status >= 400 else int(first) if (first := code.partition(" ")[0]).isdigit() else 500
        word = _STATUS_WORDS.get(status, "server_error")
        if 520 <= status < 530 or (is_page(answer.raw) and status >= 500):
            word = "bad_gateway"
        if answer.status < 400 and status not in _STATUS_WORDS:
            word = "rate_limited" if RATE.search(f"{code} {said}") else "platform_error"
        busy = error.busy or word == "rate_limited" or bool(BUSY.search(said))
        after = demanded(answer.headers, error.message, error.after) if busy else retry_after(answer.headers)
        return Meant(self._trouble(word, said, answer.status, code), "wait", after, busy, answer.status)

    def _trouble(self, word: str, said: str, status: int, code: str) -> Trouble:
        told = [f"HTTP {status}"] if status >= 300 else []
        told += [say("asking.code", self._lang, code=code)] if code and code != str(status) else []
        said = said or say("asking.nothing_said", self._lang)
        message = say("asking.told", self._lang, said=said, place=("，" if self._lang == "zh" else ", ").join(told)) if told else said
        return Trouble(word, self._scrub(message))  # as a whole: a code, too, may hold what a server repeats


def _is_quota(code: str, error: ApiError) -> bool:
    # at the top of a body `rate_limit_error` is Dify's word for a plan that is used up; nested under `error` it means too many at once
    return error.status == 402 or "rate_limit_error" in code.split() or "quota_exceeded" in code


def codes(data: Any) -> str:
    """Return the codes at the top of a body and in its `error`: numbers and words, joined by blanks. 0 and 200 are none."""
    if not isinstance(data, dict):
        return ""
    inner = data.get("error")
    given = [data.get("code"), data.get("error_code"), data.get("statusText"), inner.get("code") if isinstance(inner, dict) else None]
    words = [str(value).strip() for value in given if isinstance(value, str | int) and not isinstance(value, bool)]
    return " ".join(dict.fromkeys(word for word in words if word and word not in ("0", "200") and len(word) <= 60))


def spoken(data: Any, error: ApiError) -> str:
    """Return what an error body says in words; its status text where the message is blank."""
    if isinstance(data, dict) and not any(data.get(name) for name in ("message", "msg", "detail", "error", "errors")):
        return str(data.get("statusText") or "") or error.message
    inner = data.get("data") if isinstance(data, dict) and data.get("message") in _FINE_WORDS else None
    told = inner.get("content") if isinstance(inner, dict) else None
    return shown(told) if isinstance(told, str) and told else error.message


def envelope(data: Mapping[str, Any]) -> bool:
    """Return whether a body has the look of an error: a code that is no success, or an error, and no content."""
    if data.get("error") or data.get("detail") or data.get("type") == "abort":
        return True
    return bool(codes(data)) and any(name in data for name in ("message", "msg", "statusText"))
