"""Rows that ask the same: in other words, with references that contradict each other, or as variants that nothing links."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from itertools import combinations, islice

from ragstone.checks.alike import MOST_SHARING, Asked, asked, groups, pairs
from ragstone.checks.base import Finding, Gold, Row, Value
from ragstone.checks.disagreement import accepted, disagreement
from ragstone.checks.wording import Wording
from ragstone.language import fold

MOST_PAIRS = 500
"""Pairs of rows of one question whose references are compared."""
ALIKE = 0.5
"""Least share of the words of the shorter of two questions whose ids look like variants."""

_VARIANT = re.compile(
    r"^(?P<base>.*\w)(?:(?:[-_.:# ]|(?<=\d))(?:v|var|variant|变体|改写)[-_.]?\d+|#\d+|(?<=\d)[-_.]?[a-h]|"
    r"[-_.](?:para|paraphrase|orig|original|改写))$",
    re.IGNORECASE,
)


def sameness(gold: Gold) -> Iterator[Finding]:
    """Yield near_duplicate, contradiction and unlinked_variants, and questions_not_compared if there were more alike than are compared."""
    questions = asked(gold.rows)
    beyond: set[int] = set()
    found = list(pairs(questions, gold, beyond))
    alike = groups(len(questions), [(i, j) for i, j, _ in found])
    contradictions = list(_contradictions(questions, [(i, j) for i, j, sure in found if sure], gold))
    yield from contradictions
    yield from _near_duplicates(questions, alike, gold, {finding.row for finding in contradictions})
    yield from _unlinked(questions, alike, gold)
    if beyond:
        values: dict[str, Value] = {"count": len(beyond), "most": MOST_SHARING}
        first = min(questions[place].rows[0].number for place in beyond)
        yield Finding("questions_not_compared", "note", first, column="question", values=values)


# ------------------------------------------------------------------ the same in other words
def _near_duplicates(questions: Sequence[Asked], alike: Sequence[Sequence[int]], gold: Gold, told: Container[int]) -> Iterator[Finding]:
    """Rows that contradict an earlier one are told as such, once."""
    for group in alike:
        rows = [row for row in (questions[place].rows[0] for place in group) if row.number not in told]
        if len(rows) > 1 and not _linked(rows, gold):
            first, *others = sorted(rows, key=lambda row: row.number)
            values: dict[str, Value] = {
                "question": first.sample.question or "",
                "others": tuple(row.sample.question or "" for row in others),
                "rows": tuple(row.number for row in others),
            }
            yield first.found("near_duplicate", "warning", "question", **values)


def _linked(rows: Sequence[Row], gold: Gold) -> bool:
    """True if the rows are known to be variants of one question."""
    keys = {_variant_of(row) for row in rows}
    clusters = {row.sample.meta.get(gold.cluster) for row in rows} if gold.cluster else {None}
    return len(keys) == 1 or (len(clusters) == 1 and None not in clusters)


def _variant_of(row: Row) -> str:
    for name in ("variant_of", "question_id"):
        named = row.sample.meta.get(name)
        if named is not None and str(named).strip():
            return str(named)
    return row.sample.id


# ------------------------------------------------------------------ references against each other
def _contradictions(questions: Sequence[Asked], found: Sequence[tuple[int, int]], gold: Gold) -> Iterator[Finding]:
    within = (pair for question in questions for pair in islice(combinations(question.rows, 2), MOST_PAIRS))
    between = (pair for i, j in found for pair in islice(((a, b) for a in questions[i].rows for b in questions[j].rows), MOST_PAIRS))
    told: set[int] = set()
    for a, b in [*within, *between]:
        first, later = sorted((a, b), key=lambda row: row.number)
        why = None if later.number in told else disagreement(first.sample, later.sample, gold.embed)
        if why is not None:
            told.add(later.number)
            values: dict[str, Value] = {
                "first": first.number,
                "first_id": first.sample.id,
                "question": first.sample.question or "",
                "why": why,
            }
            yield later.found("contradiction", "error", "reference", **values)


# ------------------------------------------------------------------ variants
def _unlinked(questions: Sequence[Asked], alike: Sequence[Sequence[int]], gold: Gold) -> Iterator[Finding]:
    """One finding for all: rows whose ids say that they are variants, and rows that ask alike and have the same reference."""
    by_words = [[row for place in group for row in questions[place].rows] for group in alike]
    held = [rows for rows in by_words if _same_answer(rows) and not _linked(rows, gold)]
    told = {row.number for rows in held for row in rows}
    for rows in _by_ids(gold.rows):
        if not _linked(rows, gold) and not told & {row.number for row in rows}:
            held.append(rows)
    if held:
        shown = tuple(" = ".join(row.sample.id for row in rows) for rows in sorted(held, key=lambda rows: rows[0].number))
        first = min(row.number for rows in held for row in rows)
        values: dict[str, Value] = {"groups": len(held), "count": sum(map(len, held)), "ids": shown}
        yield Finding("unlinked_variants", "note", first, column="variant_of", values=values)


def _same_answer(rows: Sequence[Row]) -> bool:
    answers = {frozenset(map(fold, accepted(row.sample))) for row in rows}
    return len(answers) == 1 and frozenset() not in answers


def _by_ids(rows: Sequence[Row]) -> Iterator[list[Row]]:
    bases: dict[str, list[Row]] = defaultdict(list)
    marked: set[str] = set()
    for row in rows:
        if not row.made_id:
            match = _VARIANT.match(row.sample.id)
            base = match["base"] if match else row.sample.id
            marked |= {base} if match else set()
            bases[base].append(row)
    alike = ([row for row in held if _alike(held[0], row)] for base, held in bases.items() if base in marked)
    yield from (held for held in alike if len(held) > 1)


def _alike(one: Row, other: Row) -> bool:
    """True if they have the same answer or half of their words: q1a and q1b may as well be two questions about one text."""
    if _same_answer([one, other]):
        return True
    a, b = (set(Wording.of(row.sample).words) for row in (one, other))
    return bool(a and b) and len(a & b) >= ALIKE * min(len(a), len(b))
