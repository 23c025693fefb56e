"""What became of a gate's rules, as a document, as words, as a page and as JUnit XML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ragstone.analysis.gate import ROUNDING, Doubt, Limit, Outcome
from ragstone.figures import metric_name, number, percent
from ragstone.shown.blocks import Block, to_html, to_markdown
from ragstone.text import say, screen_language

if TYPE_CHECKING:
    from ragstone.analysis.cells import Notice
    from ragstone.analysis.summary import RunFacts
    from ragstone.types import Language

CLAIMS_SHOWN = 5
"""New made-up claims that a sentence quotes; `to_dict` holds all."""
IDS_SHOWN = 10
"""Ids that a warning names; `ragstone compare --json` holds all."""
VALUES_SHOWN = 10
"""Values of a key that a sentence names."""
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
            "warnings": [{"code": notice.code, "text": gate_warning(notice, lang)} for notice in self.warnings],
        }

    def sentence(self, outcome: Outcome, lang: Language) -> str:
        """Return what became of a rule in words."""
        text = _sentence(outcome, lang)
        if outcome.status in ("flaky", "skipped") and outcome.breaks(self.on_doubt):
            return text + ("" if lang == "zh" else " ") + say(f"gate.{outcome.status}_fails", lang)
        return text

    def blocks(self, lang: Language) -> list[Block]:
        """The page of `ragstone gate`: the verdict, what is not kept in words, every rule in a table."""
        from ragstone.shown.gate_page import gate_blocks

        return list(gate_blocks(self, lang))

    def to_markdown(self, lang: Language | None = None) -> str:
        """The page as Markdown, e.g. for a pull request; `lang` unset = the language of the screen."""
        return to_markdown(self.blocks(lang or screen_language()))

    def to_junit(self, lang: Language | None = None) -> str:
        """The result as JUnit XML: a test a rule; `fail` is a failure, `flaky` and `skipped` are skipped tests.

        The texts are in `lang`; the names are not, or the history of a test would break with the language.
        """
        from ragstone.shown.junit import Case, junit

        lang = lang or screen_language()
        endings: dict[str, Literal["failure", "skipped"] | None] = {"pass": None, "fail": "failure"}
        cases = [
            Case(_test_name(outcome.rule), f"ragstone.gate.{outcome.rule.kind}", endings.get(outcome.status, "skipped"), text)
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


def _test_name(rule: Limit) -> str:
    """Name a rule in words of files only, the same in every language: `faithfulness[category=leave] min_mean`."""
    if rule.metric is None:
        return rule.kind if rule.kind == "no_new_made_up" else f"baseline_questions {rule.kind}"
    part = "" if rule.slice is None else f"[{rule.slice[0]}={rule.slice[1]}]"
    return f"{rule.metric}{part} {rule.kind}"


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
        return _skipped(outcome, lang)
    if rule.kind == "min_coverage":
        kind = "questions" if rule.metric is None else "min_coverage"
        key = f"gate.{kind}_pass" if outcome.status == "pass" else f"gate.{kind}_fail"
        return say(key, lang, what=_what(rule, lang), observed=percent(outcome.observed), limit=percent(rule.limit))
    return _mean(outcome, outcome.observed, lang) if rule.kind == "min_mean" else _drop(outcome, outcome.observed, lang)


def _skipped(outcome: Outcome, lang: Language) -> str:
    rule, what = outcome.rule, _what(outcome.rule, lang)
    if rule.slice is not None and outcome.values:
        key, value = rule.slice
        values = _listed([str(known) for known in outcome.values], lang, VALUES_SHOWN)
        return say("gate.no_such_value", lang, what=what, key=key, value=value, values=values)
    if rule.kind == "max_drop":
        return say(f"gate.max_drop_skipped_{outcome.lacking or 'pairs'}", lang, what=what)
    return say(f"gate.{rule.kind}_skipped", lang, what=what)


def _mean(outcome: Outcome, mean: float, lang: Language) -> str:
    values = {"what": _what(outcome.rule, lang), "n": outcome.n, "observed": number(mean), "limit": number(outcome.rule.limit)}
    if outcome.status == "pass" or outcome.ci is None:
        return say("gate.min_mean_pass" if outcome.status == "pass" else "gate.min_mean_flaky_unknown", lang, **values)
    key = "gate.min_mean_fail" if outcome.status == "fail" else "gate.min_mean_flaky"
    return say(key, lang, **values, high=number(outcome.ci.high))


def _drop(outcome: Outcome, change: float, lang: Language) -> str:
    what, n, ci = _what(outcome.rule, lang), outcome.n, outcome.ci
    if change >= 0:
        return say("gate.max_drop_pass_up", lang, what=what, n=n, change=signed(change))
    values = {"what": what, "n": n, "drop": number(-change), "limit": number(outcome.rule.limit)}
    if outcome.status == "pass" or ci is None:
        return say("gate.max_drop_pass_down" if outcome.status == "pass" else "gate.max_drop_flaky_unknown", lang, **values)
    if outcome.status == "fail":
        return say("gate.max_drop_fail", lang, **values, least=number(-ci.high))
    if ci.high >= -ROUNDING:
        return say("gate.max_drop_flaky_none", lang, **values, low=signed(ci.low), high=signed(ci.high))
    return say("gate.max_drop_flaky", lang, **values, least=number(-ci.high))


def _made_up(outcome: Outcome, lang: Language) -> str:
    if outcome.status == "pass":
        return say("gate.no_new_made_up_pass", lang)
    if outcome.status == "skipped":
        return say(f"gate.no_new_made_up_skipped_{outcome.lacking or 'base'}", lang)
    shown = [say("gate.claim", lang, sample_id=c.sample_id, text=_cut(c.text)) for c in outcome.claims[:CLAIMS_SHOWN]]
    rest = len(outcome.claims) - len(shown)
    claims = say("show.semicolon", lang).join([*shown, *([say("gate.more", lang, count=rest)] if rest else [])])
    return say("gate.no_new_made_up_fail", lang, count=len(outcome.claims), claims=claims)


def gate_warning(notice: Notice, lang: Language) -> str:
    """Return a warning in words."""
    values = dict(notice.values)
    if notice.code == "metric_missing":
        return say("gate.warning_metric_missing", lang, metric=metric_name(values["metric"], lang))
    if notice.code == "rule_unchecked":
        return _sentence(Outcome(values["rule"], "skipped", lacking=values["lacking"]), lang).rstrip(".。")
    if notice.code == "baseline_unused":
        return say("gate.warning_baseline_unused", lang)
    if notice.code in ("questions_missing", "questions_changed"):
        ids = values["ids"]
        return say(f"gate.warning_{notice.code}", lang, count=len(ids), total=values["total"], ids=_listed(ids, lang, IDS_SHOWN))
    from ragstone.shown.comparison import warning_text

    return warning_text(notice, lang)


def _listed(names: Sequence[str], lang: Language, most: int) -> str:
    rest = len(names) - most
    shown = [*names[:most], *([say("gate.more_ids", lang, count=rest)] if rest > 0 else [])]
    return ("、" if lang == "zh" else ", ").join(shown)


def _cut(text: str) -> str:
    return text if len(text) <= _LONG else text[: _LONG - 1] + "…"


def signed(value: float) -> str:
    """A change with its sign; what is not 0 is never shown as 0."""
    if value == 0:
        return "0.000"
    return f"{'+' if value > 0 else '-'}{number(min(1.0, abs(value)))}"
