"""Questions: missing, asked twice, without an id of their own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ragstone.checks.base import Finding, Gold, Row, Said, Value
from ragstone.checks.disagreement import disagreement
from ragstone.checks.texts import references_of
from ragstone.language import fold

if TYPE_CHECKING:
    from ragstone.types import Sample


def questions(gold: Gold) -> Iterator[Finding]:
    """Yield missing_question, duplicate_question and unstable_ids."""
    yield from _missing(gold)
    yield from _duplicates(gold)
    if made := [row for row in gold.rows if row.made_id]:
        yield Finding("unstable_ids", "note", made[0].number, values={"count": len(made), "rows": len(gold.rows)})


def _missing(gold: Gold) -> Iterator[Finding]:
    lacking = [row for row in gold.rows if not fold(row.sample.question or "")]
    if lacking and len(lacking) == len(gold.rows):
        yield Finding("missing_question", "error", lacking[0].number, column="question", values={"which": Said("check.all_rows")})
        return
    for row in lacking:
        which = Said("check.only_marks", {"question": row.sample.question}) if row.sample.question else Said("check.this_row")
        yield row.found("missing_question", "error", "question", which=which)


def _duplicates(gold: Gold) -> Iterator[Finding]:
    alike: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in gold.rows:
        if asked := fold(row.sample.question or ""):
            alike[asked, _before(row.sample)].append(row)
    for first, *others in alike.values():
        for row in others:
            # rows that contradict each other are told as such, once
            if not _repeat(first.sample, row.sample) and not disagreement(first.sample, row.sample, gold.embed):
                yield _duplicate(first, row)


def _duplicate(first: Row, row: Row) -> Finding:
    a, b = first.sample, row.sample
    said = "check.references_agree"
    if not references_of(a) or not references_of(b):
        said = "check.no_references" if references_of(a) == references_of(b) else "check.reference_in_one"
    elif _said(a) != _said(b):
        said = "check.references_differ"
    values: dict[str, Value] = {"first": first.number, "first_id": a.id, "question": b.question or "", "agree": Said(said)}
    return row.found("duplicate_question", "warning", "question", **values)


def _before(sample: Sample) -> str:
    """Earlier turns: the same words ask something else after other words."""
    return fold(str(sample.history)) if sample.history else ""


def _repeat(a: Sample, b: Sample) -> bool:
    """True of two answers collected for one question on purpose."""
    return "question_id" in a.meta and a.meta["question_id"] == b.meta.get("question_id")


def _said(sample: Sample) -> set[str]:
    return {fold(text) for text in references_of(sample)}
