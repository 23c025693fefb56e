"""Every kind of finding, in the order of the page, and every checker."""

from collections.abc import Iterator

from ragstone.checks.base import Checker, Finding, Gold, Severity
from ragstone.checks.columns import columns
from ragstone.checks.questions import questions

KINDS: dict[str, tuple[Severity, ...]] = {
    "missing_question": ("error",),
    "duplicate_question": ("error", "warning"),
    "unstable_ids": ("note",),
    "misspelt_column": ("note",),
}
"""Kind -> severities it comes with. Texts of a kind: `check.<kind>_title`, `check.<kind>` and `check.<kind>_fix`."""

CHECKERS: tuple[Checker, ...] = (questions, columns)
"""All of them, one file a group."""


def findings(gold: Gold) -> Iterator[Finding]:
    """Yield what every checker finds."""
    for checker in CHECKERS:
        yield from checker(gold)
