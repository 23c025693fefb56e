"""Every kind of finding, in the order of the page, and every checker."""

from collections.abc import Iterator

from ragstone.checks.balance import balance, size, variants
from ragstone.checks.base import Checker, Finding, Gold, Severity
from ragstone.checks.columns import columns
from ragstone.checks.directives import directives
from ragstone.checks.encoding import encoding
from ragstone.checks.giveaways import giveaways
from ragstone.checks.passages import passages
from ragstone.checks.points import points
from ragstone.checks.private import private
from ragstone.checks.questions import questions
from ragstone.checks.references import languages, references
from ragstone.checks.sameness import sameness
from ragstone.checks.scripts import scripts
from ragstone.checks.widths import widths

KINDS: dict[str, tuple[Severity, ...]] = {
    "missing_question": ("error",),
    "duplicate_question": ("warning",),
    "contradiction": ("error",),
    "near_duplicate": ("warning",),
    "questions_not_compared": ("note",),
    "missing_reference": ("warning",),
    "no_answer_reference": ("warning",),
    "empty_points": ("warning",),
    "language_mismatch": ("warning", "note"),
    "giveaway": ("warning",),
    "unsupported_point": ("warning",),
    "points_not_compared": ("note",),
    "directive_reference": ("note",),
    "long_reference": ("note",),
    "keyword_contexts": ("note",),
    "mojibake": ("warning",),
    "control_characters": ("warning", "note"),
    "script_mix": ("warning", "note"),
    "width_mix": ("note",),
    "personal_data": ("warning", "note"),
    "variants_unclustered": ("warning", "note"),
    "unlinked_variants": ("note",),
    "too_few": ("warning", "note"),
    "imbalance": ("note",),
    "unstable_ids": ("note",),
    "misspelt_column": ("note",),
    "text_cut": ("note",),
}
"""Kind -> severities it comes with. Texts of a kind: `check.<kind>_title`, `check.<kind>` and `check.<kind>_fix`."""

CHECKERS: tuple[Checker, ...] = (
    questions,
    sameness,
    references,
    languages,
    giveaways,
    points,
    directives,
    passages,
    encoding,
    scripts,
    widths,
    private,
    variants,
    size,
    balance,
    columns,
)
"""All of them, one file a group."""


def findings(gold: Gold) -> Iterator[Finding]:
    """Yield what every checker finds."""
    for checker in CHECKERS:
        yield from checker(gold)
