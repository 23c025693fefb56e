"""A platform's file overlaid with the user's table, and what is refused before anything is sent."""

import re
import tomllib
from pathlib import Path

import jmespath
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragstone
from ragstone.collect.preset import Preset, platforms, preset, spec_of
from ragstone.collect.spec import Spec
from ragstone.config import CollectSettings, JudgeSettings, StepSettings
from ragstone.errors import ConfigError

FILES = Path(ragstone.__file__).parent / "collect" / "presets"
JUDGE = JudgeSettings(timeout=7, retries=1)
PATHS = ("answer", "contexts", "context_id", "context_text", "context_score", "context_source", "error", "usage", "replace", "success")


def made(platform, **given) -> Spec:
    body = {"body": {"model": "m"}} if platform == "openai-responses" else {}
    return spec_of(CollectSettings(**{"platform": platform, "url": "http://h", "app": "A", **body, **given}), JUDGE, "en")


def refused(lang="en", **given) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        spec_of(CollectSettings(**given), JUDGE, lang)
    return str(caught.value).splitlines()


# ------------------------------------------------------------------ the files
def test_every_file_is_a_platform_and_every_platform_has_a_file():
    assert sorted(platforms()) == sorted(file.stem for file in FILES.glob("*.toml"))


@pytest.mark.parametrize("name", platforms())
def test_a_platforms_file_holds_known_fields_and_usable_expressions(name):
    found = preset(name)
    Spec.model_validate({**found.fields, "platform": name})
    for fields in (found.fields, found.streaming or {}, found.blocking or {}):
        assert set(fields) <= set(Spec.model_fields)
        for path in (fields[key] for key in PATHS if key in fields):
            jmespath.compile(path)
        for step in fields.get("then", ()):
            for path in (step[key] for key in ("text", "answer", "contexts", "error", "until") if key in step):
                jmespath.compile(path)
        for key in ("key_pattern", "app_pattern"):
            re.compile(fields.get(key, ""))
        for pattern in (*fields.get("strip", ()), *fields.get("strip_context", ()), *fields.get("fail_if", ())):
            assert re.compile(pattern).search("") is None
    assert found.example_url.startswith("http")


@pytest.mark.parametrize("name", platforms())
def test_a_platforms_file_has_no_unknown_key(name):
    known = set(Spec.model_fields) | set(Preset.__dataclass_fields__)
    assert set(tomllib.loads((FILES / f"{name}.toml").read_text(encoding="utf-8"))) <= known


# ------------------------------------------------------------------ what is sent
@pytest.mark.parametrize(
    ("platform", "path", "body"),
    [
        (
            "fastgpt",
            "/api/v1/chat/completions",
            {"stream": False, "detail": True, "messages": [{"role": "user", "content": "$question"}]},
        ),
        (
            "dify-chat",
            "/v1/chat-messages",
            {"inputs": {}, "query": "$question", "response_mode": "blocking", "user": "ragstone", "conversation_id": ""},
        ),
        ("ragflow-retrieval", "/api/v1/retrieval", {"question": "$question", "dataset_ids": ["$app"]}),
        ("maxkb", "/chat/api/chat_message/$before.data", {"message": "$question", "stream": False, "re_chat": False}),
    ],
)
def test_without_settings_the_platforms_own_request_is_sent(platform, path, body):
    spec = made(platform)
    assert (spec.method, spec.path, spec.body) == ("POST", path, body)


@pytest.mark.parametrize("name", [name for name in platforms() if preset(name).streaming is not None])
def test_a_wanted_stream_changes_the_request(name):
    calm, streamed = made(name), made(name, stream="jsonl")
    assert calm.stream == "none"
    assert streamed.stream == preset(name).streaming["stream"]
    assert (streamed.body, streamed.path) != (calm.body, calm.path)


@pytest.mark.parametrize("name", ["open-webui", "coze"])
def test_where_chunks_come_by_a_stream_only_it_is_the_usual_way(name):
    assert made(name).stream != "none"
    assert made(name).body["stream"] is True
    assert made(name, stream="none").body["stream"] is False


def test_coze_without_a_stream_waits_and_lists():
    waits, lists = made("coze", stream="none").then
    assert waits.until is not None
    assert lists.answer is not None


