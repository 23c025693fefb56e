"""Exceptions for mistakes that a person must correct. Trouble of one cell is a value, never an exception.

RagstoneError
├── ConfigError        a setting, flag, metric or name is wrong           exit 2
├── DataError          an input file or table cannot be used              exit 2
├── RunFolderError     a run folder is locked, foreign or unreadable      exit 2
├── ScriptError        a truth table has no entry for what was asked      exit 2
└── StoppedError       the run had to stop early; finished work is kept   exit 3
    ├── AuthError      401, 403 or 402: key, rights, balance
    ├── EndpointError  404, unreachable or not an OpenAI-compatible API
    ├── BudgetError    --max-calls, --max-tokens-total or --max-cost is used up
    └── Interrupted    Ctrl-C or SIGTERM
"""

import errno
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.text import say, screen_language

if TYPE_CHECKING:
    from ragstone.types import Language

_REASONS = {
    errno.ENOENT: "nothing_there",
    errno.ENOTDIR: "nothing_there",
    errno.EACCES: "not_allowed",
    errno.EPERM: "not_allowed",
    errno.EISDIR: "a_folder",
    errno.ENOSPC: "disk_full",
    errno.EROFS: "read_only",
}


def similar(path: Path, lang: "Language") -> str:
    """Return the question after the neighbour whose name is most like that of a path that is not there; empty if none is."""
    from difflib import get_close_matches

    try:
        names = get_close_matches(path.name, [one.name for one in path.parent.iterdir() if one.exists()], n=1)
    except (OSError, ValueError):
        names = []
    return say("errors.similar", lang, name=names[0]) if names else ""


def reason_of(error: OSError, lang: "Language") -> str:
    """Return why the system refuses, in `lang` where it is one of the usual reasons, else in the system's own words."""
    name = _REASONS.get(error.errno or 0)
    return say(f"errors.system_{name}", lang) if name else error.strerror or str(error)


class RagstoneError(Exception):
    """Root of everything ragstone raises on purpose; `exit_code` is what the command line returns for it."""

    exit_code = 2


class ConfigError(RagstoneError):
    """A setting, flag, metric name or parameter is wrong; the text names it and the nearest right one."""


@dataclass(frozen=True)
class Problem:
    """One thing wrong with an input: `row` counts from 1 (the header of a table is not a row), None = whole file."""

    text: str
    row: int | None = None
    column: str | None = None


class DataError(RagstoneError):
    """An input cannot be used. Holds every problem found, so that a file is mended in one go."""

    def __init__(self, source: str, problems: list[Problem], shown: int = 20) -> None:
        self.source, self.problems = source, problems
        lang = screen_language()
        lines = [say("errors.problem", lang, source=source, place=_place(p, lang), text=p.text) for p in problems[:shown]]
        if len(problems) > shown:
            lines.append(say("errors.more", lang, source=source, count=len(problems) - shown))
        super().__init__("\n".join(lines))


def _place(problem: Problem, lang: "Language") -> str:
    match problem.row, problem.column:
        case None, None:
            return ""
        case None, column:
            return say("errors.at_column", lang, column=column)
        case row, None:
            return say("errors.at_row", lang, row=row)
        case row, column:
            return say("errors.at_row_column", lang, row=row, column=column)


class RunFolderError(RagstoneError):
    """A run folder is locked by another process, was made with other settings, or cannot be read."""


class ScriptError(RagstoneError):
    """A scripted judge or embedder was asked something its truth table does not hold."""


class StoppedError(RagstoneError):
    """The run stopped before its end; what was finished is on disk and the same command goes on."""

    exit_code = 3


class AuthError(StoppedError):
    """The endpoint refused the key, the rights or the balance (401, 402, 403)."""


class EndpointError(StoppedError):
    """The endpoint or the model does not exist (404), cannot be reached, or does not speak the protocol."""


class BudgetError(StoppedError):
    """The requests, tokens or money the call may spend are used up."""


class Interrupted(StoppedError):
    """The user stopped the run (Ctrl-C, SIGTERM)."""
