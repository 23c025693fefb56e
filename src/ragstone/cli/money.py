"""What was asked and what it took, as a table: requests, tokens, cost, by metric or by kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from ragstone.cli.numbers import metric_label
from ragstone.cli.plain import one_line, table
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.types import Language

COLUMNS = 80
PARTS = ("requests", "exact", "prompt", "completion", "cached")


def money(amount: float) -> str:
    """Return an amount of money: two decimals from 100, five below 1."""
    return f"{amount:,.{2 if amount >= 100 else 3 if amount >= 1 else 5}f}"


def spent_table(held: Mapping[str, Any], costs: Any, by: Literal["metric", "kind"], lang: Language) -> list[str]:
    """Return a line a metric or kind, without columns that hold nothing."""
    rows = {name: spent for name, spent in held.items() if isinstance(spent, dict)}
    parts = [part for part in PARTS if any(_count(spent, part) for spent in rows.values())]
    priced = isinstance(costs, dict) and any(isinstance(costs.get(name), int | float) for name in rows)
    heads = [say(f"show.spent_{part}", lang) for part in parts] + ([say("show.spent_cost", lang)] if priced else [])
    lines = [[say(f"show.spent_{by}", lang), *heads]]
    for name, spent in rows.items():
        cost = costs.get(name) if priced else None
        shown = [money(cost) if isinstance(cost, int | float) else ""] if priced else []
        lines.append([_label(name, by, lang), *(f"{_count(spent, part):,}" for part in parts), *shown])
    return table(lines, "l" + "r" * len(heads), COLUMNS) if parts else []


def _count(spent: Mapping[str, Any], part: str) -> int:
    value = spent.get(part)
    return value if isinstance(value, int) else 0


def _label(name: str, by: str, lang: Language) -> str:
    if by == "kind":
        return one_line(name)
    return say(f"show.spent_{name}", lang) if name in ("unassigned", "total") else metric_label(name, lang)
