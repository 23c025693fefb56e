"""An honest judge with little room: its replies end at so many tokens, and it refuses prompts of more than so many.

    FaultServer({}, SmallJudge(output=1024))            # on a real socket
    ragstone.evaluate(rows, judge=SmallJudge(window=900))   # in this process

It takes each sentence for a claim, finds a claim where it stands word for word, finds it contradicted where the text that
denies it stands, and a context useful if it holds a sentence of the yardstick. So whatever the parts, the truth is the same.
A Chinese character is a token, four ASCII characters are one.
"""

import functools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import orjson
from support.fault_server import Call, error
from support.server import Answer, say

from ragstone.judge.base import Identity, RawReply
from ragstone.language import fold as fold_anew
from ragstone.language import sentences
from ragstone.questions.base import Question

Item = dict[str, Any]
fold = functools.cache(fold_anew)
DENIALS = ("并非", "It is false that ")


def tokens(text: str) -> int:
    """Count tokens as this judge does."""
    wide = sum(ord(c) > 127 for c in text)
    return wide - (wide - len(text)) // 4


def refusal(most: int) -> Answer:
    """A prompt refused as OpenAI does."""
    return error(400, f"This model's maximum context length is {most} tokens. Please reduce the length.", "context_length_exceeded")


@dataclass
class SmallJudge:
    """`window` and `output` are the most tokens of a prompt and of a reply; None = no limit."""

    output: int | None = None
    window: int | None = None
    refuse: Callable[[int], Answer] = refusal
    """What a prompt over the window is answered with."""
    largest: int | None = None
    """A larger limit of the request is refused; None = it is taken, and does nothing."""
    asked: list[str] = field(default_factory=list)
    """Kinds, in order of arrival."""
    cut: int = 0
    refused: int = 0

    identity = Identity("small", "scripted")

    # ------------------------------------------------------------------ on a socket
    def __call__(self, call: Call) -> Answer:
        body, prompt = call.seen.body, "".join(message["content"] for message in call.seen.body["messages"])
        self.asked.append(call.kind)
        limit = body.get("max_tokens") or body.get("max_completion_tokens")
        if self.largest and limit and limit > self.largest:
            said = f"max_tokens is too large: {limit}. This model supports at most {self.largest} completion tokens."
            return error(400, said, "invalid_value", "max_tokens")
        if self._too_long(prompt):
            return self.refuse(self.window or 0)
        text, room = reply_to(call.kind, call.input), min(self.output or 10**9, limit or 10**9)
        usage = {"prompt_tokens": tokens(prompt), "completion_tokens": min(tokens(text), room)}
        if tokens(text) <= room:
            return say(text, usage=usage)
        self.cut += 1
        return say(text[: _reach(text, room)], finish="length", usage=usage)

    def _too_long(self, prompt: str) -> bool:
        too_long = self.window is not None and tokens(prompt) > self.window
        self.refused += too_long
        return too_long

    # ------------------------------------------------------------------ in this process
    async def complete(self, question: Question) -> RawReply:
        """Answer a question."""
        self.asked.append(question.kind.name)
        if self._too_long(question.prompt + question.body.decode()):
            return RawReply(error="too_long")
        text = reply_to(question.kind.name, question.input)
        if self.output is not None and tokens(text) > self.output:
            self.cut += 1
            return RawReply(error="truncated")
        return RawReply(text=text)

    async def close(self) -> None:
        """Nothing to release."""


def _reach(text: str, room: int) -> int:
    """How many characters of a text about so many tokens are."""
    spent = accumulate(1 if ord(c) > 127 else 0.25 for c in text)
    return next((end for end, used in enumerate(spent) if used > room), len(text))


# ------------------------------------------------------------------ the truth
def reply_to(kind: str, asked: Item) -> str:
    """Return the reply, as compact JSON."""
    return orjson.dumps(_REPLIES[kind](asked)).decode()


def _claims(text: str) -> list[Item]:
    told = (re.sub(r"[。！？；.!?;\s]+$", "", sentence) for sentence in sentences(text))
    return [{"text": claim, "anchor": claim[:12]} for claim in told if claim]


