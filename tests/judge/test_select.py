import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from support.asking import question
from support.server import Server

import ragstone.judge.select as module
from ragstone.config.model import JudgeSettings
from ragstone.errors import ConfigError
from ragstone.judge.select import make_judge

URL = "http://127.0.0.1:1/v1"


def make(environ: dict[str, str] | None = None, lang: Any = "en", **settings: Any) -> Any:
    return make_judge(JudgeSettings(**settings), concurrency=4, environ=environ or {}, lang=lang)


@pytest.mark.parametrize(
    ("settings", "environ", "words"),
    [
        ({}, {}, ("--judge MODEL", "--judge local")),
        ({"model": "m"}, {}, ("[judge] base_url", "OPENAI_BASE_URL")),
        ({"model": "m", "base_url": URL, "api_key_env": "MINE"}, {"OPENAI_API_KEY": "k"}, ("[judge] api_key_env", "MINE")),
        ({"model": "m", "base_url": URL, "api_key_env": "MINE"}, {"MINE": " "}, ("MINE",)),
        ({"model": "m", "base_url": "http://a:b@c/v1"}, {}, ("[judge] base_url",)),
        ({"model": "m", "base_url": URL}, {"OPENAI_API_KEY": "two words"}, ("OPENAI_API_KEY",)),
        ({"model": "m", "base_url": URL, "extra_body": {"n": 2}}, {}, ("extra_body",)),
    ],
)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_is_lacking_is_named(settings: dict[str, Any], environ: dict[str, str], words: tuple[str, ...], lang: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make(environ, lang, **settings)
    for word in words if lang == "en" else words[-1:]:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("named", "environ", "sent"),
    [
        (None, {"RAGSTONE_JUDGE_API_KEY": "key-one", "OPENAI_API_KEY": "key-two"}, "Bearer key-one"),
        (None, {"RAGSTONE_JUDGE_API_KEY": "", "OPENAI_API_KEY": "key-two\n"}, "Bearer key-two"),
        ("MINE", {"MINE": "key-own", "OPENAI_API_KEY": "key-two"}, "Bearer key-own"),
        (None, {}, None),
    ],
)
async def test_the_key_is_looked_up_in_order(named: str | None, environ: dict[str, str], sent: str | None) -> None:
    async with Server() as server:
        judge = make({**environ, "OPENAI_BASE_URL": server.url}, model="m", api_key_env=named)
        await judge.complete(question())
        await judge.close()
    assert server.seen[0].headers.get("Authorization") == sent


async def test_settings_reach_the_wire() -> None:
    async with Server() as server:
        settings = {"max_tokens": 9, "temperature": 0.5, "top_p": 0.25, "seed": 4, "extra_body": {"x": 1}}
        judge = make({"OPENAI_BASE_URL": "http://unused/v1"}, model="m", base_url=server.url, **settings)
        await judge.complete(question())
        await judge.close()
    sent = server.seen[0].body
    assert {k: sent[k] for k in ("model", "max_tokens", "temperature", "top_p", "seed", "x")} == {
        "model": "m", "max_tokens": 9, "temperature": 0.5, "top_p": 0.25, "seed": 4, "x": 1,
    }  # fmt: skip


def test_local_and_scripted_judges_need_no_address(tmp_path: Path) -> None:
    table = tmp_path / "truth.json"
    table.write_text("{}", encoding="utf-8")
    assert make(model="local").identity.endpoint == "local"
    assert make(model=f"scripted:{table}").identity.endpoint == "scripted"


def outside(settings: JudgeSettings, **more: Any) -> Any:
    return settings.model, sorted(more)


def test_a_judge_of_an_outside_package_is_found_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def entry_points(*, group: str, name: str) -> tuple[EntryPoint, ...]:
        return (EntryPoint(name, f"{__name__}:outside", group),) if (group, name) == ("ragstone.judges", "theirs") else ()

    monkeypatch.setattr(module, "entry_points", entry_points)
    monkeypatch.setitem(sys.modules, __name__, sys.modules.get(__name__) or _here())
    assert make(model="theirs:big") == ("theirs:big", ["concurrency", "environ"])
    assert make(model="qwen3:8b", base_url=URL).identity.model == "qwen3:8b"


def _here() -> Any:
    module = type(sys)(__name__)
    module.outside = outside  # type: ignore[attr-defined]
    return module


def test_choosing_loads_no_client_until_one_is_needed() -> None:
    code = "import sys, ragstone.judge.select, ragstone.embed.select; print({'aiohttp', 'numpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
