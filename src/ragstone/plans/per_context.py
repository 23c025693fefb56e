"""The plan `per-context`: as `separate`, but every context is rated in a request of its own.

A judge that sees one context at a time cannot compare; it costs one request a context instead of one for all.
"""

from ragstone.metrics.needs import Need, Rated
from ragstone.plans import separate
from ragstone.plans.base import Case, Resolving

name = "per-context"
kinds = separate.kinds


def resolve(need: Need, case: Case) -> Resolving:
    """Turn one need into questions of its own kind, the rating of contexts into one question each."""
    return separate.rated(need, case, 1) if isinstance(need, Rated) else separate.resolve(need, case)
