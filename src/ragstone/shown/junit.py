"""JUnit XML, which every CI server reads: tests that passed, failed or were skipped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple
from xml.sax.saxutils import escape, quoteattr

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, not even escaped."""


class Case(NamedTuple):
    """One test."""

    name: str
    group: str
    ending: Literal["failure", "error", "skipped"] | None
    """None = passed."""
    text: str
    """Why it ended so; of a test that passed, what was seen."""


class Counts(NamedTuple):
    """How many tests there are, and how they ended."""

    tests: int
    failures: int = 0
    errors: int = 0
    skipped: int = 0


class Suite(NamedTuple):
    """Some tests that belong together, written as they come: their counts stand before them."""

    name: str
    counts: Counts
    cases: Iterable[str]
    """Pieces of what `case_xml` returns, in order."""
    properties: Sequence[tuple[str, str]] = ()
    """What else a reader should know."""


def junit(suite: str, cases: Sequence[Case]) -> str:
    """Return a test suite as XML in UTF-8, the same for the same cases: no time, no host."""
    failures, errors, skipped = (sum(case.ending == ending for case in cases) for ending in ("failure", "error", "skipped"))
    return "".join(pages(None, [Suite(suite, Counts(len(cases), failures, errors, skipped), map(case_xml, cases))]))


def pages(name: str | None, suites: Sequence[Suite]) -> Iterator[str]:
    """Yield test suites as XML in UTF-8, piece by piece; `name`: of them all."""
    named = "" if name is None else f"name={_attribute(name)} "
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites {named}{_counts(suite.counts for suite in suites)}>\n'
    for suite in suites:
        yield f"  <testsuite name={_attribute(suite.name)} {_counts([suite.counts])}>\n"
        if suite.properties:
            lines = (f"      <property name={_attribute(key)} value={_attribute(value)}/>\n" for key, value in suite.properties)
            yield f"    <properties>\n{''.join(lines)}    </properties>\n"
        yield from suite.cases
        yield "  </testsuite>\n"
    yield "</testsuites>\n"


def case_xml(case: Case) -> str:
    """Return a test as lines of XML."""
    inner = f"<system-out>{_plain(case.text)}</system-out>"
    if case.ending in ("failure", "error"):
        inner = f"<{case.ending} message={_attribute(case.text)}>{_plain(case.text)}</{case.ending}>"
    elif case.ending == "skipped":
        inner = f"<skipped message={_attribute(case.text)}/>"
    return f"    <testcase classname={_attribute(case.group)} name={_attribute(case.name)}>\n      {inner}\n    </testcase>\n"


def _counts(counts: Iterable[Counts]) -> str:
    tests, failures, errors, skipped = (sum(each) for each in zip(Counts(0), *counts, strict=True))
    return f'tests="{tests}" failures="{failures}" errors="{errors}" skipped="{skipped}"'


def _attribute(text: str) -> str:
    return quoteattr(" ".join(_allowed(text).split()))


def _plain(text: str) -> str:
    return escape(_allowed(text))


def _allowed(text: str) -> str:
    return _FORBIDDEN.sub("", text)
