"""JUnit XML, which every CI server reads: tests that passed, failed or were skipped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple
from xml.sax.saxutils import escape, quoteattr

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, not even escaped."""


class Case(NamedTuple):
    """One test."""

    name: str
    group: str
    ending: Literal["failure", "skipped"] | None
    """None = passed."""
    text: str
    """Why it ended so; of a test that passed, what was seen."""


def junit(suite: str, cases: Sequence[Case]) -> str:
    """Return a test suite as XML in UTF-8, the same for the same cases: no time, no host."""
    failures, skipped = (sum(case.ending == ending for case in cases) for ending in ("failure", "skipped"))
    counts = f'tests="{len(cases)}" failures="{failures}" errors="0" skipped="{skipped}"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<testsuites {counts}>",
        f"  <testsuite name={_attribute(suite)} {counts}>",
        *(line for case in cases for line in _case(case)),
        "  </testsuite>",
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def _case(case: Case) -> list[str]:
    inner = f"<system-out>{_plain(case.text)}</system-out>"
    if case.ending == "failure":
        inner = f"<failure message={_attribute(case.text)}>{_plain(case.text)}</failure>"
    elif case.ending == "skipped":
        inner = f"<skipped message={_attribute(case.text)}/>"
    return [f"    <testcase classname={_attribute(case.group)} name={_attribute(case.name)}>", f"      {inner}", "    </testcase>"]


def _attribute(text: str) -> str:
    return quoteattr(" ".join(_allowed(text).split()))


def _plain(text: str) -> str:
    return escape(_allowed(text))


def _allowed(text: str) -> str:
    return _FORBIDDEN.sub("", text)
