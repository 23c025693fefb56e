"""The report of a run as one page: the questions people ask, answered in words, then what is wrong, and the numbers last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from ragstone.analysis.pooled import base_name
from ragstone.analysis.readings import MANY_OFF
from ragstone.figures import interval, meaning_of, metric_name, number, percent
from ragstone.shown.blocks import Block, Code, Heading, Items, Table, Text, to_markdown
from ragstone.text import say, screen_language

if TYPE_CHECKING:
    from ragstone.analysis.levels import Levels
    from ragstone.analysis.summary import MetricSummary, RunFacts
    from ragstone.results import Run
    from ragstone.shown.comparison import Comparison
    from ragstone.shown.diagnosis import Diagnosis
    from ragstone.shown.gate import GateResult
    from ragstone.shown.summary import ShownSummary
    from ragstone.types import Language

CAUSES = 3
"""So many causes are shown with examples and remedies; `ragstone diagnose` shows more."""
WORST = 10
"""So many of the lowest scores are listed."""
QUESTIONS = {
    "made_up": "faithfulness",
    "found": "context_precision",
    "complete": "context_recall",
    "answers": "answer_relevancy",
    "right": "answer_correctness",
}
"""What people ask of a system -> the metric that answers it."""
OPTIONAL = frozenset({"right"})
"""Left out where the run was not asked for it."""


def report_markdown(
    run: Run,
    base: Run | None = None,
    *,
    diagnosis: Diagnosis | None = None,
    comparison: Comparison | None = None,
    gate: GateResult | None = None,
    unchecked: Sequence[str] = (),
    levels: Levels | None = None,
    lang: Language | None = None,
) -> str:
    """Return the report of a run as Markdown; no text out of the data can become a link, a heading or HTML.

    Args:
        run: the run.
        base: the run it is compared with, unless `comparison` is given; None = no comparison.
        diagnosis: why it lost its points; None = found out here.
        comparison: how it compares, where that is known already.
        gate: what became of its rules; None = nothing is said of them.
        unchecked: what is said beside the gate's verdict, e.g. which rules had to wait for a baseline.
        levels: limits of the levels; None = those of the run.
        lang: language of the page; None = the screen's.

    Raises:
        RunFolderError: a run cannot be read, or the two have nothing to compare.
    """
    parts: dict[str, Any] = {"diagnosis": diagnosis, "comparison": comparison, "gate": gate, "unchecked": unchecked, "levels": levels}
    return to_markdown(report_blocks(run, base, **parts, lang=lang))


def report_blocks(
    run: Run,
    base: Run | None = None,
    *,
    diagnosis: Diagnosis | None = None,
    comparison: Comparison | None = None,
    gate: GateResult | None = None,
    unchecked: Sequence[str] = (),
    levels: Levels | None = None,
    lang: Language | None = None,
) -> list[Block]:
    """Return the page of `report_markdown` as blocks."""
    from ragstone.shown.comparison import compare
    from ragstone.shown.diagnosis import diagnose

    lang = lang or screen_language()
    if comparison is None and base is not None:
        comparison = compare(base, run)
    summary = run.summary(worst=WORST, levels=levels)
    found = diagnosis if diagnosis is not None else diagnose(run, levels=levels)
    return [
        *_title(summary, lang),
        *_questions(summary, found, levels or run.levels, lang),
        *_wrong(found, lang),
        *_better(comparison, lang),
        *_gate(gate, unchecked, lang),
        *_trust(run, summary, lang),
        *_numbers(summary, lang),
        *_made_with(run, summary, lang),
    ]


# ------------------------------------------------------------------ parts of the page
def _title(summary: ShownSummary, lang: Language) -> Iterator[Block]:
    name = _name(summary.run)
    yield Heading(say("report.title", lang, run=name) if name else say("report.title_plain", lang), 1)
    if summary.run.notice:
        yield Text(say("judges.smoke_test", lang), warning=True)


def _name(facts: RunFacts) -> str | None:
    """What people call a run: its folder."""
    return PurePath(facts.path).name if facts.path else facts.run_id


def _questions(summary: ShownSummary, found: Diagnosis, levels: Levels, lang: Language) -> Iterator[Block]:
    of = {base_name(m.metric): m for m in reversed(summary.metrics)}
    asked = [(word, of.get(metric)) for word, metric in QUESTIONS.items() if metric in of or word not in OPTIONAL]
    head = tuple(say(f"report.column_{name}", lang) for name in ("question", "answer", "figures"))
    rows = tuple(
        (say(f"report.question_{word}", lang), _answer(word, m, summary, found, levels, lang), "" if m is None else _figures(m, lang))
        for word, m in asked
    )
    yield Heading(say("report.questions", lang), 2)
    yield Table(head, rows, "lll")


def _answer(word: str, m: MetricSummary | None, summary: ShownSummary, found: Diagnosis, levels: Levels, lang: Language) -> str:
    """An answer in words; none for a mean that covers too little, for with every cell measured it might be another."""
    if m is None:
        return say("report.not_asked", lang, metric=metric_name(QUESTIONS[word], lang))
    if m.mean is None:
        colon, comma = say("show.colon", lang), say("show.comma", lang)
        reasons = comma.join(f"{meaning_of(reason, lang) or reason}{colon}{count}" for reason, count in m.reasons.items())
        return say("report.not_measured", lang, reasons=reasons)
    if m.coverage is not None and m.coverage < summary.min_coverage:
        return say("report.not_known", lang, coverage=percent(m.coverage), limit=percent(summary.min_coverage))
    return _with_doubt(say(f"report.{word}_{m.level}", lang), m, levels, lang) if m.level else _off_question(found, lang)


def _off_question(found: Diagnosis, lang: Language) -> str:
    """The mean of answer_relevancy has no levels, since its scale depends on the embedder; answers that are off are counted."""
    off = found.facts.sign("off_question")
    if not off.of:
        return say("report.answers_all_due", lang)
    word = "none" if not off.count else "many" if off.share >= MANY_OFF else "few"
    return say(f"report.answers_{word}_off", lang, count=off.count, of=off.of)


def _with_doubt(answer: str, m: MetricSummary, levels: Levels, lang: Language) -> str:
    """The answer; with a word of doubt where the interval of the mean allows every other one as well."""
    ends = (levels.of(m.metric, m.ci.low), levels.of(m.metric, m.ci.high)) if m.ci is not None else None
    return say("report.a_guess", lang, answer=answer) if ends == ("low", "high") else answer


def _figures(m: MetricSummary, lang: Language) -> str:
    values = {"metric": metric_name(m.metric, lang), "mean": number(m.mean), "n": m.n, "total": m.total}
    return say("report.figures", lang, **values, interval=interval(m)) if m.ci else say("report.figures_bare", lang, **values)


def _wrong(found: Diagnosis, lang: Language) -> Iterator[Block]:
    from ragstone.shown.diagnosis_page import causes, lead

    yield Heading(say("report.wrong", lang), 2)
    yield Text(lead(found, lang))
    yield from causes(found, lang, CAUSES)


def _better(found: Comparison | None, lang: Language) -> Iterator[Block]:
    from ragstone.shown.comparison_page import verdict_blocks

    yield Heading(say("report.better", lang), 2)
    if found is None:
        yield Text(say("report.no_base", lang))
        return
    yield Text(say("report.base", lang, base=_name(found.base) or say("compare.the_base_run", lang)))
    yield from verdict_blocks(found, lang)


def _gate(found: GateResult | None, unchecked: Sequence[str], lang: Language) -> Iterator[Block]:
    from ragstone.shown.gate_page import gate_table, gate_verdict

    yield Heading(say("report.gate", lang), 2)
    if found is None:
        yield Text(say("report.no_gate", lang))
        return
    yield from gate_verdict(found, lang)
    yield from (Text(text, warning=True) for text in unchecked)
    if found.outcomes:
        yield gate_table(found, lang)


def _trust(run: Run, summary: ShownSummary, lang: Language) -> Iterator[Block]:
    from ragstone.shown.remarks import noise
    from ragstone.shown.summary import missing, warnings

    yield Heading(say("report.trust", lang), 2)
    cells, measured, failed = (sum(getattr(m, name) for m in summary.metrics) for name in ("total", "n", "failed"))
    told = [say("report.measured", lang, measured=measured, cells=cells, failed=failed, aside=cells - measured - failed)]
    told += [say(f"report.{part}", lang, who=who) for part in ("judge", "embedder") if (who := _who(run.manifest.get(part)))]
    yield Items(tuple(told))
    yield from (Text(warning, warning=True) for warning in warnings(summary, lang))
    yield from missing(summary, lang)
    yield from noise([m for m in summary.metrics if m.n], lang)


def _who(told: object) -> str:
    """Model and address as the manifest has them; "" where it does not tell."""
    if not isinstance(told, dict):
        return str(told or "")
    return " @ ".join(dict.fromkeys(str(told[name]) for name in ("model", "endpoint") if told.get(name)))


def _numbers(summary: ShownSummary, lang: Language) -> Iterator[Block]:
    from ragstone.shown.summary import lowest, metrics_table

    yield Heading(say("report.numbers", lang), 2)
    yield metrics_table(summary, lang)
    yield from lowest(summary.worst, lang)


def _made_with(run: Run, summary: ShownSummary, lang: Language) -> Iterator[Block]:
    facts = summary.run
    yield Heading(say("report.made_with", lang), 2)
    yield Code(facts.signature) if facts.signature else Text(say("show.signature_unknown", lang))
    known = {name: getattr(facts, name) for name in ("run_id", "created_at", "gold_fingerprint")}
    known |= {name: run.manifest.get(name) for name in ("samples_fingerprint",)} | {"samples": summary.samples}
    yield Items(tuple(say(f"report.fact_{name}", lang, value=value) for name, value in known.items() if value))
