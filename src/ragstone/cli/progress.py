"""Progress on stderr: one moving line on a terminal, a plain line now and then in a log, nothing when quiet."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from ragstone.cli.exits import whisper
from ragstone.cli.plain import safe
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.progress import Progress, RowProgress
    from ragstone.types import Language

SECONDS_BETWEEN_LINES = 10.0


class Reporter(Protocol):
    """Takes progress and notices of a run."""

    def progress(self, progress: Progress | RowProgress) -> None:
        """Take note of how far the run is."""
        ...

    def notice(self, text: str) -> None:
        """Tell one thing worth knowing."""
        ...


@contextmanager
def reporter(lang: Language, *, quiet: bool = False, stream: TextIO | None = None) -> Iterator[Reporter]:
    """Yield the reporter that fits `stream` (default stderr); at the end the last state is told."""
    target = stream or sys.stderr
    if quiet or target is None:
        yield _Quiet(target)
    elif target.isatty():
        line = _Line(lang, target)
        try:
            yield line
        finally:
            line.close()
    else:
        log = _Log(lang, target)
        try:
            yield log
        finally:
            log.close()


def sentence(progress: Progress | RowProgress, lang: Language) -> str:
    """Return progress in words: cells or rows done, requests, tokens of a judge, failed, time left or who is waited for."""
    from ragstone.progress import RowProgress

    if isinstance(progress, RowProgress):
        counts = {name: getattr(progress, name) for name in ("done", "total", "requests", "failed")}
        return say("collecting.line", lang, **counts, left=_left(progress, lang))
    return say(
        "progress.line",
        lang,
        done=progress.done,
        total=progress.total,
        requests=progress.requests,
        tokens=short(progress.prompt_tokens + progress.completion_tokens),
        failed=progress.failed,
        left=_left(progress, lang),
    )


def short(number: int) -> str:
    """Return a count of tokens in four places: 950, 12.3k, 4.56M."""
    if number < 1000:
        return str(number)
    scaled, unit = (number / 1000, "k") if number < 999_950 else (number / 1_000_000, "M")
    return f"{scaled:.{2 if scaled < 10 else 1 if scaled < 100 else 0}f}{unit}"


def clock(seconds: float) -> str:
    """Return a duration: 0:07, 12:30, 1:02:05."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _left(progress: Progress | RowProgress, lang: Language) -> str:
    from ragstone.progress import RowProgress

    if progress.done >= progress.total or (isinstance(progress, RowProgress) and progress.stopped):
        return say("progress.took", lang, time=clock(progress.elapsed_s))
    if progress.awaited:
        return say("progress.awaited", lang, host=progress.awaited)
    return say("progress.left", lang, time="–" if progress.left_s is None else clock(progress.left_s))


class _Quiet:
    """No progress; notices are kept back too."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def progress(self, progress: Progress | RowProgress) -> None:
        pass

    def notice(self, text: str) -> None:
        pass


class _Log:
    """Lines for a file or a pipe: at most one every ten seconds, and the last state."""

    def __init__(self, lang: Language, stream: TextIO) -> None:
        self._lang, self._stream = lang, stream
        self._told_s = 0.0
        self._last: Progress | RowProgress | None = None

    def progress(self, progress: Progress | RowProgress) -> None:
        self._last = progress
        if progress.elapsed_s - self._told_s >= SECONDS_BETWEEN_LINES:
            self._tell()

    def notice(self, text: str) -> None:
        whisper(text, self._stream)

    def close(self) -> None:
        if self._last is not None:
            self._tell()

    def _tell(self) -> None:
        assert self._last is not None
        whisper(sentence(self._last, self._lang), self._stream)
        self._told_s, self._last = self._last.elapsed_s, None


class _Line:
    """A bar with the sentence behind it, redrawn in place."""

    def __init__(self, lang: Language, stream: TextIO) -> None:
        from rich.console import Console

        self._lang = lang
        self._console = Console(file=stream, highlight=False, markup=False, emoji=False)
        self._bar: Any = None
        self._task: Any = None
        self._last: Progress | RowProgress | None = None

    def progress(self, progress: Progress | RowProgress) -> None:
        if self._bar is None:
            self._start(progress.total)
        self._last = progress
        self._bar.update(self._task, completed=progress.done, total=progress.total, said=sentence(progress, self._lang))

    def notice(self, text: str) -> None:
        self._console.print(safe(text), soft_wrap=True)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _start(self, total: int) -> None:
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (BarColumn(bar_width=8), TextColumn("{task.fields[said]}", markup=False))
        self._bar = Progress(*columns, console=self._console, refresh_per_second=4)
        self._task = self._bar.add_task("", total=total, said="")
        self._bar.start()
