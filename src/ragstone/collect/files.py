"""The files collecting writes: may they be written, do they belong together, where do earlier ones go."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from ragstone.collect.journal import raw_of
from ragstone.errors import ConfigError, reason_of
from ragstone.store import unusable
from ragstone.text import say, screen_language


def check_target(samples: Path, gold: str | None = None) -> None:
    """Make the folder of a file of samples; raises ConfigError if the file is a folder or the gold set, or the folder cannot be made."""
    lang = screen_language()
    if samples.is_dir():
        raise ConfigError(say("collecting.is_folder", lang, path=samples))
    for path in (samples, raw_of(samples)):
        if path.exists() and not path.is_file():  # a device or a pipe would be put aside for a file
            raise ConfigError(say("collecting.no_file", lang, path=path))
    if gold is not None and any(_same(path, Path(gold)) for path in (samples, raw_of(samples))):
        raise ConfigError(say("collecting.is_gold", lang, path=samples))
    if gold is not None and raw_of(Path(gold)).exists() and samples.exists() and not raw_of(samples).exists():
        raise ConfigError(say("collecting.swapped", lang, path=samples, gold=gold))
    try:
        samples.parent.mkdir(parents=True, exist_ok=True)
    except OSError as bad:
        raise ConfigError(say("collecting.no_folder", lang, path=samples.parent, problem=reason_of(bad, lang))) from bad


def make_ready(samples: Path, tell: Callable[[str], None], *, force: bool) -> None:
    """Leave a file of samples and its raw file in place if they belong together, else set aside what is there.

    Raises ConfigError if a file is there that was not collected, and `force` is off.
    """
    raw, lang = raw_of(samples), screen_language()
    held = {path for path in (samples, raw) if path.exists()}
    filled = {path for path in held if path.stat().st_size}
    if force and filled:
        tell(say("collecting.set_aside", lang, path=set_aside(samples)))
    elif filled == {samples}:
        raise ConfigError(say("collecting.not_collected", lang, path=samples, raw=raw.name))
    elif filled == {raw} and samples not in held:
        tell(say("collecting.begun_anew", lang, path=samples, aside=set_aside(samples)))
    try:
        samples.touch(0o600)  # before there is a raw file: a raw file alone means that the samples were deleted
    except OSError as bad:
        raise unusable(samples, bad) from bad


def set_aside(samples: Path) -> Path:
    """Move a file of samples and its raw file out of the way and return where the samples went, or would have gone."""
    target = next(path for path in _names(samples) if not path.exists() and not raw_of(path).exists())
    for old, new in ((samples, target), (raw_of(samples), raw_of(target))):
        try:
            if old.exists():
                old.rename(new)
        except OSError as bad:
            raise unusable(old, bad) from bad
    return target


def copy_aside(samples: Path) -> Path:
    """Copy a file of samples and return where the copy is."""
    target = next(path for path in _names(samples) if not path.exists() and not raw_of(path).exists())
    try:
        shutil.copy(samples, target)
    except OSError as bad:
        raise unusable(target, bad) from bad
    return target


def _names(samples: Path) -> Iterator[Path]:
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    yield samples.with_name(f"{samples.name}.{stamp}")
    yield from (samples.with_name(f"{samples.name}.{stamp}-{number}") for number in count(2))


def _same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)
