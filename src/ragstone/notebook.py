"""A summary as a notebook and a Python prompt show it: an HTML table, or a few lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ragstone.analysis.summary import Summary
from ragstone.figures import NONE, bounds, level, metric_name, number, percent
from ragstone.resources import read_text
from ragstone.text import say, screen_language

if TYPE_CHECKING:
    from ragstone.analysis.summary import Slice
    from ragstone.types import Language

_HEADS = ("metric", "mean", "count", "failed", "not_applicable", "coverage", "bounds", "level")


class ShownSummary(Summary):
    """A summary that shows itself."""

    __slots__ = ()

    @classmethod
    def of(cls, summary: Summary) -> ShownSummary:
        """Return the same summary as one that shows itself."""
        return cls(**{field.name: getattr(summary, field.name) for field in fields(summary)})

    def __repr__(self) -> str:
        """A line a metric with n/total, then what the numbers were made with."""
        where = self.run.path or self.run.run_id
        lines = [f"Summary({repr(where) + ', ' if where else ''}samples={self.samples})"]
        widest = max((len(m.metric) for m in self.metrics), default=0)
        for m in self.metrics:
            counts = f"n={m.n}/{m.total} failed={m.failed} not_applicable={m.not_applicable} coverage={percent(m.coverage)}"
            lines.append(f"  {m.metric:<{widest}}  {number(m.mean):>5}  {counts}")
        lines += ["  " + text for text in (self.run.signature, self.run.notice) if text]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The table of `ragstone show` for a notebook, in the language of the screen."""
        return summary_html(self, screen_language())


def summary_html(summary: Summary, lang: Language) -> str:
    """Return a summary as an HTML fragment: no script, no colour of its own for text, every value escaped."""
    from jinja2 import Environment

    page = Environment(autoescape=True, trim_blocks=True).from_string(read_text("html", "summary.html"))
    return page.render(**_shown(summary, lang))


def _shown(summary: Summary, lang: Language) -> dict[str, Any]:
    name = summary.run.path or summary.run.run_id
    count = say("show.samples", lang, count=summary.samples)
    rows = [
        [
            metric_name(m.metric, lang),
            *(number(m.mean), f"{m.n}/{m.total}", m.failed, m.not_applicable, percent(m.coverage)),
            *(bounds(m), level(m, summary.min_coverage, lang)),
        ]
        for m in summary.metrics
    ]
    return {
        "lang": lang,
        "notice": say("judges.smoke_test", lang) if summary.run.notice else "",
        "caption": f"{name} · {count}" if name else count,
        "heads": [say(f"show.column_{head}", lang) for head in _HEADS],
        "rows": rows,
        "signature": summary.run.signature or say("show.signature_unknown", lang),
        "warnings": list(_warnings(summary, lang)),
        "missing": list(_missing(summary, lang)),
        **_slices(summary.slices, lang),
    }


def _warnings(summary: Summary, lang: Language) -> Iterator[str]:
    for warning in summary.warnings:
        yield say(f"show.warning_{warning.code}", lang, **dict(warning.values))
    low = [m for m in summary.metrics if m.coverage is not None and m.coverage < summary.min_coverage]
    if low:
        shares = say("show.comma", lang).join(f"{metric_name(m.metric, lang)} {percent(m.coverage)}" for m in low)
        yield say("show.low_coverage", lang, shares=shares, limit=percent(summary.min_coverage))


def _missing(summary: Summary, lang: Language) -> Iterator[str]:
    found = [m for m in summary.metrics if m.reasons]
    if found:
        yield say("show.missing", lang)
    for m in found:
        reasons = say("show.comma", lang).join(f"{reason} {count}" for reason, count in m.reasons.items())
        yield metric_name(m.metric, lang) + say("show.colon", lang) + reasons


def _slices(slices: tuple[Slice, ...], lang: Language) -> dict[str, Any]:
    if not slices:
        return {"slices": []}
    rows = [
        [
            f"{say('show.no_value', lang) if part.value is None else part.value}{' *' if part.small else ''}",
            part.samples,
            *(f"{number(m.mean)} {m.n}/{m.total}" if m.total else NONE for m in part.metrics),
        ]
        for part in slices
    ]
    heads = [slices[0].key, say("show.column_samples", lang), *(metric_name(m.metric, lang) for m in slices[0].metrics)]
    note = say("show.small_slices", lang) if any(part.small for part in slices) else ""
    return {"slices": rows, "slice_heads": heads, "slice_caption": say("show.slice", lang, name=slices[0].key), "slice_note": note}
