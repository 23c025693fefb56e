"""Ids in replies: how a judge may write them, and what follows if it has counted otherwise than it was asked."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Any, TypeVar

T = TypeVar("T")

_ID = re.compile(r"[\s\[(#]*(?:(?:[A-Za-z]+|[\u4e00-\u9fff]+)[\s_#-]?)?([0-9]{1,9})[\s\]).:、号条段]*")


def read_id(value: Any) -> int | None:
    """Return an id: a whole number, also as 2.0, "2", "a2", "claim 2" or [2]; None if it is none."""
    if type(value) is int:
        return value if abs(value) < 1e9 else None
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str) and len(value) < 20:
        found = _ID.fullmatch(unicodedata.normalize("NFKC", value))
        value = int(found[1]) if found else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if abs(value) < 1e9 and value == int(value) else None


def read_ids(value: Any, allowed: set[int]) -> list[int]:
    """Return the ids of a list that were in the request, each once, in order of size."""
    found = {read_id(item) for item in (value if isinstance(value, list) else [value])}
    return sorted(allowed.intersection(found))


def numbered_as_asked(said: dict[int, T], asked: Sequence[int]) -> dict[int, T]:
    """Return the verdicts by the ids asked about, where the judge has counted otherwise.

    As many as were asked about, from 0 on: counted from 0. As many under other ids, some of them the right ones by chance:
    nobody knows which is whose, so only the ids nobody asked about are kept.
    """
    strange = said.keys() - asked
    if not strange or len(said) != len(asked):
        return said
    if sorted(said) == list(range(len(asked))) and sorted(asked) == list(range(1, len(asked) + 1)):
        return {id + 1: verdict for id, verdict in said.items()}
    return {id: said[id] for id in strange}
