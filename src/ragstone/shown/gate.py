"""What became of a gate's rules, as a document, as words, as a page and as JUnit XML."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ragstone.analysis.gate import Doubt, Limit, Outcome
from ragstone.figures import NONE, metric_name, number, percent
from ragstone.shown.blocks import Block, Code, Heading, Items, Table, Text, to_html, to_markdown
from ragstone.text import say, screen_language

if TYPE_CHECKING:
    from ragstone.analysis.cells import Notice
    from ragstone.analysis.summary import RunFacts
    from ragstone.types import Language

CLAIMS_SHOWN = 5
"""New made-up claims that a sentence quotes; `to_dict` holds all."""
IDS_SHOWN = 10
"""Ids that a warning names; `ragstone compare --json` holds all."""
_LONG = 120
"""Characters of a claim that a sentence quotes."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GateResult:
    """Whether a run keeps its rules, and what became of each."""

    run: RunFacts
    baseline: RunFacts | None
    on_doubt: Doubt
    """`fail`: a limit that noise could have broken fails the gate as well."""
    confidence: float
    """Level of the intervals."""
    outcomes: tuple[Outcome, ...]
    warnings: tuple[Notice, ...] = ()

    @property
    def passed(self) -> bool:
        """True if no rule makes the gate fail."""
        return not self.broken

    @property
    def exit_code(self) -> int:
        """0 if the gate passes, 1 if it fails."""
        return 0 if self.passed else 1

    @property
    def broken(self) -> tuple[Outcome, ...]:
        """The rules that make the gate fail."""
        return tuple(outcome for outcome in self.outcomes if outcome.breaks(self.on_doubt))

    def __repr__(self) -> str:
        """One line: the outcome, and what became of each rule."""
        rules = (f"{rule_name(outcome.rule, 'en')}={outcome.status}" for outcome in self.outcomes)
        return f"GateResult({', '.join((f'passed={self.passed}', *rules))})"

    def to_dict(self, lang: Language | None = None) -> dict[str, Any]:
        """The document of `gate --json`; texts in `lang`, unset = the language of the screen."""
        lang = lang or screen_language()
        return {
            "passed": self.passed,
            "exit_code": self.exit_code,
            "run": self.run.to_dict(),
            "baseline": self.baseline.to_dict() if self.baseline else None,
            "on_doubt": self.on_doubt,
            "confidence": self.confidence,
            "rules": [_document(outcome, self.sentence(outcome, lang)) for outcome in self.outcomes],
            "warnings": [{"code": notice.code, "text": _warning(notice, lang)} for notice in self.warnings],
        }

    def sentence(self, outcome: Outcome, lang: Language) -> str:
        """Return what became of a rule in words."""
        text = _sentence(outcome, lang)
        if outcome.status == "skipped" and outcome.breaks(self.on_doubt):
            return text + ("" if lang == "zh" else " ") + say("gate.skipped_fails", lang)
        return text

    def blocks(self, lang: Language) -> list[Block]:
        """The page of `ragstone gate`: the verdict, what is not kept in words, every rule in a table."""
        return list(_page(self, lang))

    def to_markdown(self, lang: Language | None = None) -> str:
        """The page as Markdown, e.g. for a pull request; `lang` unset = the language of the screen."""
        return to_markdown(self.blocks(lang or screen_language()))

    def to_junit(self, lang: Language | None = None) -> str:
        """The result as JUnit XML: a test a rule; `fail` is a failure, `flaky` and `skipped` are skipped tests."""
        from ragstone.shown.junit import Case, junit

        lang = lang or screen_language()
        endings: dict[str, Literal["failure", "skipped"] | None] = {"pass": None, "fail": "failure"}
        cases = [
            Case(rule_name(outcome.rule, lang), f"ragstone.gate.{outcome.rule.kind}", endings.get(outcome.status, "skipped"), text)
            for outcome in self.outcomes
            if (text := self.sentence(outcome, lang))
        ]
        return junit("ragstone gate", cases)

    def _repr_html_(self) -> str:
        """The page for a notebook, in the language of the screen."""
        lang = screen_language()
        return to_html(self.blocks(lang), lang)


