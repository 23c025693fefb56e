"""Data of persons in the texts of a set; shown masked."""

from __future__ import annotations

from collections.abc import Iterator

from ragstone.checks.base import Finding, Gold, Said
from ragstone.checks.persons import SLIGHT, mask, personal
from ragstone.checks.texts import columns_of


def private(gold: Gold) -> Iterator[Finding]:
    """Yield personal_data."""
    for row in gold.rows:
        for column, text in columns_of(row.sample):
            found = list(personal(text))
            for kind in dict.fromkeys(kind for kind, _ in found):
                masked = tuple(dict.fromkeys(mask(piece) for held, piece in found if held == kind))
                grave = kind not in SLIGHT
                yield row.found("personal_data", "warning" if grave else "note", column, what=Said(f"check.data_{kind}"), masked=masked)
