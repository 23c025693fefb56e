"""What a refused embeddings request says about how many texts an endpoint takes at once."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragstone.transport.error_body import ApiError

_TEXTS = r"(?:inputs|texts|items|elements|documents|strings|sentences|entries|messages|embeddings)"
_LIMIT = r"(?:exceed|at most|maximum|\bmax\b|limit|up to|no more)"
_ABOUT_COUNT = re.compile(
    rf"batch.?size|batch (is |was )?(too (large|big|long)|length|limit|count)|max\w* (client )?batch|too many {_TEXTS}"
    rf"|(number|count|amount) of (the )?({_TEXTS}|input\b)|\binput\.(contents|texts|input)\b"
    rf"|(array|input ?list|list) (length|size|too|inputs?\b)|(length|size) of (the )?(array|list|input (array|list))"
    rf"|{_TEXTS} (per|in one|in a single) (request|call|batch)"
    r"|数组(长度|大小|个数|元素)|批(次|量|处理)?(的)?(大小|数量|个数|上限|过大|太大|处理)|最大批|\d+\s*条|条数"
    r"|(文本|输入|文档|句子)(的)?(总)?(数量|个数|数目)|(单次|每次|一次)[^。，,]{0,12}\d+\s*(个|段|篇|句)",
    re.IGNORECASE,
)
_PLURALS_AT_A_LIMIT = re.compile(rf"{_TEXTS}\b[^.\n]{{0,40}}{_LIMIT}|{_LIMIT}[^.\n]{{0,40}}{_TEXTS}\b", re.IGNORECASE)
_ABOUT_LENGTH = re.compile(r"tokens?\b|characters?\b|\bchars?\b|context|sequence|字符|字数|(?<!数组)长度", re.IGNORECASE)
_ONE_TEXT = re.compile(r"physical batch|too large to process", re.IGNORECASE)
"""What llama.cpp calls a batch is the tokens of one text."""
_WHOLE_REQUEST = re.compile(
    r"max_tokens_per_request|tokens? per (request|batch(?! size))"
    r"|(total|sum|combined)[^.\n]{0,30}tokens?|tokens? (in total|summed)|max_batch_tokens"
    r"|(总|合计|累计)[^。]{0,8}(token|字符)|(单次|每次)请求[^。]{0,12}token",
    re.IGNORECASE,
)
_ONE = re.compile(
    r"(only|must be|should be|expected?) an? (single |valid )?(string|text|input)\b|str type expected|single (string|text|input) only"
    r"|(array|list|batch)\w*( inputs?)? (is|are) not (supported|allowed)|(does not|doesn't) support (array|list|batch)"
    r"|不支持(数组|批量)|(仅|只)支持(单个|单条|一条)",
    re.IGNORECASE,
)
_NO_COUNTS = re.compile(
    r"(?:code|status|http|error|request.?id|tier|状态码|错误码|代码)\W{0,4}\d+"
    r"|\d[\d,.]*\s*(?:k\b|kb|mb|bytes?|tokens?|characters?|chars?|seconds?|ms\b|minutes?|个?字符|个?token|个?字|秒|毫秒|分钟|%)"
    r"|(?:input|item|index|text|document|第)\s*#?\[?\d+\]?\s*(?:个|条)?\s*(?=is\b|has\b|was\b|at\b|:|过长|超)|\b\w*[a-f]\w*\d\w*[a-f]\w*\b|\d+\.\d+",
    re.IGNORECASE,
)
"""Numbers that count something else: codes, tokens, bytes, times, the place of one text, ids, versions."""
_N = r"(?P<n>\d{1,5})(?!\d)"
_BELOW = re.compile(r"(?:less|fewer|smaller|lower) than\s+(\d{1,5})(?!\d)|(?<!不)(?:小于|少于|低于)\s*(\d{1,5})(?!\d)", re.IGNORECASE)
_UP_TO = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"[\[(（【]\s*\d+\s*(?:[,，~-]|\.\.|to|至|到)\s*{_N}\s*[\])）】]",
        rf"(?:between )?\b\d+\s*(?:and|to|~|-|至|到)\s*{_N}",
        rf"\d\s*[>＞]\s*(?:\D{{0,40}}?){_N}",
        rf"(?:larger|more|greater|bigger|longer) than\s+{_N}",
        rf"(?:at most|max\w*|up to|no more than|less than or equal to|limit(?:ed)?|allow\w*|<=|≤|exceed\w*|only)[^\d\n]{{0,40}}{_N}",
        rf"(?:must|should) (?:be|have)[^\d\n]{{0,40}}{_N}",
        rf"(?:最[大多]|至多|上限|不得?超过|[能可应]超过|允许超过|超[过出]|限制|不[大多]于|小于(?:或)?等于|支持|必须为|应为)\D{{0,24}}{_N}",
        rf"{_N}\s*(?:条|个|段|篇|句|{_TEXTS})",
    )
]


@dataclass(frozen=True, slots=True)
class Fewer:
    """How many texts to put into the next request."""

    size: int
    lasting: bool = True
    """The limit counts texts; else it counts tokens, and holds for texts such as these alone."""


def fewer(error: "ApiError", size: int, taken: int) -> Fewer | None:
    """Return the smaller size a refusal of `size` texts asks for; None if it is about something else.

    A size that the words name is believed; else half the size is tried, or what was `taken` before if that is more. As many
    as were taken before are not too many, whatever the words say, so then some text is the trouble.
    """
    if size <= max(taken, 1):
        return None
    half = max(size // 2, taken)
    if _WHOLE_REQUEST.search(_said(error)):
        return Fewer(half, lasting=False)
    if about_count(error):
        named = named_size(error.message, size)
        if named is not None and named > size:
            return None
        if named and named < size:
            return Fewer(named)
        return Fewer(half)
    return Fewer(half) if error.status == 413 else None


def about_count(error: "ApiError") -> bool:
    """Return whether the words speak of the number of texts, not of the length of one."""
    said = _said(error)
    if _ABOUT_COUNT.search(said) and not _ONE_TEXT.search(said):
        return True
    return bool(_ONE.search(said) or _PLURALS_AT_A_LIMIT.search(said)) and not _ABOUT_LENGTH.search(said)


def wants_text(error: "ApiError") -> bool:
    """Return whether the endpoint wants a text where it was sent a list of texts."""
    return bool(_ONE.search(_said(error)))


def _said(error: "ApiError") -> str:
    return f"{error.code} {error.message}"


def named_size(message: str, size: int) -> int | None:
    """Return the most texts a refusal of `size` texts names: the greatest number below `size` that stands where a limit stands.

    If no number there is below `size` one above it is returned, which says that as many are taken; None if there is none.
    """
    words = _NO_COUNTS.sub(" ", re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", message))
    found = [int(n) - 1 for groups in _BELOW.findall(words) for n in groups if n]
    for pattern in _UP_TO:
        found += [int(match["n"]) for match in pattern.finditer(words)]
        if below := [n for n in found if 1 <= n < size]:
            return max(below)
    return 1 if _ONE.search(message) else next((n for n in found if n > size), None)
