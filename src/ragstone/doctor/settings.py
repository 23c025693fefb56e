"""Every setting in force with where it came from, and the lines of a settings file that follow from an examination."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from ragstone.cache import cache_folder
from ragstone.collect.select import application_key
from ragstone.config import Config, Loaded
from ragstone.config.problems import URLS
from ragstone.config.sources import leaves
from ragstone.config.writing import toml
from ragstone.doctor.findings import Examined, Setting
from ragstone.embed.select import KEY_NAME, embeddings_key
from ragstone.errors import ConfigError
from ragstone.judge.select import KEY_NAMES, judge_key, judge_url
from ragstone.text import screen_language
from ragstone.transport.endpoint import Key, shown_url

_JUDGE = ("timeout", "retries", "max_tokens", "temperature", "top_p", "seed", "extra_body", "thinking")
_VERSION_QUERY = re.compile(r"\?api-version=[\w.-]+")


def settings_in_force(loaded: Loaded, environ: Mapping[str, str]) -> tuple[Setting, ...]:
    """Return every setting; addresses come without credentials, and of a key only the variable's name and whether it is set."""
    found = {place: _value(loaded.config, place) for place, _ in leaves() if place != ("prices",) or not loaded.config.prices}
    rows = {".".join(place): Setting(".".join(place), value, loaded.origin[".".join(place)]) for place, value in found.items()}
    for name in map(".".join, URLS):
        rows[name] = Setting(name, shown_url(rows[name].value) if rows[name].value else None, rows[name].origin)
    derived = {row.name: row for row in _derived(loaded.config, environ)}
    for name, row in derived.items():
        if name not in rows or rows[name].value is None:
            rows[name] = row
    prices = loaded.config.prices.items()
    told = (Setting(f"prices.{model}", price.model_dump(exclude_none=True), loaded.origin["prices"]) for model, price in prices)
    return (*rows.values(), *told)


def _value(config: Config, place: tuple[str, ...]) -> Any:
    value: Any = config
    for step in place:
        value = getattr(value, step)
    return [_plain(item) for item in value] if isinstance(value, tuple) else _plain(value)


def _plain(value: Any) -> Any:
    return value.model_dump(exclude_defaults=True) if isinstance(value, BaseModel) else value


def _derived(config: Config, environ: Mapping[str, str]) -> Iterator[Setting]:
    """What holds where a setting is not given: taken from other variables, or from the judge's settings."""
    url = judge_url(config.judge, environ)
    if url and not config.judge.base_url:
        yield Setting("judge.base_url", shown_url(url), "environment OPENAI_BASE_URL")
    yield _key("judge.key", *_found(lambda: judge_key(config.judge, environ, screen_language())), config.judge.api_key_env)
    if config.embeddings.model not in (None, "", "local"):
        if url and not config.embeddings.base_url:
            yield Setting("embeddings.base_url", shown_url(url), "judge")
        name, key = _found(lambda: embeddings_key(config.embeddings, config.judge, environ, screen_language()))
        yield _key("embeddings.key", name, key, config.embeddings.api_key_env or (None if name else config.judge.api_key_env))
    if (
        config.collect.platform or config.collect.url
    ) and config.collect.platform != "langfuse":  # traces are read with Langfuse's own keys
        name, key = _found(lambda: application_key(config.collect, environ, screen_language()))
        yield _key("collect.key", name, key, config.collect.api_key_env)
    yield Setting("cache", str(cache_folder(config)), "default")


def _found(look: Any) -> tuple[str, str | None]:
    try:
        name, key = look()
    except ConfigError:  # told by the examination itself
        return "", None
    return name.rpartition(" / ")[2], key


def _key(name: str, variable: str, key: str | None, named: str | None) -> Setting:
    return Setting(name, key is not None, f"environment {named or variable}")


def settings_lines(judge: Examined, embeddings: Examined | None, loaded: Loaded, environ: Mapping[str, str]) -> str:
    """Return the tables `[judge]` and `[embeddings]` as TOML: what was given, and what the examination advises."""
    config = loaded.config
    rows = {"model": config.judge.model, **_address(judge_url(config.judge, environ) if judge.requests else None)}
    rows |= _key_line(*_found(lambda: judge_key(config.judge, environ, screen_language())), judge)
    given = {name: getattr(config.judge, name) for name in _JUDGE if loaded.origin[f"judge.{name}"] != "default"}
    lines = ["[judge]", *_lines({**rows, **given, **judge.advice})]
    if embeddings is not None and (more := _embeddings_rows(embeddings, loaded, environ)):
        lines += ["", "[embeddings]", *_lines(more)]
    return "\n".join(lines) + "\n"


def _embeddings_rows(embeddings: Examined, loaded: Loaded, environ: Mapping[str, str]) -> dict[str, Any]:
    settings = loaded.config.embeddings
    if settings.model is None:
        return {}
    rows = {"model": settings.model, **_address(settings.base_url if embeddings.requests else None)}
    name, key = _found(lambda: embeddings_key(settings, loaded.config.judge, environ, screen_language()))
    own = name != _found(lambda: judge_key(loaded.config.judge, environ, screen_language()))[0]
    rows |= _key_line(name, key if own else None, embeddings)
    if loaded.origin["embeddings.batch_size"] != "default":
        rows["batch_size"] = settings.batch_size
    return {**rows, **embeddings.advice}


def _address(url: str | None) -> dict[str, Any]:
    """The address; a query may hold a secret, unless it only names a version."""
    if url is None:
        return {}
    return {"base_url": url if _VERSION_QUERY.search(url) else url.partition("?")[0]}


def _key_line(name: str, key: str | None, examined: Examined) -> dict[str, Any]:
    return {"api_key_env": name} if key and examined.requests else {}


def _lines(rows: Mapping[str, Any]) -> list[str]:
    return [f"{name} = {toml(value)}" for name, value in rows.items() if value is not None]


def scrubbed(told: Any, config: Config, environ: Mapping[str, str]) -> Any:
    """Return texts with the keys masked: an endpoint may echo one, a person may paste one where it does not belong."""
    keys = [Key(environ[name], name) for name in _variables(config) if environ.get(name)]
    return _masked(told, keys)


def _variables(config: Config) -> set[str]:
    named = (config.judge.api_key_env, config.embeddings.api_key_env)
    return {*KEY_NAMES, KEY_NAME, *(name for name in named if name)}


def _masked(told: Any, keys: list[Key]) -> Any:
    if isinstance(told, str):
        for key in keys:
            told = key.scrub(told)
        return told
    if isinstance(told, Mapping):
        return {name: _masked(value, keys) for name, value in told.items()}
    return [_masked(value, keys) for value in told] if isinstance(told, (list, tuple)) else told
