"""A run against its rules: which limits there are, what is measured for each, and what is refused beforehand."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ragstone.analysis.cells import FAILED, Cells, Notice
from ragstone.analysis.claims import same_text
from ragstone.analysis.differing import differing
from ragstone.analysis.gate import (
    Limit,
    Outcome,
    coverage_outcome,
    drop_outcome,
    made_up_outcome,
    mean_outcome,
    new_claims,
    questions_outcome,
    unchecked,
    unpaired,
)
from ragstone.analysis.intervals import SCORES, interval
from ragstone.analysis.pooled import base_name
from ragstone.analysis.slices import SampleFacts
from ragstone.errors import ConfigError
from ragstone.numerals import numbers
from ragstone.results import Run, load
from ragstone.shown.gate import GateResult
from ragstone.terms import terms_of
from ragstone.text import say, screen_language

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragstone.analysis.gate import Lacking
    from ragstone.config.model import GateRule, GateSettings
    from ragstone.shown.comparison import Comparison

Slice = tuple[str, Any]

SIGNATURE = frozenset({"judge_differs", "embedder_differs", "prompts_differ", "metric_version_differs", "signature_differs"})
"""Differences between two runs that make their numbers different things."""
UNCARRIED = ("made_up", "ungrounded_correct")
"""Causes of a claim that no context carries. Only answer_correctness tells them apart: a run without it calls both made up."""


def gate(
    run: Run | str | Path,
    baseline: Run | str | Path | None = None,
    rules: GateSettings | Mapping[str, Any] | str | Path | None = None,
    *,
    allow_different_signature: bool = False,
    seed: int = 0,
) -> GateResult:
    """Return whether a run keeps the rules: least coverage, least means, largest drops, no new made-up claim.

    A limit that is broken fails only if the whole interval lies beyond it; what noise could explain is `flaky`.

    Args:
        run: the run, or its folder.
        baseline: the run, or its folder, that drops are measured against.
        rules: a TOML file with a table `[gate]`, or that table as a dict. Unset: coverage of every metric from 0.95, and
            with a baseline no drop of any metric that both runs have.
        allow_different_signature: go on, with a warning, where judge, embedder, prompts or metric versions differ.
        seed: of the intervals that are found by drawing.

    Raises:
        ConfigError: a rule is unknown or mistyped, names an unknown metric or a key no sample has, needs a baseline that
            is not given, or the two runs were not made with the same judge, embedder, prompts and metric versions.
        RunFolderError: a run cannot be read, or the two share no sample.
    """
    terms_of(seed=seed)  # refuses a seed that is none
    new = run if isinstance(run, Run) else load(run)
    base = load(baseline) if isinstance(baseline, str | Path) else baseline
    settings = _settings(rules)
    allowed = allow_different_signature or settings.allow_different_signature
    if base is None:
        _refuse_drops(settings)
    measured = _Measured(new, base, settings, seed)
    warnings = [*measured.notices, *(() if base is None else _differences(new, base, measured, allowed))]
    limits = list(_by_default(measured) if rules is None else _limits(settings, measured))
    _check_names(limits, measured)
    outcomes = [measured.outcome(limit) for limit in limits]
    if measured.compared is not None and (gone := questions_outcome(measured.compared.pairs, settings.min_coverage)):
        outcomes.append(gone)
    if measured.compared is not None:  # the comparison knows whether questions or only fingerprints differ
        warnings = [notice for notice in warnings if notice.code != "gold_differs"]
    if base is not None:
        warnings += [*_of_the_baseline(limits, measured, rules is None), *unchecked(outcomes)]
    return GateResult(
        run=new.facts(),
        baseline=base.facts() if base else None,
        on_doubt=settings.on_doubt,
        confidence=settings.confidence,
        outcomes=tuple(outcomes),
        warnings=tuple(warnings),
    )


def _settings(rules: GateSettings | Mapping[str, Any] | str | Path | None) -> GateSettings:
    from ragstone.config.model import GateSettings
    from ragstone.config.rules import load_rules, rules_of

    if rules is None:
        return GateSettings()
    if isinstance(rules, str | Path):
        return load_rules(Path(rules), screen_language())
    return rules if isinstance(rules, GateSettings) else rules_of(rules, screen_language())


def _refuse_drops(settings: GateSettings) -> None:
    drops = [f"[gate.metrics.{name}] max_drop" for name, rule in settings.metrics.items() if rule.max_drop is not None]
    drops += [f"[[gate.slices]] {i} max_drop" for i, rule in enumerate(settings.slices, 1) if rule.max_drop is not None]
    drops += ["no_new_made_up"] if settings.no_new_made_up else []
    if drops:
        raise ConfigError(say("gate.needs_baseline", screen_language(), rules=", ".join(drops)))


# ------------------------------------------------------------------ the rules
def _by_default(measured: _Measured) -> Iterator[Limit]:
    from ragstone.config.model import GateSettings

    for metric in measured.metrics:
        yield Limit("min_coverage", metric, GateSettings().min_coverage, required=False)
    for metric in measured.metrics if measured.base is not None else ():
        if metric in measured.base_scores:
            # what the baseline could not measure either is no loss
            yield Limit("max_drop", metric, 0.0, required=measured.base_scores[metric] > 0)


def _limits(settings: GateSettings, measured: _Measured) -> Iterator[Limit]:
    for metric in measured.metrics:
        yield Limit("min_coverage", metric, settings.min_coverage, required=False)
    for metric, rule in settings.metrics.items():
        yield from _of_rule(metric, rule, None)
    for part in settings.slices:
        yield from _of_rule(part.metric, part, (part.by, part.value))
    if settings.no_new_made_up:
        yield Limit("no_new_made_up", None, 0.0, required=False)


def _of_rule(metric: str, rule: GateRule, part: Slice | None) -> Iterator[Limit]:
    if rule.min_mean is not None:
        yield Limit("min_mean", metric, rule.min_mean, part)
    if rule.max_drop is not None:
        yield Limit("max_drop", metric, rule.max_drop, part)


def _check_names(limits: Iterable[Limit], measured: _Measured) -> None:
    from ragstone.metrics import titled

    lang, problems = screen_language(), []
    known = list(dict.fromkeys([*measured.metrics, *measured.base_scores]))
    for name in dict.fromkeys(limit.metric for limit in limits if limit.metric is not None):
        if name not in known and (base_name(name) not in titled() or base_name(name) in map(base_name, known)):
            near = get_close_matches(name, known, n=1, cutoff=0.5)
            hint = say("config.nearest", lang, name=near[0]) if near else ""
            problems.append(say("gate.unknown_metric", lang, name=name, hint=hint, known=", ".join(known)))
    for key in dict.fromkeys(limit.slice[0] for limit in limits if limit.slice):
        keys = list(measured.facts(key).keys)
        if key not in keys:
            near = get_close_matches(key, keys, n=1, cutoff=0.5)
            hint = say("config.nearest", lang, name=near[0]) if near else ""
            problems.append(say("gate.unknown_key", lang, name=key, hint=hint, known=", ".join(keys) or "-"))
    if problems:
        raise ConfigError("\n".join(problems))


# ------------------------------------------------------------------ the baseline
def _differences(new: Run, base: Run, measured: _Measured, allowed: bool) -> Iterator[Notice]:
    from ragstone.shown.comparison import same_run, warning_text

    lang = screen_language()
    if same_run(base.facts(), new.facts()):
        yield Notice("same_run")
    found = list(differing(base.manifest, new.manifest, list(measured.metrics)))
    refused = [notice for notice in found if notice.code in SIGNATURE]
    if refused and not allowed:
        raise ConfigError("\n".join([*(warning_text(n, lang) for n in refused), say("gate.different_signature", lang)]))
    yield from found


def _of_the_baseline(limits: Iterable[Limit], measured: _Measured, by_default: bool) -> Iterator[Notice]:
    for metric in measured.base_scores:
        if metric not in measured.metrics:
            yield Notice("metric_missing", (("metric", metric),))
    if not by_default and not any(limit.kind in ("max_drop", "no_new_made_up") for limit in limits):
        yield Notice("baseline_unused")
    if measured.compared is not None:
        yield from unpaired(measured.compared)


# ------------------------------------------------------------------ what is measured
class _Measured:
    """The numbers of a run, and of its comparison with the baseline, read when a rule asks for them."""

    def __init__(self, run: Run, base: Run | None, settings: GateSettings, seed: int) -> None:
        self.run, self.base, self._seed = run, base, seed
        self._confidence, self._only_numbers = settings.confidence, settings.no_new_made_up is True
        self.notices: list[Notice] = []
        """What had to be left out while reading the two runs."""
        self._sides: dict[str | None, tuple[Cells, SampleFacts]] = {}
        self._comparisons: dict[str | None, Comparison] = {}
        self.metrics = _scores(self._side(None)[0])
        """Metrics the run has cells of -> how many are ok."""
        self.base_scores = {} if base is None else _scores(self._read(base, SampleFacts(), "base"))

    def facts(self, key: str) -> SampleFacts:
        """Return what is known of the samples under a key."""
        return self._side(key)[1]

    @property
    def compared(self) -> Comparison | None:
        """What drops were read off; None where no rule asked for one."""
        return next(iter(self._comparisons.values()), None)

    def outcome(self, limit: Limit) -> Outcome:
        """Return what becomes of a rule."""
        if limit.kind == "no_new_made_up":
            return self._made_up(limit)
        if limit.kind == "max_drop":
            return self._drop(limit)
        values, failed = self._values(limit)
        if limit.kind == "min_coverage":
            return coverage_outcome(limit, len(values), failed)
        if not values:
            return self._skipped(limit)
        mean = min(max(_mean(values), min(values)), max(values))
        return mean_outcome(limit, len(values), mean, interval(values, SCORES, level=self._confidence, seed=self._seed))

    def _side(self, key: str | None) -> tuple[Cells, SampleFacts]:
        if key not in self._sides:
            facts = SampleFacts(key)
            self._sides[key] = self._read(self.run, facts, "new"), facts
        return self._sides[key]

    def _read(self, run: Run, facts: SampleFacts, side: str) -> Cells:
        found: list[Notice] = []
        cells = run.cells(facts, found)
        if facts.key is None:  # a run is read again for each key; what was left out is told once
            self.notices += [Notice(notice.code, (*notice.values, ("side", side))) for notice in found]
        return cells

    def _values(self, limit: Limit) -> tuple[list[float], int]:
        """Return the ok values of a rule's samples, and how many cells failed."""
        cells, facts = self._side(limit.slice[0] if limit.slice else None)
        column = cells.columns.get(limit.metric or "")
        if column is None:
            return [], 0
        rows: Sequence[int] = range(len(cells))
        if limit.slice:
            rows = _rows(cells, facts, limit.slice[1])
        found = [v for v in cells.outcomes(column, rows) if v is not None]
        return [v for v in found if v >= 0], sum(v < 0 and cells.reason(v)[0] == FAILED for v in found)

    def _skipped(self, limit: Limit) -> Outcome:
        """Return the outcome of a rule that nothing can be measured by, and for want of what."""
        values: tuple[Any, ...] = ()
        if limit.slice:
            cells, facts = self._side(limit.slice[0])
            if not _rows(cells, facts, limit.slice[1]):
                values = tuple(value for value, _ in facts.groups(len(cells)) if value is not None)
        if not self._values(limit)[0]:
            return Outcome(limit, "skipped", lacking="run", values=values)
        return Outcome(limit, "skipped", lacking="pairs" if self.base_scores.get(limit.metric or "") else "base")

    def _drop(self, limit: Limit) -> Outcome:
        if not self.metrics.get(limit.metric or "") or not self.base_scores.get(limit.metric or ""):
            return self._skipped(limit)
        found = self._compared(limit.slice[0] if limit.slice else None)
        metrics = found.metrics
        if limit.slice:
            wanted = limit.slice[1]
            metrics = next((part.metrics for part in found.slices if same(part.value, wanted)), ())
        one = next((m for m in metrics if m.metric == limit.metric), None)
        return drop_outcome(limit, one.n, one.difference, one.ci) if one is not None and one.n else self._skipped(limit)

    def _compared(self, key: str | None) -> Comparison:
        from ragstone.shown.comparison import compare

        if key not in self._comparisons:
            assert self.base is not None
            self._comparisons[key] = compare(self.base, self.run, by=key, alpha=1 - self._confidence, seed=self._seed)
        return self._comparisons[key]

    def _made_up(self, limit: Limit) -> Outcome:
        assert self.base is not None
        for lacking, scores in (("run", self.metrics), ("base", self.base_scores)):
            if not any(n for name, n in scores.items() if base_name(name) == "faithfulness"):
                return Outcome(limit, "skipped", lacking=cast("Lacking", lacking))
        known = {sample_id: {same_text(text) for _, text in claims} for sample_id, claims in _claims(self.base, *UNCARRIED).items()}
        found = {
            sample_id: [(claim, text, same_text(text)) for claim, text in claims if not self._only_numbers or states_a_number(text)]
            for sample_id, claims in _claims(self.run, "made_up").items()
        }
        return made_up_outcome(limit, new_claims(known, found))


