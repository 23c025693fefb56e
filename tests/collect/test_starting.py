"""The settings file `collect --init` writes: it loads as it stands, and so does each line that is commented out."""

import re
import tomllib

import pytest

from ragstone.collect.expressions import check
from ragstone.collect.preset import platforms, preset, spec_of
from ragstone.collect.starting import settings_file
from ragstone.config import load_config
from ragstone.errors import ConfigError

SETTING = re.compile(r"#([a-z_]+ = .*)")


NAMES = (*platforms(), "custom")


def loaded(text, tmp_path):
    file = tmp_path / "ragstone.toml"
    file.write_text(text, encoding="utf-8")
    return load_config({}, path=file, environ={}).config


def with_url(text):
    return text.replace("#url = ", "url = ", 1)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", NAMES)
def test_an_address_elsewhere_is_an_example_until_somebody_takes_it_in(name, lang, tmp_path):
    text = settings_file(name, lang).replace('app = ""', 'app = "A"').replace('model = ""', 'model = "m"')
    config, url = loaded(text, tmp_path), "" if name == "custom" else preset(name).example_url
    assert ("Take the # away" in text.replace("\n# ", " ") or "去掉行首的井号" in text) is ("localhost" not in url)
    if "localhost" in url:
        assert config.collect.url == url
        return
    assert config.collect.url is None
    with pytest.raises(ConfigError, match="--url"):
        spec_of(config.collect, config.judge, lang)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", platforms())
def test_it_loads_as_it_is_and_names_the_platform(name, lang, tmp_path):
    text = settings_file(name, lang)
    config = loaded(text, tmp_path)
    assert config.collect.platform == name
    assert config.judge.model is None
    assert loaded(with_url(text), tmp_path).collect.url == preset(name).example_url


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", NAMES)
def test_every_setting_in_it_loads_when_it_is_taken_in(name, lang, tmp_path):
    lines = settings_file(name, lang).splitlines()
    commented = [at for at, line in enumerate(lines) if SETTING.fullmatch(line)]
    assert len(commented) > 12
    for at in commented:
        found = lines[at].removeprefix("#")
        loaded("\n".join([*lines[:at], found, *lines[at + 1 :]]), tmp_path)
        assert tomllib.loads(found)


@pytest.mark.parametrize("name", platforms())
def test_what_it_shows_is_what_is_sent_and_read(name, tmp_path):
    text = with_url(settings_file(name, "en")).replace('app = ""', 'app = "A"').replace('model = ""', 'model = "m"')
    plain = loaded(text, tmp_path)
    shown = [line for line in text.splitlines() if SETTING.fullmatch(line)]
    first = {line.partition(" =")[0].lstrip("#"): line.lstrip("#") for line in reversed(shown)}
    taken = [line for field, line in first.items() if field not in ("headers", "stream", "model", "base_url", "api_key_env", "preset")]
    before, after = text.split("\n[judge]")
    again = loaded("\n".join([*(x for x in before.splitlines() if not SETTING.fullmatch(x)), *taken, "[judge]" + after]), tmp_path)
    specs = [spec_of(config.collect, config.judge, "en") for config in (plain, again)]
    differing = {field for field in type(specs[0]).model_fields if getattr(specs[0], field) != getattr(specs[1], field)}
    assert differing <= {"own", "concurrency"}


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_an_application_of_ones_own_can_be_asked_as_the_file_stands_with_its_address(lang, tmp_path):
    config = loaded(with_url(settings_file("custom", lang)), tmp_path)
    spec = spec_of(config.collect, config.judge, lang)
    assert (spec.platform, spec.url, spec.path, spec.body) == ("custom", "https://rag.example.com", "/ask", {"question": "$question"})
    assert (spec.answer, spec.contexts) == ("answer", "chunks")
    assert set(spec.own) == {"platform", "url", "path", "body", "answer", "contexts"}


def test_every_setting_of_an_application_of_ones_own_can_be_taken_in(tmp_path):
    text = re.sub(r"(?m)^#(?=[a-z_]+ = )(?!api_key_env)", "", settings_file("custom", "en"))
    config = loaded(text, tmp_path)
    spec = spec_of(config.collect, config.judge, "en")
    assert (spec.method, spec.context_score, spec.then[0].text, spec.strip) == ("POST", "score", "text", (r"\[doc\d+\]",))
    check(spec, "en")


@pytest.mark.parametrize(
    ("name", "lang", "words"),
    [
        ("custom", "en", "leave it out if the application does not tell"),
        ("custom", "zh", "换成自己的"),
        ("fastgpt", "en", "Publish > API access"),
        ("fastgpt", "zh", "发布渠道"),
        ("dify-chat", "zh", "引用和归属"),
        ("coze", "en", "published to the API"),
        ("maxkb", "zh", "显示知识来源"),
        ("hayhooks", "en", "RAGSTONE_COLLECT_API_KEY"),
    ],
)
def test_it_says_where_the_key_is_and_what_to_switch_on(name, lang, words):
    assert words in settings_file(name, lang).replace("\n# ", " " if lang == "en" else "")


def test_no_line_of_comment_is_too_wide():
    for name in NAMES:
        for line in settings_file(name, "zh").splitlines():
            assert SETTING.fullmatch(line) or not line.startswith("#") or sum(1 if char.isascii() else 2 for char in line) <= 104, line


def test_a_name_that_is_no_platform_is_refused_with_the_nearest():
    with pytest.raises(ConfigError, match=r"did you mean ragflow\?"):
        settings_file("ragflw", "en")
    with pytest.raises(ConfigError, match=r"did you mean custom\?"):
        settings_file("custum", "en")


@pytest.mark.parametrize("platform", [*platforms(), "custom"])
def test_lines_in_chinese_break_where_a_reader_expects_it(platform):
    for line in settings_file(platform, "zh").splitlines():
        assert not line.startswith("#") or line[-1] not in "（「“"
        assert not re.match(r"# [，。；：、）」”…]", line)
        assert not line.endswith("$env.")