def _denied(text: str) -> list[str]:
    return [fold(denial + text) for denial in DENIALS] + [fold(text.removeprefix(denial)) for denial in DENIALS if text.startswith(denial)]


def _check(asked: Item) -> list[Item]:
    folded = {context["id"]: fold(context["text"]) for context in asked["contexts"]}
    lines = []
    for claim in asked["claims"]:
        claimed, denied = fold(claim["text"]), _denied(claim["text"])
        against = [id for id, text in folded.items() if any(d in text for d in denied)]
        found = [id for id, text in folded.items() if claimed in text and id not in against]
        word = "supported" if found else "contradicted" if against else "not_found"
        lines.append({"id": claim["id"], "evidence": found or against, "quote": "", "reason": "资料如此。", "verdict": word})
    return lines


def _rate(asked: Item) -> list[Item]:
    wanted = [fold(claim["text"]) for claim in _claims(asked["reference"])]
    texts = [(context["id"], fold(context["text"])) for context in asked["contexts"]]
    return [{"id": id, "reason": "资料如此。", "verdict": int(any(w in text for w in wanted))} for id, text in texts]


def _match(asked: Item) -> Item:
    reference = [(claim["id"], fold(claim["text"])) for claim in asked["reference_claims"]]
    answer, hit = [], set()
    for claim in asked["answer_claims"]:
        same = [id for id, text in reference if text == fold(claim["text"])]
        against = [id for id, text in reference if text in _denied(claim["text"])]
        hit |= set(same)
        word = "supported" if same else "contradicted" if against else "not_found"
        answer.append({"id": claim["id"], "matches": same or against, "reason": "参考答案如此。", "verdict": word})
    return {"answer": answer, "reference": [{"id": id, "verdict": _covered(id, hit)} for id, _ in reference]}


def _covered(id: int, hit: Iterable[int]) -> str:
    return "covered" if id in hit else "missing"


_REPLIES: dict[str, Callable[[Item], Item]] = {
    "split_claims": lambda asked: {"claims": _claims(asked["text"])},
    "split_both": lambda asked: {"answer_claims": _claims(asked["answer"]), "reference_claims": _claims(asked["reference"])},
    "check_claims": lambda asked: {"verdicts": _check(asked)},
    "rate_contexts": lambda asked: {"verdicts": _rate(asked)},
    "check_all": lambda asked: {"claims": _check(asked), "contexts": _rate(asked)},
    "match_claims": _match,
    "invert_answer": lambda asked: {"questions": [{"question": f"第{n}问？", "noncommittal": False} for n in range(asked["count"])]},
}


# ------------------------------------------------------------------ long rows
SENTENCES = {
    "zh": "第{n}条规定，申请人应当自事项发生之日起{n}个工作日内提交书面材料，逾期未交者须另行说明。",
    "en": "Rule {n} has applicants hand in their papers within {n} working days of the event, or explain why they are late. ",
}
NOVEL = {"zh": "第{n}条另有食堂用餐的安排。", "en": "Rule {n} speaks of meals in the canteen. "}


def long_row(language: str, count: int = 60, id: str | None = None) -> Item:
    """Return a row whose reference has `count` sentences, a sixth of them denied by the answer, as many not mentioned by it."""
    told = [SENTENCES[language].format(n=n) for n in range(1, count + 1)]
    denial = DENIALS[language == "en"]
    answer = [NOVEL[language].format(n=n) if n % 6 == 0 else (denial if n % 6 == 3 else "") + s for n, s in enumerate(told, 1)]
    apart = NOVEL[language].format(n=900)
    denied = "".join(denial + s for s in told[4::12])
    contexts = ["".join(told[:20]), apart, "".join(told[15:35]), denied, told[50] if count > 50 else apart + "又", "".join(told[36:44])]
    question = {"zh": "申请人须遵守哪些规定？", "en": "Which rules are applicants to follow?"}[language]
    return {
        "id": id or f"{language}-{count}",
        "question": question,
        "answer": "".join(answer),
        "contexts": contexts,
        "reference": "".join(told),
    }
