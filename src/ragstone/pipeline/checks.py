"""Everything that can be wrong with a pipeline, looked at before the first request: a typo in the last step must not cost an hour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragstone.config.problems import nearest
from ragstone.errors import ConfigError
from ragstone.pipeline.course import baseline_folder
from ragstone.pipeline.file import LAST, Pipeline
from ragstone.pipeline.index import Index
from ragstone.text import listing, say

if TYPE_CHECKING:
    from ragstone.config import GateSettings
    from ragstone.pipeline.step_collect import Asking
    from ragstone.samples import SampleSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What was found while looking."""

    asking: Asking | None
    """Where the samples come from; None if the file names no application, or a run that was judged is taken as it is."""
    rules: GateSettings | None
    """None = the usual ones."""


def check_pipeline(pipeline: Pipeline, steps: Sequence[str], index: Index) -> Checked:
    """Look at all that the steps need; sends nothing, writes nothing.

    Args:
        pipeline: the file.
        steps: those that are going to be done.
        index: the runs there are.

    Raises:
        ConfigError: a setting, key, library or name is missing or wrong.
        DataError: the gold set cannot be used.
    """
    asking = _asking(pipeline) if {"collect", "evaluate"} & set(steps) else None
    if "evaluate" in steps:
        from ragstone.pipeline.step_evaluate import identities

        identities(pipeline)
    rules = _rules(pipeline)
    if "gate" in steps and rules is not None:
        _check_rules(rules, pipeline)
    if {"compare", "gate"} & set(steps):
        _check_baseline(pipeline, index)
    if "export" in steps:
        from ragstone.pipeline.step_export import check_exports

        check_exports(pipeline)
    return Checked(asking=asking, rules=rules)


def _asking(pipeline: Pipeline) -> Asking | None:
    from ragstone.pipeline.step_collect import asking_of

    collect = pipeline.config.collect
    if "collect" in pipeline.steps or ("evaluate" in pipeline.steps and (collect.platform or collect.url)):
        return asking_of(pipeline)
    return None


def _rules(pipeline: Pipeline) -> GateSettings | None:
    from ragstone.config.rules import load_rules

    return load_rules(pipeline.path, pipeline.lang) if pipeline.has_rules else None


# ------------------------------------------------------------------ the rules
def _check_rules(rules: GateSettings, pipeline: Pipeline) -> None:
    """A rule for a metric that is not measured, or a key that no sample has, is refused by the gate; here it is in time."""
    problems = list(_unknown_metrics(rules, pipeline)) if "evaluate" in pipeline.steps else []
    if rules.slices and pipeline.gold is not None:
        problems += _unknown_keys(rules, pipeline)
    if problems:
        raise ConfigError("\n".join(problems))


def _unknown_metrics(rules: GateSettings, pipeline: Pipeline) -> Iterator[str]:
    from ragstone.analysis.pooled import base_name

    lang, measured = pipeline.lang, measured_by(pipeline)
    for name in dict.fromkeys([*rules.metrics, *(rule.metric for rule in rules.slices)]):
        if name not in measured:
            near = nearest(name, measured) or next((one for one in measured if base_name(one) == base_name(name)), None)
            hint = say("config.nearest", lang, name=near) if near else say("pipeline.no_hint", lang)
            yield say("pipeline.unmeasured_metric", lang, name=name, path=pipeline.path, hint=hint, known=listing(measured, lang))


def measured_by(pipeline: Pipeline) -> list[str]:
    """Return the metrics that the file has measured; raises ConfigError for one there is not."""
    from ragstone.metrics import PRESETS, parse, split_names

    named = pipeline.config.metrics.metrics or PRESETS[pipeline.config.metrics.preset]
    return [parse(text, {}).text for item in named for text in split_names(item)]


def _unknown_keys(rules: GateSettings, pipeline: Pipeline) -> Iterator[str]:
    from ragstone.analysis.slices import SampleFacts
    from ragstone.pipeline.step_collect import gold_of

    facts = SampleFacts(rules.slices[0].by)
    for at, row in enumerate(_rows(gold_of(pipeline))):
        facts.add(at, row)
    keys, lang = list(facts.keys), pipeline.lang
    for key in dict.fromkeys(rule.by for rule in rules.slices):
        if key not in keys:
            near = nearest(key, keys)
            hint = say("config.nearest", lang, name=near) if near else say("pipeline.no_hint", lang)
            yield say("pipeline.unknown_key", lang, key=key, path=pipeline.path, gold=pipeline.gold, hint=hint, known=listing(keys, lang))


def _rows(source: SampleSource) -> Iterable[dict[str, object]]:
    return (sample.to_dict() for sample in source)


# ------------------------------------------------------------------ the baseline
def _check_baseline(pipeline: Pipeline, index: Index) -> None:
    """A tag that no run has yet is waited for, however many runs there are; a path, or what looks like a slip of a name, is not."""
    from ragstone.pipeline.tags import can_be_tag

    name, lang = pipeline.baseline, pipeline.lang
    if name == LAST or baseline_folder(pipeline, index) is not None:
        return
    tag = can_be_tag(name, index)
    known = {one.lower(): one for one in (LAST, *index.tags, *(run.name for run in index.runs))}
    near = nearest(name, list(known)) if tag else None
    if near is not None or not tag:
        hint = say("config.nearest", lang, name=known[near]) if near else say("pipeline.no_hint", lang)
        key = "pipeline.no_such_baseline" if tag else "pipeline.no_baseline_folder"
        raise ConfigError(say(key, lang, name=name, path=pipeline.path, hint=hint, work=pipeline.work))
