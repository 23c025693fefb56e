"""The rules of a gate: one table of a TOML file, read strictly."""

import pytest

from ragstone.config.rules import load_rules, rules_of
from ragstone.errors import ConfigError

FULL = """
[judge]
model = "any"
[gate]
min_coverage = 0.9
on_doubt = "fail"
no_new_made_up = "any"
[gate.metrics.faithfulness]
min_mean = 0.80
max_drop = 0.02
[[gate.slices]]
by = "category"
value = "请假"
metric = "context_recall"
min_mean = 0.7
"""


def read(tmp_path, text, lang="en"):
    file = tmp_path / "rules.toml"
    file.write_text(text, encoding="utf-8")
    return load_rules(file, lang)


def test_every_rule_is_read_and_other_tables_are_left_alone(tmp_path):
    rules = read(tmp_path, FULL)
    assert (rules.min_coverage, rules.confidence, rules.on_doubt, rules.no_new_made_up) == (0.9, 0.95, "fail", "any")
    assert (rules.metrics["faithfulness"].min_mean, rules.metrics["faithfulness"].max_drop) == (0.8, 0.02)
    assert (rules.slices[0].by, rules.slices[0].value, rules.slices[0].metric, rules.slices[0].min_mean) == (
        "category",
        "请假",
        "context_recall",
        0.7,
    )


def test_an_empty_table_means_the_defaults(tmp_path):
    assert read(tmp_path, "[gate]\n") == rules_of({}, "en")


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[gates]\nmin_coverage = 0.9", ["rules.toml", "gates", "[gate]"]),
        ("min_coverage = 0.9", ["rules.toml", "[gate]"]),
        ("[gate]\nmin_coverge = 0.9", ["min_coverge", "min_coverage"]),
        ('[gate]\nmin_coverage = "0.9"', ["[gate] min_coverage", '"0.9"']),
        ('[gate]\non_doubt = "maybe"', ["[gate] on_doubt", "maybe", "pass"]),
        ('[gate]\nno_new_made_up = "all"', ["no_new_made_up", '"any"']),
        ("[gate.metrics.faithfulness]\nmin_mena = 0.8", ["min_mena", "[gate.metrics.faithfulness] min_mean"]),
        ("[gate.metrics.faithfulness]\nmin_mean = 80", ["[gate.metrics.faithfulness] min_mean", "80"]),
        ("[gate.metrics.faithfulness]\n", ["[gate.metrics.faithfulness]", "min_mean", "max_drop"]),
        ("[gate.metrics]\nfaithfulness = 0.8", ["[gate.metrics] faithfulness", "0.8"]),
        ("[gate]\nmetrics = 3", ["metrics = 3", "[gate.metrics.faithfulness]"]),
        ("[gate]\nslices = 3", ["slices = 3", "[[gate.slices]]"]),
        ('[[gate.slices]]\nby = "c"\nvalue = "x"\nmin_mean = 0.5', ["metric", "[[gate.slices]] 1"]),
        ('[[gate.slices]]\nby = "c"\nmetric = "m"', ["[[gate.slices]] 1", "min_mean"]),
        (
            '[[gate.slices]]\nby = "c"\nmetric = "m"\nmin_mean = 0.5\n[[gate.slices]]\nbye = 1',
            ["bye", "[[gate.slices]] 2 by"],
        ),
        ("[gate]\nslices = [1]", ["[[gate.slices]] 1 = 1"]),
        ("[gate]\nmin_coverage = " + "9" * 5000, ["rules.toml"]),
        ("x = " + "[" * 5000 + "]" * 5000 + "\n[gate]", ["rules.toml"]),
        ("gate = 3", ["gate = 3"]),
        ("[gate", ["rules.toml"]),
        ("[gate]\nconfidence = 1.0", ["confidence"]),
    ],
)
def test_what_is_wrong_is_named_with_its_place(tmp_path, text, parts, lang):
    with pytest.raises(ConfigError) as refused:
        read(tmp_path, text, lang)
    assert [part for part in parts if part not in str(refused.value)] == []


def test_all_problems_are_told_at_once(tmp_path):
    with pytest.raises(ConfigError) as refused:
        read(tmp_path, '[gate]\nmin_coverage = 2\non_doubt = "x"')
    assert len(str(refused.value).splitlines()) == 2


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"nowhere\.toml"):
        load_rules(tmp_path / "nowhere.toml", "en")


@pytest.mark.parametrize("odd", [5, [], b"x", None, True])
def test_rules_that_are_no_table_are_refused(odd):
    with pytest.raises(ConfigError, match=r"gate = .*must be a table"):
        rules_of(odd, "en")


def test_rules_from_python_are_as_strict():
    assert rules_of({"metrics": {"faithfulness": {"min_mean": 0.8}}}, "en").metrics["faithfulness"].min_mean == 0.8
    with pytest.raises(ConfigError, match=r"\[gate.metrics.f\] min_mean"):
        rules_of({"metrics": {"f": {"min_mean": "x"}}}, "en")


@pytest.mark.parametrize(
    ("lang", "gone", "folder"),
    [
        ("en", "the file of rules cannot be read: there is no such file or folder", "the file of rules cannot be read: it is a folder"),
        ("zh", "无法读取规则文件：没有这个文件或文件夹", "无法读取规则文件：它是文件夹"),
    ],
)
def test_rules_that_cannot_be_read(tmp_path, lang, gone, folder):
    for path, words in ((tmp_path / "none.toml", gone), (tmp_path, folder)):
        with pytest.raises(ConfigError) as caught:
            load_rules(path, lang)
        assert str(caught.value).endswith(words)


def test_rules_in_the_settings_file_are_in_the_settings_file(tmp_path):
    with pytest.raises(ConfigError, match="the settings file cannot be read"):
        load_rules(tmp_path / "ragstone.toml", "en")


@pytest.mark.parametrize(
    ("text", "en", "zh"),
    [
        ("[gate\n", "Expected ']' at the end of a table declaration", "表名之后缺少 ]"),
        ("[gate]\nmin_coverage 0.9", "Expected '=' after a key in a key/value pair", "键之后缺少 ="),
        ("[gate]\nmin_coverage = 95%", "Expected newline or end of document after a statement", "语句之后应当换行"),
        ("[gate]\n[gate]\n", "Cannot declare ('gate',) twice", "('gate',) 重复声明"),
        ('[gate]\non_doubt = "fail', "Illegal character", "不允许出现字符"),
    ],
)
def test_mistakes_of_toml_are_told_in_both_languages(tmp_path, text, en, zh):
    for lang, words in (("en", en), ("zh", zh)):
        with pytest.raises(ConfigError) as caught:
            read(tmp_path, text + ("" if text.endswith("\n") else "\n"), lang)
        assert words in str(caught.value)
