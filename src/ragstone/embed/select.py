"""From settings to an embedder: the bundled one, a scripted one, an outside package's, or one behind an endpoint."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ragstone.errors import ConfigError
from ragstone.judge.select import first_key, installed, judge_key, judge_url, named_key
from ragstone.text import say, screen_language

if TYPE_CHECKING:
    from ragstone.config.model import EmbeddingsSettings, JudgeSettings
    from ragstone.embed.base import Embedder
    from ragstone.transport.memory import Memory
    from ragstone.transport.purse import Purse
    from ragstone.types import Language

GROUP = "ragstone.embedders"
"""Entry points of outside packages: name -> a callable like `make_embedder`, chosen by `--embeddings NAME` or `NAME:ANYTHING`."""
KEY_NAME = "RAGSTONE_EMBEDDINGS_API_KEY"


def make_embedder(
    settings: EmbeddingsSettings,
    judge_settings: JudgeSettings,
    *,
    concurrency: int,
    environ: Mapping[str, str],
    lang: Language | None = None,
    memory: Memory | None = None,
    purse: Purse | None = None,
    rpm: int | None = None,
    tpm: int | None = None,
) -> Embedder:
    """Return the embedder the settings name; without a model the bundled one. Nothing is sent yet.

    Address and key are the judge's where the embeddings have none of their own; timeout and retries always are.

    Args:
        settings: the `[embeddings]` table.
        judge_settings: the `[judge]` table.
        concurrency: most requests at once.
        environ: where keys and OPENAI_BASE_URL are looked up.
        lang: language of error texts; None = the screen's.
        memory: where what an endpoint teaches is kept for later runs.
        purse: pays for the requests of an embedder behind an endpoint.
        rpm: most requests a minute; None = any.
        tpm: most tokens a minute; None = any.

    Raises:
        ConfigError: no address for a named model, a named key variable that is empty, or a bad address.
    """
    lang = lang or screen_language()
    if settings.model in (None, "", "local"):
        from ragstone.embed.bundled import BundledEmbedder

        return BundledEmbedder()
    model = settings.model or ""
    scheme, _, rest = model.partition(":")
    if scheme == "scripted" and rest:
        from ragstone.embed.scripted import ScriptedEmbedder

        return ScriptedEmbedder.from_file(rest)
    outside: Callable[..., Embedder] | None = installed(GROUP, scheme)
    if outside is not None:
        return outside(settings, judge_settings, concurrency=concurrency, environ=environ)
    pace = {"concurrency": concurrency, "rpm": rpm, "tpm": tpm}
    return _http_embedder(settings, judge_settings, environ, lang, memory, purse, pace)


def _http_embedder(
    settings: EmbeddingsSettings,
    judge_settings: JudgeSettings,
    environ: Mapping[str, str],
    lang: Language,
    memory: Memory | None,
    purse: Purse | None,
    pace: dict[str, Any],
) -> Embedder:
    from ragstone.embed.http import HttpEmbedder

    model = settings.model or ""
    base_url = settings.base_url or judge_url(judge_settings, environ)
    if base_url is None:
        raise ConfigError(say("http.no_embeddings_url", lang, model=model))
    key_name, key = embeddings_key(settings, judge_settings, environ, lang)
    return HttpEmbedder(
        model,
        base_url,
        key,
        batch_size=settings.batch_size,
        timeout=judge_settings.timeout,
        retries=judge_settings.retries,
        key_name=key_name,
        lang=lang,
        memory=memory,
        purse=purse,
        **pace,
    )


def embeddings_key(
    settings: EmbeddingsSettings, judge_settings: JudgeSettings, environ: Mapping[str, str], lang: Language
) -> tuple[str, str | None]:
    """Return where the embeddings' key stands, and the key: their own, else the judge's; None = no Authorization header is sent.

    Raises:
        ConfigError: an `api_key_env` names a variable that is not set or empty.
    """
    if settings.api_key_env:
        return settings.api_key_env, named_key("[embeddings] api_key_env", settings.api_key_env, environ, lang)
    name, key = first_key((KEY_NAME,), environ)
    if key:
        return name, key
    judges, key = judge_key(judge_settings, environ, lang)
    return f"{KEY_NAME} / {judges}", key
