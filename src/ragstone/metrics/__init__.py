"""Metrics: one file a metric, found by looking into this folder and at the entry points of `ragstone.metrics`."""

import ast
import difflib
import functools
import importlib
import inspect
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Any

from ragstone.errors import ConfigError
from ragstone.metrics.base import Metric
from ragstone.resources import read_toml
from ragstone.text import say, screen_language

PRESETS: Mapping[str, tuple[str, ...]] = {
    "fast": ("faithfulness",),
    "retrieval": ("context_precision", "context_recall"),
    "full": ("faithfulness", "answer_relevancy", "context_precision", "context_recall", "answer_correctness"),
    "monitor": ("faithfulness", "context_precision"),
}
"""Sets of metrics by name; `full` is the default."""

ENTRY_POINTS = "ragstone.metrics"


@functools.cache
def available() -> Mapping[str, type[Metric]]:
    """Return every metric class by name: those of this folder, then those other packages add."""
    ours = {cls.name: cls for cls in _shipped()}
    order, found = [*PRESETS["full"], *sorted(ours)], dict(ours)
    for point in entry_points(group=ENTRY_POINTS):
        cls = point.load()
        if not (inspect.isclass(cls) and issubclass(cls, Metric)):
            raise ConfigError(say("metrics.no_metric_class", screen_language(), point=point.name, group=ENTRY_POINTS, value=point.value))
        found.setdefault(cls.name, cls)
    return MappingProxyType(
        dict(sorted(found.items(), key=lambda item: (order.index(item[0]) if item[0] in ours else len(order), item[0])))
    )


def _shipped() -> Iterator[type[Metric]]:
    for module in pkgutil.iter_modules(__path__):
        for _, cls in inspect.getmembers(importlib.import_module(f"{__name__}.{module.name}"), inspect.isclass):
            if issubclass(cls, Metric) and not inspect.isabstract(cls) and cls.__module__.endswith(f".{module.name}"):
                yield cls


def titles() -> dict[str, str]:
    """Return the metrics by their Chinese titles, under which they may be named too."""
    return {say(f"metrics.name_{name}", "zh"): name for name in titled()}


def titled() -> tuple[str, ...]:
    """Return the metrics that have a name and a page in both languages: those of ragstone itself."""
    return tuple(read_toml("text", "metrics_short.toml"))


def split_names(text: str) -> list[str]:
    """Split "a,b(x=1,y=[1,2])" at the commas outside brackets."""
    parts, depth = [""], 0
    for char in text:
        depth += (char in "([") - (char in ")]")
        if char in ",，" and depth <= 0:
            parts.append("")
        else:
            parts[-1] += char
    return [p.strip() for p in parts if p.strip()]


def parse(text: str, defaults: Mapping[str, Mapping[str, Any]] | None = None) -> Metric:
    """Return the metric that `text` names, e.g. "answer_relevancy(strictness=1)".

    `defaults` holds run settings by metric name; a parameter in the text wins. The metric's text is `text` without blanks.
    Raises ConfigError with the nearest name for an unknown metric or parameter, and for values out of range.
    """
    name, given = _call(text)
    if name in titles():
        return parse(text.replace(name, titles()[name], 1), defaults)
    cls = available().get(name)
    if cls is None:
        raise _unknown("metric", name, available())
    known = [f.name for f in fields(cls) if f.name != "text"]
    wanted = {**(defaults or {}).get(name, {}), **given}
    for parameter in wanted:
        if parameter not in known:
            raise _unknown("parameter", parameter, known, metric=name)
    metric = cls(**{k: _hashable(v) for k, v in wanted.items()})
    return replace(metric, text="".join(text.split()) if given else name)


def _call(text: str) -> tuple[str, dict[str, Any]]:
    try:
        node = ast.parse(text.strip(), mode="eval").body
        if isinstance(node, ast.Name):
            return node.id, {}
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args:
            return node.func.id, {str(k.arg): ast.literal_eval(k.value) for k in node.keywords}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    name = text.split("(", 1)[0].strip()
    if name in available() or name in titles():
        raise ConfigError(say("metrics.unreadable", screen_language(), text=text))
    raise _unknown("metric", name, available())


def _unknown(what: str, word: str, known: Iterable[str], **where: str) -> ConfigError:
    lang, names = screen_language(), list(known)
    close = difflib.get_close_matches(word, names, 1, 0.5)
    hint = say("metrics.nearest", lang, name=close[0]) if close else ""
    hint = say("metrics.commas", lang) if len(word.split()) > 1 else hint
    listed = ", ".join(names) or say("metrics.none", lang)
    return ConfigError(say(f"metrics.unknown_{what}", lang, name=word, nearest=hint, known=listed, **where))


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
