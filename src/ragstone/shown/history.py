"""The history of the gold claims as people read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ragstone.analysis.cells import Notice
from ragstone.analysis.history import ANSWERED, WORST_FIRST, ClaimHistory, History
from ragstone.figures import metric_name
from ragstone.shown.blocks import Block, Heading, Items, Table, Text, to_html, to_markdown
from ragstone.text import say, screen_language

if TYPE_CHECKING:
    from ragstone.types import Language

ALL = "all"
"""Stands for every gold set of a folder at once."""
MARKS = {"pass": "✓", "fail": "✗", "mixed": "~", None: "·"}
STRIP = 20
"""So many marks a claim; of a longer history the newest."""
NAMED_FROM = 4
"""From so many runs on, each mark is told apart by its run's name; of fewer the page names the first and the last."""
NAMED = 12
"""Lines that name runs, at most."""
SHOWN = 10
"""So many claims of each kind on a page unless told otherwise."""


class ShownHistory(History):
    """A history that shows itself."""

    __slots__ = ("kinds",)
    kinds: tuple[str, ...]

    @classmethod
    def of(cls, found: History, kinds: tuple[str, ...] = ()) -> ShownHistory:
        """Return the same history as one that shows itself; `kinds` are those that were asked for."""
        made = cls(**{field.name: getattr(found, field.name) for field in fields(found)})
        object.__setattr__(made, "kinds", kinds)
        return made

    def to_dict(self, lang: Language | None = None) -> dict[str, Any]:
        """Return the document of `history --json`.

        `{"dir", "gold_fingerprint", "metric", "runs": [{"run_id","path","created_at","dated_by"}], "claims": [claim], "counts":
        {status: claims}, "warnings": [{"code","text"}]}`. A claim: `{"sample_id", "claim" (its key, else its folded text), "text",
        "status", "states": ["pass"|"fail"|"mixed"|null a run], "retrieved": [the same of the contexts], "changes", "lost_in",
        "fixed_in" (paths of runs, null where there is none), "stage": "retrieval"|"generation"|null}`, worst first.
        """
        lang = lang or screen_language()
        return {
            "dir": self.directory,
            "gold_fingerprint": self.gold_fingerprint,
            "metric": self.metric,
            "runs": [run.to_dict() for run in self.runs],
            "claims": [self._claim(claim) for claim in self.claims],
            "counts": dict(self.counts),
            "warnings": [{"code": warning.code, "text": _warning(warning, lang)} for warning in self.warnings],
        }

    def _claim(self, claim: ClaimHistory) -> dict[str, Any]:
        found = claim.course
        return {
            **{name: getattr(claim, name) for name in ("sample_id", "claim", "text")},
            "status": found.status,
            "states": list(claim.states),
            "retrieved": list(claim.retrieved),
            "changes": found.changes,
            "lost_in": None if found.lost_at is None else self.runs[found.lost_at].path,
            "fixed_in": None if found.fixed_at is None else self.runs[found.fixed_at].path,
            "stage": claim.stage,
        }

    def blocks(self, lang: Language, worst: int = SHOWN) -> list[Block]:
        """Return the page: counts, warnings, then a table a kind of claim, worst first, `worst` rows each."""
        return [*self._head(lang), *self._sections(lang, worst)]

    def to_markdown(self, lang: Language | None = None) -> str:
        """Return the page as Markdown."""
        return to_markdown(self.blocks(lang or screen_language()))

    def __repr__(self) -> str:
        """One line: where, how many runs, claims by status."""
        told = ", ".join(f"{status}={count}" for status, count in self.counts.items())
        return f"History({self.directory!r}, runs={len(self.runs)}, {told})"

    def _repr_html_(self) -> str:
        """The page for a notebook, in the language of the screen."""
        lang = screen_language()
        return to_html(self.blocks(lang), lang)

    def _head(self, lang: Language) -> Iterator[Block]:
        if len(self.runs) > 1:
            yield Heading(say("history.title", lang, runs=len(self.runs), path=self.directory))
        else:
            yield Heading(say("history.title_one", lang, path=self.directory))
        yield Text(" · ".join(say(f"history.count_{status}", lang, count=count) for status, count in self.counts.items() if count))
        yield Text(self._of_what(lang))
        yield from (Text(_warning(warning, lang), warning=True) for warning in self.warnings)

        if len(self.runs) >= NAMED_FROM and any(claim.course.status in self._listed() for claim in self.claims):
            yield Text(say("history.marks", lang))
            yield Items(tuple(self._names(lang)))

    def _names(self, lang: Language) -> Iterator[str]:
        """The run of each mark, oldest first; of a long history the newest."""
        count = len(self.runs)
        named = count if count <= NAMED else NAMED - 1
        if named < count:
            yield say("history.marks_older", lang, count=count - named)
        for i, run in enumerate(self.runs[-named:], min(count, STRIP) - named + 1):
            yield say("history.mark", lang, place=i, run=run.name, date=run.created_at[:10])

    def _listed(self) -> list[str]:
        """The kinds of claims the page lists."""
        return [status for status in WORST_FIRST if status in self.kinds or (not self.kinds and status != "pass")]

    def _of_what(self, lang: Language) -> str:
        first, newest = self.runs[0], self.runs[-1]
        gold, metric = _gold_name(self.gold_fingerprint, lang), metric_name(self.metric, lang)
        told = {
            "claims": sum(self.counts.values()),
            "gold": gold,
            "metric": metric,
            "first": first.name,
            "first_date": first.created_at[:10],
        }
        if len(self.runs) == 1:
            return say("history.from_one", lang, **told)
        return say("history.from_to", lang, **told, last=newest.name, last_date=newest.created_at[:10])

    def _sections(self, lang: Language, worst: int) -> Iterator[Block]:
        shown = 0
        for status in self._listed():
            claims = [claim for claim in self.claims if claim.course.status == status]
            if claims:
                shown += 1
                yield Heading(say(f"history.section_{status}", lang, count=len(claims)))
                yield from self._table(claims[:worst], lang)
                if len(claims) > worst:
                    yield Text(say("history.more", lang, count=len(claims) - worst))
        if not shown:
            yield Text(say("history.none_of_kind" if self.kinds else "history.nothing_wrong", lang))
        else:
            yield Text(say("history.legend" if self.metric == ANSWERED else "history.legend_retrieval", lang))
            if any(claim.stage for claim in self.claims):
                yield Text(say("history.legend_stage", lang))

    def _table(self, claims: Sequence[ClaimHistory], lang: Language) -> Iterator[Block]:
        if claims:
            head = tuple(say(f"history.column_{name}", lang) for name in ("runs", "sample", "note", "claim"))
            rows = tuple((strip(claim), claim.sample_id, self._note(claim, lang), claim.text) for claim in claims)
            yield Table(head, rows, "llll")

    def _note(self, claim: ClaimHistory, lang: Language) -> str:
        found, parts = claim.course, list[str]()
        if found.status == "flaky" and found.changes:
            parts.append(say("history.note_changes", lang, count=found.changes))
        if found.status == "lost" and found.lost_at is not None:
            parts.append(say("history.note_lost", lang, run=self.runs[found.lost_at].name))
        if found.status == "fixed" and found.fixed_at is not None:
            parts.append(say("history.note_fixed", lang, run=self.runs[found.fixed_at].name))
        if claim.stage:
            parts.append(say(f"history.stage_{claim.stage}", lang))
        return say("history.comma", lang).join(parts)


def strip(claim: ClaimHistory, most: int = STRIP) -> str:
    """Return a mark a run, oldest left; of a longer history the newest, after `…`."""
    marks = "".join(MARKS[state] for state in claim.states)
    return marks if len(marks) <= most else "…" + marks[1 - most :]


def _warning(warning: Notice, lang: Language) -> str:
    values = dict(warning.values)
    if "metric" in values:
        values["metric"] = metric_name(values["metric"], lang)
    return say(f"history.warning_{warning.code}", lang, **values)


def _gold_name(fingerprint: str | None, lang: Language) -> str:
    if fingerprint is None:
        return say("history.gold_unknown", lang)
    return say("history.gold_all", lang) if fingerprint == ALL else fingerprint
