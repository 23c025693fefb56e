"""References: missing, saying that there is no answer, longer than an answer, in another language than the question."""

from __future__ import annotations

import re
from collections.abc import Iterator
from statistics import median
from typing import TYPE_CHECKING

from ragstone.checks.base import Finding, Gold, Row, Said
from ragstone.checks.texts import references_of
from ragstone.checks.wording import Wording
from ragstone.checks.words import expression, folded_words
from ragstone.language import fold, sentences

if TYPE_CHECKING:
    from ragstone.types import Sample

MOST_CLAIMS = 20
"""Claims of a reference that one request checks; more take another one."""
LONGEST_REFUSAL = 80
"""Characters of a text that says nothing else but that there is no answer."""
LONG, TIMES, FEWEST = 400, 6, 8
"""A reference is long from so many characters and so many times the median, which so many rows tell."""
FAR_SHARE = 10
"""At most one reference in so many is called long; where there are more, the set is of both."""
_HAN = re.compile("[\u3400-\u9fff]")
_WORD = re.compile(r"[A-Za-z][a-z']+")
_LOWER = re.compile(r"(?<![A-Za-z])[a-z']{2,}")


def references(gold: Gold) -> Iterator[Finding]:
    """Yield missing_reference, no_answer_reference, long_reference and empty_points."""
    yield from _missing(gold)
    usual = _usual(gold)
    for row in gold.rows:
        if (said := no_answer(row.sample)) is not None:
            yield row.found("no_answer_reference", "warning", "reference", reference=said)
        yield from _long(row, usual)
        for column in ("reference_points", "reference_alternatives", "reference_contexts"):
            if blank := [item for item in getattr(row.sample, column) or () if not fold(item)]:
                yield row.found("empty_points", "warning", column, count=len(blank), items=tuple(blank))


def _missing(gold: Gold) -> Iterator[Finding]:
    due = [row for row in gold.rows if row.sample.expected_behavior == "answer"]
    lacking = [row for row in due if not any(_tells(text, row.sample) for text in references_of(row.sample))]
    if lacking and len(lacking) == len(due):
        values = {"which": Said("check.no_reference_at_all")}
        yield Finding("missing_reference", "warning", lacking[0].number, column="reference", values=values)
        return
    for row in lacking:
        text = row.sample.reference
        elsewhere = fold(text or "") in folded_words("elsewhere")
        said = Said("check.reference_elsewhere" if elsewhere else "check.reference_to_come", {"reference": text or ""})
        yield row.found("missing_reference", "warning", "reference", which=said if text else Said("check.no_reference"))


def _tells(text: str, sample: Sample) -> bool:
    folded = fold(text)
    if folded in folded_words("elsewhere"):
        return "where" in Wording.of(sample).asked
    return bool(folded) and folded not in folded_words("to_come")


def no_answer(sample: Sample) -> str | None:
    """Return the reference if all it says is that there is no answer, though an answer is expected; else None."""
    text = sample.reference
    if text is None or sample.expected_behavior != "answer" or sample.reference_points or len(text) > LONGEST_REFUSAL:
        return None
    folded = fold(text)
    if expression("none_in_signs").search(text):
        return text
    if folded in folded_words("perhaps_none"):
        return None if expression("whether").search(sample.question or "") else text
    return text if folded in folded_words("none") or (expression("lacks").search(text) and len(sentences(text)) == 1) else None


# ------------------------------------------------------------------ length
def _size(text: str) -> int:
    """Characters, a word of Latin letters as two: Chinese and English of equal content are about equal."""
    return len(_HAN.findall(text)) + 2 * len(_WORD.findall(text))


def _usual(gold: Gold) -> float | None:
    """The median size; None where it says nothing: few references, or a set of short and long ones."""
    sizes = [_size(row.sample.reference) for row in gold.rows if row.sample.reference]
    usual = median(sizes) if len(sizes) >= FEWEST else 0
    far = sum(size > max(LONG, TIMES * usual) for size in sizes)
    return usual if usual and FAR_SHARE * far <= len(sizes) else None


def _long(row: Row, usual: float | None) -> Iterator[Finding]:
    sample = row.sample
    if sample.reference_points:
        if (points := len(sample.reference_points)) > MOST_CLAIMS:
            yield row.found("long_reference", "note", "reference_points", how=Said("check.many_points", {"count": points}))
        return
    size = _size(sample.reference or "")
    count = len(sentences(sample.reference or "")) if size > LONG else 0
    if count > MOST_CLAIMS:
        yield row.found("long_reference", "note", "reference", how=Said("check.many_sentences", {"count": count}))
    elif usual and size > max(LONG, TIMES * usual):
        values = {"size": size, "times": round(size / usual), "usual": round(usual)}
        yield row.found("long_reference", "note", "reference", how=Said("check.long_for_the_set", values))


# ------------------------------------------------------------------ language
def languages(gold: Gold) -> Iterator[Finding]:
    """Yield language_mismatch."""
    unlike = [(row, found) for row in gold.rows if (found := _unlike(row.sample)) is not None]
    if len(unlike) > max(2, len(gold.rows) // 2):
        values = {"which": Said("check.languages_set", {"count": len(unlike), "rows": len(gold.rows)})}
        yield Finding("language_mismatch", "note", unlike[0][0].number, column="reference", values=values)
        return
    for row, key in unlike:
        yield row.found("language_mismatch", "warning", "reference", which=Said(key))


def _unlike(sample: Sample) -> str | None:
    asked, told = sample.question or "", sample.reference or ""
    if len(_HAN.findall(asked)) >= 4 and not _HAN.search(told) and _english(told):
        return "check.asked_zh"
    if not _HAN.search(asked) and len(_WORD.findall(asked)) >= 3 and len(_HAN.findall(told)) >= 8 and not _english(told):
        return "check.asked_en"
    return None


def _english(text: str) -> bool:
    """True of sentences; names and terms are the same in every language."""
    words = _LOWER.findall(text)
    return len(words) >= 5 and len(folded_words("sentence_words") & set(words)) >= 2
