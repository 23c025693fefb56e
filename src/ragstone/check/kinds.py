"""Every kind of finding, in the order of the page, and every checker."""

from ragstone.check.base import Checker, Severity

KINDS: dict[str, tuple[Severity, ...]] = {
    "missing_question": ("error",),
    "duplicate_question": ("warning", "error"),
}
"""Kind -> severities it comes with. Texts of a kind: `check.<kind>_title`, `check.<kind>` and `check.<kind>_fix`."""

CHECKERS: tuple[Checker, ...] = ()
"""All of them, one file a group."""
