"""References that describe how to answer instead of saying the answer: each of their points becomes a claim."""

import re
from collections.abc import Iterator

from ragstone.checks.base import Finding, Gold, Value
from ragstone.language import sentences
from ragstone.types import Sample

# What only an answer can do. A rule of a handbook may say "应说明事由" or "must state the reason" of people as well.
_ACTS_ZH = (
    "列出|列举|罗列|写出|提到|提及|指出|给出|答出|回答|作答|答复|涵盖|覆盖|点明|体现|引用|概括|总结|解释清楚|区分|引导|"
    "(?:直接|如实)(?:说明|告知)|先问|问清|追问|反问|澄清|拒绝(?:回答|作答|提供答案)|拒答|婉拒|编造|虚构|臆造|捏造|杜撰|猜测|臆测|自行编|凭空|承诺"
)
_ACTS_EN = (
    "mention|list|say|cite|quote|ask|refuse|decline|invent|fabricate|make up|guess|point out|clarify|speculate|promise|summari[sz]e|answer|"
    "respond|reply|acknowledge|explain|describe|name|state|include|give|tell|cover|note|refer|warn|remind|recommend|advise|distinguish|"
    "specify|disclose|reveal"
)
_MUST_ZH = "(?:应当?|应该|须|需要?|必须|要|不得|不应该?|不要|不能|不可|禁止|切勿|请勿|勿)"
_MANNER_ZH = "(?:先|同时|明确|清楚|准确|完整|至少|主动|再|也|自行|擅自|随意|一并|为用户|向用户|分别|逐一)*"
_MUST_EN = r"(?:should|must|shall|needs? to|has to|may not|ought to)"
_MANNER_EN = r"(?:(?:not|also|first|then|clearly|explicitly|at least|only|always|never)\s+)*"

_DIRECTS = (
    # nobody named who should: the answer is meant
    rf"^(?:并|且|并且|但|同时|还|也|另外|此外)?{_MUST_ZH}{_MANNER_ZH}(?:{_ACTS_ZH})",
    rf"^(?:(?:正确|理想|合格|好|标准)的)?(?:回答|答案|答复|回复|助手|机器人|模型){_MANNER_ZH}{_MUST_ZH}",
    rf"(?:不得|不应|不要|不能|不可|禁止|切勿|请勿|勿){_MANNER_ZH}(?:编造|虚构|臆造|捏造|杜撰|猜测|臆测|自行编)",
    rf"^(?:(?:and|but|also|then)\s+)?{_MUST_EN}\s+{_MANNER_EN}(?:{_ACTS_EN})\b",
    rf"\b(?:the|an?)\s+(?:\w+\s+)?(?:answer|reply|response|assistant|bot|model)\s+{_MUST_EN}\b",
    rf"\bit\s+{_MUST_EN}\s+{_MANNER_EN}(?:mention|say|cite|quote|ask|refuse|decline|invent|fabricate|make up|guess|speculate)\b",
    r"^(?:(?:and|but)\s+)?(?:do not|don't|never|must not|should not)\s+(?:invent|fabricate|make up|guess|speculate|hallucinate)\b",
)
_DIRECTIVE = re.compile("|".join(f"(?:{pattern})" for pattern in _DIRECTS), re.IGNORECASE)
_POINT = re.compile(
    r"[，；;：:]|,\s+(?=(?:and|but|then|also|must|should|do not|never|may)\b)|\s+and\s+(?=(?:must|should|may) not\b|never\b|do not\b)"
)


def directives(gold: Gold) -> Iterator[Finding]:
    """Yield directive_reference: one finding for all rows."""
    found = [row for row in gold.rows if directive(row.sample)]
    if found:
        values: dict[str, Value] = {"count": len(found), "rows": len(gold.rows), "ids": tuple(row.sample.id for row in found)}
        yield Finding("directive_reference", "note", found[0].number, column="reference", values=values)


def directive(sample: Sample) -> bool:
    """Return True if the reference tells what an answer should do or leave, and people gave no points."""
    if sample.reference is None or sample.reference_points:
        return False
    points = (point.strip(" 。.\n") for sentence in sentences(sample.reference) for point in _POINT.split(sentence))
    return any(map(_DIRECTIVE.search, points))
