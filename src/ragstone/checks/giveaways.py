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

_HELD = r"(?P<held>[^\s，,。？?][^，,。？?]{1,23}?)"
_END = r"[\s。？?]*$"
_CONFIRM = {
    "zh": (
        re.compile(rf"(?:是不是|是否[是为])\s*{_HELD}(?:[吗么呢])?{_END}"),
        re.compile(rf"(?<![不总都只可但])[是为]\s*{_HELD}[，,\s]*(?:吗|对吗|对不对|是吗|是不是|没错吧|对吧){_END}"),
    ),
    "en": (
        re.compile(
            rf"^(?:is it|am i) (?:right|true|correct) (?:that|in thinking that) .*?\b(?:is|are|takes?|lasts?|costs?) {_HELD}{_END}",
            re.IGNORECASE,
        ),
    ),
}
"""Questions that ask to confirm what they hold: its last words, right after "is"."""
_AMOUNT = re.compile(
    r"(?:每[年月周天次])?(?:[\d〇零一二两三四五六七八九十百千万亿半.,:%]+|[a-z]+(?:-[a-z]+)?\b)\s*"
    r"(?:[a-z]{0,10}|[\u3400-\u9fff]{0,4})(?: (?:a|per) [a-z]{3,5})?"
)
_OTHER = re.compile(r"还是|或者?|至少|至多|以上|以下|\bor\b", re.IGNORECASE)
"""A choice or a bound: the answer may be more than the number told."""
_ASSENT = re.compile(r"^(?:是的?|对的?|没错|正确|yes|right|correct|it is|it's|that is right)(?:[，,。.!！\s]+|(?=[\d]))", re.IGNORECASE)


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
    if texts and all(_confirmed(wording, text) for text in texts):
        return texts[0]
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


def _confirmed(asked: Wording, reference: str) -> bool:
    """True if the question asks whether it is what the reference says, and the reference says nothing else: a number or a name."""
    match = next((match for pattern in _CONFIRM[asked.language] if (match := pattern.search(asked.text))), None)
    if match is None or _OTHER.search(asked.text) or refuses(reference) or negated(reference):
        return False
    held, said = Wording(match["held"], asked.language), Wording(_ASSENT.sub("", reference.strip()), asked.language)
    if counted := measures(said.text):
        new = sum(word not in asked.words for word in said.words)
        return _AMOUNT.fullmatch(held.plain) is not None and counted == measures(held.text) and new <= MOST_NEW * len(said.words)
    # a quality ("is it free?") is asked for by nobody who wants to hear a name
    return bool(said.words) and said.words == held.words and any(name in held.plain for name in asked.names)


def _tells(said: Wording, reference: str) -> bool:
    return len(said.words) >= (2 if said.language == "zh" else 1) and len(fold(reference)) >= 2


def _in_order(asked: Wording, said: Wording) -> bool:
    """True if a Chinese reference stands in the question in pieces of two characters or more; single ones are found anywhere."""
    if said.language == "en":
        return True
    held = "".join(asked.words)
    text = "".join(said.words)
    return all(text[i : i + 2] in held for i in range(len(text) - 1))
