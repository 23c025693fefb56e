"""Stands where judge and embedder stand in a run whose metrics ask neither."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from ragstone.errors import ConfigError
from ragstone.judge.base import NOBODY, Identity, RawReply
from ragstone.questions.base import Question
from ragstone.text import say, screen_language

if TYPE_CHECKING:
    from ragstone.embed.base import Vector


class Nobody:
    """Judge and embedder of a run that has none; a metric that asks all the same breaks its word (`Metric.judged`)."""

    identity = Identity(NOBODY, NOBODY)
    requests = 0

    async def complete(self, question: Question) -> RawReply:
        """Raise ConfigError: the metric must be told apart by its author, no setting helps."""
        _refuse(question.kind.name)

    async def embed(self, texts: Sequence[str]) -> list[Vector | str]:
        """Raise ConfigError, as `complete`."""
        _refuse("cosine")

    async def close(self) -> None:
        """Nothing to release."""


def _refuse(kind: str) -> NoReturn:
    raise ConfigError(say("judges.nobody", screen_language(), kind=kind))
