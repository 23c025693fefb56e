"""Where settings come from: flags, RAGSTONE_ variables and the settings file, each read into paths and values."""

import json
import re
import tomllib
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeGuard, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from ragstone.config.model import Config
from ragstone.errors import ConfigError, reason_of, similar
from ragstone.metrics import split_names
from ragstone.resources import read_toml
from ragstone.text import say
from ragstone.types import Language

Place = tuple[str, ...]
"""Path of a setting, e.g. ("judge", "timeout")."""

FILE_NAME = "ragstone.toml"

OF_COLLECT = ("platform", "url", "app", "stream")
"""Flags that only `collect` has; as RAGSTONE_ variables they mean nothing to other commands."""

FLAGS: dict[str, Place] = {
    "judge": ("judge", "model"),
    "embeddings": ("embeddings", "model"),
    "embeddings_base_url": ("embeddings", "base_url"),
    **{name: ("judge", name) for name in ("base_url", "timeout", "retries", "max_tokens", "temperature", "extra_body", "thinking")},
    **{name: ("limits", name) for name in ("top_k", "max_context_chars", "max_answer_chars")},
    **{name: ("metrics", name) for name in ("metrics", "preset", "strictness", "plan", "precision_against", "recall_points")},
    **{f"level_{name}": ("levels", name) for name in ("high", "middle")},
    **{name: (name,) for name in ("language", "lang", "map", "encoding", "strip_citations", "max_cell_mb", "concurrency", "rpm", "tpm")},
    **{name: (name,) for name in ("repeat", "limit", "seed", "no_cache", "cache", "cache_mb", "deadline")},
    **{name: ("collect", name) for name in OF_COLLECT},
    **{name: (name,) for name in ("max_calls", "max_tokens_total", "max_cost", "dry_run", "min_coverage", "retry_failed", "force")},
}
"""Name of a flag (and, upper-cased after RAGSTONE_, of a variable) -> the setting it sets."""

COMMANDS: dict[str, dict[str, Place]] = {"collect": {name: ("collect", name) for name in ("timeout", "retries", "concurrency", "repeat")}}
"""Flags that set something else for a command: `collect --timeout` is about the application, not about the judge."""

TABLES = ("prices",)
"""Tables that Python gives as a keyword with a dict; on the command line they stand in the settings file only."""

NOT_SETTINGS = ("config",)
"""Flags with a RAGSTONE_ variable that are no settings."""


@dataclass(frozen=True, slots=True)
class Given:
    """One value as somebody gave it: where, and under which name."""

    value: Any
    source: Literal["flag", "environment", "file"]
    name: str
    """What the user wrote: --timeout, RAGSTONE_TIMEOUT, or `[judge] timeout`."""
    file: str = ""
    """Name of the settings file, if it stands in one."""

    @property
    def origin(self) -> str:
        """`flag`, `environment RAGSTONE_X`, or the file's name."""
        return {"flag": "flag", "environment": f"environment {self.name}", "file": self.file}[self.source]


Layer = dict[Place, Given]


def field_at(place: Sequence[str | int]) -> tuple[FieldInfo | None, Place]:
    """Return the deepest known setting on the way to `place`, and its path; None if even the first step is unknown."""
    model: type[BaseModel] | None = Config
    field, known = None, ()  # type: FieldInfo | None, Place
    for depth, step in enumerate(place):
        if model is None:  # a key or an index of a dict or list of records
            model = _record_inside(field)
            continue
        if step not in model.model_fields:
            break
        field, known = model.model_fields[str(step)], tuple(str(s) for s in place[: depth + 1])
        model = _record(field.annotation)
    return field, known


def table_at(place: Sequence[str | int]) -> type[BaseModel] | None:
    """Return the record a table of the file is read into; None if the place is no such table."""
    model: type[BaseModel] | None = Config
    for depth in range(len(place)):
        field, known = field_at(place[: depth + 1])
        if field is None or len(known) < depth:
            return None
        model = _record(field.annotation) or (_record_inside(field) if len(known) == depth else None)
    return model


