"""An embedder behind any OpenAI-compatible endpoint. Texts of many samples share requests."""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import orjson

from ragstone.embed.replies import read_vectors
from ragstone.judge.base import Identity
from ragstone.transport.endpoint import EMBEDDINGS, Endpoint, Key
from ragstone.transport.retry import Backoff
from ragstone.transport.wire import AGAIN, DONE, Sleep, Spared, Step, Tally, Wire

if TYPE_CHECKING:
    from ragstone.embed.base import Vector
    from ragstone.transport.error_body import ApiError
    from ragstone.types import Language

KEPT = 2000
"""Vectors remembered, so that the question of a sample is asked once however many of its metrics compare with it."""
WAIT = 0.003
"""Seconds a text waits for company before a request that is not full goes out."""
_COUNT_WORDS = (
    r"batch.?size|too many (inputs|texts|items|elements|documents|strings)|input\.contents|array (is )?(length|size|too)"
    r"|(inputs|texts|items|elements|documents)\b[^.\n]{0,40}(exceed|at most|maximum|limit|up to|no more)"
    r"|(exceed|at most|maximum|max|limit|up to|no more)[^.\n]{0,40}(inputs|texts|items|elements|documents)|批|\d+\s*条|条数"
)


class HttpEmbedder:
    """Embeds over HTTP, in requests of up to `batch_size` texts collected from whoever asks at the same time.

    Equal texts waiting or on their way are asked once, and about 2,000 vectors are kept. Only strings are sent, never
    blank ones, with `encoding_format: float`. Vectors are float32 and read-only. The first one fixes the dimension.
    An endpoint that takes fewer texts at once is asked with fewer from then on; one text it does not take fails alone.

    Args:
        model: name of the model at the endpoint.
        base_url: address of the API, usually ending in `/v1`.
        api_key: key, or None for endpoints without one.
        batch_size: most texts in one request.
        timeout: seconds one try may take in all.
        retries: repeats after 408, 409, 429, 5xx or transport errors.
        concurrency: most requests at once.
        key_name: the setting that holds the key, for error texts.
        lang: language of error texts; None = the screen's.
        backoff: waits between repeats.
        sleep: how to wait.
        wait: seconds a text waits for company.

    Raises:
        ConfigError: the address holds a password or is none.
        AuthError: from `embed`; the key, its rights or its balance are refused.
        EndpointError: from `embed`; wrong address or model, no such API, or nothing was ever accepted.
    """

    def __init__(
        self,
        model: str,
        base_url: str,
        api_key: str | None,
        *,
        batch_size: int = 10,
        timeout: float = 120.0,
        retries: int = 5,
        concurrency: int = 16,
        key_name: str = EMBEDDINGS.key,
        lang: Language | None = None,
        backoff: Backoff | None = None,
        sleep: Sleep = asyncio.sleep,
        wait: float = WAIT,
    ) -> None:
        self._endpoint = Endpoint(base_url, model, Key(api_key, key_name), EMBEDDINGS, lang)
        self._wire = Wire(
            self._endpoint, timeout=timeout, retries=retries, concurrency=concurrency, backoff=backoff or Backoff(), sleep=sleep
        )
        self.batch_size = batch_size
        """Most texts in one request, as known now."""
        self.dimension: int | None = None
        """Length of the vectors, once one was received."""
        self.parameters: dict[str, Any] = {"encoding_format": "float"}
        self.requested: dict[str, Any] = {}
        """Parameters as the settings ask for them that can change a vector: there are none."""
        self._dropped: dict[str, str] = {}
        self._wait = wait
        self._kept: OrderedDict[str, Vector] = OrderedDict()
        self._asked: dict[str, asyncio.Future[Vector | str | Exception]] = {}
        self._waiting: list[str] = []
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def __repr__(self) -> str:
        return f"HttpEmbedder({self._endpoint.model!r}, {self._endpoint.url!r})"

    @property
    def identity(self) -> Identity:
        """Model and address, and what had to be dropped from the requests."""
        dropped = {"dropped": dict(self._dropped)} if self._dropped else {}
        return Identity(model=self._endpoint.model, endpoint=self._endpoint.url, parameters={**self.parameters, **dropped})

    @property
    def requests(self) -> int:
        """Requests sent so far."""
        return self._wire.sent

    async def embed(self, texts: Sequence[str]) -> list[Vector | str]:
        """Return one vector a text, in order, or in its place the word why there is none."""
        found = [self._find(text) for text in texts]
        if pending := {f for f in found if isinstance(f, asyncio.Future)}:
            await asyncio.wait(pending)  # not gather: a caller that gives up must not take the vectors from the others
        return [_settled(f.result() if isinstance(f, asyncio.Future) else f) for f in found]

    async def close(self) -> None:
        """Give up what is on its way and close the pooled connections."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        unsent, self._waiting = self._waiting, []
        for text in unsent:
            self._settle(text, "connection")
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._wire.close()

    # ------------------------------------------------------------------ collecting
    def _find(self, text: str) -> Vector | str | asyncio.Future[Vector | str | Exception]:
        if not text.strip():
            return "embedding_zero"
        if (vector := self._kept.get(text)) is not None:
            self._kept.move_to_end(text)
            return vector
        future = self._asked.get(text)
        if future is None:
            future = self._asked[text] = asyncio.get_running_loop().create_future()
            self._waiting.append(text)
            self._arrange()
        return future

    def _arrange(self) -> None:
        """Send full batches now, the rest a moment later."""
        while len(self._waiting) >= self.batch_size:
            self._send()
        if self._waiting and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._wait, self._send)

    def _send(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        batch, self._waiting = self._waiting[: self.batch_size], self._waiting[self.batch_size :]
        if batch:
            task = asyncio.get_running_loop().create_task(self._deliver(batch))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        self._arrange()

    async def _deliver(self, batch: list[str]) -> None:
        outcomes: Sequence[Vector | str | Exception] = ["connection"] * len(batch)
        try:
            outcomes = await self._ask(batch)
        except Exception as error:
            outcomes = [error] * len(batch)
        finally:
            for text, outcome in zip(batch, outcomes, strict=True):
                self._settle(text, outcome)

    def _settle(self, text: str, outcome: Vector | str | Exception) -> None:
        future = self._asked.pop(text)
        if not future.done():
            future.set_result(outcome)
        if not isinstance(outcome, str | Exception):
            self._kept[text] = outcome
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)

    # ------------------------------------------------------------------ asking
    async def _ask(self, batch: list[str]) -> list[Vector | str]:
        refusals: list[ApiError] = []
        outcomes = await self._ask_parts(batch, refusals)
        if refusals and not self._wire.accepted:
            raise self._wire.stop(refusals[-1])
        lost = [i for i, outcome in enumerate(outcomes) if isinstance(outcome, str) and outcome == "embedding_missing"]
        if lost:
            for i, outcome in zip(lost, await self._ask_parts([batch[i] for i in lost], refusals), strict=True):
                outcomes[i] = outcome
        return outcomes

    async def _ask_parts(self, batch: list[str], refusals: list[ApiError]) -> list[Vector | str]:
        """Ask for a batch, and where it is refused as a whole for its parts."""
        exchange = _Batch(batch, self)
        step = await self._wire.ask("embeddings", exchange)
        if step is DONE:
            return [self._checked(outcome) for outcome in exchange.outcomes]
        if exchange.refusal is not None and len(batch) == 1:
            refusals.append(exchange.refusal)
        part = exchange.part or (len(batch) // 2 if step.word in ("blocked", "too_long") else 0)
        if not part:
            return [step.word or "bad_reply"] * len(batch)
        outcomes: list[Vector | str] = []
        while left := batch[len(outcomes) :]:  # what one part teaches holds for the next ones
            outcomes += await self._ask_parts(left[: min(part, self.batch_size)], refusals)
        if exchange.crowded and not any(isinstance(o, str) for o in outcomes):  # else one text may have been the trouble
            self.remember(part)
        return outcomes

    def _checked(self, outcome: Vector | str) -> Vector | str:
        if isinstance(outcome, str):
            return outcome
        self.dimension = self.dimension or outcome.size
        return outcome if outcome.size == self.dimension else "embedding_dimension"

    def remember(self, batch_size: int) -> None:
        """Put no more than so many texts into a request from now on."""
        self.batch_size = min(self.batch_size, batch_size)

    def drop(self, name: str, error: ApiError) -> None:
        """Send a parameter no more."""
        if self.parameters.pop(name, None) is not None:
            self._dropped[name] = f"HTTP {error.status}: {error.message[:200]}"

    def body(self, batch: list[str]) -> bytes:
        """Return the request for these texts."""
        request = {"model": self._endpoint.model, "input": batch, **self.parameters}
        try:
            return orjson.dumps(request)
        except TypeError:  # half of a surrogate pair, which no JSON can carry
            return orjson.dumps({**request, "input": [text.encode("utf-8", "replace").decode() for text in batch]})


class _Batch:
    """Texts asked for together. After a refusal `part` says in how small parts to ask again; 0 = not at all."""

    def __init__(self, texts: list[str], embedder: HttpEmbedder) -> None:
        self._texts, self._embedder = texts, embedder
        self._sent: dict[str, Any] = {}
        self.outcomes: list[Vector | str] = []
        self.part = 0
        self.crowded = False
        """The refusal was about the number of texts, as far as its words tell."""
        self.refusal: ApiError | None = None
        self.tally = Tally()
        self.spared: Spared = None

    def body(self) -> bytes:
        self._sent = dict(self._embedder.parameters)
        return self._embedder.body(self._texts)

    def known(self, data: dict[str, Any]) -> bool:
        return "data" in data

    def read(self, data: dict[str, Any]) -> Step:
        self.outcomes = read_vectors(data, len(self._texts))
        return DONE

    def refused(self, error: ApiError, sure: bool) -> Step | None:
        for name in self._sent:
            if error.refuses(name):
                self._embedder.drop(name, error)
                return AGAIN
        size = len(self._texts)
        if size > 1 and (error.status == 413 or error.mentions(_COUNT_WORDS)):
            named = _named_size(error, size)
            self.part, self.crowded = named or size // 2, True
            if named:
                self._embedder.remember(named)
            return Step("fail", "bad_reply", error.message)
        if sure and (error.model or error.status in (404, 405, 410)):
            return None
        if size > 1:
            self.part = size // 2
            return Step("fail", "bad_reply", error.message)
        if error.too_long:
            return Step("fail", "too_long", error.message)
        self.refusal = error
        return Step("fail", "bad_reply", error.message)


def _named_size(error: ApiError, size: int) -> int | None:
    """The greatest number in the error's words that is smaller than the batch: the size the endpoint takes."""
    return max((int(n) for n in re.findall(r"\b\d{1,4}\b", error.message) if 1 <= int(n) < size), default=None)


def _settled(outcome: Vector | str | Exception) -> Vector | str:
    if isinstance(outcome, Exception):
        raise outcome
    return outcome
