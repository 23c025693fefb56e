"""Questions that give their answer away: nothing in the reference is not already in the question."""

import re
from collections.abc import Iterator

from ragstone.checks.base import Finding, Gold, Row
from ragstone.checks.disagreement import accepted
from ragstone.checks.measures import measures
from ragstone.checks.wording import Wording
from ragstone.language import detect, fold, negated, numbers, refuses

MOST_NEW = 0.5
"""Most share of words a reference may have besides the number asked for."""

_CHOICE = re.compile(
    r"还是|或者|或是|哪一?[个种项类者款家]?[更最]|[中里]的?哪|之中|以下|下列|下面|是否|对吗|吗[?？]?$|正确|区别|相比|比较|"
    r"排[列序]|顺序|\bor\b|\bwhich of\b|\bbetween\b|\bamong\b|\bfollowing\b|"
    r"\btrue\b|\bcorrect\b|\bcompared?\b|\border\b|\bversus\b|\bvs\b|\bdifference\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"[a-z0-9]+(?:[._/:@#]+[a-z0-9]+)+")
"""What is written in one piece and told by nothing but itself: payment.failed, /v2/refunds."""


def giveaways(gold: Gold) -> Iterator[Finding]:
    """Yield giveaway."""
    for row in gold.rows:
        if row.sample.expected_behavior == "answer" and (given := given_away(row)):
            yield row.found("giveaway", "warning", "question", given=given, question=row.sample.question or "")


def given_away(row: Row) -> str | None:
    """Return the reference if its question holds all that it tells, None if it tells something new or asks to choose or confirm."""
    asked = row.sample.question or ""
    wording = Wording.of(row.sample)
    texts = accepted(row.sample)
    if not texts or "whether" in wording.asked or "why" in wording.asked or _CHOICE.search(asked):
        return None
    return texts[0] if all(_holds(wording, text) for text in texts) else None


def _holds(asked: Wording, reference: str) -> bool:
    if refuses(reference) or negated(reference) or detect(reference) != asked.language:
        return False
    said = Wording(reference, asked.language)
    if not set(numbers(reference)) <= set(numbers(asked.text)) or any(name not in asked.plain for name in said.names):
        return False
    if any(code not in asked.plain for code in _CODE.findall(said.plain)):
        return False
    new = sum(word not in asked.words for word in said.words)
    if asked.asked & {"amount", "when"}:
        told = measures(reference)
        return bool(told) and told <= measures(asked.text) and new <= MOST_NEW * len(said.words)
    return _tells(said, reference) and new == 0 and _in_order(asked, said)


def _tells(said: Wording, reference: str) -> bool:
    return len(said.words) >= (2 if said.language == "zh" else 1) and len(fold(reference)) >= 2


def _in_order(asked: Wording, said: Wording) -> bool:
    """True if a Chinese reference stands in the question in pieces of two characters or more; single ones are found anywhere."""
    if said.language == "en":
        return True
    held = "".join(asked.words)
    text = "".join(said.words)
    return all(text[i : i + 2] in held for i in range(len(text) - 1))
