"""Templates checked before anything is sent: unknown slots and columns, variables that are not set. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragstone.collect.expressions import mistake
from ragstone.collect.slots import DOTTED, PLAIN, body_template, slots_in
from ragstone.collect.spec import in_query
from ragstone.config.problems import nearest
from ragstone.errors import ConfigError
from ragstone.text import listing, say

if TYPE_CHECKING:
    from ragstone.collect.spec import Spec, Step
    from ragstone.types import Language

_ALWAYS = ("id", "question")
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class _Place:
    """One template of a spec."""

    setting: str
    template: Any
    secret: bool
    """True where `$env.` may stand."""
    bodies: tuple[str, ...]
    """Which of `response`, `before` and `chunk` there are when it is filled."""


@dataclass(frozen=True, slots=True)
class _Known:
    """What slots may name."""

    app: str | None
    columns: Collection[str]
    environ: Mapping[str, str] = field(repr=False)
    lang: Language


def check(spec: Spec, columns: Collection[str], environ: Mapping[str, str], lang: Language) -> None:
    """Raise one ConfigError that lists everything wrong with the templates of `spec`.

    `columns` are the names of the gold set's columns and keys of `meta`; `environ` is the environment.
    """
    problems: list[str] = []
    known = _Known(spec.app, columns, environ, lang)
    for place in _places(spec):
        template = place.template
        if place.setting.endswith("body"):
            try:
                template = body_template(template, lang)
            except ConfigError as error:
                problems.append(f"{place.setting}: {error}")
                continue
            if not place.secret and template is not None and not isinstance(template, Mapping):
                problems.append(say("mapping.body_no_query", lang, setting=place.setting))
        for name in slots_in(template):
            problems += _problems(name, place, known)
        if ".headers." in f".{place.setting}" and re.search(r"[\r\n\0]", place.template):
            problems.append(say("mapping.header_break", lang, setting=place.setting))
    if problems:
        raise ConfigError("\n".join(dict.fromkeys(problems)))


def secrets(spec: Spec, environ: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return name and value of every environment variable that the templates of `spec` use and that is set."""
    names = [name.removeprefix("env.") for name in _named(spec, "env.")]
    return tuple((name, environ[name]) for name in names if environ.get(name))


def columns_sent(spec: Spec) -> tuple[str, ...]:
    """Return the slots of `spec` that stand for a column of the row, without its id, which never changes."""
    return tuple(name for name in _named(spec, "row.") if name != "row.id")


def _named(spec: Spec, beginning: str) -> Iterator[str]:
    """The slots that begin so, each once."""
    names = (name for place in _places(spec) for name in slots_in(place.template))
    yield from dict.fromkeys(name for name in names if name.startswith(beginning))


def _places(spec: Spec) -> Iterator[_Place]:
    before = ("before",) if spec.before else ()
    yield from _of_request("", spec, before)
    if spec.before:
        yield from _of_request("before.", spec.before, ())
    for at, step in enumerate(spec.then):
        yield from _of_request(f"then[{at}].", step, (*before, "response", *(("chunk",) if step.per == "chunk" else ())))


def _of_request(prefix: str, request: Spec | Step, bodies: tuple[str, ...]) -> Iterator[_Place]:
    yield _Place(f"{prefix}path", request.path, False, bodies)
    for name, value in request.headers.items():
        yield _Place(f"{prefix}headers.{name}", value, True, bodies)
    yield _Place(f"{prefix}body", request.body, not in_query(request), bodies)


def _problems(name: str, place: _Place, known: _Known) -> Iterator[str]:
    root = re.split(r"[.\[]", name, maxsplit=1)[0]
    setting, lang, rest = place.setting, known.lang, name[len(root) :].removeprefix(".")
    if name in PLAIN:
        if name == "app" and not known.app:
            yield say("mapping.app_unset", lang, setting=setting)
    elif root == "env" and not place.secret:
        key = "mapping.env_in_query" if setting.endswith("body") else "mapping.env_in_path"
        yield say(key, lang, setting=setting, name=rest)
    elif root == "env":
        if not known.environ.get(rest):
            yield say("mapping.env_unset", lang, setting=setting, name=rest)
    elif root == "row":
        yield from _column_problem(rest, setting, known)
    elif root in ("response", "before", "chunk"):
        if root not in place.bodies:
            yield say(f"mapping.no_{root}_here", lang, setting=setting, name=name)
        elif rest and (problem := mistake(f"{setting} (${name})", rest, lang)):
            yield problem
    else:
        yield say("mapping.slot_unknown", lang, setting=setting, name=name, hint=_hint(root, (*PLAIN, *DOTTED), lang, "$"))


def _column_problem(column: str, setting: str, known: _Known) -> Iterator[str]:
    columns = list(dict.fromkeys([*_ALWAYS, *sorted(known.columns)]))
    if column in columns or column.split(".")[0] in (*columns, "meta"):
        return
    shown = listing([*columns[:_SHOWN], "…"] if len(columns) > _SHOWN else columns, known.lang)
    hint = _hint(column, columns, known.lang)
    yield say("mapping.column_unknown", known.lang, setting=setting, name=column, hint=hint, known=shown)


def _hint(name: str, known: Collection[str], lang: Language, sign: str = "") -> str:
    folded = {other.lower(): other for other in known}
    near = nearest(name, list(folded))
    return say("mapping.did_you_mean", lang, name=sign + folded[near]) if near else ""
