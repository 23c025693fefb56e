"""Why an expression of a mapping finds nothing in responses that are good otherwise. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragstone.collect.expressions import computed, found, search, tree_of
from ragstone.collect.told import shown
from ragstone.config.problems import nearest
from ragstone.text import listing, say

if TYPE_CHECKING:
    from ragstone.collect.spec import Spec
    from ragstone.types import Language

_KEYS_SHOWN = 15
_CALLS = ("function_expression", "comparator", "or_expression", "and_expression", "not_expression")


@dataclass(frozen=True, slots=True)
class Misfit:
    """An expression that finds nothing in any of several responses."""

    text: str
    certain: bool
    """False where it may be right all the same: an application that has retrieved nothing may leave its chunks out altogether."""


def misfit(spec: Spec, bodies: Sequence[Any], lang: Language) -> Misfit | None:
    """Return what is wrong with the mapping if an expression of it finds nothing in any of these parsed responses, else None.

    `answer` is always looked at unless a later step gives it, `contexts` and `context_text` where the user gave them.
    """
    later = [step for step in spec.then if step.per == "answer"]
    if spec.answer is not None and not any(step.answer for step in later):
        texts = [getattr(body, "text", None) for body in bodies]
        if all(text is None for text in texts) and (told := _nowhere("answer", spec.answer, bodies, lang)):
            return told
    if spec.contexts is None or any(step.contexts for step in later):
        return None
    if "contexts" in spec.own and (told := _nowhere("contexts", spec.contexts, bodies, lang)):
        return told
    fetched = any(step.per == "chunk" for step in spec.then)
    if "context_text" in spec.own and spec.context_text is not None and not fetched:
        chunks = [chunk for body in bodies for chunk in _listed(search(spec.contexts, body))]
        return _nowhere("context_text", spec.context_text, chunks, lang, say("mapping.misfit_chunk", lang))
    return None


_OF_CHUNK = ("context_id", "context_score", "context_source")


def missing(spec: Spec, bodies: Sequence[Any], lang: Language) -> tuple[str, ...]:
    """Tell the user's own settings that are not needed but find nothing in these parsed responses, or in none of their chunks."""
    return tuple(text for setting, path, places, top in _optional(spec, bodies, lang) if (text := _none(setting, path, places, top, lang)))


def unseen(spec: Spec, bodies: Sequence[Any]) -> bool:
    """True if one of those settings has found nothing yet, also for want of chunks."""
    return any(all(search(path, place) is None for place in places) for _, path, places, _ in _optional(spec, bodies, "en"))


def _optional(spec: Spec, bodies: Sequence[Any], lang: Language) -> Iterator[tuple[str, str, Sequence[Any], str | None]]:
    later = [step for step in spec.then if step.per == "answer"]
    if spec.contexts is not None and not any(step.contexts for step in later):
        chunks = [chunk for body in bodies for chunk in _listed(search(spec.contexts, body))]
        for setting in _OF_CHUNK:
            if setting in spec.own and (path := getattr(spec, setting)):
                yield setting, path, chunks, say("mapping.misfit_chunk", lang)
    if "usage" in spec.own and spec.usage and not later:
        yield "usage", spec.usage, bodies, None


def _none(setting: str, path: str, places: Sequence[Any], top: str | None, lang: Language) -> str | None:
    told = _nowhere(setting, path, places, lang, top)
    return None if told is None else say("mapping.misfit_left_out", lang, misfit=told.text)


def _listed(value: Any) -> list[Any]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _nowhere(setting: str, path: str, bodies: Sequence[Any], lang: Language, top: str | None = None) -> Misfit | None:
    """Why `path` finds nothing in any of `bodies`, each a `top`; None if it finds something in one, or there are none."""
    reached = [place for body in bodies for place in _missed(tree_of(path), body)]
    if not bodies or any(_finds(setting, path, body) for body in bodies):
        return None
    if not reached:
        reason = next((why for body in bodies if (why := found(path, body)[1])), None)
        place = say("mapping.misfit_failed", lang, reason=shown(reason)) if reason else _place("", bodies[0], None, lang, top)
        wrong = reason is not None
    else:
        at, value, field = max(reached, key=_telling)
        place, wrong = _place(at, value, field, lang, top), _like(field, value) is not None or (isinstance(value, list) and bool(value))
    if setting == "contexts" and any(isinstance(value, dict) and field in value for _, value, field in reached):
        return None  # the place is there, and the application says itself that it tells nothing
    if wrong or setting != "contexts":
        return Misfit(say("mapping.misfit", lang, setting=setting, path=path, place=place), certain=True)
    return Misfit(say("mapping.misfit_unsure", lang, path=path, place=place, count=len(bodies)), certain=False)


