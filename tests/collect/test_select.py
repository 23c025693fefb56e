"""From settings to an application: known platforms, those of other packages, and the key."""

from importlib.metadata import EntryPoint
from typing import Any

import pytest

from ragstone.collect import select
from ragstone.collect.select import application_key, make_application
from ragstone.config import CollectSettings, Config
from ragstone.errors import ConfigError

SECRET = "fastgpt-key-of-tests-42"


def config(**collect) -> Config:
    return Config(collect=CollectSettings(**collect), concurrency=3)


async def test_a_platform_becomes_an_application_and_shows_no_key():
    made = make_application(config(platform="fastgpt", url="http://h:3000/api"), {"RAGSTONE_COLLECT_API_KEY": SECRET}, "en")
    assert (made.asked["platform"], made.asked["url"]) == ("fastgpt", "http://h:3000")
    assert SECRET not in repr(made) + str(made.asked) + str(made.mapping)
    await made.close()


async def test_a_server_may_need_no_key():
    await make_application(config(platform="langserve", url="http://h", app="rag"), {}, "en").close()


@pytest.mark.parametrize(
    ("settings", "environ", "found"),
    [
        ({}, {}, ("RAGSTONE_COLLECT_API_KEY", None)),
        ({}, {"RAGSTONE_COLLECT_API_KEY": f" {SECRET}\n"}, ("RAGSTONE_COLLECT_API_KEY", SECRET)),
        ({"api_key_env": "MINE"}, {"MINE": SECRET, "RAGSTONE_COLLECT_API_KEY": "other"}, ("MINE", SECRET)),
    ],
)
def test_the_key_comes_from_the_named_variable_else_the_usual_one(settings, environ, found):
    name, key = application_key(CollectSettings(**settings), environ, "en")
    assert (name, key) == found
    assert SECRET not in repr(key)


@pytest.mark.parametrize(("lang", "words"), [("en", "not set, or empty"), ("zh", "没有设置")])
def test_a_named_variable_that_is_empty_is_told(lang, words):
    with pytest.raises(ConfigError, match=f"MINE.*{words}"):
        application_key(CollectSettings(api_key_env="MINE"), {"MINE": " ", "RAGSTONE_COLLECT_API_KEY": SECRET}, lang)


def test_a_judges_key_is_never_sent_to_an_application():
    assert application_key(CollectSettings(), {"OPENAI_API_KEY": SECRET, "RAGSTONE_JUDGE_API_KEY": SECRET}, "en")[1] is None


def outside(config: Config, environ: Any, lang: Any, **pace: Any) -> Any:
    return config.collect.platform, lang


def test_other_packages_may_bring_platforms_but_not_replace_ours(monkeypatch):
    asked = []

    def entry_points(*, group: str, name: str) -> tuple[EntryPoint, ...]:
        asked.append(name)
        return (EntryPoint(name, f"{__name__}:outside", group),) if (group, name) == ("ragstone.collectors", "intranet") else ()

    monkeypatch.setattr(select, "entry_points", entry_points)
    monkeypatch.setattr(EntryPoint, "load", lambda self: outside)
    assert make_application(config(platform="intranet"), {}, "zh") == ("intranet", "zh")
    with pytest.raises(ConfigError, match="There is no platform intranett"):
        make_application(config(platform="intranett"), {}, "en")
    with pytest.raises(ConfigError, match="--url"):
        make_application(config(platform="fastgpt"), {}, "en")
    assert asked == ["intranet", "intranett"]


def test_expressions_and_patterns_are_looked_at_before_anything_is_sent():
    with pytest.raises(ConfigError, match="fail_if"):
        make_application(config(platform="fastgpt", url="http://h", fail_if=("(a+)+",)), {}, "en")
