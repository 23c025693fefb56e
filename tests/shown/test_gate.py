"""What became of a gate's rules: document, page, JUnit XML, whatever the texts hold."""

import json
import re
from xml.etree import ElementTree

import pytest
from support.gated import A, rows_of, run

import ragstone
from ragstone import Run, gate
from ragstone.analysis.gate import Limit, Outcome
from ragstone.analysis.intervals import Interval
from ragstone.shown.blocks import Code, Table, Text

LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])
KEYS = {"passed", "exit_code", "run", "baseline", "rules", "warnings"}
RULE_KEYS = {"rule", "metric", "slice", "limit", "observed", "ci", "status", "text"}
RULES = {
    "metrics": {"faithfulness": {"min_mean": 0.7, "max_drop": 0.0}, "context_recall": {"min_mean": 0.5}},
    "slices": [{"by": "category", "value": "leave", "metric": "faithfulness", "min_mean": 0.2}],
    "no_new_made_up": "any",
}


@pytest.fixture(
    params=[[0.48, 0.84] * 20, [0.61, 0.71] * 20, [0.5], [None] * 40, ["-"] * 40], ids=["worse", "noise", "one", "failed", "none"]
)
def result(request):
    return gate(run(request.param), run(A), RULES)


@LANGUAGES
def test_the_document_holds_every_key(result, lang):
    document = result.to_dict(lang)
    assert set(document) >= KEYS
    assert all(set(rule) >= RULE_KEYS and rule["text"] for rule in document["rules"])
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document["exit_code"] == (0 if document["passed"] else 1)
    texts = " ".join(rule["text"] for rule in document["rules"])
    assert bool(re.search("[一-鿿]", texts)) == (lang == "zh")


@LANGUAGES
def test_the_pages(result, lang):
    page = result.to_markdown(lang)
    assert bool(re.search("[一-鿿]", page)) == (lang == "zh")
    assert "nan" not in page
    assert "None" not in page
    assert "<table" in result._repr_html_()


@LANGUAGES
def test_junit_holds_a_test_a_rule(result, lang):
    suite = ElementTree.fromstring(result.to_junit(lang).encode())[0]
    endings = {"pass": "system-out", "fail": "failure", "flaky": "skipped", "skipped": "skipped"}
    assert [case[0].tag for case in suite] == [endings[outcome.status] for outcome in result.outcomes]
    assert len({case.get("name") for case in suite}) == len(suite)


def test_junit_names_do_not_depend_on_the_language(result):
    suites = [ElementTree.fromstring(result.to_junit(lang).encode())[0] for lang in ("en", "zh")]
    names, other = ([(case.get("classname"), case.get("name")) for case in suite] for suite in suites)
    assert names == other
    assert ("ragstone.gate.min_mean", "faithfulness[category=leave] min_mean") in names
    assert ("ragstone.gate.no_new_made_up", "no_new_made_up") in names
    assert [case[0].get("message") or case[0].text for case in suites[0]] != [case[0].get("message") or case[0].text for case in suites[1]]


NOISE, WORSE = [0.61, 0.71] * 20, [0.48, 0.84] * 20
HEADS = [
    (A, {}, "Passed: 2 rules kept.", "通过：2 条规则满足。"),
    (NOISE, {}, "Passed: 1 rule kept, 1 in doubt.", "通过：1 条规则满足，1 条存疑。"),
    (NOISE, {"on_doubt": "fail"}, "Failed: 1 rule in doubt, 1 kept.", "未通过：1 条规则存疑，1 条满足。"),
    (WORSE, {}, "Failed: 1 rule broken, 1 kept.", "未通过：1 条规则未满足，1 条满足。"),
    (["-"] * 40, {}, "Failed: 1 rule without data, 1 not checked.", "未通过：1 条规则没有数据，1 条未检查。"),
    ([None] * 40, {}, "Failed: 1 rule broken, 1 without data.", "未通过：1 条规则未满足，1 条没有数据。"),
]


@pytest.mark.parametrize(("values", "rules", "en", "zh"), HEADS)
def test_the_verdict_counts_how_rules_ended(values, rules, en, zh):
    found = gate(run(values), run(A), {"metrics": {"faithfulness": {"max_drop": 0.0}}, **rules})
    assert (found.blocks("en")[1].text, found.blocks("zh")[1].text) == (en, zh)
    assert found.passed == en.startswith("Passed")


