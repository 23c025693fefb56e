"""The step `gate`: does the run keep its rules? Rules that need a baseline wait until there is one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragstone.analysis.differing import differing
from ragstone.errors import ConfigError
from ragstone.pipeline.base import LANGUAGES, Inputs, LeftOut, Listener, Outcome
from ragstone.pipeline.prints import fingerprint, of_run
from ragstone.pipeline.step_analysis import written
from ragstone.shown.blocks import Text, to_markdown
from ragstone.store import write_atomically
from ragstone.text import listing, say

if TYPE_CHECKING:
    from pathlib import Path

    from ragstone.config import GateSettings
    from ragstone.pipeline.course import Course
    from ragstone.shown.gate import GateResult
    from ragstone.types import Language


@dataclass(frozen=True, slots=True)
class Gated:
    """What became of the rules, and which of them had to wait."""

    result: GateResult
    waiting: tuple[str, ...] = ()
    """Rules that need a baseline, as they are called in the file."""
    why: str | None = None
    """Why there is no baseline."""

    def unchecked(self, lang: Language) -> tuple[str, ...]:
        """Return what must be said beside the verdict: a rule that waits is not kept, though nothing fails."""
        return (say("pipeline.rules_wait", lang, rules=listing(self.waiting, lang), why=self.why),) if self.waiting else ()


class Gate:
    """Check the run against the rules of the file; without a table `[gate]` against the usual ones."""

    def inputs(self, course: Course) -> Inputs | LeftOut:
        """Rest on the run, the rules, and the baseline or why there is none, for the page says so."""
        base = course.baseline()
        held = base.text if isinstance(base, LeftOut) else {"name": base.name, "run": of_run(base.folder)}
        rules = course.checked.rules.model_dump() if course.checked.rules is not None else None
        seed, lang = course.pipeline.config.seed, course.lang
        rests_on = {"run": of_run(course.folder), "base": held, "rules": rules, "seed": seed, "lang": lang}
        return Inputs(fingerprint=fingerprint(rests_on))

    def work(self, course: Course, hear: Listener) -> Outcome:
        """Write `gate.json`, `gate.md` and `gate.junit.xml`."""
        from ragstone.shown.gate import gate_warning

        del hear
        gated, lang = gate_of(course), course.lang
        found = gated.result
        waiting = gated.unchecked(lang)
        page = to_markdown([*found.blocks(lang), *(Text(text, warning=True) for text in waiting)])
        files = [*written(course, "gate", found.to_dict(lang), page), (course.folder / "gate").with_suffix(".junit.xml")]
        write_atomically(files[-1], [found.to_junit(lang).encode()])
        return Outcome(
            exit_code=found.exit_code,
            texts={one: _text(found, one) for one in LANGUAGES},
            files=tuple(files),
            numbers={"passed": found.passed, "rules": len(found.outcomes), "broken": len(found.broken)},
            notices=(*waiting, *(gate_warning(warning, lang) for warning in found.warnings)),
        )


def gate_of(course: Course) -> Gated:
    """Return what becomes of the rules, found once a call.

    Raises ConfigError where run and baseline were made with another judge, embedder, prompts or metric versions, and nobody allowed it.
    """
    if "gate" not in course.found:
        course.found["gate"] = _gated(course)
    found: Gated = course.found["gate"]
    return found


def _gated(course: Course) -> Gated:
    from ragstone.shown.gating import gate

    base, rules, seed = course.baseline(), course.checked.rules, course.pipeline.config.seed
    if not isinstance(base, LeftOut):
        _refuse_another_signature(course, base.folder)
        return Gated(gate(course.run(), base.folder, rules, seed=seed))
    if rules is None:
        return Gated(gate(course.run(), seed=seed))
    kept, waiting = without_drops(rules)
    return Gated(gate(course.run(), None, kept, seed=seed), waiting, base.text)


def _refuse_another_signature(course: Course, base: Path) -> None:
    """Say how to say yes, beside what differs: the command line of `gate` is of no use here."""
    from ragstone.results import load
    from ragstone.shown.comparison import warning_text
    from ragstone.shown.gating import SIGNATURE

    rules, lang, run = course.checked.rules, course.lang, course.run()
    if rules is not None and rules.allow_different_signature:
        return
    metrics = list(run.manifest.get("metrics") or ())
    found = [notice for notice in differing(load(base).manifest, run.manifest, metrics) if notice.code in SIGNATURE]
    if found:
        told = [warning_text(notice, lang) for notice in found]
        raise ConfigError("\n".join([*told, say("pipeline.another_signature", lang, path=course.pipeline.path, base=base)]))


def without_drops(rules: GateSettings) -> tuple[GateSettings, tuple[str, ...]]:
    """Return the rules that need no baseline, and what the others are called in the file."""
    waiting = [f"[gate.metrics.{name}] max_drop" for name, rule in rules.metrics.items() if rule.max_drop is not None]
    waiting += [f"[[gate.slices]] {i} max_drop" for i, rule in enumerate(rules.slices, 1) if rule.max_drop is not None]
    waiting += ["[gate] no_new_made_up"] if rules.no_new_made_up else []
    metrics = {name: rule.model_copy(update={"max_drop": None}) for name, rule in rules.metrics.items() if rule.min_mean is not None}
    slices = tuple(rule.model_copy(update={"max_drop": None}) for rule in rules.slices if rule.min_mean is not None)
    return rules.model_copy(update={"metrics": metrics, "slices": slices, "no_new_made_up": False}), tuple(waiting)


def _text(found: GateResult, lang: Language) -> str:
    if found.passed:
        return say("pipeline.gate_passed", lang, count=len(found.outcomes))
    return say(
        "pipeline.gate_failed", lang, broken=len(found.broken), count=len(found.outcomes), first=found.sentence(found.broken[0], lang)
    )
