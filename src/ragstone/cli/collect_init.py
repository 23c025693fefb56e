"""`ragstone collect --init PLATFORM`: a settings file to start from."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragstone.types import Language


def write_settings(platform: str, path: Path, lang: Language, *, force: bool = False) -> Path | None:
    """Write a commented settings file for a platform; return the name that an older file has now, None if there was none.

    Raises:
        ConfigError: the platform is unknown, or there is a file already and `force` is not given.
    """
    from ragstone.collect.starting import settings_file
    from ragstone.errors import ConfigError, reason_of
    from ragstone.text import say

    text = settings_file(platform, lang)
    try:
        if path.exists() and not force:
            raise ConfigError(say("collected.init_exists", lang, path=path))
        older = _set_aside(path) if path.exists() else None
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise ConfigError(say("collected.init_not_written", lang, path=path, reason=reason_of(error, lang))) from None
    return older


def written_page(platform: str, path: Path, older: Path | None, lang: Language) -> str:
    """Return what was written, which settings to fill in, and what to type next."""
    from ragstone.cli.plain import folded
    from ragstone.config.sources import FILE_NAME
    from ragstone.text import say

    said = [] if older is None else [say("collected.init_set_aside", lang, path=older)]
    config = "" if str(path) == FILE_NAME else f" --config {shlex.quote(str(path))}"
    known = {"path": path, "platform": platform, "fill": _to_fill(platform, lang), "key": "RAGSTONE_COLLECT_API_KEY", "config": config}
    text = "\n".join([*said, say("collected.init_done", lang, **known)])
    # commands stay whole, to be copied
    return "\n".join(line for whole in text.split("\n") for line in ([whole] if whole.startswith("  ") else folded(whole)))


def _to_fill(platform: str, lang: Language) -> str:
    from ragstone.collect.preset import CUSTOM, preset
    from ragstone.collect.preset_checks import needs_app
    from ragstone.collect.starting import is_local
    from ragstone.text import say

    off = say("collected.init_url_off", lang)
    if platform == CUSTOM:
        return say("collected.init_own", lang, url=off)
    known = preset(platform)
    url = "url" if is_local(known.example_url) else off
    return say("collected.init_url_and_app", lang, url=url) if needs_app(known) else url


def _set_aside(path: Path) -> Path:
    from datetime import UTC, datetime

    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    names = (path.with_name(f"{path.name}.{stamp}{more}") for more in ("", *(f"-{n}" for n in range(2, 100))))
    target = next(name for name in names if not name.exists())
    return path.rename(target)
