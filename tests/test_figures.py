"""Metrics may be named in Chinese wherever one is named."""

import json

import pytest

from ragstone.cli.app import run
from ragstone.config.rules import rules_of
from ragstone.errors import ConfigError
from ragstone.figures import metric_name, metric_named
from ragstone.metrics import titled


@pytest.mark.parametrize("name", titled())
@pytest.mark.parametrize("parameters", ["", "(strictness=1)"])
def test_the_chinese_name_is_the_way_back(name, parameters):
    assert metric_named(metric_name(name, "zh") + parameters) == name + parameters
    assert metric_named(name + parameters) == name + parameters


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("答案相关性（strictness＝1）", "answer_relevancy(strictness=1)"),
        (" 忠实度 ", "faithfulness"),
        ("忠实", "忠实"),
        ("", ""),
        ("my_metric（x）", "my_metric（x）"),
    ],
)
def test_other_spellings(given, name):
    assert metric_named(given) == name


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    verdict = {"kind": "reference_claim", "id": "r1", "text": "Seven days.", "verdict": "covered", "key": "k"}
    for name, shift in (("a", 0.0), ("b", 0.125)):
        (tmp_path / "r" / name).mkdir(parents=True)
        rows = [
            {"sample_id": f"s{i}", "metric": m, "value": 0.25 * (i % 3) + shift, "status": "ok", "verdicts": [verdict]}
            for i in range(8)
            for m in ("context_recall", "answer_relevancy(strictness=1)")
        ]
        (tmp_path / "r" / name / "scores.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (tmp_path / "rules.toml").write_text('[gate.metrics."上下文召回率"]\nmin_mean = 0.1\n', encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("option", ["--metric", "--metrics"])
@pytest.mark.parametrize(
    ("args", "name"),
    [
        (["compare", "r/a", "r/b"], "上下文召回率"),
        (["compare", "r/a", "r/b"], "上下文召回率，答案相关性(strictness=1)"),
        (["plan", "--from", "r/a", "--gap", "0.1"], "答案相关性（strictness=1）"),
        (["history", "r"], "上下文召回率"),
    ],
)
def test_commands_take_it(runs, args, name, option, capsys):
    codes, told = [], []
    for given in (
        name,
        name.replace("上下文召回率", "context_recall").replace("答案相关性", "answer_relevancy").translate({0xFF08: "(", 0xFF09: ")"}),
    ):
        codes.append(run([*args, option, given, "--json"], "zh", {}))
        told.append(capsys.readouterr().out)
    assert codes == [0, 0]
    assert told[0] == told[1] != ""


def test_rules_take_it(runs, capsys):
    assert run(["gate", "r/a", "--rules", "rules.toml", "--json"], "zh", {}) == 0
    assert '"context_recall"' in capsys.readouterr().out
    rules = rules_of({"slices": [{"by": "k", "value": "v", "metric": "忠实度", "min_mean": 0.5}]}, "zh")
    assert rules.slices[0].metric == "faithfulness"


@pytest.mark.parametrize(("lang", "words"), [("en", "rules of one metric"), ("zh", "是同一项指标的规则")])
def test_two_names_of_one_metric_are_refused(lang, words):
    with pytest.raises(ConfigError, match=words):
        rules_of({"metrics": {"忠实度": {"min_mean": 0.5}, "faithfulness": {"min_mean": 0.6}}}, lang)


def test_evaluate_takes_both(runs, capsys):
    (runs / "samples.jsonl").write_text('{"question": "q", "answer": "a b", "contexts": ["a b"]}\n', encoding="utf-8")
    assert run(["evaluate", "samples.jsonl", "--judge", "local", "--metric", "忠实度", "--out", "e", "--quiet", "--json"], "zh", {}) in (
        0,
        1,
    )
    assert '"faithfulness"' in capsys.readouterr().out
