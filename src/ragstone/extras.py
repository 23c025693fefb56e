"""Libraries that are not installed with ragstone: loaded when they are needed, or an error that says how to get them."""

import importlib
import re
from importlib.metadata import PackageNotFoundError, distribution, requires
from typing import Any

from ragstone.errors import ConfigError
from ragstone.text import say, screen_language


def library(module: str, extra: str, wanted: str) -> Any:
    """Return an optional library.

    Args:
        module: its name for `import`.
        extra: the extra of ragstone that installs it.
        wanted: the file or call that needs it, as people know it.

    Raises:
        ConfigError: it is not installed, or does not load; the text holds the command that installs it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as bad:
        missing = isinstance(bad, ModuleNotFoundError) and bad.name == module.partition(".")[0]
        key = "missing" if missing else "broken"
        package = module.partition(".")[0]
        slots = {} if missing else {"reason": bad}
        raise ConfigError(say(f"extras.{key}", screen_language(), wanted=wanted, package=package, extra=extra, **slots)) from bad


def require(extra: str, wanted: str) -> None:
    """Look whether the packages of an extra are installed, without loading one.

    Args:
        extra: the extra of ragstone.
        wanted: the file or call that needs it, as people know it.

    Raises:
        ConfigError: a package is not installed; the text holds the command that installs it.
    """
    named = re.compile(rf"^\s*([\w.-]+).*;.*\bextra\s*==\s*['\"]{re.escape(extra)}['\"]")
    try:
        lines = requires("ragstone") or ()
    except PackageNotFoundError:  # not installed itself: whoever loads the library tells
        return
    for line in lines:
        if (found := named.match(line)) is None:
            continue
        try:
            distribution(found[1])
        except PackageNotFoundError as bad:
            raise ConfigError(say("extras.missing", screen_language(), wanted=wanted, package=found[1], extra=extra)) from bad
