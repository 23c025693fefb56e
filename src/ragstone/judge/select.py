"""From settings to a judge: the local one, a scripted one, an outside package's, or one behind an endpoint."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from ragstone.errors import ConfigError
from ragstone.text import say, screen_language
from ragstone.transport.key import Secret

if TYPE_CHECKING:
    from ragstone.config.model import JudgeSettings
    from ragstone.embed.base import Embedder
    from ragstone.judge.base import Judge
    from ragstone.transport.memory import Memory
    from ragstone.transport.purse import Purse
    from ragstone.types import Language

GROUP = "ragstone.judges"
"""Entry points of outside packages: name -> a callable like `make_judge`, chosen by `--judge NAME` or `--judge NAME:ANYTHING`."""
KEY_NAMES = ("RAGSTONE_JUDGE_API_KEY", "OPENAI_API_KEY")


def make_judge(
    settings: JudgeSettings,
    *,
    concurrency: int,
    environ: Mapping[str, str],
    lang: Language | None = None,
    rpm: int | None = None,
    tpm: int | None = None,
    embedder: Embedder | None = None,
    memory: Memory | None = None,
    purse: Purse | None = None,
) -> Judge:
    """Return the judge the settings name; nothing is sent yet.

    Args:
        settings: the `[judge]` table.
        concurrency: most requests at once.
        environ: where keys and OPENAI_BASE_URL are looked up.
        lang: language of error texts; None = the screen's.
        rpm: most requests a minute; None = any.
        tpm: most tokens a minute; None = any.
        embedder: the run's embedder; the local judge shares it if it is the bundled one, so that the model is loaded once.
        memory: what earlier runs were taught by endpoints; None = nothing is remembered.
        purse: pays for the requests of a judge behind an endpoint.

    Raises:
        ConfigError: no model, no address, a named key variable that is empty, or a bad address.
    """
    lang = lang or screen_language()
    if not settings.model:
        raise ConfigError(say("http.no_judge", lang))
    scheme, _, rest = settings.model.partition(":")
    if settings.model == "local":
        from ragstone.embed.bundled import BundledEmbedder
        from ragstone.judge.local import LocalJudge

        return LocalJudge(embedder if isinstance(embedder, BundledEmbedder) else None)
    if scheme == "scripted" and rest:
        from ragstone.judge.scripted import ScriptedJudge

        return ScriptedJudge.from_file(rest)
    outside: Callable[..., Judge] | None = installed(GROUP, scheme)
    if outside is not None:
        return outside(settings, concurrency=concurrency, environ=environ)
    return _http_judge(settings, environ, lang, memory, purse, {"concurrency": concurrency, "rpm": rpm, "tpm": tpm})


def _http_judge(
    settings: JudgeSettings,
    environ: Mapping[str, str],
    lang: Language,
    memory: Memory | None,
    purse: Purse | None,
    pace: dict[str, Any],
) -> Judge:
    from ragstone.judge.http import HttpJudge

    base_url = judge_url(settings, environ)
    if base_url is None:
        raise ConfigError(say("http.no_judge_url", lang, model=settings.model))
    key_name, key = judge_key(settings, environ, lang)
    return HttpJudge(
        settings.model or "",
        base_url,
        key,
        timeout=settings.timeout,
        retries=settings.retries,
        max_tokens=settings.max_tokens,
        temperature=settings.temperature,
        top_p=settings.top_p,
        seed=settings.seed,
        extra_body=settings.extra_body,
        thinking=settings.thinking,
        key_name=key_name,
        lang=lang,
        memory=memory,
        purse=purse,
        **pace,
    )


def judge_url(settings: JudgeSettings, environ: Mapping[str, str]) -> str | None:
    """Return the judge's address: the setting, else OPENAI_BASE_URL; there is no default host."""
    return settings.base_url or environ.get("OPENAI_BASE_URL") or None


def judge_key(settings: JudgeSettings, environ: Mapping[str, str], lang: Language) -> tuple[str, str | None]:
    """Return the variable the judge's key stands in, and the key; None = no Authorization header is sent.

    Raises:
        ConfigError: `api_key_env` names a variable that is not set or empty.
    """
    if settings.api_key_env:
        return settings.api_key_env, named_key("[judge] api_key_env", settings.api_key_env, environ, lang)
    return first_key(KEY_NAMES, environ)


def named_key(setting: str, name: str, environ: Mapping[str, str], lang: Language) -> str:
    """Return the key in variable `name`; raises ConfigError if it is not set or blank."""
    if not (key := environ.get(name, "").strip()):
        raise ConfigError(say("http.empty_key", lang, setting=setting, name=name))
    return Secret(key)


def first_key(names: tuple[str, ...], environ: Mapping[str, str]) -> tuple[str, str | None]:
    """Return the first of the variables that holds something, with its key; else the first name, and None."""
    return next(((name, Secret(environ[name])) for name in names if environ.get(name, "").strip()), (names[0], None))


def installed(group: str, name: str) -> Callable[..., Any] | None:
    """Return what an outside package registered under `name`, loaded; None if nobody did."""
    found = next(iter(entry_points(group=group, name=name)), None)
    return found.load() if found else None
