"""The rules of a gate, read from the table `[gate]` of any TOML file: a file of its own, or the settings file of a project."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ragstone.config.model import Config, GateSettings
from ragstone.config.problems import from_validation, nearest
from ragstone.config.sources import FILE_NAME, Given, Layer, from_file, show_place
from ragstone.errors import ConfigError
from ragstone.figures import metric_named
from ragstone.text import say
from ragstone.types import Language

BESIDE = ("gold", "work", "baseline", "steps", "levels")
"""Settings of other commands that may stand beside the rules in a settings file."""


def load_rules(path: Path, lang: Language) -> GateSettings:
    """Return the rules of a file; its other tables are left alone.

    Raises:
        ConfigError: there is no `[gate]`, or something in it is unknown, mistyped or out of range; the text lists all
            problems, one a line, each with its place.
    """
    layer = from_file(path, lang, "settings" if path.name == FILE_NAME else "rules")
    known = ("gate", *Config.model_fields, *BESIDE)
    problems = [_unknown_table(place[0], given, known, lang) for place, given in layer.items() if place[0] not in known]
    rules: Layer = {place: given for place, given in layer.items() if place[0] == "gate"}
    if problems:
        raise ConfigError("\n".join(dict.fromkeys(problems)))
    if not rules and not _has_empty_table(path):
        raise ConfigError(say("gate.no_table", lang, file=path))
    return _read(rules, lang)


def rules_of(table: object, lang: Language) -> GateSettings:
    """Return rules given from Python: the table `[gate]` as a dict.

    Raises:
        ConfigError: it is no dict, or something in it is unknown, mistyped or out of range.
    """
    if not isinstance(table, Mapping):
        return _read({("gate",): Given(table, "file", "gate", "rules")}, lang)
    return _read(
        {("gate", str(name)): Given(value, "file", show_place(("gate", str(name))), "rules") for name, value in table.items()}, lang
    )


def _read(rules: Layer, lang: Language) -> GateSettings:
    table: dict[str, Any] = {place[1]: given.value for place, given in rules.items() if len(place) > 1}
    whole = next((given.value for place, given in rules.items() if len(place) == 1), table)
    try:
        found = Config.model_validate({"gate": whole}).gate
    except ValidationError as error:
        raise ConfigError("\n".join(from_validation(error, rules, lang))) from None
    if idle := _idle(found):
        raise ConfigError("\n".join(say("gate.idle_rule", lang, name=name) for name in idle))
    return _plainly_named(found, lang)


def _plainly_named(rules: GateSettings, lang: Language) -> GateSettings:
    """Return the rules with the metrics' names of files and flags, where Chinese ones were given."""
    names = {name: metric_named(name) for name in rules.metrics}
    twice = [name for name, plain in names.items() if name != plain and list(names.values()).count(plain) > 1]
    if twice:
        raise ConfigError("\n".join(say("gate.named_twice", lang, name=name, other=names[name]) for name in twice))
    metrics = {names[name]: rule for name, rule in rules.metrics.items()}
    slices = tuple(rule.model_copy(update={"metric": metric_named(rule.metric)}) for rule in rules.slices)
    return rules.model_copy(update={"metrics": metrics, "slices": slices})


def _idle(rules: GateSettings) -> list[str]:
    """A rule without a limit would look like a guard and be none."""
    empty = [f"[gate.metrics.{name}]" for name, rule in rules.metrics.items() if rule.min_mean is None and rule.max_drop is None]
    parts = [(i, rule) for i, rule in enumerate(rules.slices, 1) if rule.min_mean is None and rule.max_drop is None]
    return [*empty, *(f"[[gate.slices]] {i} ({rule.metric})" for i, rule in parts)]


def _has_empty_table(path: Path) -> bool:
    import tomllib

    return "gate" in tomllib.loads(path.read_bytes().decode("utf-8-sig"))


def _unknown_table(name: str, given: Given, known: tuple[str, ...], lang: Language) -> str:
    near = nearest(name, known)
    hint = say("config.nearest", lang, name=f"[{near}]" if near == "gate" else near) if near else ""
    return say("config.unknown", lang, name=name, where="", at=say("config.at_file", lang, file=given.file), hint=hint)