# ------------------------------------------------------------------ the user's table on top
def test_body_and_headers_are_merged_and_other_fields_replaced():
    spec = made("fastgpt", body={"variables": {"dept": "HR"}, "detail": False}, headers={"X-T": "1"}, strip=r"\[\d+\]", answer="a.b")
    assert spec.body == {
        "stream": False,
        "detail": False,
        "messages": [{"role": "user", "content": "$question"}],
        "variables": {"dept": "HR"},
    }
    assert (spec.headers, spec.strip, spec.answer, len(spec.then)) == ({"X-T": "1"}, (r"\[\d+\]",), "a.b", 1)
    assert set(spec.own) == {"url", "app", "platform", "headers", "body", "answer", "strip"}


keys = st.sampled_from(["stream", "detail", "messages", "variables", "a"])
bodies = st.recursive(
    st.none() | st.booleans() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(keys, bodies, max_size=4))
def test_every_value_of_the_users_body_is_sent_and_the_platforms_are_where_the_user_says_nothing(body):
    sent = made("fastgpt", body={**body, "ask": "$question"}).body
    usual = preset("fastgpt").fields["body"]
    assert {name: sent[name] for name in body} == body  # nothing of the platform's lies below an object
    assert {name: sent[name] for name in usual if name not in body} == {name: usual[name] for name in usual if name not in body}


@given(st.sampled_from(platforms()), st.integers(0, 6), st.sampled_from(["https://h", "http://h:81/rag", "https://h/a/b"]))
def test_any_beginning_of_the_path_may_stand_in_the_address(name, count, base):
    steps = preset(name).fields["path"].partition("$")[0].split("/")[1:]
    steps = [step for step in steps if step][:count]
    assert made(name, url="/".join([base, *steps])).url == base


def test_names_an_author_chose_are_replaced_and_not_sent_beside_the_users():
    assert made("dify-workflow", body={"inputs": {"q": "$question"}}).body["inputs"] == {"q": "$question"}
    assert made("langserve", body={"input": "$question"}).body == {"input": "$question"}
    assert made("hayhooks", body={"text": "$question"}).body == {"text": "$question"}


def test_steps_are_replaced_also_by_none():
    step = StepSettings(path="/p?id=$id", per="chunk", text="t")
    assert [s.path for s in made("fastgpt", then=(step,)).then] == ["/p?id=$id"]
    assert made("fastgpt", then=()).then == ()
    assert made("maxkb", before=StepSettings(path="/open")).before.path == "/open"


def test_a_request_that_reads_a_chunks_text_is_sent_for_every_chunk():
    (step,) = made("fastgpt", then=(StepSettings(path="/p?id=$id", text="t"),)).then
    assert step.per == "chunk"
    (step,) = made("fastgpt", then=(StepSettings(path="/p", contexts="c"),)).then
    assert step.per == "answer"


@pytest.mark.parametrize("none", ["null", "`null`"])
def test_an_answer_that_stands_nowhere_is_that_of_an_application_that_only_retrieves(none):
    assert made("mine", path="/s?q=$question", answer=none, contexts="hits").answer is None
    assert made("fastgpt", contexts=none).contexts is None


def test_pace_falls_back_on_the_judge_and_the_top_level():
    assert (made("fastgpt").timeout, made("fastgpt").retries, made("fastgpt").concurrency) == (7, 1, 16)
    spec = made("fastgpt", timeout=3.0, retries=0, concurrency=2)
    assert (spec.timeout, spec.retries, spec.concurrency) == (3, 0, 2)


@pytest.mark.parametrize(
    ("platform", "url", "sent_to"),
    [
        ("dify-chat", "https://h/v1", "https://h"),
        ("dify-chat", "https://h/v1/", "https://h"),
        ("dify-chat", "https://h/dify/v1", "https://h/dify"),
        ("fastgpt", "https://h/api", "https://h"),
        ("fastgpt", "https://h/v1", "https://h"),
        ("fastgpt", "https://h/v1/v1", "https://h"),
        ("fastgpt", "https://h/api/v1/v1/", "https://h"),
        ("fastgpt", "https://h/v1/chat/completions", "https://h"),
        ("fastgpt", "https://h/kb/v1", "https://h/kb"),
        ("fastgpt", "https://h/v2", "https://h/v2"),
        ("fastgpt", "https://h/chat", "https://h/chat"),
        ("openai", "https://h/v1/v1", "https://h"),
        ("ragflow", "https://h/v1", "https://h"),
        ("fastgpt", "https://h/api/v1/chat/completions", "https://h"),
        ("openai", "https://h/compatible/v1/chat/completions", "https://h/compatible"),
        ("ragflow-openai", "https://h/api/v1", "https://h"),
        ("langserve", "https://h/rag/", "https://h/rag"),
        ("fastgpt", " https://h ", "https://h"),
    ],
)
def test_an_address_may_be_copied_with_what_the_path_holds(platform, url, sent_to):
    assert made(platform, url=url).url == sent_to


