"""The word lists of the checks, read from `words.toml`."""

import functools
import re

from ragstone.language import fold
from ragstone.resources import read_toml


@functools.cache
def folded_words(name: str) -> frozenset[str]:
    """Return the words of a list, folded."""
    return frozenset(map(fold, read_toml("checks", "words.toml")[name]))


@functools.cache
def expression(name: str) -> re.Pattern[str]:
    """Return the expression that matches any of a list, whatever the case."""
    return re.compile("|".join(f"(?:{part})" for part in read_toml("checks", "words.toml")[name]), re.IGNORECASE)
