"""Keyword recall: do the retrieved chunks hold the words they should? No judge, no requests."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal

from ragstone.metrics.base import Metric, Steps, no_context
from ragstone.types import Sample, Verdict

_CJK = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_LETTER = rf"[^\W\d_{_CJK}]"
_TOKEN = re.compile(rf"{_LETTER}+|\d+|\S")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_DASH = re.compile("[‐‑‒–—―−]")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


@dataclass(frozen=True, kw_only=True)
class KeywordRecall(Metric):
    """Share of the keywords in `reference_contexts` that some chunk holds: found / keywords, in [0, 1].

    Width, case and blanks do not matter; letters and numbers are found as wholes ("II" is not in "III", "5" in neither "15" nor "-5"),
    Chinese words anywhere. Equal keywords count once; blank ones do not count.

    Source: recall over a list of wanted terms, Manning et al., "Introduction to Information Retrieval", 8.3.
    """

    name: ClassVar[str] = "keyword_recall"
    side: ClassVar[Literal["retrieval", "generation"]] = "retrieval"
    needs: ClassVar[tuple[str, ...]] = ("contexts", "reference_contexts")
    judged: ClassVar[bool] = False

    def steps(self, sample: Sample) -> Steps:
        """Look every keyword up in every chunk."""
        yield from ()
        wanted = [(found, keyword) for keyword in sample.reference_contexts or () if (found := pattern(keyword))]
        if not wanted:
            return self.not_applicable(sample, "missing:reference_contexts")
        spelled: dict[str, str] = {}
        for found, keyword in wanted:
            spelled.setdefault(found, keyword)
        texts = [searched(context.text) for context in sample.contexts or ()]
        lines = list(_lines(spelled, texts))
        value = sum(line.verdict == "found" for line in lines) / len(lines)
        merged = len(wanted) - len(spelled)
        reason = "no_context" if no_context(sample) else None
        return self.ok(sample, value, lines, {"merged": merged} if merged else {}, reason)


def _lines(spelled: dict[str, str], texts: list[str]) -> Iterator[Verdict]:
    for number, (wanted, keyword) in enumerate(spelled.items(), 1):
        look = re.compile(wanted)
        hits = tuple(f"c{rank}" for rank, text in enumerate(texts, 1) if look.search(text))
        yield Verdict(kind="keyword", id=f"k{number}", text=keyword, verdict="found" if hits else "missing", evidence=hits)


def searched(text: str) -> str:
    """Return `text` as keywords are looked up in it: NFKC, case-folded, single blanks, one kind of dash, 1,500 as 1500."""
    text = _THOUSANDS.sub("", _INVISIBLE.sub("", text))  # before NFKC: the full-width comma of a Chinese list groups no digits
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(_DASH.sub("-", text).replace("’", "'").split())


def pattern(keyword: str) -> str:
    """Return the regular expression that finds `keyword` in a `searched` text; empty for a keyword of blanks.

    Keywords that say the same have the same expression.
    A blank may stand or be missing anywhere but inside a word or number, and between two words it must stand.
    """
    tokens = _TOKEN.findall(searched(keyword))
    if not tokens:
        return ""
    rest = (_blank(before, token) + re.escape(token) for before, token in pairwise(tokens))
    return "".join([_start(tokens[0]), re.escape(tokens[0]), *rest, _end(tokens[-1])])


def _blank(before: str, token: str) -> str:
    return " " if _kind(before) == _kind(token) != "sign" else " ?"


def _kind(token: str) -> Literal["word", "number", "sign"]:
    if token[0].isdecimal():
        return "number"
    return "word" if re.match(_LETTER, token) else "sign"


def _start(token: str) -> str:
    # a dash after a blank or sign is a minus, one after a word or number a range or a hyphen
    return {"word": f"(?<!{_LETTER})", "number": r"(?<!\d)(?<!\d\.)(?<!(?<!\w)-)", "sign": ""}[_kind(token)]


def _end(token: str) -> str:
    single = "(?![+#])" if len(token) == 1 else ""  # C is neither C++ nor C#
    return {"word": f"(?!{_LETTER}){single}", "number": r"(?!\d)(?!\.\d)", "sign": ""}[_kind(token)]
