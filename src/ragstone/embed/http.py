"""An embedder behind any OpenAI-compatible endpoint. Texts of many samples share requests."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ragstone.embed.awaited import Asked, all_of
from ragstone.embed.batch import Batch
from ragstone.embed.course import Course
from ragstone.embed.taught import Taught
from ragstone.errors import AuthError, EndpointError
from ragstone.judge.base import Identity
from ragstone.transport.endpoint import EMBEDDINGS, Endpoint, Key
from ragstone.transport.key import hidden
from ragstone.transport.purse import Purse
from ragstone.transport.retry import Backoff
from ragstone.transport.wire import DONE, Sleep, Wire

if TYPE_CHECKING:
    from ragstone.embed.base import Vector
    from ragstone.transport.memory import Memory
    from ragstone.types import Language

KEPT = 2000
"""Vectors remembered, so that the question of a sample is asked once however many of its metrics compare with it."""
WAIT = 0.003
"""Seconds a text waits for company before a request that is not full goes out."""
MISSING = "embedding_missing"


class HttpEmbedder:
    """Embeds over HTTP, in requests of up to `batch_size` texts collected from whoever asks at the same time.

    Equal texts waiting or on their way are asked once, and about 2,000 vectors are kept. Only strings are sent, never
    blank ones, with `encoding_format: float`. Vectors are float32 and read-only. The first one fixes the dimension.
    An endpoint that takes fewer texts at once is asked with fewer from then on, by later runs too; one text it does not
    take fails alone.

    Args:
        model: name of the model at the endpoint.
        base_url: address of the API, usually ending in `/v1`.
        api_key: key, or None for endpoints without one.
        batch_size: most texts in one request.
        timeout: seconds one try may take in all.
        retries: repeats after 408, 409, 429, 5xx or transport errors.
        concurrency: most requests at once; fewer where the endpoint does not stand so many.
        rpm: most requests a minute; None = any.
        tpm: most tokens a minute; None = any.
        key_name: the setting that holds the key, for error texts.
        lang: language of error texts; None = the screen's.
        backoff: waits between repeats.
        sleep: how to wait.
        wait: seconds a text waits for company.
        memory: where what the endpoint teaches is kept for later runs; None = nowhere.
        purse: asked before every try, None = nobody pays.

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
        rpm: int | None = None,
        tpm: int | None = None,
        key_name: str = EMBEDDINGS.key,
        lang: Language | None = None,
        backoff: Backoff | None = None,
        sleep: Sleep = asyncio.sleep,
        wait: float = WAIT,
        memory: Memory | None = None,
        purse: Purse | None = None,
    ) -> None:
        api_key = hidden(api_key)
        self._endpoint = Endpoint(base_url, model, Key(api_key, key_name), EMBEDDINGS, lang)
        self._wire = Wire(
            self._endpoint,
            timeout=timeout,
            retries=retries,
            concurrency=concurrency,
            backoff=backoff or Backoff(),
            sleep=sleep,
            purse=purse,
            rpm=rpm,
            tpm=tpm,
        )
        self._taught = Taught(self._endpoint, batch_size, memory)
        self.dimension: int | None = None
        """Length of the vectors, once one was received."""
        self._barren = False
        """Texts were asked for one by one, and not one vector came."""
        self.rate_limits = 0
        """Refusals for asking too often so far."""
        self.requested: dict[str, Any] = {}
        """Parameters as the settings ask for them that can change a vector: there are none."""
        self.purse = purse
        self._wait, self._retries = wait, retries
        self._kept: OrderedDict[str, Vector] = OrderedDict()
        self._asked: dict[str, Asked] = {}
        self._waiting: list[str] = []
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def __repr__(self) -> str:
        return f"HttpEmbedder({self._endpoint.model!r}, {self._endpoint.url!r})"

    @property
    def identity(self) -> Identity:
        """Model and address, and what the requests came to be."""
        return Identity(model=self._endpoint.model, endpoint=self._endpoint.url, parameters=self._taught.effective)

    @property
    def notices(self) -> list[str]:
        """What a person should hear at the end of a run: what was adapted, and texts that were probably cut."""
        return self._taught.notices

    @property
    def batch_size(self) -> int:
        """Most texts in one request, as known now."""
        return self._taught.batch_size

    @property
    def requests(self) -> int:
        """Requests sent so far."""
        return self._wire.sent

    async def embed(self, texts: Sequence[str]) -> list[Vector | str]:
        """Return one vector a text, in order, or in its place the word why there is none."""
        found = [self._find(text) for text in texts]
        if pending := {f for f in found if isinstance(f, Asked)}:
            await all_of(pending)
        return [_settled(f.outcome if isinstance(f, Asked) else f) for f in found]

    def expect(self, requests: int, tell: Callable[[str], None]) -> None:
        """Allow the repeats that fit so many requests; `tell` is called once when they are used up."""
        self._wire.expect(requests, tell)

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
    def _find(self, text: str) -> Vector | str | Asked:
        if not text.strip():
            return "embedding_zero"
        if (vector := self._kept.get(text)) is not None:
            self._kept.move_to_end(text)
            return vector
        asked = self._asked.get(text)
        if asked is None:
            asked = self._asked[text] = Asked()
            self._waiting.append(text)
            self._arrange()
        return asked

    def _arrange(self) -> None:
        """Send full batches now, the rest a moment later."""
        while len(self._waiting) >= self._taught.batch_size:
            self._send()
        if self._waiting and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._wait, self._send)

    def _send(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        size = self._taught.batch_size
        batch, self._waiting = self._waiting[:size], self._waiting[size:]
        if batch:
            task = asyncio.get_running_loop().create_task(self._deliver(batch))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        self._arrange()

    async def _deliver(self, batch: list[str]) -> None:
        outcomes: Sequence[Vector | str | Exception] = ["connection"] * len(batch)
        try:
            outcomes = await self._ask_first(batch)
        except (AuthError, EndpointError) as stopped:
            outcomes = [type(stopped)(f"{stopped}\n{self._endpoint.say('embeddings_hint')}")] * len(batch)
        except Exception as error:
            outcomes = [error] * len(batch)
        finally:
            for text, outcome in zip(batch, outcomes, strict=True):
                self._settle(text, outcome)

    def _settle(self, text: str, outcome: Vector | str | Exception) -> None:
        self._asked.pop(text).settle(outcome)
        if not isinstance(outcome, str | Exception):
            self._kept[text] = outcome
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)

    # ------------------------------------------------------------------ asking
    async def _ask_first(self, batch: list[str]) -> Sequence[Vector | str]:
        course = Course(len(batch))
        try:
            outcomes = await self._ask(batch, course)
            if course.refusals and not self._wire.accepted:
                raise self._wire.stop(course.refusals[-1])
            if len(batch) == 1 and isinstance(outcomes[0], str) and outcomes[0] == MISSING:
                outcomes = await self._ask(batch, course)
            return outcomes
        finally:
            self._taught.dismiss(batch)

    async def _ask(self, texts: Sequence[str], course: Course) -> list[Vector | str]:
        """Ask for all texts, in as many requests as it takes. What one request teaches holds for the next ones."""
        outcomes: list[Vector | str] = []
        while left := texts[len(outcomes) :]:
            outcomes += await self._ask_some(left, course)
        return outcomes

    async def _ask_some(self, texts: Sequence[str], course: Course) -> list[Vector | str]:
        """Ask for the first of the texts, as many as one request takes, and where that fails for its parts."""
        if course.hopeless:
            return [course.trouble] * len(texts)
        batch = Batch(self._endpoint.model, texts, self._taught)
        step = await self._wire.ask("embeddings", batch, retries=min(1, self._retries) if course.in_vain else None)
        self.rate_limits += batch.tally.rate_limits
        course.note(step)
        if step is DONE:
            self._taught.take(batch.asked)
            return await self._repaired(batch.asked, self._checked(batch.outcomes), course)
        if len(batch.asked) > 1 and (batch.divisible or course.trouble or step.word in ("blocked", "too_long")):
            return await self._ask_parts(_halves(batch.asked), course)
        self._taught.dismiss(batch.asked)
        course.refusals += [batch.refusal] if batch.refusal else []
        return [step.word or "bad_reply"] * len(batch.asked)

    async def _ask_parts(self, parts: Sequence[Sequence[str]], course: Course) -> list[Vector | str]:
        return [outcome for part in parts for outcome in await self._ask(part, course)]

    async def _repaired(self, texts: Sequence[str], outcomes: list[Vector | str], course: Course) -> list[Vector | str]:
        """Ask again, with less company, for vectors that did not come: one by one if not one came, else by halves."""
        lost = [i for i, outcome in enumerate(outcomes) if isinstance(outcome, str) and outcome == MISSING]
        if not lost or len(texts) == 1 or (self._barren and self.dimension is None):
            return outcomes
        again = [texts[i] for i in lost]
        alone = len(lost) == len(texts)
        found = await self._ask_parts([[text] for text in again] if alone else _halves(again), course)
        self._barren = alone and self.dimension is None
        for i, outcome in zip(lost, found, strict=True):
            outcomes[i] = outcome
        return outcomes

    def _checked(self, outcomes: list[Vector | str]) -> list[Vector | str]:
        sizes = [outcome.size for outcome in outcomes if not isinstance(outcome, str)]
        if self.dimension is None and sizes:
            self.dimension = Counter(sizes).most_common(1)[0][0]
        if sizes.count(self.dimension or 0) == len(outcomes):
            return outcomes
        return [o if isinstance(o, str) or o.size == self.dimension else "embedding_dimension" for o in outcomes]


def _halves(texts: Sequence[str]) -> list[Sequence[str]]:
    middle = (len(texts) + 1) // 2
    return [part for part in (texts[:middle], texts[middle:]) if part]


def _settled(outcome: Vector | str | Exception) -> Vector | str:
    if isinstance(outcome, Exception):
        raise outcome
    return outcome
