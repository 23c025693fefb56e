"""The page of `ragstone gate`: the verdict, what is not kept in words, every rule in a table, and where to look next."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ragstone.figures import NONE, number, percent
from ragstone.shown.blocks import Block, Code, Heading, Items, Table, Text
from ragstone.shown.gate import gate_warning, rule_name, signed
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.analysis.gate import Outcome
    from ragstone.shown.gate import GateResult
    from ragstone.types import Language

DROPS = 2
"""From so many drop rules on the page says what they fail by luck alone."""


def gate_blocks(result: GateResult, lang: Language) -> Iterator[Block]:
    """Yield the page as blocks."""
    yield Heading(_title(result, lang))
    if result.run.notice:
        yield Text(say("judges.smoke_test", lang), warning=True)
    yield from gate_verdict(result, lang)
    doubtful = any(outcome.status == "flaky" for outcome in result.outcomes)
    if doubtful:
        yield Text(say("gate.flaky_passes" if result.on_doubt == "pass" else "gate.flaky_fail_all", lang))
    if result.outcomes:
        yield gate_table(result, lang)
    yield from _luck(result, lang)
    for notice in result.warnings:
        yield Text(gate_warning(notice, lang), warning=True)
    if doubtful or result.broken:
        yield from _next(result, lang)
    for name in dict.fromkeys(facts.signature for facts in (result.baseline, result.run) if facts and facts.signature):
        yield Code(str(name))


def gate_verdict(result: GateResult, lang: Language) -> Iterator[Block]:
    """Yield whether the gate passed, and in words what is not kept or not sure."""
    yield Text(_verdict(result, lang), warning=not result.passed)
    told = [outcome for outcome in result.outcomes if outcome.status != "pass" and not outcome.unchecked]
    if told:
        yield Items(tuple(result.sentence(outcome, lang) for outcome in told))


def _title(result: GateResult, lang: Language) -> str:
    run, base = (facts and (facts.path or facts.run_id) for facts in (result.run, result.baseline))
    if not run:
        return say("gate.title", lang)
    return say("gate.title_both", lang, run=run, base=base) if base else say("gate.title_run", lang, run=run)


def _verdict(result: GateResult, lang: Language) -> str:
    """Return how it ended, and how many rules ended how; what makes the gate fail comes first."""
    if not result.outcomes:
        return say("gate.no_rules", lang)
    kinds = (
        ("fail", "no_data", "pass", "flaky", "skipped") if result.on_doubt == "pass" else ("fail", "no_data", "flaky", "pass", "skipped")
    )
    ended = [_kind(result, outcome) for outcome in result.outcomes]
    counts = [(kind, ended.count(kind)) for kind in kinds if kind in ended]
    parts = []
    for at, (kind, count) in enumerate(counts):
        rules = say("gate.one_rule" if count == 1 else "gate.many_rules", lang) if at == 0 else ""
        parts.append(say(f"gate.count_{kind}", lang, count=count, rules=rules))
    return say("gate.passed" if result.passed else "gate.failed", lang, counts=("，" if lang == "zh" else ", ").join(parts))


def _kind(result: GateResult, outcome: Outcome) -> str:
    """How a rule ended; a skipped one that makes the gate fail is another thing than one that does not."""
    return "no_data" if outcome.status == "skipped" and outcome.breaks(result.on_doubt) else outcome.status


def gate_table(result: GateResult, lang: Language) -> Table:
    """Return a row a rule: how it ended, what was observed, its limit, the interval."""
    head = tuple(say(f"gate.column_{name}", lang) for name in ("rule", "status", "observed", "limit", "interval"))
    return Table(head, tuple(_row(result, outcome, lang) for outcome in result.outcomes), "llrrr")


def _row(result: GateResult, outcome: Outcome, lang: Language) -> tuple[str, ...]:
    rule, ci, seen = outcome.rule, outcome.ci, outcome.observed
    show: Callable[[float], str] = {"min_coverage": percent, "min_mean": number, "max_drop": signed}.get(rule.kind, "{:g}".format)
    limit = show(-rule.limit if rule.kind == "max_drop" else rule.limit)
    kind = _kind(result, outcome)
    return (
        rule_name(rule, lang),
        say("gate.status_flaky_fails" if kind == "flaky" and outcome.breaks(result.on_doubt) else f"gate.status_{kind}", lang),
        NONE if seen is None else show(seen),
        say("gate.at_most" if rule.kind == "no_new_made_up" else "gate.at_least", lang, value=limit),
        f"{show(ci.low)} … {show(ci.high)}" if ci else NONE,
    )


def _luck(result: GateResult, lang: Language) -> Iterator[Block]:
    """Say how often drop rules fail by luck: (1 - confidence) / 2 each, at most the sum of these together (Bonferroni's bound)."""
    drops = sum(outcome.rule.kind == "max_drop" and outcome.status != "skipped" for outcome in result.outcomes)
    if drops >= DROPS:
        each = (1 - result.confidence) / 2
        stricter = 0.99 if result.confidence < 0.99 else 1 - (1 - result.confidence) / 10
        values = {"count": drops, "each": percent(each), "all": percent(min(1.0, drops * each)), "stricter": f"{stricter:.6g}"}
        yield Text(say("gate.luck", lang, **values))


def _next(result: GateResult, lang: Language) -> Iterator[Block]:
    """Name the commands that show which answers lost, and why."""
    yield Text(say("gate.next", lang))
    run = shlex.quote(result.run.path or "RUN")
    if result.baseline is not None:
        yield Code(f"ragstone compare {shlex.quote(result.baseline.path or 'BASE')} {run}")
    yield Code(f"ragstone diagnose {run}")
