"""What is refused of a command's arguments before their parser sees them, which would say it in English only."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.errors import ConfigError
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.types import Language

EXAMPLES = {
    "alpha": "0.05",
    "power": "0.8",
    "sd": "0.25",
    "judge_sd": "0.05",
    "correlation": "0.5",
    "min_coverage": "0.95",
    "n": "200",
    "repeats": "3",
    "seed": "7",
    "last": "5",
}
"""What a number of an option looks like; of others 0.02, or 10 for a whole number."""
_KINDS = {"int": int, "float": float}
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*[%％]")
_COMMA = re.compile(r"\d+[,，]\d+")


def check_values(command: Any, args: Sequence[str], lang: Language, see_help: str) -> None:
    """Refuse an option without a value that is followed by another option, and a number that is none or out of range.

    Raises:
        ConfigError: the text names the option, what it takes and an example.
    """
    for name, param, value in _values(command, args):
        if value is None:
            raise ConfigError(say("cli.option_needs_value", lang, option=name) + see_help)
        kind = number_kind(param)
        if kind and not _fits(value, kind, *_limits(param)):
            raise ConfigError(_number_text(name, param, value, kind, lang) + see_help)


def run_hint(sample_id: str, run: Path | None, lang: Language) -> str:
    """Return how two runs are compared where a sample id is the folder of a run; "" where it is none."""
    from ragstone.run_files import SCORES

    with suppress(OSError, ValueError):  # an id may be longer than a path can be
        if run is not None and (Path(sample_id) / SCORES).is_file():
            return say("cli.two_runs", lang, base=run, new=sample_id)
    return ""


def _values(command: Any, args: Sequence[str]) -> Iterator[tuple[str, Any, str | None]]:
    """Yield (option, its parameter, its value); None for the value where another option stands in its place."""
    known = {name: param for param in command.params if not getattr(param, "is_flag", True) for name in param.opts}
    rest = iter(args)
    for arg in rest:
        if arg == "--":
            return
        name, sign, value = arg.partition("=")
        if name in known:
            following = value if sign else next(rest, "")
            if sign or following:  # the parser itself refuses one that ends the line
                yield name, known[name], None if following.startswith("--") and not sign else following


def number_kind(param: Any) -> str | None:
    """Return whether an option takes a whole number ("int") or a number ("float"); None for a text."""
    # typer keeps the annotation itself, older ones a type of click
    held = getattr(getattr(param, "type_descriptor", None), "annotation", None)
    name = str(getattr(held, "__name__", "") or getattr(getattr(param, "type", None), "name", ""))
    return next((kind for kind in _KINDS if name.startswith(kind)), None)


def _limits(param: Any) -> tuple[Any, Any]:
    """The least and the largest number of an option, None where there is none."""
    holders = (param, getattr(param, "type", None))
    low, high = (next((v for holder in holders if (v := getattr(holder, name, None)) is not None), None) for name in ("min", "max"))
    return low, high


def _fits(value: str, kind: str, low: Any, high: Any) -> bool:
    try:
        found = _KINDS[kind](value)
    except ValueError:
        return False
    return (low is None or found >= low) and (high is None or found <= high)


def _number_text(name: str, param: Any, value: str, kind: str, lang: Language) -> str:
    example = EXAMPLES.get(str(param.name).rstrip("_"), "0.02" if kind == "float" else "10")
    text = say(f"cli.needs_{kind}", lang, option=name, range=_range(*_limits(param), lang), example=example, value=value or '""')
    meant = _meant(value) if kind == "float" else None
    return text + (say("cli.number_meant", lang, value=value, meant=meant) if meant else "")


def _range(low: Any, high: Any, lang: Language) -> str:
    if low is not None and high is not None:
        return say("config.range_between", lang, low=low, high=high)
    return "" if low is None else say("config.range_from", lang, low=low)


def _meant(value: str) -> str | None:
    """The number behind 5% or 0,05."""
    if percent := _PERCENT.fullmatch(value.strip()):
        return f"{float(percent[1]) / 100:.12g}"
    return re.sub("[,，]", ".", value.strip()) if _COMMA.fullmatch(value.strip()) else None
