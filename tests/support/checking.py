"""A gold set of a few rows, and what a check finds in it."""

import functools
from dataclasses import replace
from typing import Any

from ragstone.checks.base import Finding, Gold, Row
from ragstone.checks.kinds import CHECKERS
from ragstone.embed.bundled import BundledEmbedder
from ragstone.samples import scan
from ragstone.shown.check import gold_set

EMBED = ("alike", "directives", "disagreement", "giveaways", "points", "sameness")
PLAIN = tuple(checker for checker in CHECKERS if checker.__module__.rpartition(".")[2] not in EMBED)
"""The checks that look at the words themselves; no model is loaded for them."""

CLEAN = [
    {"id": "leave-1", "question": "年假可以休几天？", "reference": "工作满一年的员工每年 5 天，满十年的 10 天。"},
    {"id": "leave-2", "question": "请病假要交什么材料？", "reference": "二级以上医院开具的病假证明，销假后三个工作日内交给人事。"},
    {"id": "travel-1", "question": "How late may a travel claim be handed in?", "reference": "Within 30 days after the end of the trip."},
    {"id": "travel-2", "question": "谁批准出国差旅？", "reference": "分管副总批准，出发前至少两周提交申请。"},
]
"""Rows that nothing is wrong with, but that there are few of them."""


def found(rows: list[dict[str, Any]], kind: str | None = None, **options: Any) -> list[Finding]:
    """Return what the plain checks find, of one kind if it is named; how many rows there are is no matter unless asked for."""
    gold = replace(_gold(rows, **options), embed=lambda texts: [None] * len(texts))
    findings = [finding for checker in PLAIN for finding in checker(gold)]
    return [finding for finding in findings if (finding.kind == kind if kind else finding.kind != "too_few")]


def found_by_all(rows: list[dict[str, Any]], kind: str, **options: Any) -> list[Finding]:
    """Return what all checks find of one kind, those with the model as well, which is loaded once for all tests."""
    gold = replace(_gold(rows, **options), embed=lambda texts: _model().encode(texts))
    return [finding for checker in CHECKERS for finding in checker(gold) if finding.kind == kind]


def _gold(rows: list[dict[str, Any]], cluster: str | None = None) -> Gold:
    source = scan(rows)
    read = tuple(Row(number, sample, sample.id not in {row.get("id") for row in rows}) for number, sample in enumerate(source, 1))
    return gold_set(source, read, {}, cluster)


@functools.cache
def _model() -> BundledEmbedder:
    return BundledEmbedder()


def with_row(**row: Any) -> list[dict[str, Any]]:
    """Return the clean set with one more row, `x`, its question and reference sound unless given."""
    return [*CLEAN, {"id": "x", "question": "食堂几点开门？", "reference": "早上七点半。"} | row]


def without_columns(rows: list[dict[str, Any]], *columns: str) -> list[dict[str, Any]]:
    """Return rows without some columns."""
    return [{name: value for name, value in row.items() if name not in columns} for row in rows]
