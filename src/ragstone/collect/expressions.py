"""JMESPath expressions of a mapping: compiled with errors that name the setting, searched without ever raising. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from jmespath import exceptions
from jmespath.functions import Functions
from jmespath.parser import ParsedResult, Parser
from jmespath.visitor import TreeInterpreter

from ragstone.config.problems import nearest
from ragstone.errors import ConfigError
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.collect.spec import Spec
    from ragstone.types import Language

_FIELDS = (
    *("answer", "contexts", "context_id", "context_text", "context_score", "context_source"),
    *("error", "usage", "replace", "success"),
)
_STEP_FIELDS = ("text", "answer", "contexts", "error", "until")


@lru_cache(maxsize=1024)
def _parsed(path: str) -> ParsedResult:
    return Parser().parse(path)


def tree_of(path: str) -> Mapping[str, Any]:
    """Return the syntax tree of an expression that was checked."""
    return _parsed(path).parsed


def found(path: str, body: Any) -> tuple[Any, str | None]:
    """Return what `path` finds in `body` (None = nothing), and why it could not be computed there, or None."""
    try:
        return _parsed(path).search(body), None
    except Exception as error:  # the library lets Python's own errors through, and no response may end the run
        return None, str(error) or type(error).__name__


def computed(node: Any, body: Any) -> Any:
    """Return what a part of a syntax tree finds in `body`, None if it finds nothing or cannot be computed there."""
    try:
        return TreeInterpreter().visit(node, body)
    except Exception:  # as above
        return None


def search(path: str, body: Any) -> Any:
    """Return what `path` finds in `body`, None if it finds nothing or cannot be computed there. Never raises."""
    return found(path, body)[0]


def expressions(spec: Spec) -> Iterator[tuple[str, str]]:
    """Yield every expression of `spec` with the setting that holds it."""
    for name in _FIELDS:
        if (path := getattr(spec, name)) is not None:
            yield name, path
    for place, step in (("before", spec.before), *((f"then[{at}]", step) for at, step in enumerate(spec.then))):
        for name in _STEP_FIELDS if step else ():
            if (path := getattr(step, name)) is not None:
                yield f"{place}.{name}", path


def check(spec: Spec, lang: Language) -> None:
    """Raise one ConfigError that tells every expression of `spec` that is no JMESPath, with the place."""
    problems = [problem for setting, path in expressions(spec) if (problem := mistake(setting, path, lang))]
    if problems:
        raise ConfigError("\n".join(problems))


def mistake(setting: str, path: str, lang: Language) -> str | None:
    """Return what is wrong with an expression, or None."""
    try:
        tree = tree_of(path)
    except exceptions.EmptyExpressionError:
        return say("mapping.path_empty", lang, setting=setting)
    except exceptions.IncompleteExpressionError:
        return say("mapping.path_incomplete", lang, setting=setting, path=path)
    except (exceptions.ParseError, exceptions.LexerError) as error:
        place = getattr(error, "lex_position", None)
        at = 1 + (place if place is not None else getattr(error, "lexer_position", 0))
        return say("mapping.path_wrong", lang, setting=setting, path=path, at=at, rest=path[at - 1 :][:20])
    except (ValueError, RecursionError):
        return say("mapping.path_unreadable", lang, setting=setting, path=path[:200])
    return next(_function_mistakes(tree, setting, path, lang), None)


def _function_mistakes(node: Mapping[str, Any], setting: str, path: str, lang: Language) -> Iterator[str]:
    """The library notices these only when it computes; a person wants to know before anything is sent."""
    if node.get("type") == "function_expression":
        name, given = node["value"], len(node["children"])
        known: dict[str, Any] = Functions.FUNCTION_TABLE
        if name not in known:
            near = nearest(name, list(known))
            hint = say("mapping.did_you_mean", lang, name=near) if near else ""
            yield say("mapping.path_function", lang, setting=setting, path=path, name=name, hint=hint)
            return
        wanted = known[name]["signature"]
        several = bool(wanted) and wanted[-1].get("variadic")
        if given < len(wanted) or (given > len(wanted) and not several):
            yield say("mapping.path_arguments", lang, setting=setting, path=path, name=name, wanted=len(wanted), given=given)
    for child in node.get("children", ()):
        if isinstance(child, dict):
            yield from _function_mistakes(child, setting, path, lang)
