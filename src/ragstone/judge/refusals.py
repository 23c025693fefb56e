"""What the words of a refusal say about a parameter: which values would be taken instead. No I/O."""

import re

from ragstone.judge.shape import LIMITS
from ragstone.transport.error_body import ApiError

SMALLEST = 0.01
"""Temperature sent where 0 is refused and something above 0 is wanted: as good as none."""
LEAST_LIMIT = 16
"""A smaller number in a refusal is no output limit of any model."""
_NUMBER = r"(\d{1,3}(?:,\d{3})+|\d+)(?![\d.]*\d)"
_LARGEST = re.compile(
    rf"\[\s*\d+\s*[,，~-]\s*{_NUMBER}\s*[\])]"
    rf"|(?:<=|≤|at most|no (?:more|greater|larger|higher) than|(?:less|smaller|lower) than or equal to|up to)\D{{0,30}}?{_NUMBER}"
    rf"|exceed(?:s|ing)?\b\D{{0,30}}?{_NUMBER}"
    rf"|max(?:imum)?\b[^\d\n]{{0,60}}?{_NUMBER}"
    rf"|(?:between|from) \d+ (?:and|to) {_NUMBER}"
    rf"|> {_NUMBER}"
    rf"|(?:range|范围)[^\d\n]{{0,20}}\d+\s*(?:-|~|–|—|to|至|到|,|，)\s*{_NUMBER}"
    rf"|(?:超过|大于|高于|最大|最多|至多|上限|小于等于|小于或等于|以内)[^\d\n]{{0,12}}{_NUMBER}",
    re.IGNORECASE,
)
_BELOW = re.compile(rf"(?:(?:less|smaller|lower) than(?! or)|(?<![<>=])<(?!=)|小于(?!等于|或))\s*{_NUMBER}", re.IGNORECASE)
_ABOUT_LIMIT = rf"{'|'.join(LIMITS)}|max.?output.?tokens|(completion|output|new) tokens|输出.{{0,4}}(长度|token)"
_CONTEXT = r"context|上下文"
_ABOVE_ZERO = (
    r"greater than 0|larger than 0|above 0|more than 0|(?<![<>=])>\s*0(?!\.\d*[1-9])|\(\s*0(\.0+)?\s*[,，]|（\s*0(\.0+)?\s*[,，]"
    r"|(not|n't|cannot|never)( be)?( set to| equal to)? (0|zero)\b|non-?zero|strictly positive|positive (number|float|value)|大于\s*0"
    r"|(不能|不可|不得|不允许)(设置?)?(等于|为|是)\s*0|非零|exclusiveMinimum"
)
_LEAST = re.compile(r"(?:\[\s*|>=\s*|≥\s*|at least |greater than or equal to |大于等于\s*|between )(0?\.\d*[1-9]\d*)", re.IGNORECASE)
_PARAMETER_CODES = frozenset({"1210", "1213", "1214", "2013"})
"""Codes of GLM and MiniMax for a parameter out of its range; they take no temperature of 0."""
_ONLY_ONE = (
    r"default \(1\)|(must|only|has to|should) (be )?(set to )?(the )?(exactly )?(temperature ?= ?)?1(\.0)?(?![.\d])"
    r"|only (the )?default"
    r"|(temperature ?=? ?)1(\.0)? is (supported|allowed)|(仅|只)(能|支持|允许|可)?(设置?)?(为|是)?\s*1(?![.\d])"
    r"|必须(设置?)?(等于|为|是)\s*1(?![.\d])|fixed|固定"
)
_ALTOGETHER = (
    r"unsupported_parameter|unsupported parameter|unknown (parameter|field|argument)|unrecognized|unexpected|extra (inputs|fields)"
    r"|extra_forbidden|is not (supported|permitted|allowed)|(not|n't) support (the )?(parameter|'|\"|`)"
    r"|not supported (with|by|for) this|deprecat|UnsupportedParams|不支持(该)?参数|参数.{0,14}不支持|未知参数"
    r"|不支持.{0,4}(temperature|top_p|seed)"
)
_BY_VALUE = r"unsupported_value|unsupported value|range|between|greater|less|only|取值|范围|必须|大于|小于|只能"
_BOTH = r"\b(both|together|simultaneously|at the same time|one of|either)\b|同时|二选一|互斥"


def largest_allowed(error: ApiError, sent: int | None) -> int | None:
    """Return the largest output limit a refusal names; None if it names none below what was sent.

    The room that one prompt leaves in a context window is no such limit: it differs from prompt to prompt.
    """
    if not error.mentions(_ABOUT_LIMIT) or error.mentions(_CONTEXT):
        return None
    words = f"{error.param} {error.message}"
    named = [int(next(filter(None, m.groups())).replace(",", "")) for m in _LARGEST.finditer(words)]
    named += [int(m[1].replace(",", "")) - 1 for m in _BELOW.finditer(words)]
    return next((n for n in named if n >= LEAST_LIMIT and (sent is None or n < sent)), None)


def other_temperature(error: ApiError, sent: float) -> float | None:
    """Return the temperature to send instead of a refused one; None = leave it out.

    Only a refused 0 has a near neighbour: the least value named, or 0.01 where more than 0 is wanted.
    """
    if sent != 0 or only_one(error) or altogether(error):
        return None
    if found := _LEAST.search(error.message):
        return float(found[1])
    by_code = bool(_PARAMETER_CODES & set(error.code.split()))
    return SMALLEST if by_code or error.mentions(_ABOVE_ZERO) or "greater_than" in error.code.split() else None


def only_one(error: ApiError) -> bool:
    """True if a refusal says that 1, the default, is the only value taken."""
    return error.mentions(_ONLY_ONE)


def altogether(error: ApiError) -> bool:
    """True if a refusal means the parameter, whatever its value."""
    return error.mentions(_ALTOGETHER) and not error.mentions(_BY_VALUE)


def not_both(error: ApiError) -> bool:
    """True if a refusal says that of two parameters only one may be sent."""
    return error.mentions(_BOTH)
