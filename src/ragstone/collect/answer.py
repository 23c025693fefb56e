"""The answer in a response, or why there is none: told errors, error texts in its place, pages, forms, blanks. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ragstone.collect.base import Trouble
from ragstone.collect.expressions import search
from ragstone.collect.streams import Assembled
from ragstone.collect.told import MESSAGES, message_in, shown, told_error
from ragstone.collect.values import text_of, without_thinking
from ragstone.text import listing, say

if TYPE_CHECKING:
    from ragstone.collect.spec import Spec
    from ragstone.types import Language

_ERROR_TEXTS = re.compile(r"\s*(?:\*\*ERROR\*\*|\*\*错误\*\*)\s*[:：]?", re.IGNORECASE)
"""How applications begin an error text that they send in place of an answer."""
_FORM = re.compile(r"<form_rander>.*</form_rander>", re.DOTALL)
"""How MaxKB writes a form into an answer; the name is its own."""
_FILTERED = ("content_filter", "sensitive")
_FIXED_PATH = re.compile(r"[A-Za-z_]\w*(?:\[0\])?(?:\.[A-Za-z_]\w*(?:\[0\])?)*")
"""A place that a platform fixed, as opposed to one that an author chose."""
_FINE = (0, 200, "0", "200", "success", "ok")
"""Codes of applications for a good response."""
_PAGE = re.compile(r"\s*(?:<!--(?:(?!-->).)*-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL)


def answer_of(spec: Spec, body: Any, later: Sequence[Any], lang: Language) -> tuple[str | None, Trouble | None]:
    """Return the answer that stands in a row's responses, and the trouble with it."""
    for reply in (body, *later):
        if isinstance(reply, Assembled) and reply.trouble:
            return None, reply.trouble
    answer, found = _answer(spec, body, later)
    if isinstance(body, str) and (answer is None or _PAGE.match(body)):
        return None, unreadable(body, lang)
    if any(_paused(reply) for reply in (body, *later)):
        return answer, Trouble("interactive", say("mapping.interactive", lang))
    if told := _told(spec, body, later, lang):
        return answer, Trouble("platform_error", told)
    if search("choices[0].finish_reason", body) in _FILTERED:
        return answer, Trouble("blocked", say("mapping.filtered", lang))
    if spec.answer is None and not _answered_later(spec):
        return None, None
    if answer is None:
        return None, None if _awaited(spec, later) else _nothing(spec, body, found, lang)
    return answer, _bad_text(spec, body, answer, lang)


def is_page(text: str) -> bool:
    """Return whether a text is an HTML page."""
    return _PAGE.match(text) is not None


def unreadable(text: str, lang: Language) -> Trouble:
    """Return the trouble with a body that is a text where JSON was expected."""
    if is_page(text):
        title = re.search(r"<title[^>]*>([^<]*)", text[:20_000], re.IGNORECASE)
        return Trouble("login_page", say("mapping.login_page", lang, title=shown(title[1]) if title else "HTML"))
    if not text.strip():
        return Trouble("not_json", say("mapping.no_body", lang))
    return Trouble("not_json", say("mapping.not_json", lang, body=shown(text)))


def _told(spec: Spec, body: Any, later: Sequence[Any], lang: Language) -> str | None:
    if told := told_error(spec.error, body, lang):
        return told
    if spec.success is not None and not search(spec.success, body):
        return message_in(body) or say("mapping.no_success", lang, path=spec.success)
    paths = [step.error or spec.error for step in spec.then if step.per == "answer"]
    return next((told for path, reply in zip(paths, later, strict=False) if (told := told_error(path, reply, lang))), None)


def _answered_later(spec: Spec) -> bool:
    return any(step.per == "answer" and step.answer for step in spec.then)


def _awaited(spec: Spec, later: Sequence[Any]) -> bool:
    return _answered_later(spec) and not later


def _answer(spec: Spec, body: Any, later: Sequence[Any]) -> tuple[str | None, Any]:
    """The answer as a text, and what stands in its place if that is no text."""
    found = None
    for value in _candidates(spec, body, later):
        if (text := text_of(value)) is not None:
            return text, value
        found = value if value is not None else found
    return None, found


