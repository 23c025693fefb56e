"""Reverse questions by rule, for the local judge."""

import re

from ragstone.judge.local_claims import split
from ragstone.language import refuses, sentences
from ragstone.types import Language

# Numbers of names (Heron 2), dates, times and telephones are none to ask for.
_ZH_NUMBER = re.compile(
    r"(?<![0-9A-Za-z:：./-])(?:[0-9]+(?:\.[0-9]+)?|[一二三四五六七八九十百千万两]+)(?= ?(?:[天年月元人次周倍%件把]|个|小时|分钟|工作日))"
)
_EN_NUMBER = re.compile(r"(?<![\w:./-])[0-9]+(?:[.,][0-9]+)*(?= ?%| [a-z])")
_NAME_BEFORE = re.compile(r"\b[A-Z]\w*\s$")
_ZH_TOPIC = re.compile(r"^([^，,]{2,30}?)(?=[是为有须应可不]|包括|享有|需要)")
_EN_TOPIC = re.compile(r"^([^,]{3,80}?)\s+(?=(?:is|are|was|were|has|have|gets?|must|can|may|should|includes?|lasts?)\b)", re.IGNORECASE)
_ARTICLE = re.compile(r"^(?:An?|The)\b")
_FORMS: dict[Language, tuple[str, str]] = {"zh": ("关于{topic}有什么规定？", "{topic}？"), "en": ("What about {topic}?", "{topic}?")}
LONGEST = 200
"""Most characters of a topic."""


def invert(answer: str, count: int, lang: Language) -> list[dict[str, object]]:
    """Return `count` questions the answer could answer, all flagged noncommittal if it refuses and states nothing.

    A statement becomes a question by asking for its first number, else about its subject; the statements are taken in
    turn, and again with another wording when there are fewer of them than questions.
    """
    stated = [claim["text"] for claim in split(answer, "answer", lang)]
    noncommittal = not stated and refuses(answer)
    if stated:
        questions = [_question(stated[i % len(stated)], i // len(stated), lang) for i in range(count)]
    else:
        said = sentences(answer) or [answer]
        questions = [_FORMS[lang][1].replace("{topic}", _bare(said[i % len(said)])) for i in range(count)]
    return [{"question": question, "noncommittal": noncommittal} for question in questions]


def _question(statement: str, turn: int, lang: Language) -> str:
    bare = _bare(statement)
    asked = _ask_number(bare, lang)
    subject = (_ZH_TOPIC if lang == "zh" else _EN_TOPIC).match(bare)
    about, plain = _FORMS[lang]
    wordings = [asked] if asked else []
    wordings += [about.replace("{topic}", _ARTICLE.sub(lambda m: m[0].lower(), subject[1]))] if subject else []
    wordings += [plain.replace("{topic}", bare)]
    return wordings[turn % len(wordings)]


def _bare(statement: str) -> str:
    return statement.strip(" 。.！!？?；;\n")[:LONGEST] or statement.strip()


def _ask_number(statement: str, lang: Language) -> str | None:
    number, word, mark = (_ZH_NUMBER, "多少", "？") if lang == "zh" else (_EN_NUMBER, "how many", "?")
    for match in number.finditer(statement):
        if not _NAME_BEFORE.search(statement[: match.start()]):
            return statement[: match.start()] + word + statement[match.end() :] + mark
    return None
