"""Every string shown to people, in Chinese and English. One TOML file an area, one table a key, `en` and `zh` beside each other."""

from __future__ import annotations

import locale
import os
from typing import TYPE_CHECKING

from ragstone.resources import read_toml

if TYPE_CHECKING:  # texts are needed before anything else (`--help`), records are not
    from collections.abc import Iterable

    from ragstone.types import Language


def say(key: str, lang: Language, /, **values: object) -> str:
    """Return the text of `key` ("area.name") in `lang`, its `{slots}` filled from `values`.

    Only catalogue text is a format string; values are inserted as they are, so sample text is never formatted.
    """
    area, _, name = key.partition(".")
    text: str = read_toml("text", f"{area}.toml")[name][lang]
    return text.format(**values) if values else text


def screen_language(chosen: str | None = None) -> Language:
    """Return the language of the screen: `chosen`, else RAGSTONE_LANG, else the locale, else English."""
    wanted = chosen or os.environ.get("RAGSTONE_LANG") or ""
    for name in (wanted, *(os.environ.get(v, "") for v in ("LC_ALL", "LC_MESSAGES", "LANG")), locale.getlocale()[0] or ""):
        if name:
            return "zh" if name.lower().startswith(("zh", "chinese")) else "en"
    return "en"


def listing(names: Iterable[str], lang: Language) -> str:
    """Return names one after the other, as the language joins them."""
    return ("、" if lang == "zh" else ", ").join(names)
