"""Exit codes, and how an exception becomes one: a message in one piece on stderr, never a traceback for a user's mistake."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO

from ragstone.errors import AuthError, EndpointError, RagstoneError, reason_of
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.types import Language

FINE = 0
FAILED = 1
"""Finished, but a metric's coverage, the gate or a replay fails."""
WRONG = 2
"""Usage, configuration or data; nothing was asked."""
STOPPED = 3
"""Stopped early; work so far is kept."""
BROKEN = 70
"""A fault of ragstone itself (EX_SOFTWARE): must not look like a result."""
PIPE = 141
"""The reader of stdout has gone, as a shell reports it (128 + SIGPIPE)."""


def guarded(action: Callable[[], Any], lang: Language) -> int:
    """Run `action` and return its exit code; an int it returns is the code, anything else means fine."""
    try:
        code = _code_of(action)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except (AuthError, EndpointError) as error:
        return tell(f"{error}\n{say('cli.kept', lang)}", error.exit_code)
    except RagstoneError as error:
        return tell(str(error), error.exit_code)
    except KeyboardInterrupt:
        return tell(say("cli.interrupted", lang), STOPPED)
    except BrokenPipeError:
        _silence(sys.stdout)
        return PIPE
    except OSError as error:
        return _refused(error, lang)
    except Exception as error:
        return tell(usage_text(error, lang), WRONG) if hasattr(error, "format_message") else _broken(error, lang)


def _code_of(action: Callable[[], Any]) -> int:
    """Run `action`; `--version` and `--help` end by an exception that only carries a code."""
    try:
        result = action()
    except Exception as ended:
        code = getattr(ended, "exit_code", None)
        if not isinstance(code, int) or isinstance(ended, RagstoneError) or hasattr(ended, "format_message"):
            raise
        return code
    return result if isinstance(result, int) else FINE


def tell(message: str, code: int) -> int:
    """Print a message on stderr and return the code."""
    if message:
        whisper(message)
    return code


def whisper(message: str, stream: TextIO | None = None) -> None:
    """Print on stderr, or on `stream`; names out of files cannot move the cursor there.

    A full disk or a reader that has gone must not end a run, nor change its exit code.
    """
    from ragstone.cli.plain import safe

    target = stream or sys.stderr
    try:
        print(safe(message), file=target, flush=True)
    except OSError:
        _silence(target)


def _refused(error: OSError, lang: Language) -> int:
    """What the system refuses: a file named by the user (wrong), or the output of a command whose work is done (stopped)."""
    reason = reason_of(error, lang)
    if error.filename is not None:
        return tell(say("cli.system", lang, what=error.filename, reason=reason), WRONG)
    _silence(sys.stdout)
    return tell(say("cli.output_lost", lang, reason=reason), STOPPED)


def usage_text(error: Any, lang: Language) -> str:
    """Return what the parser of the command line refused, with the nearest option and where to look."""
    kind, ctx = type(error).__name__, getattr(error, "ctx", None)
    command = ctx.command_path if ctx is not None else "ragstone"
    hint = say("cli.see_help", lang, command=command)
    option = getattr(error, "option_name", None)
    if kind == "NoSuchOption" and str(option).replace("_", "-").endswith(("api-key", "apikey", "--key")):
        return say("cli.key_in_flag", lang, names=_key_names(command, lang))
    if kind == "NoSuchOption":
        return say("cli.no_such_option", lang, option=option, nearest=_nearest_option(option, ctx, lang)) + hint
    if option:
        key = "cli.option_needs_value" if "requires" in error.format_message() else "cli.option_takes_none"
        return say(key, lang, option=option) + hint
    if kind == "MissingParameter" and getattr(error, "param", None) is not None:
        return say("cli.missing", lang, name=_shown(error.param)) + hint
    return say("cli.usage", lang, detail=error.format_message()) + hint


def _key_names(command: str, lang: Language) -> str:
    """The variables a command takes its key from."""
    if command.endswith(" collect"):
        return "RAGSTONE_COLLECT_API_KEY"
    return say("cli.either", lang, one="RAGSTONE_JUDGE_API_KEY", other="OPENAI_API_KEY")


def _nearest_option(option: Any, ctx: Any, lang: Language) -> str:
    from difflib import get_close_matches

    known = [name for param in (ctx.command.params if ctx is not None else ()) for name in param.opts if name.startswith("--")]
    near = get_close_matches(str(option), known, n=1, cutoff=0.6)
    return say("cli.nearest", lang, name=near[0]) if near else ""


def _shown(param: Any) -> str:
    return next((name for name in param.opts if name.startswith("--")), None) or param.metavar or str(param.name).upper()


def _broken(error: Exception, lang: Language) -> int:
    import traceback

    traceback.print_exception(error)
    return tell(say("cli.broken", lang), BROKEN)


def _silence(stream: TextIO | None) -> None:
    """Python flushes its streams once more at the end; what could not be written must go nowhere then, and change no exit code."""
    if stream is None:
        return
    with suppress(OSError, ValueError):  # a stream in memory has no descriptor, a closed one is as silent as can be
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
