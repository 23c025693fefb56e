"""What tokens cost, by the prices of the settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragstone.config import Price

PER = 1_000_000
"""Tokens a price is for."""


def cost_of(price: Price, prompt: float, completion: float, cached: float = 0) -> float:
    """Return what tokens cost; those of the prompt that were cached at their own price, if it is known."""
    told = price.input if price.cached is None else price.cached
    return ((prompt - cached) * price.input + cached * told + completion * price.output) / PER


@dataclass(frozen=True, slots=True)
class Prices:
    """What the models of a run cost; None = not known."""

    judge: Price | None = None
    embeddings: Price | None = None

    def of(self, spent: Mapping[str, Any]) -> float | None:
        """Return the cost of chat tokens: {"prompt", "completion", "cached"}."""
        return None if self.judge is None else cost_of(self.judge, spent["prompt"], spent["completion"], spent["cached"])

    def cost(self, tokens: Mapping[str, Any], counts: Mapping[str, int]) -> dict[str, Any] | None:
        """Return what the manifest holds under `cost`: the total, its part by metric, and that of the embeddings.

        None if a price is missing for anything that was sent: half a sum would pass for the whole.
        """
        embedded = counts.get("embedding_tokens", 0)
        sent = counts.get("embedding_requests", 0)
        if self.judge is None or (sent and self.embeddings is None):
            return None
        vectors = cost_of(self.embeddings, embedded, 0) if self.embeddings else 0.0
        by_metric = {metric: self.of(spent) for metric, spent in tokens["by_metric"].items()}
        return {"total": (self.of(tokens) or 0.0) + vectors, "by_metric": by_metric, "embeddings": vectors}
