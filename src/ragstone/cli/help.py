"""Help pages in the language of the screen, aligned with wide characters; option helps are keys of the text catalogue."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand, TyperGroup

from ragstone.cli.arguments import check_values
from ragstone.cli.width import pad, width, wrap
from ragstone.errors import ConfigError
from ragstone.text import say, screen_language

if TYPE_CHECKING:
    from ragstone.types import Language

_KEY = re.compile(r"[a-z_]+\.[a-z0-9_]+")
_NAME_COLUMNS = 26


class Command(TyperCommand):
    """A command whose help comes from the catalogue."""

    allow_extra_args = True  # they are refused here, in the words of the catalogue

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; one too many is refused, and so are an option without its value and a number that is none.

        Raises:
            ConfigError: there are more arguments than the command takes, or an option has no value that it can take.
        """
        if not ctx.resilient_parsing:
            lang = language_of(ctx)
            check_values(self, args, lang, say("cli.see_help", lang, command=ctx.command_path))
        extra: list[str] = super().parse_args(ctx, args)
        if extra and not ctx.resilient_parsing:
            raise ConfigError(_too_many(ctx, self, extra))
        return extra

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write usage, what the command does, its arguments and its options by panel."""
        formatter.write("\n".join(_page(ctx, self, language_of(ctx))))


class Group(TyperGroup):
    """The command `ragstone` itself: finds its commands by name when they are needed."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write usage, options and the commands with a line each."""
        lang = language_of(ctx)
        lines = list(_page(ctx, self, lang))
        rows = [(name, say(f"cli.about_{name}", lang)) for name in self.list_commands(ctx)]
        formatter.write("\n".join([*lines, "", say("cli.commands", lang), *_table(rows, _columns())]))


def language_of(ctx: Any) -> Language:
    """Return the language of the screen: what the start found, else environment and locale."""
    found = ctx.find_root().obj
    lang: Language = found["lang"] if isinstance(found, dict) and "lang" in found else screen_language()
    return lang


def translated(text: str, lang: Language) -> str:
    """Return the catalogue's text if `text` is a key, else `text` itself."""
    return say(text, lang) if _KEY.fullmatch(text) else text


def _columns() -> int:
    return max(50, min(shutil.get_terminal_size().columns, 100))


def _page(ctx: Any, command: Any, lang: Language) -> Iterator[str]:
    columns = _columns()
    params = [param for param in command.params if not getattr(param, "hidden", False)]
    arguments = [param for param in params if param.param_type_name == "argument"]
    options = [param for param in params if param.param_type_name == "option"]
    yield say("cli.usage_line", lang, command=ctx.command_path, arguments=" ".join(_usage(command, arguments)))
    yield ""
    yield from wrap(translated(command.help or "", lang), columns)
    if arguments:
        yield from ("", say("cli.arguments", lang), *_table([_argument_row(p, lang) for p in arguments], columns))
    for panel in dict.fromkeys(param.rich_help_panel for param in options):
        rows = [_option_row(param, lang) for param in options if param.rich_help_panel == panel]
        rows += [("--help", say("cli.help", lang))] if panel is None else []
        yield from ("", translated(panel, lang) if panel else say("cli.options", lang), *_table(rows, columns))


def _too_many(ctx: Any, command: Any, extra: list[str]) -> str:
    lang = language_of(ctx)
    names = [_argument(param) for param in command.params if param.param_type_name == "argument"]
    taken = " ".join(names) or say("cli.no_arguments", lang)
    said = say("cli.extra_arguments", lang, extra=" ".join(extra), command=ctx.command_path, arguments=taken)
    hint = say("cli.quotes", lang)
    if any(param.name == "baseline" for param in command.params) and len(extra) == 1:
        hint = say("cli.baseline_meant", lang, command=ctx.command_path, run=ctx.params.get("run"), extra=extra[0])
    return said + hint + say("cli.see_help", lang, command=ctx.command_path)


def _usage(command: Any, arguments: list[Any]) -> Iterator[str]:
    yield "[OPTIONS]"
    for param in arguments:
        name = _argument(param)
        yield name if param.required else f"[{name}]"
    if isinstance(command, TyperGroup):
        yield "COMMAND …"


def _argument(param: Any) -> str:
    return param.metavar or str(param.name).upper()


def _argument_row(param: Any, lang: Language) -> tuple[str, str]:
    return _argument(param), translated(param.help or "", lang)


def _option_row(param: Any, lang: Language) -> tuple[str, str]:
    value = "" if param.is_flag else f" {param.metavar or str(param.name).upper()}"
    return param.opts[0] + value, translated(param.help or "", lang)


def _table(rows: list[tuple[str, str]], columns: int) -> Iterator[str]:
    left = min(max((width(name) for name, _ in rows), default=0), _NAME_COLUMNS)
    for name, text in rows:
        lines = wrap(text, columns - left - 4)
        if width(name) > left:
            yield f"  {name}"
        else:
            yield f"  {pad(name, left)}  {lines.pop(0)}".rstrip()
        yield from (f"  {'':{left}}  {line}" for line in lines)
