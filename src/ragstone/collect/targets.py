"""Which way an object of this process is asked: a function, a LangChain Runnable, a LlamaIndex engine, each known by its shape."""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any
from uuid import uuid4

from ragstone.collect.calling import CallApplication, Way
from ragstone.collect.named import Named
from ragstone.collect.own_secrets import own_keys
from ragstone.collect.result import COUNTED
from ragstone.collect.returned import kind_of
from ragstone.collect.signature import columns_of, unjudged, wanted
from ragstone.errors import ConfigError
from ragstone.reading.columns import ALIASES
from ragstone.text import listing, say
from ragstone.types import Language, Sample

_QUESTIONS = ("question", *ALIASES["question"], "prompt", "message")
_COMMON = ("question", "input", "query")
_TURNS = ("chat_history", "history")


def application_of(
    target: object, *, concurrency: int, timeout: float, retries: int, lang: Language, environ: Mapping[str, str] = MappingProxyType({})
) -> CallApplication:
    """Return the application that asks `target`.

    In this order it is: something with `invoke` or `ainvoke` (LangChain: `ainvoke` if there is one); a callable; something with `query`,
    `chat` or `retrieve` (LlamaIndex). A chat engine is reset before every row and asked one row at a time.

    A Runnable is given what its input schema asks for: an object with the question under the property named like it, or the only one; an
    object of unknown properties gets the row, with the question under `question`, `input` and `query`; else the bare question.

    Args:
        target: a function or object, or what `from_name` found.
        concurrency: rows asked at a time.
        timeout: seconds one try of a row may take.
        retries: further tries after passing trouble.
        lang: language of messages.
        environ: where the secrets stand that `target` must not tell: not in its exceptions, not in what it returns.

    Raises:
        ConfigError: nothing of `target` can be asked, or it takes no question.
    """
    named = target if isinstance(target, Named) else Named(target, _name_of(target), _code_of(target))
    kind, way = _way(named.target, named.name, lang)
    asked = {"platform": "call", "call": named.name, "as": kind, "code": named.code}
    return CallApplication(way, asked, concurrency=concurrency, timeout=timeout, retries=retries, lang=lang, keys=own_keys(environ))


def _way(target: Any, name: str, lang: Language) -> tuple[str, Way]:
    if _can(target, "invoke") or _can(target, "ainvoke"):
        return "invoke", _runnable(target, name, lang)
    if callable(target):
        return "call", _function(target, name, lang)
    for method, asynchronous in (("query", "aquery"), ("chat", "achat"), ("retrieve", "aretrieve")):
        if _can(target, method) or _can(target, asynchronous):
            return method, _engine(target, method, asynchronous)
    raise ConfigError(say("calling.not_callable", lang, name=name, kind=kind_of(target)))


def _can(target: Any, method: str) -> bool:
    return not isinstance(target, type) and callable(getattr(target, method, None))


def _function(target: Callable[..., Any], name: str, lang: Language) -> Way:
    plan = wanted(target, name, lang)

    def call(gold: Sample) -> Any:
        positional, by_name = plan.arguments(gold, lang)
        return target(*positional, **by_name)

    return Way(call, threaded=not _asynchronous(target), uses=plan.used)


def _asynchronous(target: Any) -> bool:
    while isinstance(target, functools.partial):
        target = target.func
    inner = target if inspect.isroutine(target) else type(target).__call__
    return inspect.iscoroutinefunction(inner) or inspect.isasyncgenfunction(inner)


# ------------------------------------------------------------------ LlamaIndex
def _engine(target: Any, method: str, asynchronous: str) -> Way:
    # the blocking method in a thread: many engines' asynchronous one blocks the loop
    threaded = _can(target, method)
    function = getattr(target, method if threaded else asynchronous)
    if method != "chat":
        return Way(lambda gold: function(gold.question or ""), threaded)

    def call(gold: Sample) -> Any:
        if _can(target, "reset"):
            target.reset()
        return function(gold.question or "")

    return Way(call, threaded, alone=True)


# ------------------------------------------------------------------ LangChain
def _runnable(target: Any, name: str, lang: Language) -> Way:
    threaded = not _can(target, "ainvoke")
    function: Callable[..., Any] = target.invoke if threaded else target.ainvoke
    keys = _input_keys(target)
    configured = "config" in _parameters(function)

    def call(gold: Sample) -> Awaitable[Any] | Any:
        # a new thread or session a row, so that no history leaks where the chain keeps one
        config = {"config": {"configurable": {"thread_id": (new := str(uuid4())), "session_id": new}}} if configured else {}
        return function(_input(keys, gold, name, lang), **config)

    if keys is None:
        return Way(call, threaded)
    if keys:
        _question_key(keys, name, lang)
    return Way(call, threaded, uses=lambda gold: _input(keys, gold, name, lang) if keys else unjudged(_input(keys, gold, name, lang)))


def _parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}


def _input_keys(target: Any) -> list[str] | None:
    """Return the properties of the object that a Runnable takes, [] if it names none, None if it takes no object or does not say."""
    try:
        schema = target.get_input_schema() if _can(target, "get_input_schema") else getattr(target, "input_schema", None)
        described = schema.model_json_schema() if schema is not None else {}
    except Exception:  # a schema that cannot be made says as much as none
        return None
    properties = described.get("properties")
    names = list(properties) if isinstance(properties, Mapping) else []
    if names == ["root"]:  # of RunnablePassthrough.assign
        return []
    return names or ([] if described.get("type") == "object" else None)


def _question_key(keys: list[str], name: str, lang: Language) -> str:
    if len(keys) == 1:
        return keys[0]
    found = next((key for key in _QUESTIONS if key in keys), "messages" if "messages" in keys else None)
    if found is None:
        raise ConfigError(say("calling.input_keys", lang, name=name, keys=listing(keys, lang)))
    return found


def _input(keys: list[str] | None, gold: Sample, name: str, lang: Language) -> Any:
    question = gold.question or ""
    if keys is None:
        return question
    columns = columns_of(gold)
    if not keys:
        # a chain that hands its input on would give the gold set's own answer and contexts back as its own
        return {name: value for name, value in columns.items() if name not in COUNTED} | dict.fromkeys(_COMMON, question)
    key = _question_key(keys, name, lang)
    given = {other: columns[other] for other in keys if other in columns}
    turns: dict[str, Any] = {other: list(gold.history or ()) for other in keys if other in _TURNS}
    asked = [{"role": "user", "content": question}] if key == "messages" else question
    return {**given, **turns, key: asked}


# ------------------------------------------------------------------ names
def _name_of(target: object) -> str:
    inner = target.func if isinstance(target, functools.partial) else target
    named = inner if hasattr(inner, "__qualname__") else type(inner)
    return f"{getattr(named, '__module__', None) or ''}:{getattr(named, '__qualname__', '')}"


def _code_of(target: object) -> str | None:
    """Return the hash of the file that a target's code stands in (of its own text where it stands in none), None if it has neither."""
    inner: Any = target.func if isinstance(target, functools.partial) else target
    named = inner if inspect.isroutine(inner) else type(inner)
    try:
        source = Path(inspect.getsourcefile(named) or "")
        content = source.read_text(encoding="utf-8") if source.is_file() else inspect.getsource(named)
    except (OSError, TypeError, ValueError):
        return None
    return hashlib.sha256(content.encode()).hexdigest()[:16]
