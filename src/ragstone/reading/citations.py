"""Taking citation marks out of an answer, and keeping what they pointed to. Pure."""

import re
from collections.abc import Iterator

from ragstone.types import Citation, Sample

_NUMBERS = r"\d{1,3}(?:\s*[-–,，、;；]\s*\d{1,3})*"
_WORDS = r"(?:citation|cite|id|doc|ref|reference|source|来源|引用|参考|出处|文献|文档|片段)s?"
_SOURCES = r"(?:citation|source|来源|引用|出处)s?"
_MARK = re.compile(
    rf"""
      (?P<stored>\[(?P<id>[0-9A-Za-z_-]{{1,64}})\]\((?:CITE|QUOTE)\))
    | (?P<link>\[\^?{_NUMBERS}\]\(\s*(?:https?:/|/|\#)[^\s)]*\))
    | (?P<bare>\[\^?{_NUMBERS}\])(?!\()
    | (?P<cjk>【\^?{_NUMBERS}(?:[†:][^【】\n]{{0,80}})?】)
    | (?P<named>\[\s*{_WORDS}\s*[:：]?\s*{_NUMBERS}\s*\]|【\s*{_WORDS}\s*[:：]?\s*{_NUMBERS}\s*】)
    | (?P<round>[(（]\s*{_SOURCES}\s*[:：]?\s*{_NUMBERS}\s*[)）])
    | (?P<hashed>\#\#\d{{1,3}}\$\$)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
_NAME_BEFORE = re.compile(r"(?<![A-Za-z0-9_.])[A-Za-z_][A-Za-z0-9_.]*\Z|[\])]\Z")
_CODE_AFTER = re.compile(r"\s*(?:=|[+*/<>]\s*[\w(]|-\s*\w)|\.[A-Za-z_]|\[(?!\^?\d)|\(")
_INTERVAL = re.compile(r"\[0\s*[,，]")
_RUN = 6
"""Marks in a row that are looked past."""
_CLOSING = ".,;:!?。，；：！？、)）]】」』”’…"


def strip_citations(sample: Sample) -> Sample:
    """Return `sample` with the citation marks of its answer taken out, the original under `answer_raw`.

    Marks are [1], [1,2], [1-3], [^1], 【1】, 【1†file】, [citation:1], [ID:3], [doc1], (来源1), [来源：1], ##1$$,
    [1](https://…) and [id](CITE). Not marks: other words in brackets, four-digit years, code in backticks, intervals
    such as [0, 1], indices such as `a[1]` or `rows[0].name`, and definitions ("[1]: …") at a line's start.
    `citations` gets one entry a number: `at` is where the mark stood in the new answer, `context` the number or id as
    written. A sample that has `answer_raw` was cleaned before and comes back as it is, as does one without marks.
    """
    if sample.answer is None or sample.answer_raw is not None:
        return sample
    kept: list[str] = []
    citations: list[Citation] = []
    position = length = 0
    for match in _marks(sample.answer):
        piece, resume = _around(sample.answer, position, match, bool(length))
        kept.append(piece)
        length += len(piece)
        citations += [Citation(at=length, context=target) for target in _targets(match)]
        position = resume
    if not citations:
        return sample
    kept.append(sample.answer[position:])
    citations = [*(sample.citations or ()), *citations]
    return sample.model_copy(update={"answer": "".join(kept), "answer_raw": sample.answer, "citations": tuple(citations)})


def _around(answer: str, start: int, match: re.Match[str], started: bool) -> tuple[str, int]:
    """The text before a mark and where to go on: of the blanks on both sides those that would stand alone go too."""
    piece, end = answer[start : match.start()], match.end()
    for _ in range(_RUN):
        end = further.end() if (further := _MARK.match(answer, end)) else end
    after = answer[end : end + 1]
    trimmed = piece.rstrip(" \t")
    if (not trimmed and not started) or trimmed.endswith(("\n", "\r")):
        return piece, match.end() + len(answer[match.end() :]) - len(answer[match.end() :].lstrip(" \t"))
    if not after or after.isspace() or after in _CLOSING:
        return trimmed, match.end()
    return piece, match.end()


def _marks(answer: str) -> Iterator[re.Match[str]]:
    code = [m.span() for m in _CODE.finditer(answer)]
    for match in _MARK.finditer(answer):
        if any(start <= match.start() < end for start, end in code):
            continue
        if match["bare"] and (_INTERVAL.match(match[0]) or _defines(answer, match) or _indexes(answer, match)):
            continue
        yield match


def _defines(answer: str, match: re.Match[str]) -> bool:
    line = answer[answer.rfind("\n", 0, match.start()) + 1 : match.start()]
    return not line.strip() and answer.startswith(":", match.end())


def _indexes(answer: str, match: re.Match[str]) -> bool:
    name = _NAME_BEFORE.search(answer[max(0, match.start() - 80) : match.start()])
    if name is None or "^" in match[0] or name[0].endswith("."):
        return False
    if name[0] in ("]", ")"):
        return bool(_CODE_AFTER.match(answer, match.end()))
    looks_coded = len(name[0]) == 1 or "_" in name[0] or "." in name[0] or any(c.isdigit() for c in name[0])
    return looks_coded or match[0] == "[0]" or bool(_CODE_AFTER.match(answer, match.end()))


def _targets(match: re.Match[str]) -> Iterator[int | str]:
    if match["stored"]:
        yield match["id"]
        return
    text = match[0].split("](")[0]
    for first, last in re.findall(r"(\d{1,3})(?:\s*[-–]\s*(\d{1,3}))?", re.split("†", text)[0]):
        yield int(first)
        if last and 0 < int(last) - int(first) <= 20:
            yield from range(int(first) + 1, int(last) + 1)
        elif last:
            yield int(last)
