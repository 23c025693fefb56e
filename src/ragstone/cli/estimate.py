"""What a run would ask and cost, as text of at most 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ragstone.cli.money import COLUMNS, money, spent_table
from ragstone.cli.plain import folded
from ragstone.rehearsal import PROMPT_ERROR, REPLY_ERROR, REQUEST_ERROR
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.rehearsal import Estimate
    from ragstone.types import Language


def estimate_page(found: Estimate, lang: Language) -> str:
    """Return the tables by metric and by kind, what is exact in them, and whether the limits would hold."""
    lines = folded(say("budget.heading", lang, samples=f"{found.samples:,}", cells=f"{found.cells:,}"), COLUMNS)
    lines += ["", *_tables(found, lang)]
    for sentence in _sentences(found, lang):
        lines += folded(sentence, COLUMNS)
    return "\n".join(lines)


def _tables(found: Estimate, lang: Language) -> Iterator[str]:
    if not found.totals["requests"]:
        yield say("budget.nothing", lang)
        yield ""
        return
    costs = dict(found.cost["by_metric"]) if found.cost else None
    if costs is not None:
        costs["total"] = sum(costs.values())
    yield from spent_table({**found.by_metric, "total": found.totals}, costs, "metric", lang)
    yield ""
    yield from spent_table(found.by_kind, None, "kind", lang)
    yield ""


def _sentences(found: Estimate, lang: Language) -> Iterator[str]:
    if found.totals["requests"]:
        errors = {"requests": REQUEST_ERROR, "prompt": PROMPT_ERROR, "completion": REPLY_ERROR}
        yield say("budget.exact", lang, **{name: f"{error:.0%}" for name, error in errors.items()})
    if found.embeddings:
        yield say("budget.embeddings", lang, **{name: f"{count:,}" for name, count in found.embeddings.items()})
    if found.standing or found.held or found.from_cache:
        counts = {"standing": found.standing, "held": found.held, "from_cache": found.from_cache}
        yield say("budget.not_asked", lang, **{name: f"{count:,}" for name, count in counts.items()})
    if found.cost:
        yield say("budget.cost", lang, total=money(found.cost["total"]))
    if not found.sends:
        yield say("budget.sends_nothing", lang)
    for limit in found.limits:
        fits = {True: "fits", False: "exceeds", None: "untold_limit"}[limit["fits"]]
        shown = money if limit["limit"] == "--max-cost" else "{:,}".format
        estimated = "" if limit["estimated"] is None else shown(limit["estimated"])
        yield say(f"budget.{fits}", lang, limit=f"{limit['limit']} {limit['most']:,}", estimated=estimated)