def test_an_address_is_left_alone_where_the_path_is_the_users():
    assert made("openai", url="https://h/v1", path="/v1/x").url == "https://h/v1"


# ------------------------------------------------------------------ an application of one's own
def test_an_application_described_by_the_table_alone():
    spec = made("mine", path="/ask", body={"q": "$question"}, answer="a", app=None)
    assert (spec.platform, spec.method, spec.path, spec.contexts, spec.then) == ("mine", "POST", "/ask", None, ())
    assert made(None, path="/ask?q=$question", method="GET", answer="a").platform == "custom"


@pytest.mark.parametrize(
    ("given", "en", "zh"),
    [
        ({"platform": "fastgtp"}, "did you mean fastgpt?", "是否想写 fastgpt？"),
        ({}, "--platform", "--platform"),
        ({"platform": "coze", "app": "1"}, "--url https://api.coze.cn", "--url https://api.coze.cn"),
        ({"platform": "fastgpt-search", "url": "http://h"}, "the dataset's id", "知识库 id"),
        ({"platform": "coze", "url": "http://h", "app": " "}, "the bot's id", "智能体 id"),
        ({"platform": "openai", "url": "http://h", "app": ""}, "the model's name", "模型名称"),
        ({"platform": "openai-responses", "url": "http://h", "app": "vs", "body": {"model": ""}}, "[collect.body]", "[collect.body]"),
        ({"platform": "mine", "url": "http://h", "path": "/x", "body": {"q": "$question"}}, "JMESPath", "JMESPath"),
        ({"platform": "mine", "url": "http://h", "path": "/x", "answer": "a"}, "$question", "$question"),
        ({"platform": "mine", "url": "http://h", "path": "/$app?q=$question", "answer": "a"}, "$app", "$app"),
        ({"platform": "hayhooks", "url": "http://h", "app": "p", "body": {"query": "question"}}, "$question", "$question"),
        ({"platform": "dify-retrieval", "url": "http://h", "app": "d", "stream": "event-sse"}, "--stream", "--stream"),
        (
            {"platform": "fastgpt", "url": "http://h", "then": (StepSettings(path="/x", per="chunk"),)},
            "[[collect.then]] 1",
            "[[collect.then]] 1",
        ),
        ({"platform": "fastgpt", "url": "http://h", "fail_if": ["("]}, "fail_if", "fail_if"),
    ],
)
def test_what_is_missing_is_named_with_what_it_is(given, en, zh):
    for lang, words in (("en", en), ("zh", zh)):
        (line,) = refused(lang, **given)
        assert words in line


def test_everything_missing_is_told_at_once():
    assert len(refused(platform="openai-responses", body={"model": ""})) == 3


def test_an_app_is_not_asked_for_where_the_users_request_does_not_name_it():
    assert made("langserve", app=None, path="/invoke").path == "/invoke"


@pytest.mark.parametrize("platform", ["openai", "open-webui"])
def test_a_model_that_is_not_named_is_left_to_the_server(platform):
    spec = spec_of(CollectSettings(platform=platform, url="http://127.0.0.1:1"), JudgeSettings(), "en")
    assert "model" not in spec.body
    named = spec_of(CollectSettings(platform=platform, url="http://127.0.0.1:1", app="m"), JudgeSettings(), "en")
    assert named.body["model"] == "$app"
    with pytest.raises(ConfigError, match="--app"):
        spec_of(CollectSettings(platform=platform, url="http://127.0.0.1:1", app=""), JudgeSettings(), "en")


def test_a_model_of_responses_may_be_missing_but_not_blank():
    table = {"platform": "openai-responses", "url": "http://127.0.0.1:1", "app": "vs_1"}
    assert "model" not in spec_of(CollectSettings(**table), JudgeSettings(), "en").body
    with pytest.raises(ConfigError, match="model"):
        spec_of(CollectSettings(**table, body={"model": ""}), JudgeSettings(), "en")
