"""A judge by rule, for a first look without a key and for tests that must give the same numbers everywhere."""

from collections.abc import Callable
from typing import Any

import orjson

from ragstone.embed.bundled import BundledEmbedder
from ragstone.errors import ConfigError
from ragstone.judge import local_claims, local_questions, local_verdicts
from ragstone.judge.base import NO_TOKENS, Identity, RawReply
from ragstone.questions.base import Question
from ragstone.text import say, screen_language
from ragstone.types import Language


class LocalJudge:
    """Sentences as claims; shared words, numbers, names, negation and bundled embeddings as verdicts.

    A smoke test, not a measurement, and its identity carries that notice: on human-labelled answers such signals tell
    right from wrong little better than a coin (balanced accuracy about 0.58 on unseen kinds of text). What it does
    promise: equal questions get equal replies; a number that no context holds is never supported; a near-identical
    sentence with another number or the opposite negation contradicts.

    The work is done in the embedder's worker thread. An embedder that is passed in belongs to the caller.
    """

    def __init__(self, embedder: BundledEmbedder | None = None) -> None:
        self._embedder = embedder or BundledEmbedder()
        self._owned = embedder is None

    @property
    def identity(self) -> Identity:
        """With the smoke-test notice that stands beside every number."""
        return Identity(model="local", endpoint="local", notice="judges.smoke_test")

    async def complete(self, question: Question) -> RawReply:
        """Answer one question of any kind that is put to a judge.

        Raises:
            ConfigError: the kind is not one of them.
        """
        answer = self._kinds().get(question.kind.name)
        if answer is None:
            raise ConfigError(say("judges.local_kind", screen_language(), kind=question.kind.name))
        reply = await self._embedder.work(lambda: answer(question.input, question.language))
        return RawReply(text=orjson.dumps(reply).decode(), usage=dict(NO_TOKENS), attempts=0)

    async def close(self) -> None:
        """End the worker thread, if it is the judge's own."""
        if self._owned:
            await self._embedder.close()

    def _kinds(self) -> dict[str, Callable[[dict[str, Any], Language], dict[str, Any]]]:
        return {
            "split_claims": lambda asked, lang: {"claims": local_claims.split(asked["text"], asked["of"], lang)},
            "split_both": self._split_both,
            "check_claims": lambda asked, lang: {"verdicts": self._check(asked, lang)},
            "rate_contexts": lambda asked, lang: {"verdicts": self._rate(asked, lang)},
            "check_all": lambda asked, lang: {"claims": self._check(asked, lang), "contexts": self._rate(asked, lang)},
            "match_claims": self._match,
            "invert_answer": lambda asked, lang: {"questions": local_questions.invert(asked["answer"], asked["count"], lang)},
        }

    def _split_both(self, asked: dict[str, Any], lang: Language) -> dict[str, Any]:
        return {f"{side}_claims": local_claims.split(asked[side], side, lang) for side in ("answer", "reference")}

    def _check(self, asked: dict[str, Any], lang: Language) -> list[dict[str, Any]]:
        return local_verdicts.check(asked["contexts"], asked["claims"], self._embedder.encode, lang)

    def _rate(self, asked: dict[str, Any], lang: Language) -> list[dict[str, Any]]:
        return local_verdicts.rate(
            asked["contexts"], asked.get("question") or "", asked.get("reference") or "", self._embedder.encode, lang
        )

    def _match(self, asked: dict[str, Any], lang: Language) -> dict[str, Any]:
        return local_verdicts.match(asked["answer_claims"], asked["reference_claims"], self._embedder.encode, lang)
