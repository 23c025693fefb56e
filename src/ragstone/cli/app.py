"""The start of the command line: finds the language, then the command, and turns every ending into an exit code."""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.main import get_command

from ragstone import __version__
from ragstone.cli.exits import guarded
from ragstone.cli.help import Command, Group, language_of
from ragstone.errors import ConfigError
from ragstone.text import say, screen_language

if TYPE_CHECKING:
    from ragstone.types import Language

OF_PIPELINES = ("run", "runs")
"""Commands whose settings file is no option, but what they are about."""
COMMANDS = (
    "demo",
    "check",
    "collect",
    "evaluate",
    "show",
    "diagnose",
    "compare",
    "gate",
    "export",
    "plan",
    "history",
    "replay",
    "doctor",
    "metrics",
    "cache",
    "run",
    "runs",
)
"""Every command; each is the function `command` of `ragstone.cli.<name>`, imported only when it is called."""


class _Commands(Group):
    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        one = typer.Typer(add_completion=False)
        module = importlib.import_module(f"ragstone.cli.{cmd_name}")
        one.command(cmd_name, cls=Command, help=f"cli.about_{cmd_name}")(module.command)
        return get_command(one)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            lang = language_of(ctx)
            near = get_close_matches(args[0], COMMANDS, n=1)
            hint = say("cli.nearest", lang, name=near[0]) if near else ""
            raise ConfigError(say("cli.no_such_command", lang, name=args[0], nearest=hint, known=", ".join(COMMANDS)))
        return super().resolve_command(ctx, args)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"ragstone {__version__}")
        raise typer.Exit


def build() -> Any:
    """Return the command `ragstone`."""
    app = typer.Typer(add_completion=False)

    @app.callback(cls=_Commands, help="cli.about")
    def root(
        version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="cli.version")] = False,
        lang: Annotated[str | None, typer.Option("--lang", metavar="zh|en", help="cli.lang")] = None,
    ) -> None:
        del version, lang  # read by the callback and by `chosen_language`

    return get_command(app)


def run(args: Sequence[str], lang: Language, environ: Mapping[str, str]) -> int:
    """Run one command line and return its exit code; `environ` is the environment settings are read from."""
    command = build()

    def start() -> Any:
        full = [*args] if _says_something(args) else [*args, "--help"]
        with command.make_context("ragstone", full, obj={"lang": lang, "environ": environ}) as ctx:
            return command.invoke(ctx)

    return guarded(start, lang)


def chosen_language(args: Sequence[str], environ: Mapping[str, str]) -> Language:
    """Return the language of the screen: --lang anywhere, else RAGSTONE_LANG, else the settings file, else the locale.

    Raises:
        ConfigError: --lang names a language ragstone does not speak, or none.
    """
    flag = _value_of("--lang", args)
    if flag is not None and flag.startswith("--"):
        raise ConfigError(say("cli.option_needs_value", screen_language(), option="--lang"))
    if flag is not None and not flag.lower().startswith(("zh", "en")):
        raise ConfigError(say("cli.unknown_language", screen_language(), value=flag))
    file = _pipeline(args) or _value_of("--config", args) or environ.get("RAGSTONE_CONFIG")
    return screen_language(flag or environ.get("RAGSTONE_LANG") or _language_of_file(file))


def _pipeline(args: Sequence[str]) -> str | None:
    """The settings file that `run` and `runs` take without an option."""
    named = next((at for at, arg in enumerate(args) if arg in OF_PIPELINES), len(args))
    return next((arg for arg in args[named + 1 :] if arg.endswith(".toml")), None)


def _says_something(args: Sequence[str]) -> bool:
    """True if there is more than a language."""
    return any(not arg.startswith("--lang=") and arg != "--lang" and args[max(0, i - 1)] != "--lang" for i, arg in enumerate(args))


def _value_of(option: str, args: Sequence[str]) -> str | None:
    found = None
    for i, arg in enumerate(args):
        if arg == "--":
            break
        if arg == option and i + 1 < len(args):
            found = args[i + 1]
        elif arg.startswith(option + "="):
            found = arg.removeprefix(option + "=")
    return found


def _language_of_file(path: str | None) -> str | None:
    import tomllib

    # an unreadable file is refused, with its place, by the command that needs it
    with suppress(OSError, ValueError, RecursionError), open(path or "ragstone.toml", "rb") as file:
        lang = tomllib.load(file).get("lang")
        return lang if isinstance(lang, str) else None
    return None


def main() -> int:
    """Run the command line of this process and return the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    environ = dict(os.environ)
    args = sys.argv[1:]
    lang = screen_language()

    def start() -> int:
        found = chosen_language(args, environ)
        os.environ["RAGSTONE_LANG"] = found  # so that every text of this process speaks it
        return run(args, found, environ)

    return guarded(start, lang)
