"""Verdict spellings: what a judge may write for a verdict, in Chinese and English, and what is no verdict at all.

A verdict that could be read two ways is not read: asking once more is cheap, a wrong verdict is not.
"""

import functools
import re
import unicodedata
from typing import Literal

Verdict = str | int | bool
"""A canonical verdict: supported | contradicted | not_found, 1 | 0, covered | missing, or a flag."""
Vocabulary = Literal["check", "useful", "covered", "flag"]

_YES = "yes|yeah|yep|y|true|t|1|correct|right|ok|是|是的|是真的|对|对的|真|为真|正确|正确的|✓|✔|☑|✅|√"
_NO = "no|nope|n|false|f|0|否|不|不是|不是的|不对|假|为假|没有|✗|✘|❌|×"
_SUPPORT = (
    "supported|supports|support|backed|backed up|entailed|entails|entailment|grounded|attributed|attributable|confirmed|verified|"
    "支持|支援|支撑|有依据|有明确依据|有据|有据可查|推出|推断出|印证|证实|蕴含|成立|符合|相符|一致|属实|真实|确认|确认无误|无误"
)
_CONFLICT = (
    "contradicted|contradicts|contradictory|contradiction|contradicting|contradict|refuted|refutes|disproved|conflicting|conflicts|"
    "conflict|矛盾|冲突|相矛盾|相冲突|抵触|相反|反驳|推翻"
)
_WRONG = "incorrect|wrong|inconsistent|不正确|错误|错|不一致|不符|不相符|不符合|不属实|不真实|有误"
_UNSUPPORTED = (
    "unsupported|unsubstantiated|unfounded|ungrounded|unverified|unverifiable|no evidence|no support|no basis|"
    "无据|无依据|没依据|没有依据|没有根据|没有证据|毫无依据|缺乏依据|缺乏证据|缺乏支持|缺少依据|缺少证据"
)
_SAID = "found|mentioned|stated|included|present|contained|提及|提到|找到|包含|说明|写明|涉及|涵盖|出现|检索到|发现"
_UNSAID = (
    "absent|missing|omitted|no mention|does not mention|do not mention|does not say|does not state|not in context|not in the context|"
    "not in the contexts|缺失|缺少|缺|遗漏|漏掉|漏"
)
_UNKNOWN = (
    "unknown|idk|i do not know|do not know|not known|undetermined|undeterminable|indeterminable|not enough information|not enough info|"
    "not enough evidence|insufficient information|insufficient info|insufficient evidence|no information|nei|can not tell|can not say|"
    "can not determine|can not be determined|can not judge|can not be judged|can not be verified|can not verify|unable to determine|"
    "unable to judge|unable to verify|neither supported nor contradicted|neutral|"
    "未知|不知道|不清楚|不得而知|无从得知|无法得知|无法判断|无从判断|不能判断|难以判断|判断不了|无法判定|无法确定|不能确定|"
    "无法确认|无法验证|无法证实|无法核实|无法推断|无法推出|推不出|信息不足|证据不足|依据不足|不足以判断|查无|查不到|找不到|中立|没有相关信息|无相关信息|"
    "既不支持也不矛盾"
)
_USEFUL = "useful|relevant|helpful|related|有用|相关|有帮助|有关|有价值"
_USELESS = "useless|irrelevant|unrelated|unhelpful|no use|无用|没用|没有用|无关|无帮助|没帮助|没有帮助|没有价值|毫无用处|毫无帮助"
_COVERED = "covered|covers|matched|matches|覆盖|覆盖到|命中|对应|匹配|有"
_NOT_COVERED = "uncovered|unmatched|无"

