"""How far a call is: what is done, what it has cost, what is left, who is waited for."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from ragstone.types import Score

BEAT = 5.0
"""Seconds after which progress is told though nothing has ended."""


UNASSIGNED = "unassigned"
"""In place of a metric: what a call that was killed had asked before it could be said for which one."""


@dataclass(slots=True)
class Spent:
    """Chat requests, tries included, and the tokens they took, as far as told; those of the prompt that were cached apart."""

    requests: int = 0
    prompt: int = 0
    completion: int = 0
    cached: int = 0

    @classmethod
    def of(cls, line: dict[str, Any]) -> "Spent":
        """Return what one line of `replies.jsonl` took; a reply of an earlier run took nothing."""
        if line.get("from_cache") or line["kind"] == "cosine":
            return cls()
        told = (line.get("usage") or {}).get
        return cls(line.get("attempts") or 0, told("prompt_tokens") or 0, told("completion_tokens") or 0, told("cached_tokens") or 0)

    def add(self, other: "Spent") -> None:
        """Add what something else took."""
        self.requests += other.requests
        self.prompt += other.prompt
        self.completion += other.completion
        self.cached += other.cached

    def __bool__(self) -> bool:
        return bool(self.requests or self.prompt or self.completion)

    def to_dict(self) -> dict[str, int]:
        """The object that stands in the manifest under a metric or a kind."""
        return asdict(self)


@dataclass(slots=True)
class Counts:
    """What a run has cost so far. Kept by the driver, stored in the manifest."""

    requests: int = 0
    """Requests to judge and embedder, tries included."""
    retries: int = 0
    rate_limits: int = 0
    """Requests answered 429."""
    bad_replies: int = 0
    unknown_usage: int = 0
    """Replies whose endpoint told no token counts."""
    from_cache: int = 0
    """Replies that an earlier run was given; they cost nothing, and nothing else counts them."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    prompt_cut: int = 0
    """Replies whose prompt the endpoint counted so short that it must have cut it."""
    by_kind: dict[str, Spent] = field(default_factory=dict, compare=False)
    by_metric: dict[str, Spent] = field(default_factory=dict, compare=False)
    """A request that several metrics of a sample rest on is counted under the first of them."""

    def add(self, line: dict[str, Any], spent: Spent | None = None) -> None:
        """Count one line of `replies.jsonl`; `spent` is what it took, if that is known already."""
        if line.get("from_cache"):
            self.from_cache += 1
            return
        attempts = line.get("attempts") or 0
        self.requests += attempts
        self.retries += max(0, attempts - 1)
        self.rate_limits += line.get("rate_limits") or 0
        self.bad_replies += line.get("error") == "bad_reply"
        self.prompt_cut += "prompt_cut" in (line.get("notes") or ())
        if line["kind"] == "cosine":
            return
        usage = line.get("usage")
        self.unknown_usage += usage is None
        spent = spent or Spent.of(line)
        self.prompt_tokens += spent.prompt
        self.completion_tokens += spent.completion
        self.cached_tokens += spent.cached
        if spent:
            _into(self.by_kind, line["kind"]).add(spent)

    def assign(self, metric: str, spent: Spent, key: str = "") -> None:
        """Say for which metric something was asked; `key` is that of the question."""
        del key
        if spent:
            _into(self.by_metric, metric).add(spent)

    def resume(self, by_metric: dict[str, dict[str, Any]]) -> None:
        """Take over what earlier calls have assigned; what they have not is `UNASSIGNED`, so that the sums stay true."""
        known = {f.name for f in fields(Spent)}
        for metric, held in by_metric.items():
            self.assign(metric, Spent(**{name: count for name, count in held.items() if name in known}))
        rest = Spent(self.requests, self.prompt_tokens, self.completion_tokens, self.cached_tokens)
        for spent in self.by_metric.values():
            rest.add(Spent(-spent.requests, -spent.prompt, -spent.completion, -spent.cached))
        self.assign(UNASSIGNED, rest)

    @property
    def troubles(self) -> int:
        """Repeats and bad replies."""
        return self.retries + self.bad_replies

    @property
    def tokens(self) -> dict[str, Any]:
        """What the manifest holds under `tokens`."""
        totals = {"prompt": self.prompt_tokens, "completion": self.completion_tokens, "cached": self.cached_tokens}
        parts = {"by_kind": self.by_kind, "by_metric": self.by_metric}
        told = {name: {of: held[of].to_dict() for of in sorted(held)} for name, held in parts.items()}
        return {**totals, "unknown": self.unknown_usage, **told}


def _into(parts: dict[str, Spent], name: str) -> Spent:
    if (part := parts.get(name)) is None:
        part = parts[name] = Spent()
    return part


