"""A judge behind any OpenAI-compatible chat endpoint."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

from ragstone.errors import ConfigError
from ragstone.judge.base import Identity, RawReply
from ragstone.judge.dialect import LARGER, RESERVED, Dialect, Shape, thinking_off
from ragstone.judge.replies import add_usage, read_completion
from ragstone.questions.base import Question
from ragstone.text import say
from ragstone.transport.endpoint import JUDGE, Endpoint, Key
from ragstone.transport.error_body import ApiError
from ragstone.transport.retry import Backoff
from ragstone.transport.wire import AGAIN, DONE, Sleep, Spared, Step, Tally, Wire
from ragstone.types import Language

STALE = 0.05
"""Seconds after which it is worth looking again whether another run has been given the reply meanwhile."""

Recall = Callable[[Question], Awaitable[RawReply | None]]
"""Finds the reply that another run was given."""


class HttpJudge:
    """Asks a model at an OpenAI-compatible endpoint; one pooled session, opened at the first question.

    The reply format steps down from json_schema to json_object to free text where the endpoint refuses one; a refused
    temperature, top_p, seed or length limit is dropped or renamed once. The same question is then asked again, and
    `identity.parameters` tells what is sent, under `dropped` what is not, under `added` what was added. `n` is never sent.

    Args:
        model: name of the model at the endpoint.
        base_url: address of the API, usually ending in `/v1`; `/chat/completions` at its end is cut.
        api_key: key, or None for endpoints without one.
        timeout: seconds one try may take in all.
        retries: repeats after 408, 409, 429, 5xx or transport errors.
        max_tokens: longest reply; None = not sent.
        temperature: sampling temperature; None = not sent.
        top_p: nucleus sampling; None = not sent.
        seed: the endpoint's sampling seed; None = not sent.
        extra_body: more keys of the request body, merged at its top level; they win.
        concurrency: most requests at once.
        thinking: `off` sends the off-switch to hosts known to have one, to others after a refusal that demands it; `auto` never.
        key_name: the setting that holds the key, for error texts.
        lang: language of error texts; None = the screen's.
        backoff: waits between repeats.
        sleep: how to wait.

    Raises:
        ConfigError: the address holds a password or is none, or extra_body sets a key that is ours.
        AuthError: from `complete`; the key, its rights or its balance are refused.
        EndpointError: from `complete`; wrong address or model, a redirect, an unreachable host, or a first request refused
            for no known reason or answered by a web page or something else than a chat completion.
    """

    def __init__(
        self,
        model: str,
        base_url: str,
        api_key: str | None,
        *,
        timeout: float = 120.0,
        retries: int = 5,
        max_tokens: int | None = None,
        temperature: float | None = 0.0,
        top_p: float | None = None,
        seed: int | None = None,
        extra_body: Mapping[str, Any] | None = None,
        concurrency: int = 16,
        thinking: Literal["off", "auto"] = "off",
        key_name: str = JUDGE.key,
        lang: Language | None = None,
        backoff: Backoff | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        endpoint = self._endpoint = Endpoint(base_url, model, Key(api_key, key_name), JUDGE, lang)
        extra = dict(extra_body or {})
        if taken := [name for name in RESERVED if name in extra]:
            raise ConfigError(say("http.reserved", endpoint.lang, names=", ".join(taken)))
        settings = {"temperature": temperature, "top_p": top_p, "seed": seed, "max_tokens": max_tokens}
        switch = thinking_off(endpoint.host, model) if thinking == "off" else {}
        self._dialect = Dialect(model, settings, extra, switch, switch=thinking == "off")
        self._shape: Shape | None = None
        self.requested: dict[str, Any] = {n: v for n, v in settings.items() if v is not None} | extra | {"thinking": thinking}
        """Parameters as the settings ask for them, whatever the endpoint takes: part of the reply cache's key."""
        self._wire = Wire(endpoint, timeout=timeout, retries=retries, concurrency=concurrency, backoff=backoff or Backoff(), sleep=sleep)

    def __repr__(self) -> str:
        return f"HttpJudge({self._endpoint.model!r}, {self._endpoint.url!r})"

    @property
    def identity(self) -> Identity:
        """Model, address, and the parameters in effect now; the same record until the endpoint teaches something."""
        if self._shape is not self._dialect.shape:
            self._shape = self._dialect.shape
            self._identity = Identity(model=self._endpoint.model, endpoint=self._endpoint.url, parameters=self._dialect.effective)
        return self._identity

    async def complete(self, question: Question, recall: Recall | None = None) -> RawReply:
        """Answer one question. `attempts`, `usage` and `rate_limits` cover all its requests, `latency_s` the last one.

        `recall` is asked once more for a reply of another run if the question had to wait for its turn.
        """
        exchange = _Chat(question, self._dialect, recall)
        step = await self._wire.ask("chat/completions", exchange)
        if exchange.recalled is not None:
            return exchange.recalled
        tally, key = exchange.tally, self._endpoint.key
        return RawReply(
            text=None if exchange.text is None else key.scrub(exchange.text),
            error=step.word,
            message=step.message,
            usage=exchange.usage,
            latency_s=tally.latency_s,
            attempts=tally.attempts,
            rate_limits=tally.rate_limits,
        )

    async def close(self) -> None:
        """Close the pooled connections."""
        await self._wire.close()


class _Chat:
    """One question on its way: which shape it was sent in, and its second chances."""

    __slots__ = ("_dialect", "_empty", "_limit", "_looked", "_question", "_recall", "_sent", "recalled", "spared", "tally", "text", "usage")

    def __init__(self, question: Question, dialect: Dialect, recall: Recall | None) -> None:
        self._recall, self._looked = recall, time.monotonic()
        self.spared: Spared = self._spared if recall else None
        self.recalled: RawReply | None = None
        self._question, self._dialect = question, dialect
        self._sent: Shape = dialect.shape
        self._limit: int | None = None
        """A limit of this question alone, after its reply was cut; 0 = none."""
        self._empty = False
        self.tally = Tally()
        self.text: str | None = None
        self.usage: dict[str, Any] | None = None

    async def _spared(self) -> bool:
        if self._recall is not None and time.monotonic() - self._looked > STALE:
            self.recalled = await self._recall(self._question)
            self._looked = time.monotonic()
        return self.recalled is not None

    def body(self) -> bytes:
        self._sent = self._dialect.shape
        return self._sent.body(self._question, self._limit)

    def known(self, data: dict[str, Any]) -> bool:
        return "choices" in data

    def read(self, data: dict[str, Any]) -> Step:
        completion = read_completion(data)
        self.usage = add_usage(self.usage, completion.usage)
        if completion.word is None:
            self.text = completion.text
            return DONE
        if completion.word == "truncated":
            return self._enlarge()
        if completion.word == "blocked" or self._empty:
            return Step("fail", completion.word)
        self._empty = True
        return AGAIN

    def _enlarge(self) -> Step:
        if self._limit is not None:
            return Step("fail", "truncated")
        self._limit = 4 * self._sent.limit if self._sent.limit else LARGER
        return AGAIN

    def refused(self, error: ApiError, sure: bool) -> Step | None:
        if self._limit:
            return self._larger_refused(error)
        return AGAIN if self._dialect.learn(error, self._sent, self._question, sure) else None

    def _larger_refused(self, error: ApiError) -> Step:
        if self._dialect.renames(error, self._sent):
            return AGAIN
        self._limit = 0
        # Without a limit of its own the question has already been asked, and cut.
        return AGAIN if self._sent.limit else Step("fail", "truncated", error.message)
