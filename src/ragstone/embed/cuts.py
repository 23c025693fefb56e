"""Texts an endpoint has cut without a word: its own count of tokens is far below what it was sent."""

from collections.abc import Sequence
from typing import Any

from ragstone.tokens import estimate

LONG = 400
"""Estimated tokens of a request under which nothing is concluded."""
SHARE = 0.4
"""A request counted as less than this share of its estimate was cut: an estimate alone is not that far off."""
ROUND = frozenset({256, 384, 512, 1024, 2048, 4096, 8192, 16384, 32768})
"""Where models cut: a single longer text that counts exactly so many was cut there."""
LEAST = 64
"""Tokens a text under which no model cuts; a count that low comes from a server that does not count."""


def cut_texts(texts: Sequence[str], usage: Any) -> int:
    """Return how many of the texts of one request were probably cut, by the tokens the endpoint says it read."""
    counted = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    if not isinstance(counted, int) or isinstance(counted, bool) or counted < LEAST:
        return 0
    sizes = [estimate(text) for text in texts]
    if counted >= (total := sum(sizes)) or total <= LONG:
        return 0
    if counted < SHARE * total or (len(texts) == 1 and counted in ROUND and counted < sizes[0]):
        return _above_level(sizes, counted)
    return 0


def _above_level(sizes: Sequence[int], counted: int) -> int:
    """How many sizes lie above the level at which all of them would have to be cut to make up the count together."""
    rest, level = counted, 0.0
    for place, size in enumerate(sorted(sizes)):
        level = rest / (len(sizes) - place)
        if size > level:
            return len(sizes) - place if level >= LEAST else 0
        rest -= size
    return 0
