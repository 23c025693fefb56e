"""A run handed over: to a file, a folder, another system, or as an object for Python."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

from ragstone.errors import ConfigError, RagstoneError
from ragstone.export.base import Exporter, FileExporter, FolderExporter, ObjectExporter, Order, Sink
from ragstone.export.registry import exporter, origin_of
from ragstone.text import say, screen_language

if TYPE_CHECKING:
    import os

    from ragstone.export.content import Content
    from ragstone.export.receipt import Receipt
    from ragstone.results import Run
    from ragstone.shown.blocks import Block
    from ragstone.types import Language

    Named = str | os.PathLike[str]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What became of an export to a file or folder."""

    to: str
    """Name of the exporter."""
    path: str | None
    """Where it was written; None = to a stream."""
    samples: int
    cells: int
    """A metric on a sample, measured or not."""
    unmeasured: Mapping[str, int] = field(default_factory=dict)
    """Cells without a value, by their reason, most frequent first: they are empty in what was written."""
    bytes: int = 0
    """Size of what was written; of a dry run what it would be."""
    dry_run: bool = False
    signature: str | None = None
    notice: str | None = None
    """The smoke-test notice, in English."""
    exit_code: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The document of `export --json`."""
        names = ("to", "path", "samples", "cells", "bytes", "dry_run", "signature", "notice")
        return {**{name: getattr(self, name) for name in names}, "unmeasured": dict(self.unmeasured)}

    def blocks(self, lang: Language) -> list[Block]:
        """The page for people."""
        from ragstone.shown.receipt import written_blocks

        return list(written_blocks(self, lang))


def export_run(
    run: Run | Named, to: str, path: Named | None = None, *, force: bool = False, order: Order | None = None, **settings: Any
) -> Written | Receipt:
    """Export a run and say what became of it. Works inside a running event loop (Jupyter) too.

    Args:
        run: a run, its folder, or a JSON export.
        to: name of the exporter: `csv`, `json`, `jsonl`, `xlsx`, `parquet`, `md`, `junit`, `langfuse`, `mlflow`, `otel`, …
        path: file or folder to write, with the folders above it where they are missing; None for what goes to another system.
        force: replace an existing file or folder.
        order: language, settings and the like, as one record; else they are made of `settings`.
        settings: `lang`, `dry_run`, and those of `[export.<to>]`, e.g. `experiment="prompt v2"` for `langfuse`.

    Raises:
        ConfigError: there is no such exporter, its library is not installed, a setting is wrong, or the target cannot be written.
        RunFolderError: the run cannot be read.
        StoppedError: writing or sending had to end early; what another system took stays there, and the next call goes on.
    """
    from ragstone.api import run_sync
    from ragstone.export.asked import order_of

    found = exporter(to)
    order = order or order_of(found, settings)
    if isinstance(found, Sink):
        return run_sync(_sent(found, run, to, path, order))
    return _written_to(found, run, to, path, force, order)


async def aexport_run(
    run: Run | Named, to: str, path: Named | None = None, *, force: bool = False, order: Order | None = None, **settings: Any
) -> Written | Receipt:
    """`export_run` as a coroutine; a file is written in a thread."""
    from ragstone.export.asked import order_of

    found = exporter(to)
    order = order or order_of(found, settings)
    if isinstance(found, Sink):
        return await _sent(found, run, to, path, order)
    return await asyncio.to_thread(_written_to, found, run, to, path, force, order)


async def _sent(found: Sink, run: Run | Named, to: str, path: Named | None, order: Order) -> Receipt:
    from ragstone.export.content import Content

    if path is not None:
        raise ConfigError(say("export.no_file", screen_language(), name=to))
    try:
        return await found.send(Content(opened(run)), order)
    except (RagstoneError, OSError):
        raise
    except Exception as bad:
        if (own := origin_of(found)) is None:
            raise
        raise ConfigError(_fault(found, own, bad)) from bad


def _written_to(found: Exporter, run: Run | Named, to: str, path: Named | None, force: bool, order: Order) -> Written:
    from ragstone.export.content import Content
    from ragstone.export.target import Target

    if not isinstance(found, FileExporter | FolderExporter):
        raise ConfigError(say("export.python_only", screen_language(), name=to))
    if path is None:
        raise ConfigError(say("export.needs_file", screen_language(), name=to, suffix=getattr(found, "suffix", "")))
    content = Content(opened(run))
    target = Target(Path(path), content.run.path, force=force, parts=found.parts if isinstance(found, FolderExporter) else None)
    target.check()
    done = written(found, content, str(path), order)
    size = target.measure(filling(found, content, order)) if order.dry_run else target.write(filling(found, content, order))
    return replace(done, bytes=size)


def export_object(run: Run, to: str, **settings: Any) -> Any:
    """Return a run as the object that an exporter makes (a data frame, a data set).

    Raises ConfigError if it makes none, or a library is missing.
    """
    from ragstone.export.asked import order_of
    from ragstone.export.content import Content

    found = exporter(to)
    if not isinstance(found, ObjectExporter):
        raise ConfigError(say("export.needs_file", screen_language(), name=to, suffix=getattr(found, "suffix", "")))
    return guarded(found, lambda: found.make(Content(run), order_of(found, settings)))


def export_by(run: Run, to: str, path: Named | None, **wanted: Any) -> Any:
    """What `Run.export` returns: the object for an exporter that makes one and no path, else what became of the export."""
    if path is None and isinstance(exporter(to), ObjectExporter):
        wanted.pop("force", None)
        return export_object(run, to, **wanted)
    return export_run(run, to, path, **wanted)


def opened(run: Run | Named) -> Run:
    """Return the run that is named."""
    from ragstone.results import Run, load

    return run if isinstance(run, Run) else load(Path(run))


def written(found: Exporter, content: Content, path: str | None, order: Order) -> Written:
    """Return what is going to be written, as far as it is known before; reads the whole run, and refuses one that is broken."""
    summary, facts = content.summary, content.facts
    return Written(
        to=found.name,
        path=path,
        samples=summary.samples,
        cells=sum(metric.total for metric in summary.metrics),
        unmeasured=content.unmeasured,
        dry_run=order.dry_run,
        signature=facts.signature,
        notice=facts.notice,
    )


def filling(found: FileExporter | FolderExporter, content: Content, order: Order) -> Callable[[IO[bytes] | str], None]:
    """Return what fills the file or folder, and tells a fault of somebody else's exporter with its name."""

    def fill(place: IO[bytes] | str) -> None:
        if isinstance(found, FolderExporter):
            guarded(found, lambda: found.write_folder(content, str(place), order))
        elif not isinstance(place, str):
            guarded(found, lambda: found.write(content, place, order))

    return fill


def guarded(found: Exporter, action: Callable[[], T]) -> T:
    """Run what an exporter does. What one from elsewhere raises is told as its own fault."""
    try:
        return action()
    except (RagstoneError, OSError):
        raise
    except Exception as bad:
        if (own := origin_of(found)) is None:
            raise
        raise ConfigError(_fault(found, own, bad)) from bad


def _fault(found: Exporter, own: str, bad: Exception) -> str:
    return say("export.broke", screen_language(), name=found.name, value=own, reason=f"{type(bad).__name__}: {bad}")