@pytest.mark.parametrize(
    ("values", "en", "zh"), [(NOISE, "FAIL (flaky)", "失败（存疑）"), (["-"] * 40, "FAIL (no data)", "失败（无数据）")]
)
def test_what_fails_the_gate_looks_like_it(values, en, zh):
    found = gate(run(values), run(A), {"metrics": {"faithfulness": {"max_drop": 0.0}}, "on_doubt": "fail"})
    for lang, word in (("en", en), ("zh", zh)):
        (table,) = [block for block in found.blocks(lang) if isinstance(block, Table)]
        assert word in [row[1] for row in table.rows]
        assert ('on_doubt = "fail"' in found.to_dict(lang)["rules"][-1]["text"]) == (values is NOISE)


@pytest.mark.parametrize(
    ("low", "high", "en", "zh"),
    [
        (-0.264, -0.011, "as small as 0.011, which is within", "真实降幅可能只有 0.011，仍在允许之内"),
        (-0.264, 0.05, "between -0.264 and +0.050, so there may be no drop", "在 -0.264 到 +0.050 之间，也许根本没有下降"),
        (-0.264, 0.0, "between -0.264 and 0.000, so there may be no drop", "在 -0.264 到 0.000 之间，也许根本没有下降"),
    ],
)
def test_a_doubtful_drop_says_what_is_in_doubt(low, high, en, zh):
    limit = Limit("max_drop", "faithfulness", 0.02)
    outcome, result = Outcome(limit, "flaky", -0.138, Interval(low, high, 0.95, "t"), 24), gate(run(A))
    assert en in result.sentence(outcome, "en")
    assert zh in result.sentence(outcome, "zh")


NAMES = ["faithfulness", "context_recall", "answer_relevancy", "context_precision", "answer_correctness"]


@pytest.mark.parametrize(
    ("drops", "level", "words"),
    [(1, 0.95, []), (2, 0.95, ["2.5%", "5.0%", "0.99"]), (5, 0.95, ["2.5%", "12.5%", "0.99"]), (5, 0.99, ["0.5%", "2.5%", "0.999"])],
)
def test_the_luck_of_many_drop_rules_stands_on_the_page_alone(drops, level, words):
    rows = [row for name in NAMES for row in rows_of(A, name)]
    found = gate(
        Run.from_scores(rows), Run.from_scores(rows), {"confidence": level, "metrics": {name: {"max_drop": 0.0} for name in NAMES[:drops]}}
    )
    for lang, mark in (("en", "by luck alone: "), ("zh", "碰巧失败的可能")):
        told = [block.text for block in found.blocks(lang) if isinstance(block, Text) and mark in block.text]
        assert len(told) == bool(words)
        assert [word for word in words if not re.search(rf"(?<![\d.]){re.escape(word)}(?![\d])", told[0])] == []
        assert mark not in json.dumps(found.to_dict(lang), ensure_ascii=False)


def test_what_to_run_next_is_named_with_real_paths(tmp_path):
    folders = [tmp_path / "my base", tmp_path / "new"]
    for folder, values in zip(folders, (A, WORSE), strict=True):
        folder.mkdir()
        (folder / "scores.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows_of(values)), encoding="utf-8")
    codes = [block.text for block in gate(folders[1], folders[0]).blocks("zh") if isinstance(block, Code)]
    assert codes == [f"ragstone compare '{folders[0]}' {folders[1]}", f"ragstone diagnose {folders[1]}"]
    assert [block for block in gate(folders[0], folders[1]).blocks("en") if isinstance(block, Code)] == []


def test_no_blank_stands_beside_a_chinese_metric_name():
    made = [{"metrics": {"faithfulness": {"version": version}}, "judge": {"model": "j"}} for version in (1, 2)]
    base = Run.from_scores([*rows_of(A), *rows_of(A, "context_recall")], manifest=made[0])
    found = gate(run(A, manifest=made[1]), base, allow_different_signature=True)
    texts = [warning["text"] for warning in found.to_dict("zh")["warnings"]]
    assert len([text for text in texts if "忠实度" in text or "上下文召回率" in text]) == 2
    assert [text for text in texts if re.search("(忠实度|上下文召回率) ", text)] == []


def test_hostile_names_stay_text():
    name = "<b>&\x1b[31m|`x`"
    rows = [{"sample_id": f"s{i}", "metric": name, "value": None, "status": "failed", "reason": "timeout"} for i in range(3)]
    result = gate(Run.from_scores(rows))
    assert "<b>" not in result.to_markdown("en")
    assert "<b>" not in result._repr_html_()
    assert ElementTree.fromstring(result.to_junit("en").encode())[0][0].get("name") == "<b>&[31m|`x` min_coverage"


def test_it_is_a_public_name():
    assert isinstance(gate(run(A)), ragstone.GateResult)


def test_it_shows_itself_in_a_line():
    assert repr(gate(run(A))) == "GateResult(passed=True, faithfulness: coverage=pass)"
