"""Claims by rule, for the local judge: sentences that state something, and the points of a directive reference."""

import re
from collections.abc import Iterator

from ragstone.language import asks_back, fold, numbers, refuses, sentences
from ragstone.types import Language

ANCHOR = 20
"""Most characters of an anchor."""

_MARK = {"zh": "【行为】", "en": "[behaviour] "}

_BULLET = re.compile(r"^(?:[-*•·>]+|#+|[(（]?\d{1,2}[.、)）](?!\d)|[(（]?[一二三四五六七八九十]{1,3}[)）、])\s*")
_LINK = re.compile(r"^(?:https?://|www\.)\S+$|^\[[^\]]*\]\([^)]*\)$")
_GREETING = re.compile(r"^(?:您好|你好|hello|hi|hey|sure|certainly|of course|yes|好的|当然)[，,!！。:：]\s*", re.IGNORECASE)
_COURTESY = re.compile(
    r"^(?:您好|你好|亲爱的|感谢|谢谢|不客气|很高兴|希望.{0,15}帮|祝您|如有.{0,10}(?:疑问|问题|需要)|如果您?还有|请随时|欢迎|"
    r"(?:hello|hi|hey|dear|thanks|thank you|you're welcome|great question|i hope|hope this|feel free|let me know|"
    r"please (?:let|feel free|do not hesitate)|if you have (?:any|more|further))\b)",
    re.IGNORECASE,
)
_ADVICE = re.compile(
    r"^(?:我们?)?(?:建议|推荐|不妨|最好)|^请|"
    r"^(?:(?:i|we)(?: would|'d)? (?:recommend|suggest|advise)|you (?:may|might) want to|please|consider|it is (?:best|advisable))\b",
    re.IGNORECASE,
)
_STATES = re.compile(r"[是为有]|\b(?:is|are|was|were|has|have|costs?|lasts?)\b", re.IGNORECASE)
_ABOUT_MATERIAL = re.compile(
    r"(?:资料|文档|上下文|知识库|检索结果|材料|片段)[中里内]?.{0,10}(?:没有|未|无|不包含)|"
    r"\b(?:context|documents?|passages?|material|excerpts?|information provided)\b.{0,20}\b(?:not|no|lacks?|without|doesn't|don't)\b",
    re.IGNORECASE,
)

_DIRECTIVE = re.compile(
    r"^(?:(?:回答|答案|助手|并|且|同时|还|也|则)?(?:应当?|应该|须|需要?|必须|不得|不应|不要|不能|禁止)|"
    r"(?:(?:and|but|then)\s+)?(?:should|must|shall|may not|do not|never)\b)|"
    r"\b(?:it|the (?:answer|reply|response|assistant|bot)) (?:should|must|shall|may not)\b",
    re.IGNORECASE,
)
_CONDUCT = re.compile(
    r"确认|追问|反问|询问|澄清|提示|提醒|说明(?:来源|出处)|注明|标注|引用|拒绝|拒答|编造|虚构|臆造|捏造|猜测|"
    r"\b(?:ask|clarif\w+|confirm|refus\w+|declin\w+|cit(?:e|es|ing)|name the source|invent\w*|fabricat\w+|make up|guess\w*|remind)\b",
    re.IGNORECASE,
)
_POINTS = re.compile(
    r"[，；;]|,\s+(?:and |but |then )?(?=(?:it )?(?:should|must|do not|never|may not)\b)|\s+and (?=(?:must|should|may) not\b|never\b)",
    re.IGNORECASE,
)


def split(text: str, of: str, lang: Language) -> list[dict[str, str]]:
    """Return the claims of a text in the wire shape, in its order.

    Each sentence that states something is one. Courtesy, questions, refusals, advice without a fact, headings, links and
    statements about the material are none. In a reference that says what an answer should do, every point is one, and
    points of conduct (ask back, refuse, name the source, do not invent) are marked as behaviour.
    """
    claims = []
    for sentence in _statements(text):
        for point in _points(sentence, of, lang):
            piece = beginning(point.removeprefix(_MARK[lang]), ANCHOR)
            claims.append({"text": point, "anchor": piece} if piece in text else {"text": point})
    return claims


def beginning(text: str, most: int) -> str:
    """Return the first `most` characters, or fewer: no word of ASCII letters and no number is cut, unless nothing else is left."""
    piece = text[:most]
    if re.match(r"[!-~]{2}", text[most - 1 : most + 1]):
        piece = re.sub(r"[!-~]+$", "", piece).rstrip() or piece
    return piece.rstrip()


def unmarked(claim: str) -> str:
    """Return a claim without its behaviour mark."""
    return re.sub(r"^(?:【行为】|\[behaviou?r\])\s*", "", claim)


def _statements(text: str) -> Iterator[str]:
    """The sentences, bare of bullets, greetings and marks; a bullet carries the line that leads its list in."""
    lead = ""
    for line in (part.strip() for sentence in sentences(text) for part in re.split(r"[；;]\s*|\n+", sentence)):
        bullet = _BULLET.match(line)
        bare = _GREETING.sub("", line[bullet.end() :] if bullet else line).replace("**", "").strip(" 。；;.…")
        if bare.endswith((":", "：")):
            lead = bare
        elif fold(bare):
            lead = lead if bullet else ""
            yield lead + bare


def _points(sentence: str, of: str, lang: Language) -> list[str]:
    """The claims of one sentence: the points of a directive, nothing, or the sentence as it stands."""
    if of == "reference":
        points = [point.strip(" 。.") for point in _POINTS.split(sentence) if point and fold(point)]
        if any(map(_DIRECTIVE.search, points)) and any(map(_CONDUCT.search, points)):
            return [f"{_MARK[lang]}{point}" if _CONDUCT.search(point) else point for point in points]
    return [] if _says_nothing(sentence) else [sentence]


def _says_nothing(sentence: str) -> bool:
    if sentence.endswith(("?", "？")) or asks_back(sentence) or refuses(sentence):
        return True
    if _LINK.match(sentence) or _COURTESY.match(sentence) or _ABOUT_MATERIAL.search(sentence):
        return True
    return bool(_ADVICE.match(sentence)) and not numbers(sentence) and not _STATES.search(sentence)
