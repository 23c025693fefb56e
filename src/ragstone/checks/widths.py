"""Full-width and half-width forms of the same letters, digits and marks."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterator

from ragstone.checks.base import Finding, Gold, Row, Said
from ragstone.checks.texts import columns_of

_WIDE = re.compile("[０-９Ａ-Ｚａ-ｚ]+(?:[．－／％][０-９Ａ-Ｚａ-ｚ]+)*")
_NARROW = re.compile(r"[0-9A-Za-z]+(?:[.\-/%][0-9A-Za-z]+)*")
_HALF_MARK = re.compile("[\u4e00-\u9fff][,?!;][\u4e00-\u9fff]|[\u4e00-\u9fff][?!;]\\s*$")
_FULL_MARK = re.compile("[，？！；]")
_FORMS = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}


def widths(gold: Gold) -> Iterator[Finding]:
    """Yield width_mix."""
    yield from _tokens(gold)
    yield from _marks(gold)


def _tokens(gold: Gold) -> Iterator[Finding]:
    """A token in full-width forms in one place, in half-width forms in another: one finding a token."""
    wide: dict[str, list[Row]] = defaultdict(list)
    spelled: dict[str, tuple[str, str]] = {}
    for row in gold.rows:
        for column, text in columns_of(row.sample):
            for match in () if text.isascii() else _WIDE.finditer(text):
                token = match[0].translate(_FORMS)
                wide[token].append(row)
                spelled.setdefault(token, (match[0], column))
    narrow = _narrow(gold, wide.keys()) if wide else {}
    for token, rows in wide.items():
        if token in narrow:
            form, column = spelled[token]
            numbers, others = tuple(dict.fromkeys(row.number for row in rows)), tuple(narrow[token])
            said = Said("check.token_widths", {"wide": form, "rows": numbers, "narrow": token, "others": others})
            yield rows[0].found("width_mix", "note", column, which=said)


def _narrow(gold: Gold, wanted: Container[str]) -> dict[str, dict[int, None]]:
    found: dict[str, dict[int, None]] = defaultdict(dict)
    for row in gold.rows:
        for _, text in columns_of(row.sample):
            for match in _NARROW.finditer(text):
                if match[0] in wanted:
                    found[match[0]][row.number] = None
    return found


def _marks(gold: Gold) -> Iterator[Finding]:
    """Marks of both widths between Chinese characters: within a text, or in a few rows only."""
    half: list[tuple[Row, str, str]] = []
    full = 0
    for row in gold.rows:
        columns = [(column, text) for column, text in columns_of(row.sample) if not text.isascii()]
        full += any(_FULL_MARK.search(text) for _, text in columns)
        half += [(row, column, match[0]) for column, text in columns if (match := _HALF_MARK.search(text))][:1]
    if half and full:
        row, column, piece = half[0]
        numbers = tuple(row.number for row, _, _ in half)
        said = Said("check.mark_widths", {"piece": piece.strip(), "rows": numbers, "full": full})
        yield Finding("width_mix", "note", row.number, row.sample.id if len(half) == 1 else None, column, {"which": said})
