"""What one call may spend: requests, tokens and money. Judge and embedder draw on the same totals."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ragstone.errors import BudgetError, ConfigError
from ragstone.judge.base import NOBODY
from ragstone.judge.replies import read_usage
from ragstone.prices import cost_of
from ragstone.text import say, screen_language
from ragstone.tokens import estimate_bytes
from ragstone.transport.error_body import holds_error

if TYPE_CHECKING:
    from ragstone.config import Config, Price
    from ragstone.embed.base import Embedder
    from ragstone.judge.base import Judge

GUESS = 400
"""Tokens of a reply, as long as none has come."""
UNSENT = ("local", "scripted", NOBODY)
"""Endpoints of backends that send nothing."""
LIMITS = ("max_calls", "max_tokens_total", "max_cost")


@dataclass(slots=True)
class Budget:
    """The limits of one call and what it has spent so far; a resumed run starts with nothing spent.

    A request is refused when with it, and with what is on its way, a limit would be exceeded. After the first refusal all
    are refused: a run that went on would pick the cheap requests out of the rest and finish nothing.
    """

    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    calls: int = 0
    """Requests allowed, every try counted."""
    tokens: float = 0.0
    """Tokens of the requests that have ended; where an endpoint does not tell, as estimated."""
    cost: float = 0.0
    """Their cost, in the currency of the prices."""
    reserved_tokens: float = 0.0
    reserved_cost: float = 0.0
    """What the requests on their way are expected to take."""
    unknown: int = 0
    """Replies whose tokens had to be estimated."""
    refused_by: str | None = None
    """The limit that refused a request: max_calls, max_tokens_total or max_cost; None = none was refused."""

    @classmethod
    def of(cls, config: Config) -> Budget:
        """Return the budget the settings name."""
        return cls(config.max_calls, config.max_tokens_total, config.max_cost)

    @property
    def limited(self) -> bool:
        """True if there is any limit."""
        return any(limit is not None for limit in (self.max_calls, self.max_tokens, self.max_cost))

    @property
    def weighed(self) -> bool:
        """True if requests must be estimated before they are sent."""
        return self.max_tokens is not None or self.max_cost is not None

    def flags(self) -> list[str]:
        """Return the limits that are set, as on the command line."""
        limits = zip(LIMITS, (self.max_calls, self.max_tokens, self.max_cost), strict=True)
        return [f"--{name.replace('_', '-')} {limit:,}" for name, limit in limits if limit is not None]

    def open(self, backend: Judge | Embedder, account: Account, prices: dict[str, Price]) -> None:
        """Say who spends from an account.

        Raises:
            ConfigError: there are limits that a backend which sends requests does not keep, or its price is not known.
        """
        who = backend.identity
        account.price = prices.get(who.model)
        if not self.limited or who.endpoint in UNSENT:
            return
        if getattr(backend, "purse", None) is not account:
            raise ConfigError(say("budget.untold", screen_language(), limit=", ".join(self.flags())))
        if self.max_cost is not None and account.price is None:
            raise ConfigError(say("budget.no_price", screen_language(), model=who.model, table=json.dumps(who.model, ensure_ascii=False)))

    def refuses(self, tokens: float, cost: float) -> str | None:
        """Return the limit that one more request of this size would exceed."""
        if self.refused_by is None:
            if self.max_calls is not None and self.calls >= self.max_calls:
                self.refused_by = "max_calls"
            elif self.max_tokens is not None and self.tokens + self.reserved_tokens + tokens > self.max_tokens:
                self.refused_by = "max_tokens_total"
            elif self.max_cost is not None and self.cost + self.reserved_cost + cost > self.max_cost:
                self.refused_by = "max_cost"
        return self.refused_by

    def compared(self, used: tuple[float, float, float | None]) -> Iterator[dict[str, Any]]:
        """Say of each limit that is set whether requests, tokens and cost stay within it; cost None = not known."""
        for name, most, estimated in zip(LIMITS, (self.max_calls, self.max_tokens, self.max_cost), used, strict=True):
            if most is not None:
                fits = None if estimated is None else estimated <= most
                yield {"limit": f"--{name.replace('_', '-')}", "most": most, "estimated": estimated, "fits": fits}

    def stopped(self, cells: int, total: int) -> BudgetError:
        """Return the error that ends a run in which `cells` of `total` cells were left without their requests."""
        lang = screen_language()
        spent = [say("budget.spent", lang, calls=f"{self.calls:,}", tokens=f"{round(self.tokens):,}")]
        spent += [say("budget.spent_cost", lang, cost=f"{self.cost:.4g}")] if self.max_cost is not None else []
        spent += [say("budget.spent_unknown", lang, count=f"{self.unknown:,}")] if self.unknown else []
        name = f"--{(self.refused_by or '').replace('_', '-')} "
        flag = next((flag for flag in self.flags() if flag.startswith(name)), "")
        told = {"limit": flag, "spent": "".join(spent), "cells": f"{cells:,}", "total": f"{total:,}"}
        return BudgetError(say("budget.stopped", lang, **told, advice=say("budget.go_on" if self.calls else "budget.too_small", lang)))


@dataclass(slots=True)
class Account:
    """What one endpoint spends: the `Purse` of its wire."""

    budget: Budget
    price: Price | None = None
    replies: bool = True
    """False for an endpoint that writes nothing (embeddings)."""
    prompt: int = 0
    completion: int = 0
    cached: int = 0
    """Tokens the endpoint has told."""
    unknown: int = 0
    """Answers without token counts."""
    _written: int = 0
    """Answers that told the tokens of the reply."""
    _foreseen: float = 0.0
    """What the prompts were estimated at whose tokens it has told."""

    def take(self, body: bytes) -> Reservation | None:
        """Allow one request, None if a limit would be exceeded."""
        raw = estimate_bytes(body) if self.budget.weighed else 0
        prompt, reply = raw * self._factor, self._reply if raw else 0.0
        cost = cost_of(self.price, prompt, reply) if self.price and raw else 0.0
        if self.budget.refuses(prompt + reply, cost):
            return None
        self.budget.calls += 1
        self.budget.reserved_tokens += prompt + reply
        self.budget.reserved_cost += cost
        return Reservation(self, raw, prompt, reply)

    @property
    def _factor(self) -> float:
        """What this endpoint counts for a token of ours, as far as it has told."""
        return self.prompt / self._foreseen if self._foreseen else 1.0

    @property
    def _reply(self) -> float:
        if not self.replies:
            return 0.0
        return self.completion / self._written if self._written else GUESS

    def learn(self, raw: int, usage: dict[str, Any]) -> None:
        """Take in what an endpoint says a request took."""
        prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
        self.prompt += prompt or 0
        self.completion += completion or 0
        self.cached += min(usage.get("cached_tokens") or 0, prompt or 0)
        if prompt is not None:
            self._foreseen += raw
        self._written += completion is not None


@dataclass(slots=True)
class Reservation:
    """One request on its way, at what it is expected to take."""

    account: Account
    raw: int
    prompt: float
    reply: float
    _open: bool = field(default=True)

    def settle(self, data: dict[str, Any] | None) -> None:
        """Put what the request took in place of what was expected.

        An answer without token counts is taken to have cost what was expected, but for one that only says what went wrong:
        nobody charges for a refusal.
        """
        if not self._open:
            return
        self._open = False
        account, budget = self.account, self.account.budget
        self._add(-1, "reserved_tokens", "reserved_cost", self.prompt, self.reply, 0)
        usage = _usage(data)
        if usage is None and data is not None and holds_error(data):
            return
        if usage is None or usage["prompt_tokens"] is None or (account.replies and usage["completion_tokens"] is None):
            account.unknown += 1
            budget.unknown += 1
        told = usage or {}
        account.learn(self.raw, told)
        prompt, reply = _known(told.get("prompt_tokens"), self.prompt), _known(told.get("completion_tokens"), self.reply)
        self._add(1, "tokens", "cost", prompt, reply, min(told.get("cached_tokens") or 0, prompt))

    def _add(self, sign: int, tokens: str, cost: str, prompt: float, reply: float, cached: float) -> None:
        budget, price = self.account.budget, self.account.price
        setattr(budget, tokens, getattr(budget, tokens) + sign * (prompt + reply))
        if price is not None:
            setattr(budget, cost, getattr(budget, cost) + sign * cost_of(price, prompt, reply, cached))


def _known(told: int | None, expected: float) -> float:
    return expected if told is None else told


def _usage(data: dict[str, Any] | None) -> dict[str, Any] | None:
    """The tokens an answer tells; embeddings endpoints may name only a total."""
    told = data.get("usage") if data is not None else None
    usage = read_usage(told)
    total = told.get("total_tokens") if isinstance(told, dict) else None
    if (usage is None or usage["prompt_tokens"] is None) and isinstance(total, int) and total >= 0 and not isinstance(total, bool):
        written = (usage or {}).get("completion_tokens")
        return {"cached_tokens": None, **(usage or {}), "prompt_tokens": max(0, total - (written or 0)), "completion_tokens": written}
    return usage