def tables(model: type[BaseModel] = Config, at: Place = ()) -> Iterator[tuple[Place, type[BaseModel]]]:
    """Every table of the settings with its path, the top level first."""
    yield at, model
    for name, field in model.model_fields.items():
        if _is_table(field.annotation):
            yield from tables(field.annotation, (*at, name))


def leaves() -> Iterator[tuple[Place, FieldInfo]]:
    """Every setting that holds a value, with its path."""
    for at, model in tables():
        for name, field in model.model_fields.items():
            if not _is_table(field.annotation):
                yield (*at, name), field


def flags_of(command: str | None = None) -> dict[str, Place]:
    """Return what each flag (and RAGSTONE_ variable) sets for a command; None = for those that judge."""
    return FLAGS | COMMANDS.get(command or "", {})


def from_flags(flags: Mapping[str, Any], command: str | None = None) -> Layer:
    """Read command-line flags, and `TABLES` given from Python; None and False mean not given."""
    known = flags_of(command)
    tables: Layer = {(name,): Given(dict(flags[name]), "flag", name) for name in TABLES if isinstance(flags.get(name), Mapping)}
    flags = {name: value for name, value in flags.items() if name in FLAGS}
    given = {name: value for name, value in flags.items() if value is not None and value is not False and value != () and value != []}
    return {**tables, **{known[n]: Given(read_value(known[n], v), "flag", "--" + n.replace("_", "-")) for n, v in given.items()}}


def from_environment(environ: Mapping[str, str], command: str | None = None) -> tuple[Layer, list[str]]:
    """Read RAGSTONE_ variables; return them and the names of those that mean nothing. Variables with keys are no settings."""
    known = flags_of(command)
    layer: Layer = {}
    unknown: list[str] = []
    for variable in sorted(v for v in environ if v.startswith("RAGSTONE_")):
        name = variable.removeprefix("RAGSTONE_").lower()
        if variable.endswith("_API_KEY") or name in NOT_SETTINGS or not environ[variable].strip():
            continue
        if name in FLAGS:
            layer[known[name]] = Given(read_value(known[name], environ[variable]), "environment", variable)
        else:
            unknown.append(variable)
    return layer, unknown


def from_file(path: Path, lang: Language, what: Literal["settings", "rules"] = "settings") -> Layer:
    """Read a settings file, or a file of rules.

    Raises:
        ConfigError: it cannot be read, is not UTF-8, or is no TOML; the text names line and column.
    """
    return dict(_flatten(_parse(path, lang, what), Config, (), str(path)))


def read_value(place: Place, value: Any) -> Any:
    """Turn the text of a flag or variable into the setting's type; text that does not fit stays text and is refused later."""
    field = field_at(place)[0]
    kind = kind_of(field.annotation) if field else "text"
    if kind == "map" and not isinstance(value, Mapping):
        return _pairs(value if isinstance(value, (list, tuple)) else str(value).split(","))
    if not isinstance(value, str):
        return value
    if place == ("lang",):
        return next((lang for lang in ("zh", "en") if value.lower().startswith(lang)), value)
    try:
        return _READERS[kind](value.strip())
    except (ValueError, KeyError, RecursionError):
        return value


def kind_of(annotation: Any) -> str:
    """Return what a setting holds: int, float, bool, text, choice, list, map or object."""
    first = next(a for a in options_of(annotation) if a is not type(None))
    if get_origin(first) is Literal:
        return "choice"
    if get_origin(first) is tuple:
        return "list"
    if get_origin(first) is dict:
        return "map" if get_args(first)[1] is str else "object"
    return {bool: "bool", int: "int", float: "float"}.get(first, "text")


_TRUTH = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
_READERS: dict[str, Any] = {
    "int": int,
    "float": float,
    "bool": lambda text: _TRUTH[text.lower()],
    "text": str,
    "choice": str,
    "list": split_names,
    "map": str,
    "object": json.loads,
}


def _pairs(items: Sequence[str]) -> Any:
    pairs = [item.partition("=") for item in items if item.strip()]
    if not all(sign and name.strip() and column.strip() for name, sign, column in pairs):
        return ",".join(items)
    return {name.strip(): column.strip() for name, _, column in pairs}