def _candidates(spec: Spec, body: Any, later: Sequence[Any]) -> Iterator[Any]:
    for path in (step.answer for step in reversed(spec.then) if step.per == "answer" and step.answer):
        for reply in reversed(later):
            if isinstance(reply, Assembled) and reply.text is not None:
                yield reply.text
            yield search(path, reply)
    if spec.answer is not None:
        if isinstance(body, Assembled) and body.text is not None:
            yield body.text
        yield search(spec.answer, body)


def _nothing(spec: Spec, body: Any, found: Any, lang: Language) -> Trouble:
    if _asks_back(body):
        return Trouble("interactive", say("mapping.interactive", lang))
    path = spec.answer or next((step.answer for step in reversed(spec.then) if step.answer), "")
    if found is not None and found != []:
        return Trouble("no_answer", say("mapping.answer_no_text", lang, path=path, kind=kind_of(found, lang)))
    if _only_tells(body) and (message := message_in(body)):
        return Trouble("platform_error", message)
    if found is None and _stands_empty(spec, body):
        return Trouble("empty_answer", say("mapping.empty_answer", lang))
    return Trouble("no_answer", say("mapping.no_answer", lang, path=path))


def _stands_empty(spec: Spec, body: Any) -> bool:
    """True where a platform's own place of the answer holds null, or a whole stream came without a piece of text."""
    if spec.platform == "custom" or "answer" in spec.own or not _FIXED_PATH.fullmatch(spec.answer or ""):
        return False
    above, _, key = (spec.answer or "").rpartition(".")
    holder = search(above, body) if above else body
    return isinstance(body, Assembled) or (isinstance(holder, dict) and key in holder)


def _only_tells(body: Any) -> bool:
    """True of a response that holds a message and a code of failure at most, so that nothing in it could be the answer."""
    if not isinstance(body, dict) or body.get("code") in _FINE:
        return False
    return not any(value and isinstance(value, dict | list) for key, value in body.items() if key not in MESSAGES)


def _bad_text(spec: Spec, body: Any, answer: str, lang: Language) -> Trouble | None:
    bare = without_thinking(answer)
    if _asks_back(body) or _FORM.search(bare):
        return Trouble("interactive", say("mapping.interactive", lang))
    if not bare.strip():
        return Trouble("empty_answer", say("mapping.empty_answer", lang))
    if _ERROR_TEXTS.match(bare) or any(re.search(pattern, bare) for pattern in spec.fail_if):
        return Trouble("error_answer", shown(bare))
    return None


def _asks_back(body: Any) -> bool:
    """FastGPT sends a form under `interactive` or as a part of the message, LangGraph interrupts; a text beside it is no answer yet."""
    if not isinstance(body, dict):
        return False
    if any(body.get(name) and isinstance(body[name], dict | list) for name in ("interactive", "__interrupt__")):
        return True
    parts = search("choices[0].message.content", body)
    return isinstance(parts, list) and any(isinstance(part, dict) and part.get("type") == "interactive" for part in parts)


def _paused(body: Any) -> bool:
    """Dify's flows pause at a node where a person has to decide, Coze's bots wait for what a tool of the caller gives."""
    if not isinstance(body, dict):
        return False
    data = body.get("data")
    status = data.get("status") if isinstance(data, dict) else body.get("status")
    dify = "workflow_run_id" in body or body.get("event") == "workflow_paused"
    return status == "requires_action" or (status == "paused" and dify)


def kind_of(value: Any, lang: Language) -> str:
    """Return what sort of JSON value something is, in words."""
    if isinstance(value, dict):
        return say("mapping.kind_object", lang, keys=keys_shown(value, lang))
    if isinstance(value, list):
        return say("mapping.kind_list", lang)
    return say("mapping.kind_text" if isinstance(value, str) else "mapping.kind_other", lang)


def keys_shown(value: dict[Any, Any], lang: Language, most: int = 12) -> str:
    """Return the keys of an object in its order, a long list cut."""
    keys = [shown(str(key), 40) for key in list(value)[: most + 1]]
    return listing([*keys[:most], "…"] if len(keys) > most else keys, lang)
