"""The page of all readings in Markdown, written from the catalogue."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from ragstone.analysis.facts import PAIRS
from ragstone.figures import metric_name
from ragstone.shown.readings import Entry, catalogue, steps
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.types import Language

_TYPED = "fast|retrieval|full|monitor|facts|category|expected_behavior|3"
_CODE = re.compile(rf"--[a-z][a-z-]*(?: (?:{_TYPED})(?!\w))?|ragstone doctor|\[embeddings\]")
"""What is typed as it stands."""
FOURFOLD = (("bad_bad", "good_bad"), ("bad_good", "good_good"))
"""Quadrants as they stand in the table: retrieval from left to right, generation from top to bottom."""


def reading_page(lang: Language) -> str:
    """Return the page of all readings in one language."""
    page = Page(lang)
    return say(
        "reading_page.page",
        lang,
        reactions=page.table("reaction", metric=page.metric, suspicion=page.means),
        steps="\n\n".join(map(page.numbered, page.entries("what_to_do"))),
        levels=page.table("level", metric=page.metric, level=page.looks, means=page.means),
        pairs="\n\n".join(page.pair(first, second) for first, second in PAIRS),
        fourfold=page.fourfold(),
        quadrants=page.table("quadrant", looks=page.looks, means=page.means, do=page.do),
        pattern="\n\n".join(map(page.typical, page.entries("pattern"))),
        slices="\n\n".join(map(page.weak, page.entries("slice"))),
        decisions=page.table("decision", looks=page.looks, means=page.means, do=page.do, rule=page.rule),
        causes="\n\n".join(page.causes()),
        symptoms=page.table("symptom", looks=page.looks, means=page.means, do=page.do),
        traps=page.table("trap", looks=page.looks, means=page.means, do=page.do),
        worked="\n\n".join(map(page.worked, page.entries("worked"))),
        scenarios=page.table("scenario", scenario=page.looks, metrics=page.means, do=page.do),
        environment=page.table("environment", looks=page.looks, means=page.means, do=page.do),
        warnings=page.remarks("warning"),
        closing=page.remarks("closing"),
    ).lstrip()


class Page:
    """The parts of the page in one language."""

    def __init__(self, lang: Language) -> None:
        self.lang = lang

    def entries(self, kind: str) -> list[Entry]:
        """Return the entries of a kind, metric by metric where they are about one."""
        return [entry for entry in catalogue().values() if entry.kind == kind]

    # -------------------------------------------------------------- cells
    def metric(self, entry: Entry) -> str:
        """Return the name of an entry's metric, linked to its page."""
        name = entry.metrics[0]
        return f"[{metric_name(name, self.lang)}](metrics/{name}.md)"

    def looks(self, entry: Entry) -> str:
        """Return what it looks like."""
        return _marked(entry.words[self.lang].looks)

    def means(self, entry: Entry) -> str:
        """Return what it means; numbers of a run stand as letters."""
        return _marked(_lettered(entry.words[self.lang].means))

    def do(self, entry: Entry) -> str:
        """Return what to do on one line."""
        do = entry.words[self.lang].do
        return _marked(_lettered(steps(do, self.lang))) if do else ""

    def rule(self, entry: Entry) -> str:
        """Return the name of the rule that fires it."""
        return f"`{entry.rule}`"

    def certainty(self, entry: Entry) -> str:
        """Return whether it can be seen, or is one possible cause."""
        return say(f"reading_page.certainty_{entry.certainty}", self.lang)

    # -------------------------------------------------------------- parts
    def table(self, kind: str, **columns: Callable[[Entry], str]) -> str:
        """Return the entries of a kind as a table; columns are named by the words of their head."""
        return self._table(self.entries(kind), columns)

    def _table(self, entries: Iterable[Entry], columns: Mapping[str, Callable[[Entry], str]]) -> str:
        heads = [say(f"reading_page.{name}", self.lang) for name in columns]
        return _drawn(heads, [[cell(entry) for cell in columns.values()] for entry in entries])

    def numbered(self, entry: Entry) -> str:
        """Return what to do about one metric as a numbered list."""
        steps = "\n".join(f"{number}. {_marked(step)}" for number, step in enumerate(entry.words[self.lang].do, 1))
        return f"### {metric_name(entry.metrics[0], self.lang)}\n\n{self.means(entry)}\n\n{steps}"

    def pair(self, first: str, second: str) -> str:
        """Return the four readings of two metrics."""
        names = [metric_name(name, self.lang) for name in (first, second)]
        title = say("reading_page.pair", self.lang, first=names[0], second=names[1])
        rows = []
        for entry in self.entries("pair"):
            if entry.metrics == (first, second):
                sides = re.findall("high|low", entry.rule)
                rows.append([*(say(f"reading_page.side_{side}", self.lang) for side in sides), self.means(entry), self.do(entry)])
        heads = [*names, *(say(f"reading_page.{name}", self.lang) for name in ("means", "do"))]
        return f"### {title}\n\n{_drawn(heads, rows)}"

    def fourfold(self) -> str:
        """Return the quadrants as a table of two by two."""
        by_rule = {entry.rule: entry for entry in self.entries("quadrant")}
        sides = [say(f"reading_page.generation_{side}", self.lang) for side in ("bad", "good")]
        rows = [[f"**{side}**", *(self.means(by_rule[word]) for word in row)] for side, row in zip(sides, FOURFOLD, strict=True)]
        heads = [say(f"reading_page.retrieval_{side}", self.lang) for side in ("bad", "good")]
        return _drawn(["", *heads], rows)

    def typical(self, entry: Entry) -> str:
        """Return the usual picture as a paragraph with its steps."""
        return say("reading_page.typical", self.lang, looks=self.looks(entry), means=self.means(entry), do=self.do(entry))

    def weak(self, entry: Entry) -> str:
        """Return what to do about weak groups as a paragraph."""
        return say("reading_page.weak", self.lang, looks=self.looks(entry), do=self.do(entry))

    def remarks(self, kind: str) -> str:
        """Return the entries of a kind as a list."""
        lines = ((self.looks(entry), self.means(entry), self.do(entry)) for entry in self.entries(kind))
        return "\n".join(say("reading_page.remark", self.lang, looks=looks, means=means, do=do).rstrip() for looks, means, do in lines)

    def causes(self) -> Iterable[str]:
        """Yield a table of causes a metric."""
        columns = {"looks": self.looks, "cause": self.means, "do": self.do, "certainty": self.certainty}
        for metric, entries in groupby(self.entries("cause"), key=lambda entry: entry.metrics[0]):
            yield f"### {metric_name(metric, self.lang)}\n\n{self._table(entries, columns)}"

    def worked(self, entry: Entry) -> str:
        """Return a worked example: what is given, each claim, the sum."""
        given = say("reading_page.given", self.lang, metric=metric_name(entry.metrics[0], self.lang), looks=self.looks(entry))
        lines = "\n".join(f"- {_marked(step)}" for step in entry.words[self.lang].do)
        return f"{given}\n\n{lines}\n\n{self.means(entry)}"


def _drawn(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def _marked(text: str) -> str:
    """Return a text as Markdown: what is typed as code, no star or bar taken for a mark."""
    return _CODE.sub(r"`\g<0>`", text.replace("*", "\\*").replace("|", "\\|"))


def _lettered(text: str) -> str:
    """Show the slots of a text as letters: {k} as k."""
    return re.sub(r"\{(\w+)\}", lambda slot: {"k": "k", "chunks": "n", "groups": "…"}[slot[1]], text)