def rule_name(rule: Limit, lang: Language) -> str:
    """Return which rule it is: metric, samples, and what is limited."""
    if rule.kind == "no_new_made_up":
        return say("gate.rule_no_new_made_up", lang)
    if rule.metric is None:
        return say("gate.rule_questions", lang)
    return say(f"gate.rule_{rule.kind}", lang, what=_what(rule, lang))


def _document(outcome: Outcome, text: str) -> dict[str, Any]:
    rule = outcome.rule
    return {
        "rule": rule.kind,
        "metric": rule.metric,
        "slice": None if rule.slice is None else {"key": rule.slice[0], "value": rule.slice[1]},
        "limit": rule.limit,
        "observed": outcome.observed,
        "ci": outcome.ci.to_dict() if outcome.ci else None,
        "n": outcome.n,
        "status": outcome.status,
        "text": text,
        **({"claims": [claim.to_dict() for claim in outcome.claims]} if rule.kind == "no_new_made_up" else {}),
    }


# ------------------------------------------------------------------ in words
def _what(rule: Limit, lang: Language) -> str:
    name = metric_name(str(rule.metric), lang)
    if rule.slice is None:
        return name
    key, value = rule.slice
    return say("gate.where", lang, metric=name, key=key, value=say("gate.no_value", lang) if value is None else value)


def _sentence(outcome: Outcome, lang: Language) -> str:
    rule = outcome.rule
    if rule.kind == "no_new_made_up":
        return _made_up(outcome, lang)
    if outcome.status == "skipped" or outcome.observed is None:
        return say(f"gate.{rule.kind}_skipped", lang, what=_what(rule, lang))
    if rule.kind == "min_coverage":
        kind = "questions" if rule.metric is None else "min_coverage"
        key = f"gate.{kind}_pass" if outcome.status == "pass" else f"gate.{kind}_fail"
        return say(key, lang, what=_what(rule, lang), observed=percent(outcome.observed), limit=percent(rule.limit))
    return _mean(outcome, outcome.observed, lang) if rule.kind == "min_mean" else _drop(outcome, outcome.observed, lang)


def _mean(outcome: Outcome, mean: float, lang: Language) -> str:
    values = {"what": _what(outcome.rule, lang), "n": outcome.n, "observed": number(mean), "limit": number(outcome.rule.limit)}
    if outcome.status == "pass" or outcome.ci is None:
        return say("gate.min_mean_pass" if outcome.status == "pass" else "gate.min_mean_flaky_unknown", lang, **values)
    key = "gate.min_mean_fail" if outcome.status == "fail" else "gate.min_mean_flaky"
    return say(key, lang, **values, high=number(outcome.ci.high))


def _drop(outcome: Outcome, change: float, lang: Language) -> str:
    what, n, ci = _what(outcome.rule, lang), outcome.n, outcome.ci
    if change >= 0:
        return say("gate.max_drop_pass_up", lang, what=what, n=n, change=_signed(change))
    values = {"what": what, "n": n, "drop": number(-change), "limit": number(outcome.rule.limit)}
    if outcome.status == "pass" or ci is None:
        return say("gate.max_drop_pass_down" if outcome.status == "pass" else "gate.max_drop_flaky_unknown", lang, **values)
    if outcome.status == "fail":
        return say("gate.max_drop_fail", lang, **values, least=number(-ci.high))
    return say("gate.max_drop_flaky", lang, **values, low=_signed(ci.low), high=_signed(ci.high))


def _made_up(outcome: Outcome, lang: Language) -> str:
    if outcome.status != "fail":
        return say("gate.no_new_made_up_pass" if outcome.status == "pass" else "gate.no_new_made_up_skipped", lang)
    shown = [say("gate.claim", lang, sample_id=c.sample_id, text=_cut(c.text)) for c in outcome.claims[:CLAIMS_SHOWN]]
    rest = len(outcome.claims) - len(shown)
    claims = ("；" if lang == "zh" else "; ").join([*shown, *([say("gate.more", lang, count=rest)] if rest else [])])
    return say("gate.no_new_made_up_fail", lang, count=len(outcome.claims), claims=claims)


