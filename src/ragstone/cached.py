"""What a judge and an embedder said in earlier runs, found again in the reply cache.

Only backends that say what they were asked for (`requested`: parameters as the settings want them) take part: a key
must hold everything that can change a reply, and of other backends that is not known.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import orjson

from ragstone.cache import ReplyCache, key_of, parts_of, scope_of
from ragstone.judge.base import LOGPROBS, NOT_SENT, Identity, Judge, RawReply
from ragstone.questions.confidence import known
from ragstone.text import say, screen_language

if TYPE_CHECKING:
    from ragstone.embed.base import Embedder, Vector
    from ragstone.questions.base import Question


_REPLY: dict[str, tuple[type, ...]] = {"raw": (str,), "usage": (dict, type(None)), "parameters": (dict,)}
"""What a stored reply must hold."""


def takes_part(backend: Judge | Embedder) -> bool:
    """Return whether the replies of a backend may be taken from a cache."""
    return _requested(backend) is not None


def _requested(backend: Judge | Embedder) -> Any:
    """Return the parameters a backend was asked for; None if it does not say."""
    return getattr(backend, "requested", None)


class CachedReplies:
    """The replies of one judge: same question, endpoint, model, requested parameters and reply schema."""

    def __init__(self, cache: ReplyCache, judge: Judge) -> None:
        """Find and keep the replies of `judge`, which must say what it was asked for."""
        self._cache, self._judge = cache, judge
        self._scope = scope_of(judge.identity, _requested(judge))
        looks_again = "recall" in inspect.signature(judge.complete).parameters
        more: dict[str, Any] = {"recall": self.recall} if looks_again else {}
        self._complete: Callable[[Question], Awaitable[RawReply]] = partial(judge.complete, **more)
        self._schemas: dict[str, int] = {}
        """What tells the replies of a kind of question at this judge apart from all others, as a number of 128 bits."""
        self._sent: dict[bytes, None] = {}
        """Parameters that replies of this run were had with, as JSON."""
        self._told: Identity | None = None
        self._parameters = b"{}"

    def _key(self, question: Question) -> bytes:
        kind = question.kind
        if (schema := self._schemas.get(kind.name)) is None:
            digest = key_of(self._scope, orjson.dumps(kind.schema, option=orjson.OPT_SORT_KEYS))
            schema = self._schemas[kind.name] = int.from_bytes(digest)
        return (schema ^ int(question.key, 16)).to_bytes(16)  # both are digests already: hashing them once more tells nothing new

    async def recall(self, question: Question) -> RawReply | None:
        """Return the reply of an earlier run, None if there is none."""
        if not self._cache.foreign:
            return None
        key = self._key(question)
        if (held := _held((await self._cache.get([key])).get(key))) is None:
            return None
        self._sent[orjson.dumps(held["parameters"])] = None
        confidence = known(held.get("confidence"))
        return RawReply(text=held["raw"], usage=held["usage"], attempts=0, from_cache=True, confidence=confidence)

    async def complete(self, question: Question) -> RawReply:
        """Put the question to the judge, which looks here once more if the question has to wait for its turn."""
        return await self._complete(question)

    async def close(self) -> None:
        """Close the judge; the cache is its opener's."""
        await self._judge.close()

    def keep(self, question: Question, raw: RawReply) -> None:
        """Keep a whole, readable reply, with the parameters that were in effect beside it."""
        identity = self._judge.identity
        if identity is not self._told:
            self._told, self._parameters = identity, orjson.dumps(identity.parameters)
            self._sent[self._parameters] = None
        value = {"raw": raw.text, "usage": raw.usage, "parameters": orjson.Fragment(self._parameters)}
        if raw.confidence:
            value["confidence"] = raw.confidence
        self._cache.put(self._key(question), orjson.dumps(value))

    @property
    def identity(self) -> Identity:
        """The judge's, with the parameters its replies were really had with: recalled ones as well as those of this run.

        Where they are not all alike, the judge's own stand first and the others under `also`.
        """
        own = self._judge.identity
        used = [orjson.loads(sent) for sent in self._sent] or [own.parameters]
        others = [parameters for parameters in used if _sent(parameters) != _sent(own.parameters)]
        if len(used) == 1:
            return replace(own, parameters=used[0])
        return replace(own, parameters={**own.parameters, "also": others}) if others else own


