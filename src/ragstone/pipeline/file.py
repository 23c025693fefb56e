"""The file of a pipeline: settings with every path resolved from where the file stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragstone.config import Config, Loaded, load_config
from ragstone.config.delivery import STEPS, Step
from ragstone.config.problems import nearest
from ragstone.errors import ConfigError
from ragstone.text import listing, say
from ragstone.types import Language

WORK, LAST = "runs", "last"
SCRIPTED = "scripted:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """What a pipeline does, as its file says."""

    path: Path
    config: Config
    """Paths in it are resolved."""
    environ: Mapping[str, str]
    lang: Language
    gold: Path | None
    work: Path
    baseline: str
    """`last`, a tag, or what a run folder is called in the file."""
    steps: tuple[Step, ...]
    """In the order they are done, whatever their order in the file."""
    has_rules: bool
    """True if the file holds a table `[gate]`."""
    notices: tuple[str, ...] = ()

    def beside(self, name: str) -> Path:
        """Return a path of the file as seen from here."""
        return beside(self.path, name)


def beside(file: Path, name: str) -> Path:
    """Return a path that a file names, relative to the file; `~` is the user's home."""
    return file.parent / Path(name).expanduser()


def read_pipeline(path: Path, flags: Mapping[str, Any], environ: Mapping[str, str], lang: Language) -> Pipeline:
    """Return the pipeline of a file.

    Raises ConfigError if it cannot be read, or anything in it is unknown, mistyped or missing.
    """
    if path.is_dir():
        raise ConfigError(say("pipeline.is_a_folder", lang, path=path))
    loaded = load_config(flags, path=path, environ=environ)
    config = _resolved(loaded, path)
    wanted = config.steps if config.steps is not None else STEPS
    if not wanted:
        raise ConfigError(say("pipeline.no_steps", lang, path=path, steps=listing(STEPS, lang)))
    steps = tuple(step for step in STEPS if step in wanted)
    return Pipeline(
        path=path,
        config=config,
        environ=environ,
        lang=lang,
        gold=Path(config.gold) if config.gold else None,
        work=Path(config.work or beside(path, WORK)),
        baseline=config.baseline or LAST,
        steps=steps,
        has_rules=_has_rules(path),
        notices=loaded.notices,
    )


def check_step(step: str | None, pipeline: Pipeline) -> Step | None:
    """Return the step to begin with; raises ConfigError for one the pipeline does not have, with the nearest."""
    found = next((one for one in pipeline.steps if one == step), None)
    if step is not None and found is None:
        near = nearest(step, pipeline.steps)
        hint = say("config.nearest", pipeline.lang, name=near) if near else say("pipeline.no_hint", pipeline.lang)
        known = listing(pipeline.steps, pipeline.lang)
        raise ConfigError(say("pipeline.no_such_step", pipeline.lang, step=step, path=pipeline.path, hint=hint, known=known))
    return found


def _resolved(loaded: Loaded, path: Path) -> Config:
    """Settings of the file name paths from the file on; those of flags and variables from the working folder, as everywhere."""
    config = loaded.config

    def found(value: str | None, *place: str) -> str | None:
        return str(beside(path, value)) if value and loaded.origin[".".join(place)] == str(path) else value

    def model(value: str | None, table: str) -> str | None:
        if value is None or not value.startswith(SCRIPTED):
            return value
        return f"{SCRIPTED}{found(value.removeprefix(SCRIPTED), table, 'model')}"

    plain = {name: found(getattr(config, name), name) for name in ("gold", "work", "cache")}
    models = {
        name: getattr(config, name).model_copy(update={"model": model(getattr(config, name).model, name)})
        for name in ("judge", "embeddings")
    }
    export = config.export.model_copy(update={"folder": found(config.export.folder, "export", "folder")})
    return config.model_copy(update={**plain, **models, "export": export, "force": False})


def _has_rules(path: Path) -> bool:
    import tomllib

    return "gate" in tomllib.loads(path.read_text(encoding="utf-8-sig"))
