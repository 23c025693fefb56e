"""Columns whose names look like slips."""

from collections.abc import Iterator

from ragstone.checks.base import Finding, Gold


def columns(gold: Gold) -> Iterator[Finding]:
    """Yield misspelt_column."""
    if gold.rows:
        for column, near in gold.misspelt.items():
            yield Finding("misspelt_column", "note", gold.rows[0].number, column=column, values={"column": column, "near": near})
