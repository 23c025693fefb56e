"""A judge behind any OpenAI-compatible chat endpoint."""

import asyncio
from collections.abc import Callable, Mapping
from operator import is_not
from typing import Any, Literal
from urllib.parse import urlsplit

from ragstone.errors import ConfigError
from ragstone.judge.base import Identity, RawReply
from ragstone.judge.chat import Chat, Desk, Recall
from ragstone.judge.dialect import RESERVED, Dialect
from ragstone.judge.pupil import Pupil
from ragstone.judge.thinking import thinking_off
from ragstone.judge.witness import Witness
from ragstone.questions.base import Question
from ragstone.text import say
from ragstone.transport.endpoint import JUDGE, Endpoint, Key
from ragstone.transport.key import hidden
from ragstone.transport.memory import Memory
from ragstone.transport.purse import Purse
from ragstone.transport.retry import Backoff
from ragstone.transport.wire import Sleep, Wire
from ragstone.types import Language


class HttpJudge:
    """Asks a model at an OpenAI-compatible endpoint; one pooled session, opened at the first question.

    The reply format steps down from json_schema to json_object to free text where the endpoint refuses one or does not apply it;
    a refused temperature, top_p, seed or length limit is changed, renamed or dropped once. The same question is then asked
    again, and `identity.parameters` tells what is sent, under `dropped` what is not, under `changed` what has another value,
    under `added` what was added. What was learned is kept for the next judge, if there is a memory. `n` is never sent.

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
        concurrency: most requests at once; fewer where the endpoint does not stand so many.
        rpm: most requests a minute; None = any.
        tpm: most tokens a minute; None = any.
        thinking: `off` sends the off-switch to hosts known to have one, to others after a refusal that demands it; `auto` never.
        key_name: the setting that holds the key, for error texts.
        lang: language of error texts and notices; None = the screen's.
        backoff: waits between repeats.
        sleep: how to wait.
        memory: what earlier runs were taught; None = nothing is remembered.
        purse: asked before every try, None = nobody pays.

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
        rpm: int | None = None,
        tpm: int | None = None,
        thinking: Literal["off", "auto"] = "off",
        key_name: str = JUDGE.key,
        lang: Language | None = None,
        backoff: Backoff | None = None,
        sleep: Sleep = asyncio.sleep,
        memory: Memory | None = None,
        purse: Purse | None = None,
    ) -> None:
        api_key = hidden(api_key)
        endpoint = self._endpoint = Endpoint(base_url, model, Key(api_key, key_name), JUDGE, lang)
        extra = dict(extra_body or {})
        if taken := [name for name in RESERVED if name in extra]:
            raise ConfigError(say("http.reserved", endpoint.lang, names=", ".join(taken)))
        settings = {"temperature": temperature, "top_p": top_p, "seed": seed, "max_tokens": max_tokens}
        quiet = thinking == "off"
        switch = thinking_off(endpoint.host, model, urlsplit(endpoint.url).port) if quiet else {}
        dialect = Dialect(model, settings, extra, switch, switch=quiet)
        pupil = Pupil(dialect, memory, (endpoint.url, model), self._tell)
        self._desk = Desk(dialect, pupil, Witness(quiet=quiet, tell=self._tell), endpoint.scrub)
        self._heard: Callable[[str], None] | None = None
        self._state: tuple[Any, ...] | None = None
        self.purse = purse
        self.requested: dict[str, Any] = {n: v for n, v in settings.items() if v is not None} | extra | {"thinking": thinking}
        """Parameters as the settings ask for them, whatever the endpoint takes: part of the reply cache's key."""
        self._wire = Wire(
            endpoint,
            timeout=timeout,
            retries=retries,
            concurrency=concurrency,
            backoff=backoff or Backoff(),
            sleep=sleep,
            rpm=rpm,
            tpm=tpm,
            purse=purse,
        )

    def __repr__(self) -> str:
        return f"HttpJudge({self._endpoint.model!r}, {self._endpoint.url!r})"

    @property
    def identity(self) -> Identity:
        """Model, address, the parameters in effect now, and who answered; the same record until something of it changes."""
        seen, dialect = self._desk.witness, self._desk.dialect
        state = (dialect.shape, dialect.largest, seen.models, seen.fingerprints)
        if self._state is None or any(map(is_not, state, self._state)):
            self._state = state
            seen_of_it: dict[str, Any] = {"answered_by": seen.models or None, "fingerprints": seen.fingerprints or None}
            self._identity = Identity(self._endpoint.model, self._endpoint.url, dialect.effective, **seen_of_it)
        return self._identity

    def hear(self, tell: Callable[[str], None]) -> None:
        """Tell `tell`, from now on, what the endpoint teaches and what is strange about its replies; each thing once."""
        self._heard = tell

    async def complete(self, question: Question, recall: Recall | None = None) -> RawReply:
        """Answer one question. `attempts`, `usage` and `rate_limits` cover all its requests, `latency_s` the last one.

        `recall` is asked once more for a reply of another run if the question had to wait for its turn.
        """
        self._desk.pupil.begin()
        exchange = Chat(question, self._desk, recall)
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
            reasoning=None if exchange.reasoning is None else key.scrub(exchange.reasoning),
            notes=exchange.notes,
            confidence=exchange.confidence,
        )

    def _tell(self, name: str, **values: object) -> None:
        if self._heard is not None:
            self._heard(self._endpoint.say(name, **{word: self._endpoint.scrub(str(value)) for word, value in values.items()}))

    def expect(self, requests: int, tell: Callable[[str], None]) -> None:
        """Allow the repeats that fit so many requests; `tell` is called once when they are used up."""
        self._wire.expect(requests, tell)

    async def close(self) -> None:
        """Close the pooled connections."""
        await self._wire.close()
