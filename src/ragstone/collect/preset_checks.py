"""What must hold before an application is asked: everything it needs is given, and every pattern can be used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import orjson

from ragstone.collect.patterns import mistake
from ragstone.errors import ConfigError
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.collect.preset import Preset
    from ragstone.collect.spec import Spec
    from ragstone.types import Language

_QUESTION = re.compile(r"\$\{?(?:question|history|row\.)")
_APP = re.compile(r"\$\{?app\b")


def check_spec(spec: Spec, known: Preset | None, lang: Language) -> None:
    """Raise one ConfigError that tells everything that is missing or unusable."""
    problems = [*_missing(spec, known, lang), *_patterns(spec, lang)]
    if problems:
        raise ConfigError("\n".join(problems))


def _missing(spec: Spec, known: Preset | None, lang: Language) -> Iterator[str]:
    sent = _sent(spec)
    if not spec.url:
        example = known.example_url if known else "https://rag.example.com"
        yield say("platforms.no_url", lang, platform=spec.platform, example=example)
    if known and spec.app is None and _APP.search(sent):
        yield say("platforms.no_app", lang, platform=known.name, what=app_of(known.name, lang))
    elif spec.app is None and _APP.search(sent):
        yield say("platforms.no_app_custom", lang)
    body = spec.body if isinstance(spec.body, dict) else {}
    for name in known.needs if known else ():
        if body.get(name, True) in ("", None):  # a place left blank in the settings file that was written for the platform
            yield say("platforms.no_body_key", lang, platform=spec.platform, name=name)
    if spec.answer is None and spec.contexts is None and not any(step.answer or step.contexts for step in spec.then):
        yield say("platforms.no_answer", lang, platform=spec.platform)
    for number, step in enumerate(spec.then, 1):
        if step.per == "chunk" and step.text is None:
            yield say("platforms.no_chunk_text", lang, number=number)
    if not _QUESTION.search(sent):
        yield say("platforms.no_question", lang, platform=spec.platform)


def app_of(platform: str, lang: Language) -> str:
    """Return what `app` is for a platform."""
    return say(f"platforms.app_{platform.replace('-', '_')}", lang)


def needs_app(known: Preset) -> bool:
    """True if a platform's own request names an app."""
    return _APP.search(orjson.dumps(dict(known.fields), default=str).decode()) is not None


def _sent(spec: Spec) -> str:
    """All templates of requests as one text."""
    steps = [*([spec.before] if spec.before else ()), *spec.then]
    parts: list[Any] = [spec.path, spec.headers, spec.body, *([step.path, step.headers, step.body] for step in steps)]
    return orjson.dumps(parts, default=str, option=orjson.OPT_NON_STR_KEYS).decode()


def _patterns(spec: Spec, lang: Language) -> Iterator[str]:
    for name in ("strip", "strip_context", "fail_if"):
        for pattern in getattr(spec, name) if name in spec.own else ():
            if problem := mistake(pattern, lang):
                shown = pattern if len(pattern) <= 60 else pattern[:59] + "…"
                yield say("platforms.pattern", lang, name=name, pattern=shown, problem=problem)
