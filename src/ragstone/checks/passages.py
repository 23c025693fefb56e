"""Gold contexts: keywords or passages; both are supported, mixtures are told."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from ragstone.checks.base import Finding, Gold, Row, Said

_MARK = re.compile(r"[。！？；]|[.!?;](?:\s|$)|[，,][^，,]*[，,]")
_HAN = re.compile("[\u3400-\u9fff]")
_WORD = re.compile(r"[^\W_\u3400-\u9fff]+")
LONGEST = 200
KEYWORD, PASSAGE = 12, 24
"""Up to so many characters a text is a keyword, from so many on a passage (a word of Latin letters counts three)."""


def passages(gold: Gold) -> Iterator[Finding]:
    """Yield keyword_contexts."""
    by_form: dict[str, list[Row]] = defaultdict(list)
    for row in gold.rows:
        if forms := {form for item in row.sample.reference_contexts or () if (form := form_of(item))}:
            by_form["mixed" if len(forms) == 2 else forms.pop()].append(row)
    if not by_form:
        return
    first = min(rows[0].number for rows in by_form.values())
    counts = {name: len(by_form[name]) for name in ("keywords", "passages", "mixed")}
    yield Finding("keyword_contexts", "note", first, column="reference_contexts", values={"which": _told(counts)})
    if not (counts["keywords"] and counts["passages"]) and not counts["mixed"]:
        return
    usual = max(("keywords", "passages"), key=lambda name: counts[name])
    for name, said in (("mixed", "check.row_mixed"), ("keywords", "check.row_keywords"), ("passages", "check.row_passages")):
        for row in by_form[name] if name != usual else ():
            yield row.found("keyword_contexts", "note", "reference_contexts", which=Said(said))


def _told(counts: dict[str, int]) -> Said:
    for name, other in (("keywords", "passages"), ("passages", "keywords")):
        if counts[name] and not counts[other]:
            return Said(f"check.set_{name}", {"count": counts[name]})
    return Said("check.set_both", dict(counts))


def form_of(text: str) -> str | None:
    """Return "keywords" or "passages"; None for a text that may be either."""
    if len(text) > LONGEST:
        return "passages"
    size = len(_HAN.findall(text)) + 3 * len(_WORD.findall(text))
    if size >= PASSAGE or (2 * size >= KEYWORD and _MARK.search(text)):
        return "passages"
    return "keywords" if 0 < size <= KEYWORD else None
