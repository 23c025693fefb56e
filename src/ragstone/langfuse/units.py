"""One thing that Langfuse is to hold, under an id that is always the same."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

import orjson

Kind = Literal["dataset", "item", "trace", "run_item", "score", "mean"]
KINDS: tuple[Kind, ...] = ("dataset", "item", "trace", "run_item", "score", "mean")
"""In the order in which they are sent."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One thing to be sent: a body for its endpoint, and whom it is about."""

    kind: Kind
    id: str
    """Of a trace its trace id, of a score its score id, of an item its item id, of a data set its name."""
    body: Any
    """The JSON object that is posted; of a trace the list of its OTLP spans."""
    sample_id: str | None = None
    metric: str | None = None

    @property
    def digest(self) -> str:
        """16 hex digits that change when the body does: what was sent and has not changed since is not sent again."""
        return sha256(orjson.dumps(self.body, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]
