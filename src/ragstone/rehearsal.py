"""What a run would ask and cost, found out by rehearsing it: the real pipeline with a pretending judge. Nothing is sent or written."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ragstone import tokens
from ragstone.budget import UNSENT, Budget
from ragstone.cache import ReplyCache, cache_folder
from ragstone.cache_file import NAME, CacheFile
from ragstone.cached import CachedEmbedder, CachedReplies
from ragstone.config import Config
from ragstone.evaluation import cases, setup_of
from ragstone.judge.base import NOBODY, Identity, Judge
from ragstone.judge.pretending import PretendingJudge
from ragstone.judge.select import judge_url, make_judge
from ragstone.lost import Work
from ragstone.metrics.base import Metric
from ragstone.past import Past
from ragstone.prices import Prices
from ragstone.progress import Counts, Progress, Spent
from ragstone.run import Driver
from ragstone.samples import SampleSource
from ragstone.session import work
from ragstone.types import Language

if TYPE_CHECKING:
    from ragstone.embed.base import Embedder, Vector

PROMPT_ERROR = tokens.ERROR
"""How far the tokens of prompts may lie from what an endpoint counts, as a share."""
REPLY_ERROR = 1.0
"""The same of replies: how long reasons a judge writes is its own matter."""
REQUEST_ERROR = 0.1
"""How far the number of later requests may lie from that of a run without failures."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run would ask. `to_dict` is the document of `evaluate --dry-run --json`."""

    samples: int
    cells: int
    """Cells that are due."""
    standing: int
    """Cells that need nothing more."""
    held: int
    """Questions answered by the run folder."""
    from_cache: int
    """Questions answered by the reply cache."""
    by_metric: Mapping[str, Mapping[str, int]]
    """{"requests", "exact", "prompt", "completion", "cached"} of each metric; a shared request counts under the first.

    `exact` = requests of the first round, whose words are known before any reply; the others are estimated.
    """
    by_kind: Mapping[str, Mapping[str, int]]
    embeddings: Mapping[str, int] | None
    """{"requests": at most, "texts", "tokens"}; None if no endpoint is asked for embeddings."""
    cost: Mapping[str, Any] | None
    """{"total", "by_metric", "embeddings"}; None where a price is not known. Prompts an endpoint has cached are not foreseen."""
    limits: tuple[Mapping[str, Any], ...]
    """{"limit", "most", "estimated", "fits"} of each limit that is set; `estimated` None without prices."""
    sends: bool
    """False if the named judge sends nothing (local, scripted): the numbers are then those of a judge behind an endpoint."""

    @property
    def totals(self) -> dict[str, int]:
        """The sums over all metrics."""
        names = ("requests", "exact", "prompt", "completion", "cached")
        return {name: sum(spent[name] for spent in self.by_metric.values()) for name in names}

    def to_dict(self) -> dict[str, Any]:
        """One JSON document; `null` = cannot be told."""
        named = ("samples", "cells", "standing", "held", "from_cache")
        return {
            "dry_run": True,
            **{name: getattr(self, name) for name in named},
            **self.totals,
            "by_metric": {name: dict(spent) for name, spent in self.by_metric.items()},
            "by_kind": {name: dict(spent) for name, spent in self.by_kind.items()},
            "embeddings": None if self.embeddings is None else dict(self.embeddings),
            "cost": None if self.cost is None else dict(self.cost),
            "limits": [dict(limit) for limit in self.limits],
            "sends": self.sends,
            "error": {"exact": 0.0, "requests": REQUEST_ERROR, "prompt": PROMPT_ERROR, "completion": REPLY_ERROR},
        }


