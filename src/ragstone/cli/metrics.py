"""`ragstone metrics [NAME]`: what can be measured, and the page of one metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ragstone.metrics.base import Metric
    from ragstone.types import Language


def command(
    ctx: typer.Context,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="cli.metrics_name")] = None,
    lang: Annotated[str | None, typer.Option("--lang", metavar="zh|en", help="cli.lang")] = None,  # noqa: ARG001 (read at the start)
) -> None:
    """List metrics or show one; the help stands in the catalogue."""
    from ragstone.cli.help import language_of
    from ragstone.metrics import available, titles

    said = language_of(ctx)
    known = available()
    name = titles().get(name, name) if name else None
    if name is None:
        print(_listing(known, said))
    else:
        _print_page(_page(name, list(known), said))


def _print_page(markdown: str) -> None:
    """Formatted on a terminal; Markdown for a pipe or a file."""
    import sys

    if sys.stdout is None or not sys.stdout.isatty():
        print(markdown)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(markdown, hyperlinks=False))


def _page(name: str, known: list[str], lang: Language) -> str:
    from difflib import get_close_matches

    from ragstone.errors import ConfigError
    from ragstone.pages import page
    from ragstone.text import say

    if name in known:
        return page(name, lang).rstrip()
    near = get_close_matches(name, known, n=1, cutoff=0.4)
    hint = say("cli.nearest", lang, name=near[0]) if near else ""
    raise ConfigError(say("cli.no_such_metric", lang, name=name, nearest=hint, known=", ".join(known)))


def _listing(known: Mapping[str, type[Metric]], lang: Language) -> str:
    """Name and side, what it asks, and the columns it needs."""
    from ragstone.cli.width import wrap
    from ragstone.text import say

    lines: list[str] = []
    for name, cls in known.items():
        title, line = _words(cls, lang)
        lines.append(f"{name}{title} · {say(f'metrics.side_{cls.side}', lang)}")
        for text in (line, say("cli.needs", lang, columns=_needs(cls, lang))):
            lines += ["    " + part for part in wrap(text, 76)]
    return "\n".join([*lines, "", *_presets(lang), "", say("cli.metrics_next", lang)])


def _presets(lang: Language) -> Iterator[str]:
    from ragstone.cli.plain import folded
    from ragstone.metrics import PRESETS
    from ragstone.text import say

    yield say("cli.presets", lang)
    for name, metrics in PRESETS.items():
        yield from folded(", ".join(metrics), first=f"    {name:<11}")


def _words(cls: type[Metric], lang: Language) -> tuple[str, str]:
    """Name in the language and one line: ours from the catalogue, those of another package from its docstring."""
    from ragstone.metrics import titled
    from ragstone.text import say

    if cls.name not in titled():
        return "", (cls.__doc__ or "").strip().split("\n")[0]
    title = say(f"metrics.name_{cls.name}", lang)
    return (f" {title}" if lang == "zh" else ""), say(f"metrics.line_{cls.name}", lang)


def _needs(cls: type[Metric], lang: Language) -> str:
    from ragstone.text import say

    names = (*cls.needs, "yardstick") if "against" in cls.run_level else cls.needs
    known = ("question", "answer", "contexts", "reference", "reference_contexts", "yardstick")
    return ", ".join(say(f"metrics.column_{name}", lang) if name in known else name for name in names)