@dataclass(frozen=True, slots=True)
class Progress:
    """How far this call is. `done`, `total` and `failed` count cells (sample x metric x repeat), the others what it has asked."""

    done: int
    total: int
    requests: int
    prompt_tokens: int
    completion_tokens: int
    failed: int
    elapsed_s: float
    left_s: float | None = None
    """Seconds left at the pace since the start; None until a cell has ended that rests on a reply received in this call."""
    awaited: str = ""
    """The host whose first reply has been awaited for some seconds, else empty."""


@dataclass(frozen=True, slots=True)
class RowProgress:
    """How far collecting is. `done` and `total` count the rows that this call asks, `failed` those of them that have no usable answer."""

    done: int
    total: int
    requests: int
    failed: int
    elapsed_s: float
    left_s: float | None = None
    """Seconds left at the pace since the start; None until a row has ended."""
    awaited: str = ""
    """What is waited for while no row has ended, else empty."""
    stopped: bool = False
    """True once the call has come to an end before its last row."""


@dataclass(slots=True)
class RowMeter:
    """Counts the rows of one call of collecting and tells how far it is."""

    total: int
    on_progress: Callable[[RowProgress], None] | None
    awaited: str = ""
    """Who is asked."""
    done: int = 0
    failed: int = 0
    requests: int = 0
    started: float = field(default_factory=time.monotonic)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once nothing more is to be told."""
    stopped: bool = False

    def stop(self) -> None:
        """Tell for the last time: nothing more is asked."""
        self.stopped = True
        self.tell()

    def tick(self, *, failed: bool, requests: int) -> None:
        """Count a row that has just ended, and tell."""
        self.done += 1
        self.failed += failed
        self.requests += requests
        self.tell()

    def take_back(self, failed: int) -> None:
        """So many failed rows get another try and are not done yet."""
        self.done -= failed
        self.failed -= failed
        self.tell()

    def tell(self) -> None:
        """Call `on_progress` with how things stand."""
        if self.on_progress is None:
            return
        elapsed = time.monotonic() - self.started
        left = elapsed / self.done * (self.total - self.done) if self.done and not self.stopped else None
        awaited = self.awaited if elapsed >= BEAT and not self.done and not self.stopped else ""
        self.on_progress(RowProgress(self.done, self.total, self.requests, self.failed, elapsed, left, awaited, self.stopped))

    async def beat(self) -> None:
        """Tell every few seconds, whether a row has ended or not, until all is over."""
        await _beat(self.over, self.tell)


@dataclass(slots=True)
class Meter:
    """Counts the cells of one call and tells how far it is."""

    counts: Counts
    total: int
    on_progress: Callable[[Progress], None] | None
    answered: Callable[[], int]
    """How many questions were answered in this call."""
    awaited: Callable[[], str]
    """The host that owes a reply just now, else empty."""
    done: int = 0
    free: int = 0
    """Cells that ended before the first reply came; they tell nothing of the pace."""
    failed: int = 0
    started: float = field(default_factory=time.monotonic)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once nothing more is to be told."""
    before: Counts = field(init=False)
    """What earlier calls have cost."""

    def __post_init__(self) -> None:
        self.before = replace(self.counts)

    def tick(self, score: Score) -> None:
        """Count a cell that has just ended, and tell."""
        self.done += 1
        self.free += not self.answered()
        self.failed += score.status == "failed"
        self.tell()

    def take_back(self, failed: int) -> None:
        """So many failed cells get another try and are not done yet."""
        self.done -= failed
        self.failed -= failed
        self.tell()

    def tell(self) -> None:
        """Call `on_progress` with how things stand."""
        if self.on_progress is None:
            return
        now, before, elapsed = self.counts, self.before, time.monotonic() - self.started
        tokens = now.prompt_tokens - before.prompt_tokens, now.completion_tokens - before.completion_tokens
        self.on_progress(
            Progress(
                self.done,
                self.total,
                now.requests - before.requests,
                *tokens,
                self.failed,
                elapsed,
                self._left(elapsed),
                self._awaited(elapsed),
            )
        )

    def _left(self, elapsed: float) -> float | None:
        paced = self.done - self.free
        return elapsed / paced * (self.total - self.done) if paced else None

    def _awaited(self, elapsed: float) -> str:
        return "" if elapsed < BEAT or self.answered() else self.awaited()

    async def beat(self) -> None:
        """Tell every few seconds, whether a cell has ended or not, until all is over."""
        await _beat(self.over, self.tell)


async def _beat(over: asyncio.Event, tell: Callable[[], None]) -> None:
    while not over.is_set():
        with suppress(TimeoutError):
            async with asyncio.timeout(BEAT):
                await over.wait()
                return
        tell()