def states_a_number(text: str) -> bool:
    """True if a claim holds a digit, or a number in words that ragstone reads: 7 days, 七天, seven days."""
    return any(letter.isdigit() for letter in text) or bool(numbers(text))


def _claims(run: Run, *causes: str) -> dict[str, list[tuple[str, str]]]:
    """Return (claim id, text) of a run's claims that are lost to one of some causes, by sample."""
    from ragstone.shown.diagnosis import diagnose

    diagnosis = diagnose(run)
    found: dict[str, list[tuple[str, str]]] = {}
    for cause in causes:
        for sample_id, claims in diagnosis.claims_of(cause).items():
            found.setdefault(sample_id, []).extend((claim.claim, claim.text) for claim in claims)
    return found


def _rows(cells: Cells, facts: SampleFacts, wanted: Any) -> Sequence[int]:
    """Return the samples whose value is the one a rule names."""
    return next((at for value, at in facts.groups(len(cells)) if same(value, wanted)), [])


def same(value: Any, wanted: Any) -> bool:
    """True if a sample's value is the one a rule names; 3 in a file of rules also means the text "3" of a CSV file."""
    return value is wanted or (value is not None and wanted is not None and _text(value) == _text(wanted))


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _scores(cells: Cells) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, column in cells.columns.items():
        outcomes = [v for v in cells.outcomes(column, range(len(cells))) if v is not None]
        if outcomes:
            found[name] = sum(v >= 0 for v in outcomes)
    return found


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)
