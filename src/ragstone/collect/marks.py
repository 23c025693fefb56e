"""The answer as it is judged: without citation marks and thinking, and what the marks pointed to. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ragstone.collect.values import without_thinking
from ragstone.reading.citations import strip_citations
from ragstone.types import Citation, Sample

if TYPE_CHECKING:
    from ragstone.collect.base import Found

_FROM_ZERO = re.compile(r"(?:\[\s*ID\s*:\s*\d+(?:\s*[,，、]\s*(?:ID\s*:\s*)?\d+)*\s*\]|##\d{1,4}\$\$)", re.IGNORECASE)
"""Marks of RAGFlow, which counts chunks from 0."""
_NUMBER = re.compile(r"\d{1,4}")
_STAND_IN = "ragstone-mark-"
_STOOD_IN = re.compile(rf"\[{_STAND_IN}\d+\]\(CITE\)")
_WORDY = re.compile(r"\w{12,}|\s\w+\s")
"""What is taken out is a sentence, not a mark, so that its numbers are no ranks."""
_RUN = 6
"""Marks in a row that are looked past."""
_CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)

Target = str | int | None


def cleaned(found: Found) -> tuple[str | None, str | None, tuple[Citation, ...]]:
    """Return the answer as it is judged, the answer as it came, and the citation marks taken out of it.

    `at` of a mark is its place in the first, `context` the chunk's id or its rank from 1.
    """
    if found.answer is None:
        return None, None, ()
    stood = _StandIns()
    text = stood.put(_FROM_ZERO, without_thinking(found.answer), _from_zero, in_code=True)
    for pattern in found.strip:
        text = stood.put(re.compile(pattern), text, stood.targets_of)
    sample = strip_citations(Sample(id="", answer=text))
    answer = _STOOD_IN.sub("", sample.answer or "")
    marks = [(mark.at, target) for mark in sample.citations or () for target in stood.meant(mark.context)]
    return answer, found.answer, tuple(Citation(at=min(at, len(answer)), context=target) for at, target in marks)


class _StandIns:
    """Marks of the kind that `strip_citations` knows, put in place of others, so that it tells where they stood."""

    def __init__(self) -> None:
        self._targets: dict[str, tuple[Target, ...]] = {}

    def put(
        self, pattern: re.Pattern[str], text: str, targets: Callable[[re.Match[str]], tuple[Target, ...]], *, in_code: bool = False
    ) -> str:
        """Return `text` with stand-ins for what `pattern` finds; code is no place for marks: what is found there stays or goes silently."""
        code = [match.span() for match in _CODE.finditer(text)]

        def stand_in(match: re.Match[str]) -> str:
            if not match[0] or any(start <= match.start() < end for start, end in code):
                return match[0] if in_code else ""
            name = f"{_STAND_IN}{len(self._targets)}"
            self._targets[name] = targets(match)
            return f"{_lead(pattern, match)}[{name}](CITE)"

        return pattern.sub(stand_in, text)

    def meant(self, context: Target) -> tuple[Target, ...]:
        """Return what a mark that `strip_citations` found points to."""
        return self._targets.get(context, (context,)) if isinstance(context, str) else (context,)

    def targets_of(self, match: re.Match[str]) -> tuple[Target, ...]:
        """Return what a mark found by the mapping's own expression points to: its group `id` or `rank`, else what stands in it."""
        groups = match.groupdict()
        if groups.get("id"):
            return (groups["id"],)
        if _NUMBER.fullmatch(groups.get("rank") or ""):
            return (int(groups["rank"]),)
        if known := strip_citations(Sample(id="", answer=f"x {match[0].strip()}")).citations:
            return tuple(target for citation in known for target in self.meant(citation.context))
        return () if _WORDY.search(match[0]) else tuple(int(number) for number in _NUMBER.findall(match[0]))


def _lead(pattern: re.Pattern[str], match: re.Match[str]) -> str:
    """The blanks at the beginning of what was found, if a word stands before and after it: they parted the two."""
    text, end = match.string, match.end()
    for _ in range(_RUN):
        end = further.end() if (further := pattern.match(text, end)) else end
    blanks = match[0][: len(match[0]) - len(match[0].lstrip())]
    return blanks if match.start() and text[end : end + 1].isalnum() else ""


def _from_zero(match: re.Match[str]) -> tuple[Target, ...]:
    return tuple(int(number) + 1 for number in _NUMBER.findall(match[0]))
