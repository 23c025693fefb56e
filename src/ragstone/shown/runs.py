"""The page of `ragstone runs`: the runs of a work folder, newest first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.figures import metric_name, number
from ragstone.pipeline.index import Index, RunEntry
from ragstone.shown.blocks import Block, Heading, Items, Table, Text
from ragstone.text import listing, say

if TYPE_CHECKING:
    from ragstone.types import Language


def runs_blocks(index: Index, work: Path, lang: Language) -> list[Block]:
    """Return the page as blocks."""
    return list(_page(index, work, lang))


def _page(index: Index, work: Path, lang: Language) -> Iterator[Block]:
    yield Heading(say("pipeline.runs_title", lang, work=work, count=len(index.runs)))
    if not index.runs:
        yield Text(say("pipeline.runs_none", lang))
        return
    head = tuple(say(f"pipeline.column_{name}", lang) for name in ("run", "tags", "gate", "gold"))
    yield Table(head, tuple(_row(index, run, lang) for run in reversed(index.runs)), "llll")
    lines = (say("pipeline.line", lang, step=run.name, text=_means(run, lang)) for run in reversed(index.runs) if run.evaluated)
    yield Items(tuple(lines))
    if not index.tags:
        yield Text(say("pipeline.runs_how_to_tag", lang))


def _row(index: Index, run: RunEntry, lang: Language) -> tuple[str, ...]:
    tags = [*index.tags_of(run.name), *([say("pipeline.latest", lang)] if run == index.latest else [])]
    gate = run.steps.get("gate")
    if not run.evaluated:
        passed = say("pipeline.unfinished", lang)
    elif gate is None:
        passed = "–"
    else:
        passed = say("pipeline.gate_word_passed" if gate.exit_code == 0 else "pipeline.gate_word_failed", lang)
    return run.name, listing(tags, lang) or "–", passed, (run.gold_fingerprint or "–")[:8]


def _means(run: RunEntry, lang: Language) -> str:
    means = run.steps["evaluate"].numbers.get("means") or {}
    return listing((f"{metric_name(metric, lang)} {number(mean)}" for metric, mean in means.items()), lang)
