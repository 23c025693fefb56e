"""The limits of the levels that hold for a command: its flags, the environment, `[levels]` of the settings file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.analysis.levels import Levels

if TYPE_CHECKING:
    from collections.abc import Mapping

NAMES = ("level_high", "level_middle")


def levels_of(ctx: Any) -> Levels | None:
    """Return the limits that flags (`level_high`, `level_middle` of the command), environment or file set; None if none does.

    All settings are read only then: to read them costs more than to read a small run.

    Raises:
        ConfigError: the settings are wrong.
    """
    environ = ctx.find_root().obj["environ"]
    flags = {name: value for name in NAMES if (value := ctx.params.get(name)) is not None}
    file = _file(ctx.params.get("config"), environ)
    if not flags and not any(environ.get(f"RAGSTONE_{name.upper()}") for name in NAMES) and not _says_levels(file):
        return None
    from ragstone.config import load_config

    return Levels(**load_config(flags, path=file, environ=environ).config.levels.model_dump())


def _file(named: Path | None, environ: Mapping[str, str]) -> Path | None:
    said = environ.get("RAGSTONE_CONFIG")
    return named or (Path(said) if said else None)


def _says_levels(file: Path | None) -> bool:
    """True if the settings file sets levels, or cannot be read and must be refused."""
    try:
        return "levels" in tomllib.loads((file or Path("ragstone.toml")).read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        return file is not None
    except (OSError, ValueError, RecursionError):
        return True
