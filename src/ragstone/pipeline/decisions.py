"""What follows from what, without a file or a clock: may a step be skipped, which run is gone on with, how does a pipeline end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ragstone.pipeline.base import StepResult
from ragstone.pipeline.index import Index, RunEntry, StepRecord

GOES_ON = (None, 0, 1)
"""Exit codes that do not keep the next step from running."""


def unchanged(held: StepRecord | None, fingerprint: str, files: Mapping[str, str | None]) -> bool:
    """True if a step need not be done: it ended with 0, rested on the same, and its files are what they were.

    `files`: the recorded files as they are now.
    """
    return held is not None and held.exit_code == 0 and held.fingerprint == fingerprint and dict(held.files) == dict(files)


def taken_up(index: Index, identity: str) -> RunEntry | None:
    """Return the run that an evaluation goes on with; None if a new one begins.

    That is the latest run if its scores rest on the same, or the newest of those that were never finished. An older finished run is
    left as it is: what is measured now is compared with what was measured in between.
    """
    if index.latest is not None and index.latest.identity == identity:
        return index.latest
    return next((one for one in reversed(index.runs) if one.identity == identity and not one.evaluated), None)


def exit_code_of(results: Iterable[StepResult]) -> int:
    """Return the first exit code that is not 0."""
    return next((result.exit_code for result in results if result.exit_code), 0)


def begun(steps: Sequence[str], begin: str | None) -> tuple[Sequence[str], Sequence[str]]:
    """Return the steps that are taken as they are, and those from `begin` on."""
    at = steps.index(begin) if begin is not None else 0
    return steps[:at], steps[at:]
