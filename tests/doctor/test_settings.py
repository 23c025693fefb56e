"""Settings with their origin, and the lines of a settings file that follow from an examination."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from ragstone.config import load_config
from ragstone.doctor.findings import Examined
from ragstone.doctor.settings import scrubbed, settings_in_force, settings_lines

KEY = "sk-secret-0123456789"


def rows(flags: dict[str, Any], environ: dict[str, str], file: str = "") -> dict[str, tuple[Any, str]]:
    if file:
        Path("ragstone.toml").write_text(file, encoding="utf-8")
    return {row.name: (row.value, row.origin) for row in settings_in_force(load_config(flags, environ=environ), environ)}


@pytest.fixture(autouse=True)
def working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_every_setting_is_there_once_with_its_origin():
    environ = {"RAGSTONE_TIMEOUT": "9", "OPENAI_BASE_URL": "http://h/v1?token=x", "OPENAI_API_KEY": KEY}
    found = rows({"judge": "m", "embeddings": "e"}, environ, "concurrency = 4\n[judge]\nretries = 2\n")
    assert found["judge.model"] == ("m", "flag")
    assert found["judge.timeout"] == (9.0, "environment RAGSTONE_TIMEOUT")
    assert found["judge.retries"] == (2, "ragstone.toml")
    assert found["concurrency"] == (4, "ragstone.toml")
    assert found["judge.temperature"] == (0.0, "default")
    assert found["judge.base_url"] == ("http://h/v1?…", "environment OPENAI_BASE_URL")
    assert found["embeddings.base_url"] == ("http://h/v1?…", "judge")
    assert found["judge.key"] == found["embeddings.key"] == (True, "environment OPENAI_API_KEY")
    assert found["cache"][1] == "default"
    assert found["cache"][0].endswith("ragstone")
    assert KEY not in str(found)
    assert {"gate.min_coverage", "collect.url", "export.to", "limits.top_k", "metrics.preset"} <= set(found)


@pytest.mark.parametrize(
    ("named", "environ", "key"),
    [
        ("", {}, (False, "environment RAGSTONE_COLLECT_API_KEY")),
        ("", {"RAGSTONE_COLLECT_API_KEY": KEY}, (True, "environment RAGSTONE_COLLECT_API_KEY")),
        ('api_key_env = "MY_KEY"\n', {"MY_KEY": KEY}, (True, "environment MY_KEY")),
        ('api_key_env = "MY_KEY"\n', {"RAGSTONE_COLLECT_API_KEY": KEY}, (False, "environment MY_KEY")),
    ],
)
def test_of_the_key_of_the_application_too(named, environ, key):
    found = rows({}, environ, f'[collect]\nplatform = "fastgpt"\n{named}')
    assert found["collect.key"] == key
    assert KEY not in str(found)
    assert "collect.key" not in rows({}, environ, "concurrency = 4\n")
    assert "collect.key" not in rows({}, environ, '[collect]\nplatform = "langfuse"\n')  # traces are read with other keys


@pytest.mark.parametrize(
    ("table", "environ", "key"),
    [
        ({}, {}, (False, "environment RAGSTONE_JUDGE_API_KEY")),
        ({}, {"RAGSTONE_JUDGE_API_KEY": KEY, "OPENAI_API_KEY": "other"}, (True, "environment RAGSTONE_JUDGE_API_KEY")),
        ({"api_key_env": "MY_KEY"}, {"MY_KEY": KEY}, (True, "environment MY_KEY")),
        ({"api_key_env": "MY_KEY"}, {}, (False, "environment MY_KEY")),
    ],
)
def test_of_a_key_only_the_variable_is_told(table, environ, key):
    lines = "".join(f'{name} = "{value}"\n' for name, value in table.items())
    found = rows({"judge": "m", "base_url": "http://h/v1", "embeddings": "e"}, environ, "[judge]\n" + lines)
    assert found["judge.key"] == found["embeddings.key"] == key


def test_an_address_with_a_password_is_not_shown():
    found = rows({"judge": "m"}, {"OPENAI_BASE_URL": "http://me:secret@h/v1"})
    assert found["judge.base_url"] == ("http://…@h/v1", "environment OPENAI_BASE_URL")


def lines(flags: dict[str, Any], environ: dict[str, str], judge: Examined, embeddings: Examined | None = None) -> dict[str, Any]:
    text = settings_lines(judge, embeddings, load_config(flags, environ=environ), environ)
    Path("copied.toml").write_text(text, encoding="utf-8")
    again = load_config({}, path=Path("copied.toml"), environ=environ)
    assert settings_lines(judge, embeddings, again, environ) == text, "what is copied says the same again"
    return tomllib.loads(text)


def test_the_lines_hold_what_was_given_and_what_was_found():
    judge = Examined(
        "m", "http://h/v1", requests=5, advice={"extra_body": {"chat_template_kwargs": {"enable_thinking": False}, "top_k": 1}}
    )
    embeddings = Examined("bge", "http://h/v1", requests=2, advice={"batch_size": 25})
    flags = {
        "judge": "m",
        "base_url": "http://h/v1",
        "embeddings": "bge",
        "max_tokens": "900",
        "temperature": "1",
        "extra_body": '{"top_k": 1}',
    }
    assert lines(flags, {"OPENAI_API_KEY": KEY}, judge, embeddings) == {
        "judge": {
            "model": "m",
            "base_url": "http://h/v1",
            "api_key_env": "OPENAI_API_KEY",
            "max_tokens": 900,
            "temperature": 1.0,
            "extra_body": {"chat_template_kwargs": {"enable_thinking": False}, "top_k": 1},
        },
        "embeddings": {"model": "bge", "batch_size": 25},
    }


def test_embeddings_of_their_own_keep_their_address_and_key():
    examined = Examined("x", "http://h", requests=1)
    flags = {"judge": "m", "base_url": "http://h/v1", "embeddings": "bge", "embeddings_base_url": "http://e/v1"}
    found = lines(flags, {"RAGSTONE_EMBEDDINGS_API_KEY": KEY}, examined, examined)
    assert found["embeddings"] == {"model": "bge", "base_url": "http://e/v1", "api_key_env": "RAGSTONE_EMBEDDINGS_API_KEY"}
    assert "api_key_env" not in found["judge"]


def test_judges_on_this_machine_need_no_address():
    found = lines({"judge": "local"}, {"OPENAI_BASE_URL": "http://h/v1", "OPENAI_API_KEY": KEY}, Examined("local", "local"))
    assert found == {"judge": {"model": "local"}}


@pytest.mark.parametrize(("query", "kept"), [("?api-version=2024-10-21", "?api-version=2024-10-21"), ("?key=geheim1", "")])
def test_a_query_is_copied_only_if_it_is_a_version(query, kept):
    flags = {"judge": "m", "base_url": "http://h/v1" + query}
    assert lines(flags, {}, Examined("m", "http://h/v1", requests=1))["judge"]["base_url"] == "http://h/v1" + kept


def test_keys_are_masked_wherever_they_stand():
    config = load_config({"judge": "m"}, environ={}).config
    told = {"a": [f"echoed {KEY}", 3], "b": {"c": KEY}}
    assert scrubbed(told, config, {"OPENAI_API_KEY": KEY}) == {"a": ["echoed sk-…89", 3], "b": {"c": "sk-…89"}}