# what negates a word must not count as that word; where the opposite of a word is itself a verdict, it is named
_TABLES: dict[Vocabulary, list[tuple[str, Verdict, Verdict | None]]] = {
    "check": [
        (_YES, "supported", None),
        (_NO, "not_found", None),
        (_SUPPORT, "supported", "not_found"),
        (_CONFLICT, "contradicted", None),
        (_WRONG, "contradicted", None),
        (_UNSUPPORTED, "not_found", None),
        (_SAID, "supported", "not_found"),
        (_UNSAID, "not_found", None),
        (_UNKNOWN, "not_found", None),
        ("not found|notfound|无", "not_found", None),
    ],
    "useful": [
        (_YES, 1, None),
        (_NO, 0, None),
        (_USEFUL, 1, 0),
        (_USELESS, 0, None),
        (_SUPPORT, 1, 0),
        (_UNSUPPORTED, 0, None),
    ],
    "covered": [
        (_YES, "covered", None),
        (_NO, "missing", None),
        (_COVERED, "covered", "missing"),
        (_NOT_COVERED, "missing", None),
        (_SUPPORT, "covered", "missing"),
        (_SAID, "covered", "missing"),
        (_UNSAID, "missing", None),
        (_UNSUPPORTED, "missing", None),
        (_CONFLICT, "missing", None),
    ],
    "flag": [
        (_YES, True, False),
        (_NO, False, None),
        ("noncommittal|non committal|evasive|refusal|回避|拒答|含糊", True, False),
        ("committal|明确", False, None),
    ],
}
_GOOD: frozenset[Verdict] = frozenset({"supported", "covered", 1})
# words too short or too common to stand before a sentence: "no doubt", "right or wrong", "support is lacking", "对不起"
_BARE = frozenset(
    f"{_YES}|{_NO}|support|contradict|conflict|wrong|incorrect|missing|absent|refusal|有|无|缺|漏|错|推出|成立|明确".split("|")
)
_LEAD = re.compile(
    r"(?:the |my |final )*(?:verdict|answer|label|judge?ment|result|conclusion)(?: is)? ?[:=]? |"
    r"(?:最终)?(?:判定|结论|判断|结果|答案|判决)(?:结果)?(?:为|是)?[:=]? ?"
)
_SUBJECT = re.compile(
    r"(?:(?:it|this|that|(?:the |this )?(?:claim|statement|context|chunk|point)) )?"
    r"(?:is|was|are|were|has been|does|do|did|can be) "
)
_ADVERB = r"(?:fully|completely|entirely|clearly|directly|explicitly|well|definitely|indeed|actually|really|strongly|been|be|being) "
_NOT = re.compile(rf"(?:(?:is|was|are|does|do|did|can|could|has|have) )?(?:not|never|non) (?:{_ADVERB})*")
_ADVERBS = re.compile(rf"(?:(?:highly|very) |{_ADVERB})+")
_NOT_ZH = re.compile(
    r"(?:(?:上下文|片段|资料|材料|文中|文档|原文)(?:中|里|内)?)?(?:并|都|均|尚)?(?:没有|不能|无法|不可|不被|未被|未能|未得到|不|未|没|无|非)(?:被|有|得到|受到|受|任何|直接|明确|能|上下文|资料|片段)*"
)
_ADVERBS_ZH = re.compile(
    r"(?:已经|已|非常|十分|高度|很|完全|明确|直接|充分|确实|可以|可(?!能)|能够|能|得到|被|受到|受|有(?![用帮关价])|存在|"
    r"[与和](?:上下文|参考答案|资料|材料|问题|片段 ?\d*)|对(?:回答)?问题|对回答|上下文|(?:资料|材料|片段 ?\d*)(?![没不未无]))+"
)
_HEDGE = re.compile(
    r"\b(?:but|however|though|although|except|unless|partial|partially|partly|part|maybe|perhaps|possibly|probably|likely|unlikely|unclear|"
    r"unsure|uncertain|almost|mostly|somewhat|half|depends|only|otherwise|debatable|borderline)\b|"
    r"但|不过|然而|部分|可能|也许|大概|或许|除了|除非|存疑|一半|不完全|只是|仅仅|尚待|似乎|除外|之外"
)
_TURNED = re.compile(
    r"(?<!not )(?<!no )(?<!any )(?<!nor )contradict\w*|unsupported|not (?:fully |directly )?(?:supported|found|mentioned|stated)|"
    r"hallucinat\w*|fabricat\w*|differently|opposite|"
    r"(?<!没有)(?<!没)(?<![无未不])(?:矛盾|冲突|相反)|不支持|不被支持|未提及|没有提及|未提到|没有提到|幻觉|编造|捏造"
)
"""What after a good verdict takes it back, wherever it stands; such a verdict is asked for again."""
_VALUE = re.compile(r"\s*[:=]\s*(?:no|none|not|nil|false|n|0|否|无|没有|不|假)\s*(?:[,.;]|$)|[\s-]+(?:no|none|nil|false|0|否|无|没有|不)$")
"""A word that is named and then denied: "contradiction: none", "missing: no"."""
_DENIAL = re.compile(
    r"\b(?:not|no|never|none|nothing|nowhere|neither|nor|without|lacks?|lacking|fails?|absent|missing|false|wrong|incorrect|hardly|barely|"
    r"contradict\w*|un\w+ed|cannot|doubt\w*)\b|[不没未无非否缺误]|矛盾|冲突"
)
_CLAUSE = re.compile(r"[,.;:()!\-–—。、]")
_CITED = re.compile(r"(?<=[^\d\s]) ?[\[(【](?:c|chunk|context|片段|上下文)? ?[1-9]\d*(?: ?[,、] ?[1-9]\d*)* ?[\])】][.。]?$")
"""The contexts a verdict rests on, named behind it: "supported [1]"."""
_NUMBER = re.compile(r"([01])(?:\.0+)?(?![\d.])")
_TRADITIONAL = str.maketrans(
    "無斷確據沒與對錯誤實驗證關蓋遺說撐達應內這從認覆衝發幫資價現檢處為開準顯毀損漏測見題間層報還夠",
    "无断确据没与对错误实验证关盖遗说撑达应内这从认覆冲发帮资价现检处为开准显毁损漏测见题间层报还够",
)


