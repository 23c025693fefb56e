"""`ragstone metrics [NAME]`: what can be measured, and the page of one metric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ragstone.metrics.base import Metric
    from ragstone.types import Language


def command(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="cli.metrics_name")] = None,
    lang: Annotated[str | None, typer.Option("--lang", metavar="zh|en", help="cli.lang")] = None,
) -> None:
    """List metrics or show one; the help stands in the catalogue."""
    from ragstone.metrics import available
    from ragstone.text import screen_language

    said = screen_language(lang)
    known = available()
    print(_listing(known, said) if name is None else _page(name, list(known), said))


def _page(name: str, known: list[str], lang: Language) -> str:
    from difflib import get_close_matches

    from ragstone.errors import ConfigError
    from ragstone.metrics.pages import page
    from ragstone.text import say

    if name in known:
        return page(name, lang).rstrip()
    near = get_close_matches(name, known, n=1, cutoff=0.4)
    hint = say("cli.nearest", lang, name=near[0]) if near else ""
    raise ConfigError(say("cli.no_such_metric", lang, name=name, nearest=hint, known=", ".join(known)))


def _listing(known: Mapping[str, type[Metric]], lang: Language) -> str:
    """Name, side, needed columns and one line each; the line goes below where the terminal is narrow."""
    from ragstone.cli.width import pad, width, wrap
    from ragstone.text import say

    heads = [say(f"cli.head_{column}", lang) for column in ("metric", "side", "needs")]
    rows = [(name, say(f"cli.side_{cls.side}", lang), ", ".join(cls.needs)) for name, cls in known.items()]
    columns = [max(width(row[i]) for row in (heads, *rows)) for i in range(3)]
    lines = ["  ".join(pad(cell, size) for cell, size in zip(heads, columns, strict=True)).rstrip()]
    for row, cls in zip(rows, known.values(), strict=True):
        lines.append("  ".join(pad(cell, size) for cell, size in zip(row, columns, strict=True)).rstrip())
        lines += ["    " + line for line in wrap(_what(cls, lang), 74)]
    return "\n".join([*lines, "", say("cli.metrics_next", lang)])


def _what(cls: type[Metric], lang: Language) -> str:
    """One line on a metric: ours from the catalogue, that of another package from its docstring."""
    from ragstone.metrics import PRESETS
    from ragstone.text import say

    return say(f"cli.what_{cls.name}", lang) if cls.name in PRESETS["full"] else (cls.__doc__ or "").strip().split("\n")[0]
