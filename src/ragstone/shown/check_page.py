"""The table of all kinds of findings of a check, as it stands in the documentation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragstone.checks.kinds import KINDS
from ragstone.resources import read_toml
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.types import Language

_TYPED = re.compile(
    r"(?:ragstone plan )?--[a-z]+(?: (?:RUN|KEY|variant_of|[a-z]+=\w+|\w+=列名))?|reference_\w+|expected_behavior(?: = refuse)?"
)
_SLOT = re.compile(r"\{(\w+)\}")


def kinds_table(lang: Language) -> str:
    """Return every kind with its severities, what it finds and what to do, as a table in Markdown."""
    head = tuple(say(f"check.column_{name}", lang) for name in ("kind", "severity", "finds", "fix"))
    rows = [
        (
            f"`{kind}`",
            say("check.comma", lang).join(say(f"check.severity_{severity}", lang) for severity in severities),
            say(f"check.{kind}_title", lang),
            _typed(_open(f"{kind}_fix", lang)),
        )
        for kind, severities in KINDS.items()
    ]
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _open(name: str, lang: Language) -> str:
    """A text of the catalogue with dots for what a finding fills in."""
    text: str = read_toml("text", "check.toml")[name][lang]
    return _SLOT.sub("…", text)


def _typed(text: str) -> str:
    """A text with what is typed as it stands marked as code."""
    return _TYPED.sub(lambda match: f"`{match[0]}`", text)
