"""How sure a judge was of its verdicts, put beside what it said. It never changes a value."""

from collections.abc import Mapping
from typing import Any

from ragstone.questions.base import Reading


def known(confidence: object) -> dict[str, float] | None:
    """Return the confidences that are numbers in [0, 1], None if there are none: a file or a judge of one's own may hold anything."""
    if not isinstance(confidence, Mapping):
        return None
    return {name: float(value) for name, value in confidence.items() if isinstance(name, str) and _is_share(value)} or None


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def with_confidence(reading: Reading, confidence: object) -> Reading:
    """Return the reading with `confidence` in each item it is known of, by list and id ("verdicts/3").

    Items without an id are known by the place they had in the reply, from 1.
    """
    if confidence is None or reading.parsed is None or (sure := known(confidence)) is None:
        return reading
    return reading._replace(parsed={name: _told(name, items, reading, sure) for name, items in reading.parsed.items()})


def _told(name: str, items: list[Any], reading: Reading, sure: Mapping[str, float]) -> list[Any]:
    if not all(isinstance(item, dict) for item in items):
        return items
    places = [place for place in range(1, reading.asked + 1) if (name, place) not in reading.missing]
    ids = [item["id"] for item in items if "id" in item] or places
    # where there are more or fewer places than items, nobody knows which is which
    keys = [f"{name}/{id}" for id in ids] if len(ids) == len(items) else [""] * len(items)
    return [{**item, "confidence": sure[key]} if key in sure else item for key, item in zip(keys, items, strict=True)]
