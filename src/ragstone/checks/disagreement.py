"""Whether two references to one question contradict each other: other numbers, yes against no, a statement and its denial.

References are worded freely, so only what cannot both be right counts: another number of the same unit in the same
statement or in two short answers, yes against no, the same statement denied.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

from ragstone.checks.base import Said
from ragstone.checks.measures import apart, measures
from ragstone.checks.wording import Wording
from ragstone.judge.local_evidence import Piece, clauses
from ragstone.language import detect, fold, refuses, sentences
from ragstone.types import Sample

Embed = Callable[[Sequence[str]], Sequence[Any]]
"""As of `Gold`."""

SAME = 0.7
"""Least share of words that two statements hold of each other to be the same but for a number or a denial."""
SHORT = 40
"""Most folded characters (Chinese) of an answer that says one thing; English: three times as many."""
NAME = 24
"""Most characters of a name that is set against another."""
_KINDS = ("部", "科", "处", "组", "室", "司", "局")
UNLIKE = 0.45
"""Cosine below which two names are of different things: Personnel and Human Resources are at 0.66, Finance and Human Resources at 0.33."""

_YES = re.compile(r"^(?:是的|对的|可以|能够|允许|需要|必须|(?:是|对|能|会|有|行|可)(?=[,，。.;；!！]|$)|(?:yes|yeah)\b)")
_NO = re.compile(
    r"^(?:不可以|不能|不允许|不需要|不必|不用|不是|不会|不行|不可|没有|无需|无须|禁止|严禁|(?:否|不)(?=[,，。.;；!！]|$)|"
    r"no\b(?! later| more| less| fewer| earlier))"
)
_FIGURE = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
_WORDS_ONLY = re.compile(
    "不法|非法|不当|不合格|不符|不良|不足|不同|不定期|非正式|无关|无效|不满|未满|不动产|无人|未知|非公开|不明|不适|不慎|不便|不利|"
    "非工作日|非紧急"
)
"""Words that hold a negative character and deny no statement."""


def disagreement(one: Sample, other: Sample, embed: Embed) -> Said | None:
    """Return what two rows that ask the same contradict each other in; None if both may be right. Symmetric but for the order of values.

    Args:
        one: a row; its question tells what is asked for.
        other: another row with the same question, or the same in other words.
        embed: as of `Gold`; called only for short answers to who and where.
    """
    if one.expected_behavior != other.expected_behavior:
        return Said("check.contradiction_behavior", {"one": one.expected_behavior, "other": other.expected_behavior})
    asked = Wording.of(one).asked & Wording.of(other).asked
    found = [_apart(a, b, asked, embed) for a in accepted(one) for b in accepted(other)]
    return found[0] if found and all(found) else None


def accepted(sample: Sample) -> list[str]:
    """Return the answers that would be right: the reference, or its points as one text, and the alternatives."""
    first = "\n".join(sample.reference_points or ()) or sample.reference or ""
    return [text for text in (first, *(sample.reference_alternatives or ())) if fold(text)]


def _apart(one: str, other: str, asked: frozenset[str], embed: Embed) -> Said | None:
    if fold(one) == fold(other) or refuses(one) or refuses(other):
        return None
    if "whether" in asked and _polarity(one) * _polarity(other) < 0:
        return Said("check.contradiction_yes_no")
    if _short(one) and _short(other):
        if numbers := apart(measures(one), measures(other)):
            return Said("check.contradiction_number", {"one": numbers[0], "other": numbers[1]})
        if numbers := _only_figures(one, other):
            return Said("check.contradiction_number", {"one": numbers[0], "other": numbers[1]})
        if asked & {"who", "where"} and (spot := _other_name(one, other)) and _unlike(*spot, embed):
            return Said("check.contradiction_name", {"one": spot[0], "other": spot[1]})
    return _twins_apart(one, other)


def _only_figures(one: str, other: str) -> tuple[str, str] | None:
    """Return the first figure that two answers of otherwise the same characters differ in, whatever it counts: 350ml, 550ml."""
    plain = [unicodedata.normalize("NFKC", text).casefold().replace(",", "") for text in (one, other)]
    if fold(_FIGURE.sub("0", plain[0])) != fold(_FIGURE.sub("0", plain[1])):
        return None
    figures = zip(*(_FIGURE.findall(text) for text in plain), strict=False)
    return next(((a, b) for a, b in figures if float(a) != float(b)), None)


def _other_name(one: str, other: str) -> tuple[str, str] | None:
    """Return the one place in which two answers of the same words differ: "signed by Finance" and "signed by Personnel".

    Bare names are not set against each other, but for two of a kind (人力资源部, 财务部): a town and a stadium in it are both right.
    """
    first, second = (_tokens(text) for text in (one, other))
    codes = [code for code in SequenceMatcher(None, first, second, autojunk=False).get_opcodes() if code[0] != "equal"]
    if len(codes) != 1 or codes[0][0] != "replace" or detect(one) != detect(other):
        return None
    _, a, b, c, d = codes[0]
    if len(first) - (b - a) < 2 and not (len(first) > b and first[b] in _KINDS):
        return None
    joint = "" if detect(one) == "zh" else " "
    spot = joint.join(first[a:b]), joint.join(second[c:d])
    return spot if min(map(len, spot)) > 1 and max(map(len, spot)) <= NAME else None


def _tokens(text: str) -> list[str]:
    return list(fold(text)) if detect(text) == "zh" else text.strip(" .").casefold().split()


def _unlike(one: str, other: str, embed: Embed) -> bool:
    a, b = embed([one, other])
    return a is not None and b is not None and float(a @ b) < UNLIKE


def _twins_apart(one: str, other: str) -> Said | None:
    """The first statement that the other text says with another number, or denies, and nowhere says the same of."""
    twins = [(p, q) for p in _statements(one) for q in _statements(other) if min(p.within(q), q.within(p)) >= SAME]
    agreeing = {id(piece) for pair in twins if not _conflict(*pair) for piece in pair}
    return next((_conflict(p, q) for p, q in twins if id(p) not in agreeing and id(q) not in agreeing), None)


def _statements(text: str) -> list[Piece]:
    return [clause for sentence in sentences(text) for clause in _long(Piece(sentence))]


def _long(sentence: Piece) -> Iterator[Piece]:
    # of two characters or one word any text says the same
    return (piece for piece in clauses(sentence) if len(piece.words) > 2)


def _conflict(one: Piece, other: Piece) -> Said | None:
    if numbers := apart(measures(one.text), measures(other.text)):
        return Said("check.contradiction_number", {"one": numbers[0], "other": numbers[1]})
    if _denies(one) != _denies(other) and one.numbers == other.numbers:
        return Said("check.contradiction_denial", {"one": one.text, "other": other.text})
    return None


def _denies(piece: Piece) -> bool:
    return Piece(_WORDS_ONLY.sub("", piece.text)).denials > 0


def _short(text: str) -> bool:
    """True of one sentence that is not long: what it counts is what was asked for."""
    folded = fold(text)
    return len(sentences(text)) == 1 and len(folded) <= SHORT * (3 if folded.isascii() else 1)


def _polarity(text: str) -> int:
    plain = Wording(text, "zh").plain
    return -1 if _NO.match(plain) else 1 if _YES.match(plain) else 0
