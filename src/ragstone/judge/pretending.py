"""Stands for a judge in a rehearsal: replies of the right shape and a typical length, without a model and without judgement."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import orjson

from ragstone import tokens
from ragstone.judge import local_claims, local_questions
from ragstone.judge.base import Identity, RawReply
from ragstone.questions.base import Question
from ragstone.types import Language

FRAME = 8
"""Tokens that the roles and ends of two messages take."""
TURNS = 16
"""Turns of the event loop until every question that rests on no reply has been asked."""
QUOTE = 20
_REASONS: dict[Language, str] = {
    "en": "The second context says the same of this in other words, with the same number.",
    "zh": "第二个片段用不同的说法表达了同样的内容，数字也一致。",
}

Reply = dict[str, Any]


class PretendingJudge:
    """Finds claims by rule, supports all of them and finds every context useful.

    One case at a time: `begin` is called before each. A question that comes before any pretended reply was given to its case
    is one that a real run asks in exactly these words.
    """

    def __init__(self, identity: Identity, requested: Any = None) -> None:
        """Pretend to be who `identity` says; `requested` are the parameters it is asked with, None = not known."""
        self.identity = identity
        if requested is not None:
            self.requested = requested
        self.first: set[str] = set()
        """Keys of the questions of this case that rest on no pretended reply."""
        self._replied = False
        self._seen: set[int] = set()
        self._prompts: dict[str, int] = {}

    def begin(self) -> None:
        """A new case begins."""
        self.first.clear()
        self._replied = False

    async def complete(self, question: Question) -> RawReply:
        """Reply once all that is asked at the same time has been asked; a question that came before takes nothing again."""
        if not self._replied:
            self.first.add(question.key)
        for _ in range(TURNS):
            await asyncio.sleep(0)
        self._replied = True
        text = orjson.dumps(pretended(question)).decode()
        number = int(question.key[:16], 16)
        if number in self._seen:
            return RawReply(text=text, usage={"prompt_tokens": 0, "completion_tokens": 0}, attempts=0)
        self._seen.add(number)
        return RawReply(text=text, usage={"prompt_tokens": self._prompt(question), "completion_tokens": tokens.estimate(text)})

    def _prompt(self, question: Question) -> int:
        if (system := self._prompts.get(question.prompt)) is None:
            system = self._prompts[question.prompt] = tokens.estimate(question.prompt) + FRAME
        return system + tokens.estimate_bytes(question.body)

    async def close(self) -> None:
        """Nothing is held open."""


def pretended(question: Question) -> Reply:
    """Return a reply to any question that is put to a judge."""
    return _KINDS[question.kind.name](question.input, question.language)


def _check(asked: Reply, lang: Language) -> list[Reply]:
    first = asked["contexts"][0]
    said = {"evidence": [first["id"]], "quote": first["text"][:QUOTE], "reason": _REASONS[lang], "verdict": "supported"}
    return [{"id": claim["id"], **said} for claim in asked["claims"]]


def _rate(asked: Reply, lang: Language) -> list[Reply]:
    return [{"id": context["id"], "reason": _REASONS[lang], "verdict": 1} for context in asked["contexts"]]


def _match(asked: Reply, lang: Language) -> Reply:
    references = [claim["id"] for claim in asked["reference_claims"]]
    said = {"matches": references[:1], "reason": _REASONS[lang], "verdict": "supported"}
    answer = [{"id": claim["id"], **said} for claim in asked["answer_claims"]]
    return {"answer": answer, "reference": [{"id": id, "verdict": "covered"} for id in references]}


_KINDS: dict[str, Callable[[Reply, Language], Reply]] = {
    "split_claims": lambda asked, lang: {"claims": local_claims.split(asked["text"], asked["of"], lang)},
    "split_both": lambda asked, lang: {f"{of}_claims": local_claims.split(asked[of], of, lang) for of in ("answer", "reference")},
    "check_claims": lambda asked, lang: {"verdicts": _check(asked, lang)},
    "rate_contexts": lambda asked, lang: {"verdicts": _rate(asked, lang)},
    "check_all": lambda asked, lang: {"claims": _check(asked, lang), "contexts": _rate(asked, lang)},
    "match_claims": _match,
    "invert_answer": lambda asked, lang: {"questions": local_questions.invert(asked["answer"], asked["count"], lang)},
}
