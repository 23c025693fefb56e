"""Regular expressions people give: refused if they are none, if they fit the empty text, or if matching could take forever."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from re import _compiler, _parser  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, Any

from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.types import Language

LONGEST = 1000
"""Characters of a pattern."""
_MANY = 10
"""A repetition of at least so many times counts as one without end."""
_ALPHABET = [chr(code) for code in range(9, 127)] + [*"，。、：（）【】年一\ue200\ue201\ue202"]
_ONE = ("LITERAL", "NOT_LITERAL", "IN", "ANY")


def mistake(pattern: str, lang: Language) -> str | None:
    """Return what is wrong with a regular expression, None if it can be used on any text."""
    if len(pattern) > LONGEST:
        return say("platforms.pattern_long", lang, most=LONGEST)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # `[[` means today what it looks like
            compiled = re.compile(pattern)
            slow = _explodes(_parser.parse(pattern))
    except (re.error, OverflowError, RecursionError) as error:
        return say("platforms.pattern_wrong", lang, reason=error)
    if slow:
        return say("platforms.pattern_slow", lang)
    return say("platforms.pattern_empty", lang) if compiled.search("") is not None else None


def _explodes(tree: Any) -> bool:
    """True if a text can be made on which matching takes longer than anyone waits: a repetition that may divide its text in many ways."""
    return any((_endless(item) and _ambiguous(item[1][2])) or any(_explodes(part) for part in _parts(item[1])) for item in tree)


def _endless(item: Any) -> bool:
    return str(item[0]) in ("MAX_REPEAT", "MIN_REPEAT") and item[1][1] >= _MANY


def _ambiguous(body: Any) -> bool:
    """True if what is repeated can be read in several ways: it repeats itself without a mark between, or has like alternatives."""
    items = list(_flat(body))
    marks = [_characters(item, body) for item in items if str(item[0]) in _ONE]
    for item in items:
        if _endless(item):
            repeated = _characters(item, body)
            if not any(mark and not mark & repeated for mark in marks):
                return True
        if str(item[0]) == "BRANCH" and _alike(item[1][1]):
            return True
    return False


def _alike(alternatives: Any) -> bool:
    """True if two alternatives may begin with the same character, or one is empty."""
    seen: set[str] = set()
    for alternative in alternatives:
        first = next(_flat(alternative), None)
        begins = _characters(first, alternative) if first is not None else set()
        if not begins or begins & seen:
            return True
        seen |= begins
    return False


def _flat(body: Any) -> Iterator[Any]:
    """The pieces of a pattern, groups opened."""
    for item in body:
        if str(item[0]) == "SUBPATTERN":
            yield from _flat(item[1][3])
        else:
            yield item


def _characters(item: Any, body: Any) -> set[str]:
    """The characters a piece may consist of, among the usual ones."""
    part = _parser.SubPattern(body.state, [item])
    one = _compiler.compile(part)
    return {char for char in _ALPHABET if one.fullmatch(char)}


def _parts(given: Any) -> Iterator[Any]:
    """The pieces of a parsed pattern inside one of its pieces."""
    if isinstance(given, _parser.SubPattern):
        yield given
    elif isinstance(given, (tuple, list)):
        for piece in given:
            yield from _parts(piece)
