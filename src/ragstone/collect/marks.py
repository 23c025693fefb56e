"""From what was found to a line of the samples file: the answer without citation marks, the marks, the chunks as columns. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragstone.collect.base import Found
    from ragstone.types import Citation


def cleaned(found: Found) -> tuple[str | None, str | None, tuple[Citation, ...]]:
    """Return the answer as it is judged, the answer as it came, and the citation marks taken out of it."""
    return found.answer, found.answer, ()
