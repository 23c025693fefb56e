"""The steps `diagnose`, `compare` and `report`: what a run says, in files beside it. They ask nobody."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from ragstone.pipeline.base import LANGUAGES, Inputs, LeftOut, Listener, Outcome
from ragstone.pipeline.prints import fingerprint, of_run
from ragstone.store import write_atomically
from ragstone.text import listing, say

if TYPE_CHECKING:
    from ragstone.pipeline.course import Course
    from ragstone.shown.comparison import Comparison
    from ragstone.shown.diagnosis import Diagnosis

SHOWN = 3
"""Causes named in the line of a diagnosis."""


class Diagnose:
    """Why the run lost its points."""

    def inputs(self, course: Course) -> Inputs | LeftOut:
        """Rest on the run and on the levels."""
        levels = course.pipeline.config.levels.model_dump()
        return Inputs(fingerprint=fingerprint({"run": of_run(course.folder), "levels": levels, "lang": course.lang}))

    def work(self, course: Course, hear: Listener) -> Outcome:
        """Write `diagnosis.json` and `diagnosis.md`."""
        del hear
        found = diagnosis_of(course)
        causes = {cause.cause: cause.samples for cause in found.sums.faults}
        files = written(course, "diagnosis", found.to_dict(course.lang), found.to_markdown(course.lang))
        return Outcome(exit_code=0, texts={lang: _causes(found, lang) for lang in LANGUAGES}, files=files, numbers={"causes": causes})


class Compare:
    """Is the difference to the baseline real?"""

    def inputs(self, course: Course) -> Inputs | LeftOut:
        """Rest on the run and on its baseline; without one there is nothing to do."""
        base = course.baseline()
        if isinstance(base, LeftOut):
            return base
        both = {"run": of_run(course.folder), "base": of_run(base.folder), "seed": course.pipeline.config.seed}
        return Inputs(fingerprint=fingerprint({**both, "name": base.name, "lang": course.lang}))

    def work(self, course: Course, hear: Listener) -> Outcome:
        """Write `comparison.json` and `comparison.md`."""
        from ragstone.shown.comparison import warning_text
        from ragstone.shown.verdicts import headline

        del hear
        found = comparison_of(course)
        assert found is not None
        files = written(course, "comparison", found.to_dict(course.lang), found.to_markdown(course.lang))
        base = course.baseline()
        name = "" if isinstance(base, LeftOut) else base.name
        texts = {lang: say("pipeline.compared", lang, base=name, headline=headline(found, lang)) for lang in LANGUAGES}
        numbers = {"baseline": name, "verdicts": {m.metric: m.verdict for m in found.metrics}}
        notices = tuple(warning_text(warning, course.lang) for warning in found.warnings)
        return Outcome(exit_code=0, texts=texts, files=files, numbers=numbers, notices=notices)


class Report:
    """The page for people who open one file only."""

    def inputs(self, course: Course) -> Inputs | LeftOut:
        """Rest on the run and on what the steps before it say."""
        compared = "compare" in course.pipeline.steps and not isinstance(course.baseline(), LeftOut)
        shown = [step for step in ("diagnose", "compare", "gate") if step in course.pipeline.steps and (step != "compare" or compared)]
        held = {step: dict(record.files) for step in shown if (record := course.held(step)) is not None}
        levels = course.pipeline.config.levels.model_dump()
        return Inputs(fingerprint=fingerprint({"run": of_run(course.folder), "shown": held, "levels": levels, "lang": course.lang}))

    def work(self, course: Course, hear: Listener) -> Outcome:
        """Write `report.md`."""
        del hear
        path = (course.folder / "report").with_suffix(".md")
        write_atomically(path, [_report(course).encode()])
        return Outcome(exit_code=0, texts={lang: say("pipeline.reported", lang, path=path) for lang in LANGUAGES}, files=(path,))


def _report(course: Course) -> str:
    from ragstone.pipeline.step_gate import gate_of
    from ragstone.shown.report import report_markdown

    steps = course.pipeline.steps
    gated = gate_of(course) if "gate" in steps else None
    shown: dict[str, Any] = {
        "diagnosis": diagnosis_of(course) if "diagnose" in steps else None,
        "comparison": comparison_of(course) if "compare" in steps else None,
        "gate": gated.result if gated is not None else None,
        "unchecked": gated.unchecked(course.lang) if gated is not None else (),
    }
    return report_markdown(course.run(), **shown, lang=course.lang)


def diagnosis_of(course: Course) -> Diagnosis:
    """Return the diagnosis of the run, found once a call."""
    from ragstone.shown.diagnosis import diagnose

    if "diagnose" not in course.found:
        course.found["diagnose"] = diagnose(course.run())
    found: Diagnosis = course.found["diagnose"]
    return found


def comparison_of(course: Course) -> Comparison | None:
    """Return the comparison with the baseline, found once a call; None without a baseline."""
    from ragstone.shown.comparison import compare

    base = course.baseline()
    if isinstance(base, LeftOut):
        return None
    if "compare" not in course.found:
        course.found["compare"] = compare(base.folder, course.run(), seed=course.pipeline.config.seed)
    found: Comparison = course.found["compare"]
    return found


def written(course: Course, name: str, document: Mapping[str, Any], page: str) -> tuple[Path, ...]:
    """Write a document and a page into the run folder, each whole or not at all, and return where they are."""
    paths = course.folder / f"{name}.json", course.folder / f"{name}.md"
    write_atomically(paths[0], [orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)])
    write_atomically(paths[1], [page.encode()])
    return paths


def _causes(found: Diagnosis, lang: Any) -> str:
    from ragstone.shown.causes import cause_name

    if not found.sums.faults:
        return say("pipeline.no_causes", lang)
    named = (f"{cause_name(cause.cause, lang)} {cause.samples}" for cause in found.sums.faults[:SHOWN])
    return say("pipeline.diagnosed", lang, causes=listing(named, lang))