def _finds(setting: str, path: str, body: Any) -> bool:
    """True if there is a value. An answer looked for through a list is nowhere, too, if no item has it: [], or "" when joined."""
    value = search(path, body)
    if setting != "answer" or (value != [] and value != ""):
        return value is not None
    return not any("[]" in at for at, _, _ in _missed(tree_of(path), body))


def _telling(missed: Missed) -> tuple[int, bool, bool]:
    """The deeper the place the more it tells, and a key that is nearly right tells most there."""
    at, value, field = missed
    return at.count(".") + bool(at), isinstance(value, dict), _like(field, value) is not None


def _like(field: str, value: Any) -> str | None:
    """The key of an object that is nearly a field it lacks."""
    if not isinstance(value, dict) or field in value:
        return None
    folded = {str(key).lower(): str(key) for key in value}
    near = nearest(field, list(folded))
    return folded[near] if near else None


Missed = tuple[str, Any, str]
"""The place reached, the value there, and the field it lacks."""


def _missed(node: Mapping[str, Any], value: Any, at: str = "") -> list[Missed]:
    """Where the fields of an expression lead to nothing, in one response."""
    return list(_walk(node, value, at))[:200]


def _walk(node: Mapping[str, Any], value: Any, at: str) -> Iterator[Missed]:
    kind, children = node["type"], node.get("children", [])
    if kind == "field":
        if not isinstance(value, dict) or value.get(node["value"]) is None:
            yield at, value, node["value"]
    elif kind == "index":
        if not isinstance(value, list) or not -len(value) <= node["value"] < len(value):
            yield at, value, f"[{node['value']}]"
    elif kind in ("subexpression", "index_expression", "pipe"):
        yield from _chain(children, value, at)
    elif kind in ("projection", "value_projection", "filter_projection"):
        if not computed(node, value):  # else an item has what is looked for
            yield from _projected(children, value, at)
    elif kind == "flatten":
        yield from _walk(children[0], value, at)
    elif kind in _CALLS:
        for child in children:
            yield from _walk(child, value, at)


def _chain(children: Sequence[Mapping[str, Any]], value: Any, at: str) -> Iterator[Missed]:
    for child in children:
        missed = list(_walk(child, value, at))
        if missed:
            yield from missed
            return
        value, at = computed(child, value), _further(at, child)
        if value is None:
            return


def _projected(children: Sequence[Mapping[str, Any]], value: Any, at: str) -> Iterator[Missed]:
    left, right = children[0], children[1]
    missed = list(_walk(left, value, at))
    if missed:
        yield from missed
        return
    items = computed(left, value)
    place = f"{_further(at, left)}[]"
    for item in list(items)[:20] if isinstance(items, list) else ():
        yield from _walk(right, item, place)


def _further(at: str, node: Mapping[str, Any]) -> str:
    """The place after a step of an expression, as a person would write it."""
    kind, children = node["type"], node.get("children", [])
    if kind == "field":
        return f"{at}.{node['value']}".removeprefix(".")
    if kind == "index":
        return f"{at}[{node['value']}]"
    if kind in ("subexpression", "index_expression", "flatten", "pipe"):
        for child in children:
            at = _further(at, child)
        return at
    if kind in ("projection", "value_projection", "filter_projection"):
        return f"{_further(at, children[0])}[]"
    return at


def _place(at: str, value: Any, field: str | None, lang: Language, top: str | None) -> str:
    where = say("mapping.misfit_at", lang, at=at) if at else top or say("mapping.misfit_top", lang)
    if isinstance(value, list):
        short = field is not None and field.startswith("[")
        return say("mapping.misfit_short" if short else "mapping.misfit_list", lang, where=where, count=len(value))
    if not isinstance(value, dict):
        return say("mapping.misfit_value", lang, where=where, value=shown(str(value), 80))
    names = [shown(str(key), 40) for key in value]
    listed = listing([*names[:_KEYS_SHOWN], "…"] if len(names) > _KEYS_SHOWN else names, lang)
    if field is not None and field in value:
        return say("mapping.misfit_null", lang, where=where, field=field, keys=listed)
    near = None if field is None else _like(field, value)
    hint = say("mapping.did_you_mean", lang, name=shown(near, 40)) if near else ""
    return say("mapping.misfit_keys", lang, where=where, keys=listed or "-", hint=hint)
