"""The files of a run folder: which there are, and what tells a run folder from anything else."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.errors import RunFolderError, similar
from ragstone.facts import manifest_if_readable
from ragstone.lines import FileLines, Row
from ragstone.refusals import no_run
from ragstone.text import say, screen_language

if TYPE_CHECKING:
    from ragstone.analysis.cells import Notice

SCORES, SAMPLES, MANIFEST, REPLIES = "scores.jsonl", "samples.jsonl", "manifest.json", "replies.jsonl"


@dataclass(frozen=True, slots=True)
class RunFiles:
    """What a run folder holds; its lines are read when they are needed."""

    scores: FileLines
    samples: FileLines | None
    replies: FileLines | None
    manifest: Row
    notices: tuple[Notice, ...]
    """What is wrong with the manifest."""


def files_of(path: str | Path) -> RunFiles:
    """Return the files of a run folder.

    Raises:
        RunFolderError: there is no such folder, or it holds no scores; the text says what it is instead.
    """
    folder = existing(path)
    scores = folder / SCORES
    if not scores.is_file():
        raise no_run(folder, SCORES)
    manifest, notices = manifest_if_readable(folder / MANIFEST)
    samples, replies = (FileLines(folder / name) if (folder / name).is_file() else None for name in (SAMPLES, REPLIES))
    if not scores.stat().st_size and not (samples and manifest.get("metrics")):
        raise RunFolderError(say("results.no_scores", screen_language(), path=scores))
    return RunFiles(FileLines(scores), samples, replies, manifest, tuple(notices))


def existing(path: str | Path) -> Path:
    """Return the path of a folder that is there.

    Raises:
        RunFolderError: there is nothing, or a file.
    """
    folder, lang = Path(path), screen_language()
    if folder.is_file():
        raise RunFolderError(say("results.not_a_folder", lang, path=folder))
    if not folder.is_dir():
        raise RunFolderError(say("results.no_such_folder", lang, path=folder, hint=similar(folder, lang) or say("results.no_hint", lang)))
    return folder
