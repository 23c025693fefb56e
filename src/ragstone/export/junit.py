"""`--to junit`: a test suite a metric, a test a sample; failed cells are errors, a low value is none: that is the gate's to say."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from typing import IO, TYPE_CHECKING, ClassVar

from ragstone.export.base import FileExporter, Order
from ragstone.figures import meaning_of
from ragstone.shown.junit import Case, Counts, Suite, case_xml, pages

if TYPE_CHECKING:
    from ragstone.analysis.summary import MetricSummary
    from ragstone.export.content import Cell, Content
    from ragstone.shown.summary import ShownSummary
    from ragstone.types import Language

_HELD = 1 << 20
"""Bytes of a suite held in memory; a longer one waits in a temporary file."""


class JunitExporter(FileExporter):
    """Writes JUnit XML. Names are the same in every language, or the history of a test would break with it."""

    name: ClassVar[str] = "junit"
    suffix: ClassVar[str] = ".xml"

    def write(self, content: Content, file: IO[bytes], order: Order) -> None:
        """Write the file; the samples are gone through once."""
        metrics = {m.metric: m for m in content.summary.metrics}
        with ExitStack() as closing:
            tests = {
                name: closing.enter_context(tempfile.SpooledTemporaryFile(_HELD, "w+", encoding="utf-8", newline="\n")) for name in metrics
            }
            for line in content.lines():
                for cell in line.cells:
                    if cell is not None and cell.metric in tests:
                        tests[cell.metric].write(case_xml(_case(line.id, cell, order.lang)))
            suites = [_suite(m, content.summary, tests[name]) for name, m in metrics.items()]
            for page in pages("ragstone", suites):
                file.write(page.encode())


def _case(sample_id: str, cell: Cell, lang: Language) -> Case:
    group, reason = f"ragstone.{cell.metric}", cell.reason
    if cell.status == "ok":
        return Case(sample_id, group, None, f"{cell.value!r} ({reason})" if reason else repr(cell.value))
    reason = reason or "unknown"
    meaning = meaning_of(reason, lang)
    return Case(sample_id, group, "error" if cell.status == "failed" else "skipped", f"{reason}: {meaning}" if meaning else reason)


def _suite(m: MetricSummary, summary: ShownSummary, tests: IO[str]) -> Suite:
    tests.seek(0)
    counts = Counts(m.total, errors=m.failed, skipped=m.not_applicable)
    return Suite(f"ragstone.{m.metric}", counts, iter(lambda: tests.read(_HELD), ""), tuple(_properties(m, summary)))


def _properties(m: MetricSummary, summary: ShownSummary) -> Iterator[tuple[str, str]]:
    run = summary.run
    facts = {"notice": run.notice, "metric": m.metric, "mean": m.mean, "n": m.n, "total": m.total, "coverage": m.coverage}
    if m.ci:
        facts |= {"ci_low": max(0.0, m.ci.low), "ci_high": min(1.0, m.ci.high)}
    facts |= {name: getattr(run, name) for name in ("signature", "run_id", "created_at", "gold_fingerprint")}
    yield from ((name, str(value)) for name, value in facts.items() if value is not None)
