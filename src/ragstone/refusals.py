"""What is said of a folder that is no run, and of a row that no run may hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.errors import RunFolderError
from ragstone.text import say, screen_language

if TYPE_CHECKING:
    from pathlib import Path

    from ragstone.analysis.cells import RowProblem

_NAMED = 5


def no_run(folder: Path, scores: str) -> RunFolderError:
    """Return why a folder without a file of scores is no run; the runs inside are named, for whoever meant one of them."""
    lang, entries = screen_language(), sorted(folder.iterdir())
    runs = [entry for entry in entries if (entry / scores).is_file()]
    if runs:
        return RunFolderError(say("results.folder_of_runs", lang, path=folder, runs=_listed(list(map(str, runs))), first=runs[0]))
    if not entries:
        return RunFolderError(say("results.empty_folder", lang, path=folder))
    return RunFolderError(say("results.not_a_run", lang, path=folder, found=_listed([entry.name for entry in entries])))


def bad_row(name: str, number: int, bad: RowProblem) -> RunFolderError:
    """Return what is wrong with a row, with its file and line; a score that looks like a percentage is told as a share."""
    lang = screen_language()
    problem = say(f"results.row_{bad.code}", lang, value=bad.value)
    if bad.code == "value_out_of_range" and isinstance(bad.value, int | float) and 1 < bad.value <= 100:
        problem += say("results.row_percent", lang, value=f"{bad.value:g}", meant=f"{bad.value / 100:.12g}")
    return RunFolderError(say("results.bad_row", lang, file=name, line=number, problem=problem))


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
