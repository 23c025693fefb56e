"""Whether what somebody wants of the numbers can be had: a method of interval there is, a key that samples have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeGuard

from ragstone.analysis.cells import Notice
from ragstone.analysis.intervals import METHODS
from ragstone.analysis.levels import USUAL, Levels
from ragstone.analysis.summary import MIN_COVERAGE, Terms
from ragstone.errors import ConfigError
from ragstone.text import say, screen_language

if TYPE_CHECKING:
    from ragstone.analysis.slices import SampleFacts

MOST_SEED = 10**18 - 1
"""What lies above is beyond the integers of JSON."""


def terms_of(ci: str | None = None, cluster: str | None = None, confidence: float = 0.95, seed: int = 0, levels: Levels = USUAL) -> Terms:
    """Return how numbers are to be read; terms under which there is no interval are refused.

    Raises:
        ConfigError: there is no method `ci`, or it needs `cluster`; `confidence` is not in (0, 1); `seed` is no whole
            number in [0, MOST_SEED].
    """
    lang = screen_language()
    method = next((known for known in METHODS if known == ci), None)
    if method != ci:
        near = get_close_matches(str(ci), METHODS, n=1)
        hint = say("config.nearest", lang, name=near[0]) if near else ""
        raise ConfigError(say("show.ci_unknown", lang, method=ci, hint=hint, known=", ".join(METHODS)))
    if ci == "cluster_t" and cluster is None:
        raise ConfigError(say("show.ci_needs_cluster", lang))
    if not is_number(confidence) or not 0 < confidence < 1:
        raise ConfigError(say("show.confidence_invalid", lang, value=confidence))
    if not _is_whole(seed) or not 0 <= seed <= MOST_SEED:
        raise ConfigError(say("show.seed_invalid", lang, value=seed))
    return Terms(ci=method, confidence=confidence, levels=levels, seed=int(seed))


def least_coverage(said: float | None, manifest: Mapping[str, Any]) -> float:
    """Return the share of cells that must be ok: what somebody says, else what the manifest holds, else 0.95.

    Raises:
        ConfigError: `said` is no number from 0 to 1; a manifest that holds none counts as one that tells nothing.
    """
    if said is not None and not _is_share(said):
        raise ConfigError(say("show.min_coverage_invalid", screen_language(), value=said))
    held = manifest.get("min_coverage") if said is None else said
    return float(held) if _is_share(held) else MIN_COVERAGE


def _is_share(value: object) -> TypeGuard[float]:
    return is_number(value) and 0 <= value <= 1


def is_number(value: object) -> TypeGuard[float]:
    """True for what can be held against a limit: True and "0.5" are no numbers."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: object) -> bool:
    """True for numbers of numpy too."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_cluster(facts: SampleFacts) -> None:
    """Refuse to read numbers by clusters that nobody belongs to: every interval would be too narrow, and look as if it were not.

    Raises:
        ConfigError: no sample has the key of the clusters.
    """
    if facts.together is None or len(facts.together):
        return
    key, known = facts.together.key, [name for name in facts.keys if name != facts.together.key]
    word = "show.cluster_unknown" if known else "show.cluster_nothing"
    raise ConfigError(say(word, screen_language(), key=key, known=", ".join(known)))


def unknown_key(by: str, keys: Iterable[str]) -> Notice:
    """Return the notice that no sample has a key to slice by, with the keys there are."""
    known = ", ".join(keys)
    return Notice("key_unknown", (("key", by), ("known", known))) if known else Notice("keys_missing", (("key", by),))