def _warning(notice: Notice, lang: Language) -> str:
    values = dict(notice.values)
    if notice.code == "metric_missing":
        return say("gate.warning_metric_missing", lang, metric=metric_name(values["metric"], lang))
    if notice.code in ("baseline_unused", "signature_unknown"):
        return say(f"gate.warning_{notice.code}", lang)
    if notice.code in ("questions_missing", "questions_changed"):
        ids = values["ids"]
        return say(f"gate.warning_{notice.code}", lang, count=len(ids), total=values["total"], ids=_listed(ids, lang))
    from ragstone.shown.comparison import warning_text

    return warning_text(notice, lang)


def _listed(ids: Sequence[str], lang: Language) -> str:
    rest = len(ids) - IDS_SHOWN
    shown = [*ids[:IDS_SHOWN], *([say("gate.more_ids", lang, count=rest)] if rest > 0 else [])]
    return ("、" if lang == "zh" else ", ").join(shown)


def _cut(text: str) -> str:
    return text if len(text) <= _LONG else text[: _LONG - 1] + "…"


def _signed(value: float) -> str:
    """A change with its sign; what is not 0 is never shown as 0."""
    if value == 0:
        return "0.000"
    return f"{'+' if value > 0 else '-'}{number(min(1.0, abs(value)))}"


# ------------------------------------------------------------------ the page
def _page(result: GateResult, lang: Language) -> Iterator[Block]:
    yield Heading(_title(result, lang))
    if result.run.notice:
        yield Text(say("judges.smoke_test", lang), warning=True)
    broken, total = result.broken, len(result.outcomes)
    if broken:
        yield Text(say("gate.failed", lang, broken=len(broken), total=total), warning=True)
    else:
        kept = sum(outcome.status == "pass" for outcome in result.outcomes)
        yield Text(say("gate.passed", lang, kept=kept, total=total) if total else say("gate.no_rules", lang))
    if told := [result.sentence(outcome, lang) for outcome in result.outcomes if outcome.status != "pass"]:
        yield Items(tuple(told))
    if flaky := sum(outcome.status == "flaky" for outcome in result.outcomes):
        yield Text(say("gate.flaky_passes" if result.on_doubt == "pass" else "gate.flaky_fails", lang, count=flaky))
    if total:
        yield _table(result, lang)
    for notice in result.warnings:
        yield Text(_warning(notice, lang), warning=True)
    for name in dict.fromkeys(facts.signature for facts in (result.baseline, result.run) if facts and facts.signature):
        yield Code(str(name))


def _title(result: GateResult, lang: Language) -> str:
    run, base = (facts and (facts.path or facts.run_id) for facts in (result.run, result.baseline))
    if not run:
        return say("gate.title", lang)
    return say("gate.title_both", lang, run=run, base=base) if base else say("gate.title_run", lang, run=run)


def _table(result: GateResult, lang: Language) -> Table:
    head = tuple(say(f"gate.column_{name}", lang) for name in ("rule", "status", "observed", "limit", "interval"))
    return Table(head, tuple(_row(outcome, lang) for outcome in result.outcomes), "llrrr")


def _row(outcome: Outcome, lang: Language) -> tuple[str, ...]:
    rule, ci, seen = outcome.rule, outcome.ci, outcome.observed
    show: Callable[[float], str] = {"min_coverage": percent, "min_mean": number, "max_drop": _signed}.get(rule.kind, "{:g}".format)
    limit = show(-rule.limit if rule.kind == "max_drop" else rule.limit)
    return (
        rule_name(rule, lang),
        say(f"gate.status_{outcome.status}", lang),
        NONE if seen is None else show(seen),
        say("gate.at_most" if rule.kind == "no_new_made_up" else "gate.at_least", lang, value=limit),
        f"{show(ci.low)} … {show(ci.high)}" if ci else NONE,
    )
