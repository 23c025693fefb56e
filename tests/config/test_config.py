from pathlib import Path

import pytest
from pydantic import ValidationError

from ragstone.config import FLAGS, Config, load_config
from ragstone.config.sources import leaves
from ragstone.errors import ConfigError


@pytest.fixture(autouse=True)
def working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def problems(flags=None, toml=None, environ=None, lang="en") -> list[str]:
    if toml is not None:
        Path("ragstone.toml").write_text(toml, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config(flags or {}, environ={**(environ or {}), "RAGSTONE_LANG": lang})
    return str(caught.value).splitlines()


# ------------------------------------------------------------------ defaults and precedence
def test_defaults_are_those_of_the_design():
    config = load_config({}, environ={}).config
    assert config == Config()
    assert (config.judge.model, config.judge.timeout, config.judge.retries, config.judge.temperature) == (None, 120, 5, 0)
    assert (config.embeddings.batch_size, config.metrics.preset, config.metrics.strictness) == (10, "full", 3)
    assert (config.concurrency, config.repeat, config.seed, config.min_coverage, config.max_cell_mb) == (16, 1, 0, 0.95, 1)
    assert (config.language, config.lang) == ("auto", None)


@pytest.mark.parametrize(
    ("flags", "environ", "toml", "value", "origin"),
    [
        ({"concurrency": "2"}, {"RAGSTONE_CONCURRENCY": "3"}, "concurrency = 4", 2, "flag"),
        ({}, {"RAGSTONE_CONCURRENCY": "3"}, "concurrency = 4", 3, "environment RAGSTONE_CONCURRENCY"),
        ({}, {}, "concurrency = 4", 4, "ragstone.toml"),
        ({"concurrency": None}, {"RAGSTONE_CONCURRENCY": " "}, "", 16, "default"),
    ],
)
def test_flags_win_over_environment_over_file_over_defaults(flags, environ, toml, value, origin):
    Path("ragstone.toml").write_text(toml)
    loaded = load_config(flags, environ=environ)
    assert (loaded.config.concurrency, loaded.origin["concurrency"]) == (value, origin)


def test_every_flag_sets_an_existing_setting_and_every_setting_has_an_origin():
    settings = {place for place, _ in leaves()}
    assert set(FLAGS.values()) <= settings
    assert set(load_config({}, environ={}).origin) == {".".join(place) for place in settings}


def test_another_file_can_be_named(tmp_path):
    other = tmp_path / "mine.toml"
    other.write_text("﻿[judge]\nmodel = 'm'\n", encoding="utf-8")  # with the mark some editors put first
    loaded = load_config({}, path=other, environ={})
    assert (loaded.config.judge.model, loaded.origin["judge.model"], loaded.path) == ("m", str(other), other)


@pytest.mark.parametrize(
    ("flag", "text", "value"),
    [
        ("timeout", "2.5", 2.5),
        ("max_tokens", "100", 100),
        ("temperature", "0", 0.0),
        ("no_cache", "yes", True),
        ("cache_mb", "2.5", 2.5),
        ("force", "0", False),
        ("extra_body", '{"top_k": 1}', {"top_k": 1}),
        ("map", "reference=标准, question=问", {"reference": "标准", "question": "问"}),
        ("metrics", "a,b(x=1,w=[0.5,0.5])", ("a", "b(x=1,w=[0.5,0.5])")),
        ("metrics", "a，b", ("a", "b")),
        ("plan", "separate", "separate"),
        ("lang", "zh_CN.UTF-8", "zh"),
    ],
)
def test_texts_of_flags_and_variables_are_read_as_the_settings_type(flag, text, value):
    for loaded in (load_config({flag: text}, environ={}), load_config({}, environ={f"RAGSTONE_{flag.upper()}": text})):
        setting = loaded.config
        for step in FLAGS[flag]:
            setting = getattr(setting, step)
        assert setting == value


def test_python_callers_give_values_as_they_are():
    config = load_config(
        {"map": {"reference": "标准"}, "metrics": ["a", "b"], "repeat": 2, "dry_run": False, "temperature": 0}, environ={}
    ).config
    assert (config.map, config.metrics.metrics, config.repeat, config.dry_run) == ({"reference": "标准"}, ("a", "b"), 2, False)


def test_a_repeated_flag_gives_several_columns():
    assert load_config({"map": ["a=b", "c=d=e"]}, environ={}).config.map == {"a": "b", "c": "d=e"}


def test_a_preset_named_higher_up_replaces_metrics_named_below_and_the_other_way_round():
    Path("ragstone.toml").write_text("[metrics]\nmetrics = ['faithfulness']")
    assert load_config({"preset": "fast"}, environ={}).config.metrics.metrics is None
    Path("ragstone.toml").write_text("[metrics]\npreset = 'fast'")
    assert load_config({"metrics": "context_recall"}, environ={}).origin["metrics.preset"] == "default"


def test_tables_of_other_commands_are_read_and_kept():
    Path("ragstone.toml").write_text(
        """
        gold = "gold.jsonl"
        work = "runs"
        baseline = "last"
        steps = ["collect", "evaluate", "gate"]
        [collect]
        platform = "mine"
        url = "https://rag.example/api"
        headers = {X-Tenant = "7"}
        body = {q = "$question"}
        strip = "x"
        fail_if = ["a", "b"]
        retry = [418]
        before = {path = "/open"}
        [[collect.then]]
        path = "/p?id=$id"
        per = "chunk"
        [gate]
        on_doubt = "fail"
        no_new_made_up = "any"
        [gate.metrics.faithfulness]
        min_mean = 0.8
        [[gate.slices]]
        by = "category"
        value = "leave"
        metric = "context_recall"
        min_mean = 0.7
        [export]
        to = ["csv", "langfuse"]
        [prices."deepseek-chat"]
        input = 2
        output = 3.0
        """
    )
    config = load_config({}, environ={}).config
    assert config.steps == ("collect", "evaluate", "gate")
    assert config.collect.headers == {"X-Tenant": "7"}
    assert (config.collect.strip, config.collect.fail_if, config.collect.retry) == (("x",), ("a", "b"), (418,))
    assert (config.collect.before.path, config.collect.then[0].per) == ("/open", "chunk")
    assert config.gate.metrics["faithfulness"].min_mean == 0.8
    assert (config.gate.slices[0].value, config.gate.min_coverage, config.gate.no_new_made_up) == ("leave", 0.95, "any")
    assert config.export.to == ("csv", "langfuse")
    assert config.prices["deepseek-chat"].output == 3


def test_one_further_request_may_be_a_table():
    Path("ragstone.toml").write_text("[collect.then]\npath = '/p'\nuntil = 'done'")
    assert [step.until for step in load_config({}, environ={}).config.collect.then] == ["done"]


@pytest.mark.parametrize("name", ["timeout", "retries", "concurrency", "repeat"])
def test_flags_of_collect_are_about_the_application(name):
    for loaded in (
        load_config({name: "3"}, environ={}, command="collect"),
        load_config({}, environ={f"RAGSTONE_{name.upper()}": "3"}, command="collect"),
    ):
        assert getattr(loaded.config.collect, name) == 3
        assert (loaded.config.judge, loaded.config.concurrency, loaded.config.repeat) == (Config().judge, 16, 1)
        assert loaded.origin[f"collect.{name}"] != "default"
    assert getattr(load_config({name: "3"}, environ={}).config.collect, name) == getattr(Config().collect, name)


@pytest.mark.parametrize("name", ["platform", "url", "app", "stream"])
def test_what_only_collect_has_is_unknown_elsewhere(name):
    value = "http://h" if name == "url" else "none"
    assert getattr(load_config({name: value}, environ={}, command="collect").config.collect, name) == value
    with pytest.raises(ConfigError, match=f"there is no setting {name}"):
        load_config({name: value}, environ={})


def test_a_wrong_flag_of_collect_is_named_as_it_was_given():
    with pytest.raises(ConfigError, match=r"^--timeout = 0: must be a number above 0"):
        load_config({"timeout": 0}, environ={}, command="collect")
    with pytest.raises(ConfigError, match=r"^RAGSTONE_STREAM = \"sse\": must be one of none, openai-sse, event-sse, jsonl"):
        load_config({}, environ={"RAGSTONE_STREAM": "sse", "RAGSTONE_LANG": "en"})


def test_settings_do_not_change():
    with pytest.raises(ValidationError):
        Config().concurrency = 3  # type: ignore[misc]


# ------------------------------------------------------------------ what is refused
@pytest.mark.parametrize(
    ("toml", "said"),
    [
        (
            "steps = ['colect']",
            'ragstone.toml: steps = "colect": must be a list of collect, evaluate, diagnose, compare, '
            "gate, report, export; did you mean collect?",
        ),
        ("concurency = 3", "ragstone.toml: there is no setting concurency; did you mean concurrency?"),
        ("[judge]\nmodle = 'x'", "ragstone.toml: there is no setting modle in [judge]; did you mean [judge] model?"),
        ("model = 'x'", "ragstone.toml: there is no setting model; did you mean [judge] model?"),
        ("[limits]\ntemperature = 1", "ragstone.toml: there is no setting temperature in [limits]; did you mean [judge] temperature?"),
        (
            "[gate.metrics.f]\nmin_maen = 1",
            "ragstone.toml: there is no setting min_maen in [gate.metrics.f]; did you mean [gate.metrics.f] min_mean?",
        ),
        ("zzz = 1", "ragstone.toml: there is no setting zzz"),
        ("[zzz]\na = 1", "ragstone.toml: there is no setting zzz"),
        ("concurrency = 0", "ragstone.toml: concurrency = 0: must be a whole number from 1 to 1000"),
        ("concurrency = '8'", 'ragstone.toml: concurrency = "8": must be a whole number from 1 to 1000'),
        ("concurrency = true", "ragstone.toml: concurrency = true: must be a whole number from 1 to 1000"),
        ("repeat = 101", "ragstone.toml: repeat = 101: must be a whole number from 1 to 100"),
        (f"seed = {10**22}", f"ragstone.toml: seed = {10**22}: must be a whole number from 0 to 4294967295"),
        (f"limit = {10**22}", f"ragstone.toml: limit = {10**22}: must be a whole number from 1 to 1000000000"),
        ("no_cache = 1", "ragstone.toml: no_cache = 1: must be true or false"),
        ("language = 'fr'", 'ragstone.toml: language = "fr": must be one of auto, zh, en'),
        ("judge = 'x'", 'ragstone.toml: judge = "x": must be a table'),
        ("[judge]\ntemperature = 2.1", "ragstone.toml: [judge] temperature = 2.1: must be a number from 0 to 2"),
        ("[judge]\ntimeout = 0", "ragstone.toml: [judge] timeout = 0: must be a number above 0 and at most 3600"),
        ("[judge]\ntemperature = nan", "ragstone.toml: [judge] temperature = nan: must be a number from 0 to 2"),
        ("[limits]\ntop_k = 0", "ragstone.toml: [limits] top_k = 0: must be a whole number of at least 1"),
        ("[gate]\nconfidence = 1", "ragstone.toml: [gate] confidence = 1: must be a number of at least 0.5 and below 1"),
        ("[gate]\nno_new_made_up = 'x'", 'ragstone.toml: [gate] no_new_made_up = "x": must be true or false or "any"'),
        ("[[gate.slices]]\nby = 'c'", "ragstone.toml: [[gate.slices]] 1 metric is missing"),
        ("[gate]\nmetrics = {f = 1}", "ragstone.toml: [gate.metrics] f = 1: must be a table"),
        (
            "steps = ['collect', 'sing']",
            'ragstone.toml: steps = "sing": must be a list of collect, evaluate, diagnose, compare, gate, report, export',
        ),
        ("[metrics]\nmetrics = ['a']\npreset = 'fast'", "[metrics] metrics: give either metrics or a preset, not both"),
        ("[collect]\nurl = 'h'", 'ragstone.toml: [collect] url: "h" is no address; it must start with http:// or https://'),
        ("[collect]\nanswr = 'a'", "ragstone.toml: there is no setting answr in [collect]; did you mean [collect] answer?"),
        ("[collect.before]\npaht = '/'\npath = '/'", "ragstone.toml: there is no setting paht in [collect.before]; did you mean"),
        ("[collect.before]\nmethod = 'GET'", "ragstone.toml: [collect.before] path is missing"),
        ("[[collect.then]]\npath = '/'\nper = 'x'", 'ragstone.toml: [[collect.then]] 1 per = "x": must be one of answer, chunk'),
        ("[[collect.then]]\npath = '/'\nuntill = 'x'", "ragstone.toml: there is no setting untill in [[collect.then]] 1; did you mean"),
        ("[collect]\nretry = ['x']", 'ragstone.toml: [collect] retry = "x": must be a list of whole numbers'),
        ("[collect]\nstrip = 3", "ragstone.toml: [collect] strip = 3: must be a list of texts"),
        ("[collect]\nheaders = {a = 1}", "ragstone.toml: [collect] headers = 1: must be pairs"),
        (
            "[judge]\nbase_url = 'localhost:80'",
            'ragstone.toml: [judge] base_url: "localhost:80" is no address; it must start with http:// or https://',
        ),
    ],
)
def test_a_wrong_setting_is_named_with_what_is_allowed(toml, said):
    (line,) = problems(toml=toml)
    assert line.startswith(said)


@pytest.mark.parametrize(
    ("flags", "en", "zh"),
    [
        ({"repeat": "x"}, '--repeat = "x": must be a whole number from 1 to 100', '--repeat = "x"：应为整数，1 到 100'),
        (
            {"extra_body": "[1]"},
            '--extra-body = [1]: must be a JSON object, e.g. {"top_k": 1}',
            '--extra-body = [1]：应为 JSON 对象，如 {"top_k": 1}',
        ),
        (
            {"map": ["zz"]},
            '--map = "zz": must be pairs NAME=VALUE, e.g. reference=标准',
            '--map = "zz"：应为形如 名称=值 的对，如 reference=标准',
        ),
        (
            {"preset": "ful"},
            '--preset = "ful": must be one of fast, retrieval, full, monitor; did you mean full?',
            '--preset = "ful"：应为 fast, retrieval, full, monitor 之一；是否想写 full？',
        ),
        (
            {"concurency": 3},
            "there is no setting concurency; did you mean concurrency?",
            "没有名为 concurency 的设置；是否想写 concurrency？",
        ),
    ],
)
def test_messages_speak_both_languages(flags, en, zh):
    assert problems(flags) == [en]
    assert problems(flags, lang="zh") == [zh]


def test_all_problems_are_told_at_once_each_with_its_place():
    found = problems({"repeat": "0"}, "concurency = 3\n[judge]\nseed = 'x'\n", {"RAGSTONE_RETRIES": "many"})
    assert len(found) == 4
    assert {line.split(":")[0].split(" =")[0] for line in found} == {"--repeat", "RAGSTONE_RETRIES", "ragstone.toml"}


@pytest.mark.parametrize(
    ("toml", "place"),
    [("a = \n", "line 1, column 5"), ("[judge]\nmodel = 'm'\nx = '''", "line 3, column"), ("[judge\n", "line 1, column 7")],
)
def test_broken_toml_names_line_and_column(toml, place):
    (line,) = problems(toml=toml)
    assert line.startswith("ragstone.toml: " + place)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(ConfigError, match=r"gone\.toml: the settings file cannot be read"):
        load_config({}, path=tmp_path / "gone.toml", environ={})
    (tmp_path / "house.toml").write_text("", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"; did you mean house\.toml\?$"):
        load_config({}, path=tmp_path / "hose.toml", environ={})
    (tmp_path / "gbk.toml").write_bytes('gold = "标准.jsonl"'.encode("gbk"))
    with pytest.raises(ConfigError, match="not UTF-8 at byte 8"):
        load_config({}, path=tmp_path / "gbk.toml", environ={})


# ------------------------------------------------------------------ secrets
KEY = "sk-abcdefghijklmnop1234"


@pytest.mark.parametrize(
    ("toml", "hint"),
    [
        (f"[judge]\napi_key = '{KEY}'", "api_key_env"),
        ("[judge]\napi_key = 'short'", "api_key_env"),
        (f"[judge]\napi_key_env = '{KEY}'", "api_key_env"),
        ("[judge]\napi_key_env = 'abc.def/1=='", "api_key_env"),
        (f"[judge]\nextra_body = {{a = [{{b = '{KEY}'}}]}}", "api_key_env"),
        ("[collect.headers]\nAuthorization = 'Bearer abcdefghijklmnopqrst'", "api_key_env"),
        ("[collect]\napi_key_env = 'fastgpt-abcdefghijklmnop1234'", "api_key_env"),
        ("[collect.headers]\nX-Api-Key = 'short'", "$env.NAME"),
        ("[collect.headers]\nAuthorization = 'Bearer short'", "$env.NAME"),
        (f"[collect]\nbody = {{inputs = [{{b = '{KEY}'}}]}}", "$env.NAME"),
        ("[collect.body]\ntoken = 'short'", "$env.NAME"),
        (f"[[collect.then]]\npath = '/p'\nheaders = {{X = 'Bearer {KEY}'}}", "$env.NAME"),
        ("[[collect.then]]\npath = '/p'\nheaders = {Cookie = 'short'}", "$env.NAME"),
        ("[collect]\nurl = 'https://host/v1?api_key=short'", "$env.NAME"),
        ("[collect.before]\npath = '/open?access_token=short'", "$env.NAME"),
        (f"[collect]\nurl = 'https://user:{KEY}@host'", "RAGSTONE_COLLECT_API_KEY"),
        (f"[judge]\nbase_url = 'https://user:{KEY}@host/v1'", "environment"),
        (f"[embeddings]\nbase_url = 'https://{KEY}@host/v1'", "environment"),
    ],
)
def test_keys_in_the_file_are_refused_and_never_quoted(toml, hint):
    found = problems(toml=toml)
    assert len(found) == 1
    assert hint in found[0]
    assert not any(secret in found[0] for secret in (KEY, "short", "abc.def", "abcdefghijklmnop"))


@pytest.mark.parametrize("source", ["flag", "environment"])
def test_credentials_in_an_address_are_refused_wherever_they_stand(source):
    url = "https://me:secret@host/v1"
    found = problems({"base_url": url}) if source == "flag" else problems(environ={"RAGSTONE_BASE_URL": url})
    assert "RAGSTONE_JUDGE_API_KEY" in found[0]
    assert "secret" not in found[0]


@pytest.mark.parametrize("name", ["DEEPSEEK_API_KEY", "k"])
def test_names_of_variables_are_no_keys(name):
    Path("ragstone.toml").write_text(
        f"[judge]\napi_key_env = '{name}'\nmodel = 'app-model-with-a-long-name'\nbase_url = 'http://h/v1?a=b@c'"
    )
    assert load_config({}, environ={}).config.judge.api_key_env == name


@pytest.mark.parametrize(
    "toml",
    [
        "headers = {Authorization = 'Bearer $env.MY_VERY_LONG_COLLECT_TOKEN'}",
        "headers = {X-Api-Key = '$env.KEY', Cookie = '${env.COOKIE}'}",
        "body = {token = '$env.KEY', key = '$question', q = 'Bearer $env.MY_VERY_LONG_COLLECT_TOKEN'}",
        "path = '/chat?lang=zh&q=$question'",
        "then = {path = '/p?id=$id', headers = {Authorization = 'token $env.KEY'}}",
    ],
)
def test_secrets_named_by_slots_are_let_through(toml):
    Path("ragstone.toml").write_text(f"[collect]\n{toml}")
    load_config({}, environ={})


# ------------------------------------------------------------------ the environment
def test_keys_are_no_settings_and_unknown_variables_are_told():
    environ = {"RAGSTONE_JUDGE_API_KEY": "x", "RAGSTONE_CONFIG": "y", "RAGSTONE_CONCURENCY": "2", "RAGSTONE_QQQQ": "1", "PATH": "/bin"}
    notices = load_config({}, environ=environ).notices
    assert notices == (
        "The environment variable RAGSTONE_CONCURENCY sets nothing in ragstone; did you mean RAGSTONE_CONCURRENCY?",
        "The environment variable RAGSTONE_QQQQ sets nothing in ragstone",
    )


def test_a_value_nested_without_end_is_a_wrong_value():
    assert problems({"extra_body": "[" * 100_000})[0].endswith('must be a JSON object, e.g. {"top_k": 1}')


def test_a_misspelt_plan_is_one_message_with_the_nearest_name():
    with pytest.raises(ConfigError) as caught:
        load_config({"plan": "seperate"}, environ={})
    assert str(caught.value).splitlines() == ['--plan = "seperate": must be one of separate, joint, per-context; did you mean separate?']


# ------------------------------------------------------------------ tables from Python
def test_prices_may_be_given_as_a_keyword_in_place_of_the_files(tmp_path):
    file = tmp_path / "ragstone.toml"
    file.write_text("[prices.m]\ninput = 9.0\ncached = 1.0\n[prices.n]\ninput = 0.3\n", encoding="utf-8")
    prices = load_config({"prices": {"m": {"input": 1.0, "output": 2}, "千问": {"input": 0.3}}}, path=file, environ={}).config.prices
    assert {name: price.model_dump() for name, price in prices.items()} == {
        "m": {"input": 1.0, "output": 2.0, "cached": None},
        "千问": {"input": 0.3, "output": 0.0, "cached": None},
    }


@pytest.mark.parametrize(
    ("prices", "words"),
    [(3, "prices"), ({"m": 3}, "must be a table"), ({"m": {"inputs": 1}}, "[prices.m] input"), ({"m": {"input": -1}}, "at least 0")],
)
def test_wrong_prices_are_refused(prices, words):
    with pytest.raises(ConfigError) as refused:
        load_config({"prices": prices}, environ={})
    assert words in str(refused.value)


@pytest.mark.parametrize("given", ["langfuse", "langfuse-eval", "Prod", "a b", "x" * 41, ""])
@pytest.mark.parametrize(("lang", "part"), [("en", "must not begin with langfuse"), ("zh", "不能以 langfuse 开头")])
def test_an_environment_that_langfuse_would_change_is_refused(given, lang, part):
    Path("ragstone.toml").write_text(f"[export.langfuse]\nenvironment = '{given}'")
    with pytest.raises(ConfigError, match=part):
        load_config({"lang": lang}, environ={})


@pytest.mark.parametrize("given", ["ragstone", "my-langfuse", "eval_2", "x" * 40])
def test_an_environment_that_langfuse_takes_is_read(given):
    Path("ragstone.toml").write_text(f"[export.langfuse]\nenvironment = '{given}'")
    assert load_config({}, environ={}).config.export.langfuse.environment == given