async def rehearse(
    source: SampleSource,
    metrics: Sequence[Metric],
    config: Config,
    environ: Mapping[str, str],
    *,
    out: Path | None = None,
    judge: Judge | None = None,
    embedder: Embedder | None = None,
    lang: Language | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Estimate:
    """Return what `evaluate_source` would ask, as far as `out` and the reply cache do not hold it already.

    Works without a judge, an address or a key. Raises RunFolderError if `out` could not be used.
    """
    asked, vectors = _backends(config, environ, lang, judge, embedder)
    pretending = PretendingJudge(asked.identity, getattr(asked, "requested", None))
    embedding = _PretendingEmbedder(vectors, config.embeddings.batch_size)
    setup = setup_of(asked.identity, vectors.identity, metrics, config)
    async with AsyncExitStack() as closing:
        for backend in (asked, vectors):
            closing.push_async_callback(backend.close)
        past = Past(None if config.force else out, setup, source, repeats=config.repeat, retry_failed=config.retry_failed)
        closing.callback(past.close)
        recalled, remembering = _recalled(config, pretending, embedding, closing)
        counts = _Foreseen(first=pretending.first)
        driver = Driver(setup.plan, pretending, remembering, past, counts, recalled)
        total = source.count * len(metrics) * past.repeats
        standing = past.standing(metrics)
        await driver.run(_one_by_one(past, metrics, config, pretending), workers=1, total=total - standing, on_progress=on_progress)
    prices = Prices(_price(config, config.judge.model, asked), _price(config, config.embeddings.model, vectors))
    sizes = source.count, total - standing, standing
    return _estimate(
        counts,
        [m.text for m in metrics],
        [k.name for k in setup.plan.kinds],
        past,
        embedding,
        prices,
        Budget.of(config),
        sizes,
        _sends(asked.identity) or asked.identity.model == NOBODY,
    )


def _estimate(
    counts: _Foreseen,
    metrics: Sequence[str],
    kinds: Sequence[str],
    past: Past,
    embedding: _PretendingEmbedder,
    prices: Prices,
    budget: Budget,
    sizes: tuple[int, int, int],
    sends: bool,
) -> Estimate:
    texts = embedding.counted
    embedded = {"embedding_requests": texts["requests"], "embedding_tokens": texts["tokens"]} if texts else {}
    cost = prices.cost(counts.tokens, embedded)
    used = (
        counts.requests + embedded.get("embedding_requests", 0),
        counts.prompt_tokens + counts.completion_tokens + embedded.get("embedding_tokens", 0),
        cost["total"] if cost else None,
    )
    return Estimate(
        *sizes,
        len(past.found),
        counts.from_cache,
        _told(metrics, counts.by_metric, counts.exact_by_metric),
        _told((kind for kind in kinds if kind in counts.by_kind), counts.by_kind, counts.exact_by_kind),
        texts,
        cost,
        tuple(budget.compared(used)),
        sends,
    )


def _told(names: Iterable[str], parts: Mapping[str, Spent], exact: Mapping[str, int]) -> dict[str, dict[str, int]]:
    return {name: {**parts.get(name, Spent()).to_dict(), "exact": exact.get(name, 0)} for name in names}


def _one_by_one(past: Past, metrics: Sequence[Metric], config: Config, judge: PretendingJudge) -> Iterator[Work]:
    for item in work(past, metrics, cases(config)):
        judge.begin()
        yield item


@dataclass(slots=True)
class _Foreseen(Counts):
    """Counts that also tell which requests are exact, and count an equal question once."""

    first: set[str] = field(default_factory=set, compare=False)
    """Keys of the questions of the case in work that rest on no pretended reply."""
    recalled: set[str] = field(default_factory=set, compare=False)
    """Keys found in the reply cache; a run would hold them from then on."""
    exact_by_kind: Counter[str] = field(default_factory=Counter, compare=False)
    exact_by_metric: Counter[str] = field(default_factory=Counter, compare=False)

    def add(self, line: dict[str, Any], spent: Spent | None = None) -> None:
        """Count one line."""
        if line["from_cache"] and line["key"] in self.recalled:
            return
        self.recalled.update([line["key"]] if line["from_cache"] else ())
        Counts.add(self, line, spent)
        self.exact_by_kind[line["kind"]] += bool(Spent.of(line)) and line["key"] in self.first

    def assign(self, metric: str, spent: Spent, key: str = "") -> None:
        """Say for which metric something was asked."""
        Counts.assign(self, metric, spent, key)
        self.exact_by_metric[metric] += bool(spent) and key in self.first


# ------------------------------------------------------------------ who would be asked
def _backends(
    config: Config, environ: Mapping[str, str], lang: Language | None, judge: Judge | None, embedder: Embedder | None
) -> tuple[Judge, Embedder]:
    """Judge and embedder for their names alone; nobody where no address is known, since a rehearsal needs none."""
    from ragstone.embed.select import make_embedder
    from ragstone.judge.nobody import Nobody

    pace: dict[str, Any] = {"concurrency": config.concurrency, "environ": environ, "lang": lang}
    settings = config.judge.model_copy(update={"api_key_env": None})
    texts = config.embeddings.model_copy(update={"api_key_env": None})
    known = settings.model is not None and (judge_url(settings, environ) or settings.model.partition(":")[0] in ("local", "scripted"))
    nowhere = texts.model not in (None, "", "local") and not (texts.base_url or judge_url(settings, environ))
    vectors = embedder or (Nobody() if nowhere else make_embedder(texts, settings, **pace))
    return judge or (make_judge(settings, **pace, embedder=vectors) if known else Nobody()), vectors


def _sends(who: Identity) -> bool:
    return who.endpoint not in UNSENT


def _price(config: Config, named: str | None, backend: Judge | Embedder) -> Any:
    return config.prices.get(backend.identity.model) or config.prices.get(named or "")


class _PretendingEmbedder:
    """Counts texts instead of embedding them."""

    def __init__(self, embedder: Embedder, batch_size: int) -> None:
        self.identity, self._batch = embedder.identity, batch_size
        if hasattr(embedder, "requested"):
            self.requested = embedder.requested
        self._seen: set[int] = set()
        self.requests = self._tokens = 0

    @property
    def counted(self) -> dict[str, int] | None:
        """What would be sent; None where nothing is."""
        if not _sends(self.identity) and self.identity.model != NOBODY:
            return None
        return {"requests": self.requests, "texts": len(self._seen), "tokens": self._tokens}

    async def embed(self, texts: Sequence[str]) -> list[Vector | str]:
        """Return equal vectors; texts asked for together go out together, those of several samples may share a request."""
        import numpy as np

        new = [text for text in dict.fromkeys(texts) if text.strip() and hash(text) not in self._seen]
        self._seen.update(map(hash, new))
        self._tokens += sum(map(tokens.estimate, new))
        self.requests += -(-len(new) // self._batch)
        return [np.ones(2, dtype=np.float32) for _ in texts]

    async def close(self) -> None:
        """Nothing is held open."""


# ------------------------------------------------------------------ the reply cache, only read
class _Peek:
    """A reply cache that takes nothing in."""

    foreign = True

    def __init__(self, folder: Path) -> None:
        self._file = CacheFile(folder, float("inf"))
        self.close = self._file.close

    async def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        return self._file.read(keys)

    def put(self, key: bytes, value: bytes, *, vector: bool = False) -> None:
        pass


def _recalled(
    config: Config, judge: PretendingJudge, embedder: _PretendingEmbedder, closing: AsyncExitStack
) -> tuple[CachedReplies | None, Embedder]:
    """Who looks up before asking, where there is a cache already."""
    if config.no_cache or not (cache_folder(config) / NAME).exists():
        return None, embedder
    with suppress(sqlite3.Error, OSError):  # a cache that cannot be read answers nothing in the run either
        peek = _Peek(cache_folder(config))
        closing.callback(peek.close)
        cache = cast("ReplyCache", peek)
        replies = CachedReplies(cache, judge) if hasattr(judge, "requested") else None
        return replies, CachedEmbedder(cache, embedder) if hasattr(embedder, "requested") else embedder
    return None, embedder