class CachedEmbedder:
    """An embedder whose vectors are looked up by endpoint, model and text before it is asked."""

    def __init__(self, cache: ReplyCache, embedder: Embedder) -> None:
        """Look up before asking `embedder`, which must say what it was asked for."""
        self._cache, self._embedder = cache, embedder
        self._beginning = parts_of(scope_of(embedder.identity, _requested(embedder)), b"vector")
        self._size: int | None = None
        """Length of the vectors the embedder gives now."""
        self._outgrown: int | None = None
        """Length of held vectors that did not fit."""

    @property
    def identity(self) -> Identity:
        """The embedder's."""
        return self._embedder.identity

    @property
    def requests(self) -> int:
        """Requests sent so far."""
        return self._embedder.requests

    @property
    def notices(self) -> list[str]:
        """The embedder's, and that its model was changed under its name."""
        told = list(getattr(self._embedder, "notices", ()))
        if self._outgrown is not None:
            who = self._embedder.identity
            told.append(say("cache.outgrown", screen_language(), model=who.model, url=who.endpoint, held=self._outgrown, now=self._size))
        return told

    async def embed(self, texts: Sequence[str]) -> list[Vector | str]:
        """Return one vector a text, those that are held without asking.

        Held vectors of another length than the fresh ones come from a model that was changed under its name: all are asked
        anew, and once the new length is known none of the old ones is used any more.
        """
        keys = [key_of(text, after=self._beginning) for text in texts]
        held = (await self._cache.get(keys)).items()
        found = {key: vector for key, value in held if (vector := _vector(value)) is not None and self._fits(vector)}
        vectors = await self._embed(texts, keys, found)
        if found and len({v.size for v in vectors if not isinstance(v, str)}) > 1:
            vectors = await self._embed(texts, keys, {})
            for vector in found.values():
                self._fits(vector)
        return vectors

    def _fits(self, held: Vector) -> bool:
        if self._size not in (None, held.size):
            self._outgrown = held.size
            return False
        return True

    async def _embed(self, texts: Sequence[str], keys: Sequence[bytes], found: dict[bytes, Vector]) -> list[Vector | str]:
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        fresh = dict(zip(missing, await self._embedder.embed(list(missing.values())), strict=True)) if missing else {}
        for key, vector in fresh.items():
            if not isinstance(vector, str):
                self._size = self._size or vector.size
                self._cache.put(key, vector.astype("<f4").tobytes(), vector=True)
        held: dict[bytes, Any] = {**found, **fresh}
        return [held[key] for key in keys]

    async def close(self) -> None:
        """Close the embedder; the cache is its opener's."""
        await self._embedder.close()


def _sent(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the effective parameters that can change a reply; why something is not sent is told in other words from run to run."""
    return {name: value for name, value in parameters.items() if name not in NOT_SENT and name != LOGPROBS}


def _held(value: object) -> dict[str, Any] | None:
    """Return a stored reply, None for one that is damaged: the file is no more to be trusted than any other on a disk."""
    try:
        held = orjson.loads(value) if isinstance(value, bytes) else None
    except orjson.JSONDecodeError:
        return None
    if not isinstance(held, dict) or not all(isinstance(held.get(name), kinds) for name, kinds in _REPLY.items()):
        return None
    return held if all(isinstance(count, int | None) for count in (held["usage"] or {}).values()) else None


def _vector(value: object) -> Vector | None:
    """Return a stored vector, None for one that no endpoint could have given."""
    import numpy as np

    if not isinstance(value, bytes) or len(value) % 4:
        return None
    vector = np.frombuffer(value, dtype="<f4")
    return vector if np.isfinite(vector).all() and vector.any() else None
