"""One typed Config from flags, RAGSTONE_ variables, `ragstone.toml` and defaults, in this order of precedence."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ragstone.config.delivery import ExportSettings, LangfuseSettings
from ragstone.config.model import (
    CollectSettings,
    Config,
    EmbeddingsSettings,
    GateRule,
    GateSettings,
    GateSlice,
    JudgeSettings,
    LevelSettings,
    LimitSettings,
    MetricSettings,
    Price,
    StepSettings,
)
from ragstone.config.monitored import TraceSettings
from ragstone.config.problems import from_validation, take_secrets, unknown_flag, unknown_variable
from ragstone.config.sources import (
    FILE_NAME,
    FLAGS,
    OF_COLLECT,
    TABLES,
    Layer,
    Place,
    from_environment,
    from_file,
    from_flags,
    leaves,
)
from ragstone.errors import ConfigError
from ragstone.text import say, screen_language
from ragstone.types import Language

__all__ = [
    "FLAGS",
    "CollectSettings",
    "Config",
    "EmbeddingsSettings",
    "ExportSettings",
    "GateRule",
    "GateSettings",
    "GateSlice",
    "JudgeSettings",
    "LangfuseSettings",
    "LevelSettings",
    "LimitSettings",
    "Loaded",
    "MetricSettings",
    "Price",
    "StepSettings",
    "TraceSettings",
    "load_config",
]

_METRICS: Place = ("metrics", "metrics")
_PRESET: Place = ("metrics", "preset")


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings, where each came from, and what is worth telling about them."""

    config: Config
    origin: dict[str, str]
    """By dotted path ("judge.model"): `flag`, `environment RAGSTONE_X`, the settings file's name, or `default`."""
    notices: tuple[str, ...] = ()
    """Sentences for stderr: variables that set nothing."""
    path: Path | None = None
    """The settings file read, if any."""


def load_config(
    flags: Mapping[str, Any], *, path: Path | None = None, environ: Mapping[str, str] | None = None, command: str | None = None
) -> Loaded:
    """Merge settings: flags, then RAGSTONE_ variables, then the file, then defaults.

    Args:
        flags: by flag name (`FLAGS`); None and False mean not given. Texts are read as the setting's type. Also the
            keyword settings of the Python API, `prices` (by model name) among them.
        path: the settings file; None = `ragstone.toml` of the working directory, if there is one.
        environ: the environment; None = that of the process.
        command: name of the command whose flags these are; `collect`: timeout, retries, concurrency and repeat (and RAGSTONE_TIMEOUT
            and so on) are those of `[collect]`.

    Raises:
        ConfigError: anything is unknown, mistyped, out of range or secret; the text lists all problems, one a line.
    """
    environ = os.environ if environ is None else environ
    lang = screen_language(flags.get("lang") or environ.get("RAGSTONE_LANG"))
    file = path or (Path(FILE_NAME) if Path(FILE_NAME).is_file() else None)
    variables, strangers = from_environment(environ, command)
    layers = [from_file(file, lang) if file else {}, variables, from_flags(flags, command)]
    tables = [name for name in TABLES if isinstance(flags.get(name), Mapping)]
    strange = () if command == "collect" else OF_COLLECT
    problems = [unknown_flag(name, lang) for name in flags if (name not in FLAGS or name in strange) and name not in tables]
    problems += [text for layer in layers for text in take_secrets(layer, lang)]
    both = [layer[_METRICS].name for layer in layers if _METRICS in layer and _PRESET in layer]
    problems += [say("config.metrics_and_preset", lang, name=name) for name in both]
    merged = _merge(layers)
    config = _validate(merged, problems, lang)
    return Loaded(config, _origins(merged), tuple(unknown_variable(v, lang) for v in strangers), file)


def _merge(layers: list[Layer]) -> Layer:
    """Later layers win. Metrics and preset exclude each other: naming one on a higher layer unsets the other below."""
    merged: Layer = {}
    for layer in layers:
        for one, other in ((_METRICS, _PRESET), (_PRESET, _METRICS)):
            if one in layer and other not in layer:
                merged.pop(other, None)
        merged.update(layer)
    return merged


def _validate(merged: Layer, problems: list[str], lang: Language) -> Config:
    try:
        config = Config.model_validate(_nest(merged))
    except ValidationError as error:
        problems += from_validation(error, merged, lang)
        raise ConfigError("\n".join(problems)) from None
    if config.levels.middle > config.levels.high:
        problems.append(say("config.levels_crossed", lang, high=config.levels.high, middle=config.levels.middle))
    if problems:
        raise ConfigError("\n".join(problems))
    return config


def _nest(merged: Layer) -> dict[str, Any]:
    """Rebuild tables from paths; a table given as something else stays what it is and is refused."""
    raw: dict[str, Any] = {}
    for place, given in sorted(merged.items(), key=lambda item: -len(item[0])):
        table = raw
        for step in place[:-1]:
            table = table.setdefault(step, {})
        table[place[-1]] = given.value
    return raw


def _origins(merged: Layer) -> dict[str, str]:
    return {".".join(place): merged[place].origin if place in merged else "default" for place, _ in leaves()}