def read_verdict(value: object, vocabulary: Vocabulary) -> Verdict | None:
    """Return the canonical verdict a judge meant, or None if that cannot be told.

    check: supported | contradicted | not_found, useful: 1 | 0, covered: covered | missing, flag: True | False.
    Booleans, 1, 0, 1.0 and 0.0 are read; strings are read whatever their case, width, blanks, punctuation and
    trailing words. A longer spelling wins over a shorter one (不支持 before 支持), a negated word is never read as the
    word, and hedged, doubled or other values are not read.
    """
    if isinstance(value, str):
        return _word(value, vocabulary) if len(value) <= 20 else _text(value[:400], vocabulary)
    return _number(value, vocabulary) if isinstance(value, bool | int | float) else None


def _number(value: float, vocabulary: Vocabulary) -> Verdict | None:
    if value not in (0, 1):
        return None
    return _words(vocabulary)["1" if value else "0"][0]


@functools.cache
def _words(vocabulary: Vocabulary) -> dict[str, tuple[Verdict, Verdict | None]]:
    """Spelling -> (verdict, verdict of its negation or None); longest first."""
    pairs = [(word, verdict, opposite) for words, verdict, opposite in _TABLES[vocabulary] for word in words.split("|")]
    return {word: (verdict, opposite) for word, verdict, opposite in sorted(pairs, key=lambda p: -len(p[0]))}


@functools.cache
def _pattern(vocabulary: Vocabulary) -> re.Pattern[str]:
    """Any spelling at the start; a Latin word must end there."""
    return re.compile("|".join(re.escape(w) + (r"(?![a-z0-9])" if w[-1].isascii() else "") for w in _words(vocabulary)))


@functools.lru_cache(maxsize=1024)
def _word(value: str, vocabulary: Vocabulary) -> Verdict | None:
    """Short verdicts, which are the same few words in every reply, are made out once."""
    return _text(value, vocabulary)


def _text(value: str, vocabulary: Vocabulary) -> Verdict | None:
    text = _plain(value)
    text = _LEAD.sub("", text, count=1) if _LEAD.match(text) else text
    found = _head(text, vocabulary)
    if found is None:
        return None
    verdict, rest, bare = found
    return verdict if _harmless(rest, verdict, bare, vocabulary) else None


def _plain(value: str) -> str:
    """Lower case, half width, simplified characters, contractions opened, wrapping marks and blanks gone."""
    text = unicodedata.normalize("NFKC", value).casefold().translate(_TRADITIONAL).replace("\ufe0f", "").replace("\ufe0e", "")
    text = text.replace("’", "'").replace("n't", " not").replace("cannot", "can not").replace("ca not", "can not")
    text = text.replace("'", " ") if " not" in text else text
    text = re.sub(r"(?<=[a-z])[_\-](?=[a-z])|_", " ", text)
    text = _CITED.sub("", text.strip())
    text = re.sub(r"[\"“”‘'’「」『』【】《》\[\]*`#{}]", " ", text)
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"^(?:[-–—•·] |[:：(])+", "", text).strip()
    return re.sub(r"[\s.。!,;:、)]+$", "", text)


def _head(text: str, vocabulary: Vocabulary) -> tuple[Verdict, str, bool] | None:
    """Return the verdict the text begins with, what follows it, and whether its word must stand alone."""
    if number := _NUMBER.match(text):
        return _words(vocabulary)[number[1]][0], text[number.end() :], True
    pattern = _pattern(vocabulary)
    whole = pattern.match(text)
    subject = _SUBJECT.match(text)
    body = text[subject.end() :] if subject and not whole else text
    for negation in (_NOT, _NOT_ZH):
        if (no := negation.match(body)) and (word := _after(no, body, pattern)) and not (whole and whole.end() >= word.end()):
            opposite = _words(vocabulary)[word[0]][1]
            return None if opposite is None else (opposite, body[word.end() :], False)
    word = whole or _after(_ADVERBS.match(body) or _ADVERBS_ZH.match(body), body, pattern)
    return (_words(vocabulary)[word[0]][0], body[word.end() :], word[0] in _BARE) if word else None


def _after(prefix: re.Match[str] | None, text: str, pattern: re.Pattern[str]) -> re.Match[str] | None:
    return pattern.match(text, prefix.end() if prefix else 0)


def _harmless(rest: str, verdict: Verdict, bare: bool, vocabulary: Vocabulary) -> bool:
    """True if what follows a verdict word only explains it: no question mark, other verdict, hedge, or denial of it."""
    if not rest:
        return True
    if (
        _HEDGE.search(rest)
        or _VALUE.match(rest)
        or (verdict in _GOOD and _TURNED.search(rest))
        or re.match(r"\s*(?:[?/|&+~%<>=\u2044]|or\b|and\b|或|和|与|\d)", rest)
    ):
        return False
    mark = re.match(r"\s*[,.;:()!\-–—。、]+\s*", rest)
    explained = rest[mark.end() :] if mark else rest.lstrip()
    if not mark and (bare or not re.match(r"[\s的了该此这本]", rest)):
        return False
    other = _head(explained, vocabulary)
    if re.match(r"\d", explained) or (other is not None and other[0] != verdict):
        return False
    first = explained if mark is None else explained[:12]
    if verdict not in _GOOD:
        return True
    denied = _DENIAL.match(first) if mark else _DENIAL.search(_CLAUSE.split(first)[0])
    return denied is None
