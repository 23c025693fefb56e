"""The step `export`: the run as files and in other systems, as `[export]` says. Files first: they are there whatever a server does."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.errors import ConfigError
from ragstone.export.base import Exporter, FileExporter, FolderExporter, Order, Sink
from ragstone.export.receipt import Receipt
from ragstone.export.registry import exporter
from ragstone.pipeline.base import LANGUAGES, Inputs, LeftOut, Listener, Outcome
from ragstone.pipeline.file import Pipeline
from ragstone.pipeline.prints import fingerprint, of_run
from ragstone.text import listing, say

if TYPE_CHECKING:
    from ragstone.exporting import Written
    from ragstone.pipeline.course import Course
    from ragstone.types import Language

FOLDER = "exports"
REJECTED_SHOWN = 5
"""Rejected things that are told one by one; the ledger and `ragstone export` know them all."""
_WHERE = (
    *("LANGFUSE_HOST", "LANGFUSE_BASE_URL", "LANGFUSE_PUBLIC_KEY"),
    *("MLFLOW_TRACKING_URI", "MLFLOW_EXPERIMENT_NAME", "MLFLOW_EXPERIMENT_ID"),
    *("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_SERVICE_NAME"),
)
"""Variables that say where a run is sent: to another place it has to be sent again."""


class Export:
    """Hand the run over, to one exporter after the other."""

    def inputs(self, course: Course) -> Inputs | LeftOut:
        """Rest on the run, on `[export]`, and on where the environment says that things are sent."""
        settings = course.pipeline.config.export
        if not settings.to:
            return LeftOut(say("pipeline.export_nothing", course.lang))
        places = {name: hashlib.sha256(value.encode()).hexdigest() for name in _WHERE if (value := course.pipeline.environ.get(name))}
        levels = course.pipeline.config.levels.model_dump()
        rests_on = {
            "run": of_run(course.folder),
            "settings": {**settings.model_dump(), "folder": _folder(course.pipeline)},
            "places": places,
            "levels": levels,
            "lang": course.lang,
        }
        return Inputs(fingerprint=fingerprint(rests_on))

    def work(self, course: Course, hear: Listener) -> Outcome:
        """Write and send. What is missing at the end makes the exit code 1; a server that takes nothing more stops the pipeline."""
        from ragstone.export.target import sweep
        from ragstone.exporting import export_run

        order, run = order_of(course.pipeline, hear), course.run()
        done: list[tuple[str, Path | None, Written | Receipt]] = []
        files = list[Path]()
        for name, path in targets(course.pipeline, course.folder):
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                sweep(path)
                files.append(path)
            done.append((name, path, export_run(run, name, path, force=True, order=order)))
        return Outcome(
            exit_code=next((found.exit_code for *_, found in done if found.exit_code), 0),
            texts={lang: " ".join(_sentences(done, lang)) for lang in LANGUAGES},
            files=tuple(files),
            numbers={name: _numbers(found) for name, _, found in done},
            notices=tuple(text for name, _, found in done if isinstance(found, Receipt) for text in _notices(name, found, course.lang)),
        )


def _folder(pipeline: Pipeline) -> str | None:
    """The folder, the same wherever the call is made."""
    folder = pipeline.config.export.folder
    return os.path.abspath(folder) if folder else None


def order_of(pipeline: Pipeline, hear: Listener | None = None) -> Order:
    """Return how the exports of a pipeline are wanted."""
    from ragstone.cache import cache_folder

    config = pipeline.config
    cache = None if config.no_cache else str(cache_folder(config))
    tell: dict[str, Any] = {} if hear is None else {"tell": hear.notice}
    return Order(lang=pipeline.lang, settings=config.export, environ=pipeline.environ, cache=cache, **tell)


def targets(pipeline: Pipeline, run: Path) -> Iterator[tuple[str, Path | None]]:
    """Yield each exporter with the file or folder it writes, None for one that sends; those that write come first.

    In a folder of one's own the files of every run stand side by side, so their names begin with the run's.
    """
    settings = pipeline.config.export
    folder = Path(settings.folder) if settings.folder else run / FOLDER
    found = [(name, exporter(name)) for name in dict.fromkeys(settings.to)]
    for name, one in sorted(found, key=lambda pair: isinstance(pair[1], Sink)):
        yield name, None if isinstance(one, Sink) else folder / _name(run.name, name, one)


def _name(run: str, name: str, found: Exporter) -> str:
    suffix = getattr(found, "suffix", "")
    return f"{run}{suffix}" if suffix == f".{name}" else f"{run}.{name}{suffix}"


def check_exports(pipeline: Pipeline) -> None:
    """Raise ConfigError if an exporter is not known, makes no file, is not installed, or has no keys. Nothing is sent."""
    order = order_of(pipeline)
    for name in pipeline.config.export.to:
        found = exporter(name)
        if not isinstance(found, FileExporter | FolderExporter | Sink):
            raise ConfigError(say("pipeline.export_no_file", pipeline.lang, name=name, path=pipeline.path))
        found.check(order)


def _sentences(done: Sequence[tuple[str, Path | None, Written | Receipt]], lang: Language) -> Iterator[str]:
    """What was written where, then what was sent where."""
    files = [(name, path) for name, path, _ in done if path is not None]
    if files:
        yield say("pipeline.exported_files", lang, names=listing((name for name, _ in files), lang), folder=files[0][1].parent)
    for name, _, found in done:
        if isinstance(found, Receipt):
            counts = {part: sum(getattr(found, part).values()) for part in ("accepted", "kept")} | {"missing": found.missing}
            key = "pipeline.exported_missing" if found.missing else "pipeline.exported"
            yield say(key, lang, name=name, target=found.target, **counts) + "".join(f" {link}" for link in found.links[:1])


def _numbers(found: Written | Receipt) -> dict[str, Any]:
    """The receipt for the index, which must stay small whatever was rejected."""
    document = found.to_dict()
    return {name: value[:REJECTED_SHOWN] if name == "rejected" else value for name, value in document.items()}


def _notices(name: str, found: Receipt, lang: Language) -> Iterator[str]:
    yield from found.notices
    for one in found.rejected[:REJECTED_SHOWN]:
        yield say("pipeline.rejected", lang, name=name, kind=one.kind, id=one.id, reason=one.reason)