def options_of(annotation: Any) -> tuple[Any, ...]:
    """Return the members of a union, or the annotation itself."""
    if get_origin(annotation) in (Union, types.UnionType):
        return tuple(option for arg in get_args(annotation) for option in options_of(arg))
    if hasattr(annotation, "__metadata__"):
        return options_of(annotation.__origin__)
    return (annotation,)


def _is_table(annotation: Any) -> TypeGuard[type[BaseModel]]:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _record(annotation: Any) -> type[BaseModel] | None:
    """The record a setting is, also one that may be left out."""
    return next((option for option in options_of(annotation) if _is_table(option)), None)


def _record_inside(field: FieldInfo | None) -> type[BaseModel] | None:
    """The record a dict or tuple of records holds, e.g. GateRule for `dict[str, GateRule]`."""
    options = options_of(field.annotation) if field is not None else ()
    return next((arg for option in options for arg in get_args(option) if _is_table(arg)), None)


def _flatten(table: Mapping[str, Any], model: type[BaseModel], at: Place, file: str) -> Iterator[tuple[Place, Given]]:
    for key, value in table.items():
        field = model.model_fields.get(key)
        if field is not None and _is_table(field.annotation) and isinstance(value, Mapping):
            yield from _flatten(value, field.annotation, (*at, key), file)
        else:
            yield (*at, key), Given(value, "file", show_place((*at, key)), file)


def show_place(place: Sequence[str | int]) -> str:
    """Return a path as it stands in the file: `[judge] timeout`, `[[gate.slices]] 1 min_mean`, `concurrency`."""
    return " ".join(filter(None, (show_table(place[:-1]), str(place[-1])))) if _entry(place) is None else show_table(place)


def show_table(place: Sequence[str | int]) -> str:
    """Return a table as its line stands in the file: `[judge]`; one of several of a name with its number: `[[gate.slices]] 1`."""
    entry = _entry(place)
    if entry is not None:
        return f"[[{'.'.join(map(str, place[:-1]))}]] {entry}"
    if _entry(place[:-1]) is not None:
        return f"{show_table(place[:-1])} {place[-1]}"
    return f"[{'.'.join(map(str, place))}]" if place else ""


def _entry(place: Sequence[str | int]) -> int | None:
    """The number, from 1, of one of several tables of a name; None for every other place."""
    listed = len(place) == 3 and tuple(place[:2]) in (("gate", "slices"), ("collect", "then")) and str(place[2]).isdecimal()
    return int(place[2]) + 1 if listed else None


def _parse(path: Path, lang: Language, what: str) -> dict[str, Any]:
    named = say(f"config.what_{what}", lang)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(say("config.not_utf8", lang, file=path, what=named, byte=error.start)) from None
    except OSError as error:
        hint = similar(path, lang) if isinstance(error, FileNotFoundError) else ""
        raise ConfigError(say("config.unreadable", lang, file=path, what=named, why=reason_of(error, lang)) + hint) from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(_syntax_text(path, text, str(error), lang)) from None
    except (ValueError, RecursionError):  # a number of more digits than Python reads, tables within tables without end
        raise ConfigError(say("config.oversized", lang, file=path)) from None


def _syntax_text(path: Path, text: str, message: str, lang: Language) -> str:
    found = re.search(r"\(at line (\d+), column (\d+)\)", message)
    lines = text.splitlines() or [""]
    line, column = (int(found[1]), int(found[2])) if found else (len(lines), len(lines[-1]) + 1)
    return say("config.syntax", lang, file=path, line=line, column=column, detail=_detail(message.split(" (at ")[0], lang))


def _detail(message: str, lang: Language) -> str:
    """What the reader of TOML says, in `lang` where its words are known."""
    for said in read_toml("config", "toml_words.toml")["said"]:
        if found := re.fullmatch(re.escape(said["en"]).replace(re.escape("{what}"), "(.+)"), message):
            words: str = said.get("told", said["en"]) if lang == "en" else said[lang]
            return words.replace("{what}", found[1]) if found.groups() else words
    return message
