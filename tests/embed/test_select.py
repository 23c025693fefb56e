from pathlib import Path
from typing import Any

import pytest
from support.server import Server

from ragstone.config.model import EmbeddingsSettings, JudgeSettings
from ragstone.embed.select import make_embedder
from ragstone.errors import ConfigError


def make(settings: dict[str, Any], judge: dict[str, Any] | None = None, environ: dict[str, str] | None = None, lang: Any = "en") -> Any:
    return make_embedder(EmbeddingsSettings(**settings), JudgeSettings(**(judge or {})), concurrency=4, environ=environ or {}, lang=lang)


@pytest.mark.parametrize(
    ("settings", "environ", "words"),
    [
        ({"model": "e"}, {}, ("[embeddings] base_url", "OPENAI_BASE_URL")),
        ({"model": "e", "base_url": "http://h/v1", "api_key_env": "MINE"}, {}, ("[embeddings] api_key_env", "MINE")),
        ({"model": "e", "base_url": "h/v1"}, {}, ("[embeddings] base_url",)),
    ],
)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_is_lacking_is_named(settings: dict[str, Any], environ: dict[str, str], words: tuple[str, ...], lang: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make(settings, None, environ, lang)
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize(
    ("named", "judge", "environ", "sent"),
    [
        (None, {}, {"RAGSTONE_EMBEDDINGS_API_KEY": "key-e", "RAGSTONE_JUDGE_API_KEY": "key-j"}, "Bearer key-e"),
        (None, {}, {"RAGSTONE_JUDGE_API_KEY": "key-j", "OPENAI_API_KEY": "key-o"}, "Bearer key-j"),
        (None, {"api_key_env": "JUDGES"}, {"JUDGES": "key-named"}, "Bearer key-named"),
        ("MINE", {}, {"MINE": "key-own", "RAGSTONE_EMBEDDINGS_API_KEY": "key-e"}, "Bearer key-own"),
        (None, {}, {}, None),
    ],
)
@pytest.mark.parametrize("where", ["own", "judge", "environment"])
async def test_address_and_key_fall_back_to_the_judges(
    named: str | None, judge: dict[str, Any], environ: dict[str, str], sent: str | None, where: str
) -> None:
    async with Server() as server:
        settings = {"model": "e", "api_key_env": named, "batch_size": 2} | ({"base_url": server.url} if where == "own" else {})
        judge = judge | ({"base_url": server.url} if where == "judge" else {})
        environ = environ | ({"OPENAI_BASE_URL": server.url} if where == "environment" else {})
        embedder = make(settings, judge, environ)
        await embedder.embed(["a", "b", "c"])
        await embedder.close()
    assert [len(s.body["input"]) for s in server.seen] == [2, 1]
    assert {s.headers.get("Authorization") for s in server.seen} == {sent}


def test_without_a_model_the_bundled_one_is_used(tmp_path: Path) -> None:
    table = tmp_path / "truth.json"
    table.write_text("{}", encoding="utf-8")
    bundled = make({})
    assert type(make({"model": "local"})) is type(bundled)
    assert bundled.identity.model != "e"
    assert make({"model": f"scripted:{table}"}).identity.endpoint == "scripted"
