"""Causes in words: what each is called, what it means, what to try."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragstone.text import say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragstone.analysis.causes import LostClaim
    from ragstone.analysis.sums import CauseSum
    from ragstone.types import Language


def cause_name(cause: str, lang: Language, *, expected: bool = False) -> str:
    """Return what a cause is called; `expected`: a refusal that the sample asks for."""
    return say(f"diagnose.name_{_word(cause, expected=expected)}", lang)


def cause_meaning(cause: str, lang: Language, *, expected: bool = False) -> str:
    """Return a sentence that says what a cause is."""
    return say(f"diagnose.what_{_word(cause, expected=expected)}", lang)


def remedies(cause: str, lang: Language, *, expected: bool = False) -> list[str]:
    """Return what to try against a cause, in the order to try it."""
    return say(f"diagnose.remedies_{_word(cause, expected=expected)}", lang).splitlines()


def cause_dict(one: CauseSum, lang: Language, expected: Mapping[str, int] | None = None) -> dict[str, Any]:
    """Return the cause object of `diagnose --json`.

    Args:
        one: the cause.
        lang: language of the remedies.
        expected: of refusals: samples by whether they were asked for (yes, no, unknown).
    """
    found = {
        "cause": one.cause,
        "samples": one.samples,
        "claims": one.claims,
        "points": one.points.to_dict(),
        "sample_ids": list(one.sample_ids),
        "remedies": remedies(one.cause, lang, expected=expected is not None and set(expected) == {"yes"}),
    }
    return found if expected is None else {**found, "expected": dict(expected)}


def claim_dict(claim: LostClaim) -> dict[str, Any]:
    """Return the claim object of a sample of `diagnose --json`."""
    return {
        "cause": claim.cause,
        "claim": claim.claim,
        "text": claim.text,
        "evidence": list(claim.evidence),
        "expected": claim.expected,
        "points": claim.points.to_dict(),
    }


def _word(cause: str, *, expected: bool) -> str:
    return "refused_expected" if expected else cause
