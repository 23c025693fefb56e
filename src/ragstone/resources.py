"""The one loader of files shipped inside the package: prompts, texts, the bundled gold set."""

import functools
import tomllib
from importlib.resources import files
from typing import Any


@functools.cache
def read_text(*path: str) -> str:
    """Return the text of a packaged file, e.g. `read_text("questions", "prompts", "split_claims.en.md")`."""
    return files("ragstone").joinpath(*path).read_text(encoding="utf-8")


@functools.cache
def read_toml(*path: str) -> dict[str, Any]:
    """Return a packaged TOML file as a dict; callers must not change it."""
    return tomllib.loads(read_text(*path))
