"""No more than so many requests and tokens a minute, evenly spread."""

import time
from collections.abc import Callable
from typing import Any

from ragstone.tokens import estimate_bytes

BURST = 3.0
"""Seconds whose share may be used at once: enough for a few requests side by side, too little for a server to mind."""


class Rate:
    """So many units in any minute. Each use moves the moment at which the account is even; a use waits until that is near.

    A unit weighs `(60 + BURST) / per_minute` seconds, so that even a minute that begins with a burst holds no more than allowed.
    """

    __slots__ = ("_even", "_per_unit")

    def __init__(self, per_minute: int) -> None:
        self._per_unit = (60 + BURST) / per_minute
        self._even = 0.0

    def take(self, amount: float, now: float) -> float:
        """Use `amount` and return the seconds to wait before."""
        self._even = max(self._even, now)
        wait = max(0.0, self._even - now - max(0.0, BURST - amount * self._per_unit))
        self._even += amount * self._per_unit
        return wait

    def correct(self, difference: float) -> None:
        """Take in that a use was larger than said by so much."""
        self._even += difference * self._per_unit


class Pace:
    """The requests and tokens a minute of one endpoint.

    Tokens are reserved by an estimate of the prompt, scaled by what earlier requests really took, and put right by the usage
    that comes back; an endpoint that tells none is paced by the estimate.
    """

    def __init__(self, rpm: int | None, tpm: int | None, now: Callable[[], float] = time.monotonic) -> None:
        self._requests, self._tokens = (Rate(limit) if limit else None for limit in (rpm, tpm))
        self._now, self._scale = now, 1.0

    def take(self, body: bytes) -> tuple[float, float]:
        """Reserve one request; returns the seconds to wait before it is sent, and the tokens reserved."""
        now, wait, tokens = self._now(), 0.0, 0.0
        if self._requests is not None:
            wait = self._requests.take(1, now)
        if self._tokens is not None:
            tokens = estimate_bytes(body) * self._scale
            wait = max(wait, self._tokens.take(tokens, now))
        return wait, tokens

    def settle(self, reserved: float, data: Any) -> None:
        """Put the reservation right by the usage an answer tells."""
        used = _usage(data)
        if self._tokens is None or used is None:
            return
        self._tokens.correct(used - reserved)
        self._scale = min(20.0, max(0.05, self._scale * (1 + 0.2 * (used / max(1.0, reserved) - 1))))


def _usage(data: Any) -> float | None:
    usage = data.get("usage") if isinstance(data, dict) else None
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    if isinstance(usage, dict) and not isinstance(total, int):
        parts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
        total = sum(part for part in parts if isinstance(part, int)) or None
    return total if isinstance(total, int) and total >= 0 else None
