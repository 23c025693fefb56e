"""Which columns of a gold row a Python function is called with, by the names of its parameters. Pure."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from ragstone.errors import ConfigError
from ragstone.reading.columns import ALIASES
from ragstone.text import listing, say
from ragstone.types import Language, Sample

_COLUMN = {name: field for field, names in ALIASES.items() for name in (field, *names)}
_QUESTIONS = ("question", *ALIASES["question"])
_JUDGED = frozenset(
    {"reference", "reference_points", "reference_alternatives", "reference_contexts", "reference_context_ids", "expected_behavior"}
)
_EMPTY = inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class Wanted:
    """The parameters of a function and what each is given.

    `row` gets the whole gold row as a dict; a parameter named like a column gets that column; and if neither `row` nor the question is
    among them, the first parameter that no column is named after gets the question.
    """

    name: str
    """The function, for messages."""
    positional: tuple[inspect.Parameter, ...]
    by_name: tuple[inspect.Parameter, ...]
    question: str | None
    """The parameter that gets the question."""

    def arguments(self, gold: Sample, lang: Language) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments for a row.

        Raises:
            ConfigError: a parameter without a default value that the row has no column for.
        """
        columns = columns_of(gold)
        one_by_one = [self._value(parameter, gold, columns, lang) for parameter in self.positional]
        named = {p.name: self._value(p, gold, columns, lang) for p in self.by_name if p.default is _EMPTY or _has(p.name, columns)}
        return one_by_one, named

    def used(self, gold: Sample) -> dict[str, Any]:
        """Return what the function is given of a row besides the question, by parameter.

        A function that takes the whole row is not taken to answer by what only judges need: to mend a reference asks nothing again.
        """
        columns, names = columns_of(gold), [p.name for p in (*self.positional, *self.by_name) if p.name != self.question]
        given = {name: columns.get(name, columns.get(_COLUMN.get(name, ""))) for name in names if _has(name, columns)}
        return given | ({"row": unjudged(columns)} if "row" in names else {})

    def _value(self, parameter: inspect.Parameter, gold: Sample, columns: Mapping[str, Any], lang: Language) -> Any:
        if parameter.name == self.question:
            return gold.question or ""
        if parameter.name == "row":
            return dict(columns)
        if _has(parameter.name, columns):
            return columns.get(parameter.name, columns.get(_COLUMN.get(parameter.name, "")))
        if parameter.default is not _EMPTY:
            return parameter.default
        if parameter.name in _COLUMN:
            return None
        raise ConfigError(_unknown(self.name, parameter.name, columns, lang))


def wanted(function: Callable[..., Any], name: str, lang: Language) -> Wanted:
    """Return what a function is to be called with; one without a signature that can be read gets the question.

    Raises:
        ConfigError: it takes no argument.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = [inspect.Parameter("question", inspect.Parameter.POSITIONAL_ONLY)]
    plain = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    by_name = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    if not plain and not by_name and any(p.kind is p.VAR_POSITIONAL for p in parameters):
        plain = [inspect.Parameter("question", inspect.Parameter.POSITIONAL_ONLY)]
    if not plain and not by_name:
        raise ConfigError(say("calling.takes_nothing", lang, name=name))
    question = _question([*plain, *by_name])
    count = next((at for at, p in reversed(list(enumerate(plain, 1))) if p.kind is p.POSITIONAL_ONLY or p.name == question), 0)
    return Wanted(name, tuple(plain[:count]), (*plain[count:], *by_name), question)


def _question(parameters: list[inspect.Parameter]) -> str | None:
    named = next((p.name for p in parameters if p.name in _QUESTIONS), None)
    if named is not None or any(p.name == "row" for p in parameters):
        return named
    return next((p.name for p in parameters if p.name not in _COLUMN), None)


def columns_of(gold: Sample) -> dict[str, Any]:
    """Return the columns of a gold row by name, those of `meta` beside the others."""
    return {**gold.meta, **gold.to_dict()}


def unjudged(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns of a gold row without those that only judging reads."""
    return {name: value for name, value in columns.items() if name not in _JUDGED}


def _has(name: str, columns: Mapping[str, Any]) -> bool:
    return name in columns or _COLUMN.get(name) in columns


def _unknown(function: str, parameter: str, columns: Mapping[str, Any], lang: Language) -> str:
    text = say("calling.no_column", lang, name=function, parameter=parameter, columns=listing(sorted(columns), lang))
    near = get_close_matches(parameter, list(columns), n=1, cutoff=0.6)
    return text + say("calling.nearest", lang, name=near[0]) if near else text
