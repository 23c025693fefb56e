"""A run against rules: case H25, every kind of rule, what is refused, and the result in words, XML and Markdown."""

import json
import re

import pytest
from support.gated import A, rows_of, run

import ragstone
from ragstone import Run, gate
from ragstone.errors import ConfigError, RunFolderError

LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])


def only(result, kind="max_drop"):
    (found,) = [outcome for outcome in result.outcomes if outcome.rule.kind == kind]
    return found


# ------------------------------------------------------------------ H25
@pytest.mark.parametrize(
    ("values", "passed", "drop"),
    [
        ([0.83, 0.61] * 20, True, "pass"),
        ([0.52, 0.92] * 20, True, "pass"),
        ([0.48, 0.84] * 20, False, "fail"),
        ([0.61, 0.71] * 20, True, "flaky"),
        ([*A[:30], *[None] * 10], False, "pass"),
    ],
)
def test_default_rules_coverage_and_no_drop(values, passed, drop):
    result = gate(run(values), run(A))
    assert (result.passed, result.exit_code) == (passed, 0 if passed else 1)
    assert only(result).status == drop
    assert [(o.rule.kind, o.rule.limit) for o in result.outcomes] == [("min_coverage", 0.95), ("max_drop", 0.0)]


def test_the_interval_is_that_of_compare_and_show():
    new, base = run([0.61, 0.71] * 20), run(A)
    result = gate(new, base, {"metrics": {"faithfulness": {"min_mean": 0.7, "max_drop": 0.0}}, "confidence": 0.9})
    compared = ragstone.compare(base, new, alpha=1 - 0.9).metrics[0]
    assert (only(result).observed, only(result).ci) == (compared.difference, compared.ci)
    assert only(result).ci.level == 0.9
    shown = new.summary(confidence=0.9).metrics[0]
    assert (only(result, "min_mean").observed, only(result, "min_mean").ci) == (shown.mean, shown.ci)


# ------------------------------------------------------------------ rules
@pytest.mark.parametrize(
    ("values", "limit", "status", "passed"),
    [
        ([0.9] * 20 + [0.8] * 20, 0.8, "pass", True),
        ([0.5, 0.6] * 20, 0.8, "fail", False),
        (A, 0.70, "flaky", True),
        ([0.5], 0.8, "flaky", True),
        ([None] * 5, 0.8, "skipped", False),
        (["-"] * 5, 0.8, "skipped", False),
    ],
)
def test_least_mean(values, limit, status, passed):
    result = gate(run(values), rules={"metrics": {"faithfulness": {"min_mean": limit}}, "min_coverage": 0.0})
    assert (only(result, "min_mean").status, result.passed) == (status, passed)


def test_doubt_may_fail():
    rules = {"metrics": {"faithfulness": {"min_mean": 0.7}}, "on_doubt": "fail"}
    result = gate(run(A), rules=rules)
    assert (only(result, "min_mean").status, result.passed, result.exit_code) == ("flaky", False, 1)


def test_coverage_of_every_metric():
    both = Run.from_scores([*rows_of([0.5] * 9 + [None]), *rows_of(["-"] * 10, "context_recall")])
    result = gate(both)
    assert [(o.rule.metric, o.status, o.observed) for o in result.outcomes] == [
        ("faithfulness", "fail", 0.9),
        ("context_recall", "skipped", None),
    ]
    assert not result.passed
    assert gate(both, rules={"min_coverage": 0.9}).passed


def test_slices():
    values = [0.9 if i % 2 else 0.3 for i in range(40)]
    part = {"by": "category", "metric": "faithfulness", "min_mean": 0.8}
    good, bad, other = (gate(run(values), rules={"slices": [{**part, "value": value}]}) for value in ("leave", "pay", "none such"))
    assert (only(good, "min_mean").status, only(good, "min_mean").n, good.passed) == ("pass", 20, True)
    assert (only(bad, "min_mean").status, bad.passed) == ("fail", False)
    assert (only(other, "min_mean").status, other.passed) == ("skipped", False)
    drop = {"by": "category", "value": "pay", "metric": "faithfulness", "max_drop": 0.1}
    result = gate(run(values), run([0.9] * 40), {"slices": [drop]})
    assert (only(result).status, only(result).n) == ("fail", 20)
    assert only(result).observed == pytest.approx(-0.6)


@pytest.mark.parametrize("value", [2024, "2024"])
def test_a_number_and_its_text_name_the_same_slice(value):
    rules = {"slices": [{"by": "year", "value": value, "metric": "faithfulness", "min_mean": 0.1}]}
    assert only(gate(run(A), rules=rules), "min_mean").n == 40


def test_a_metric_that_only_the_baseline_has_is_told():
    base = Run.from_scores([*rows_of(A), *rows_of(A, "context_recall")])
    result = gate(run(A), base)
    assert [notice.code for notice in result.warnings] == ["signature_unknown", "metric_missing"]
    assert result.passed
    asked = gate(run(A), base, {"metrics": {"context_recall": {"max_drop": 0.1}}})
    assert (only(asked).status, asked.passed) == ("skipped", False)


def test_what_the_baseline_could_not_measure_is_no_drop():
    base, new = (Run.from_scores([*rows_of(A), *rows_of(["-"] * 40, "context_recall")]) for _ in range(2))
    result = gate(new, base)
    assert [o.status for o in result.outcomes if o.rule.metric == "context_recall"] == ["skipped", "skipped"]
    assert result.passed
    lost = gate(new, Run.from_scores([*rows_of(A), *rows_of(A, "context_recall")]))
    assert not lost.passed


# ------------------------------------------------------------------ made-up claims
def claims(*texts, verdict="not_found"):
    lines = [
        {"kind": "answer_claim", "id": f"a{i}", "text": t, "verdict": verdict, "evidence": [], "reason": None}
        for i, t in enumerate(texts, 1)
    ]
    value = 1.0 if verdict == "supported" else 0.0
    return Run.from_scores([{"sample_id": "s", "metric": "faithfulness", "value": value, "status": "ok", "verdicts": lines}])


@pytest.mark.parametrize(
    ("text", "rule", "status"),
    [
        ("The leave is 7 days.", True, "fail"),
        ("年假为 ７ 天", True, "fail"),
        ("年假为七天", True, "fail"),
        ("The mayor approves it.", True, "pass"),
        ("一般员工可以申请", True, "pass"),
        ("The mayor approves it.", "any", "fail"),
        ("known  9 TIMES", True, "pass"),
    ],
)
def test_new_made_up_claims(text, rule, status):
    result = gate(claims("Known 9 times.", text), claims("Known 9 times."), {"no_new_made_up": rule})
    found = only(result, "no_new_made_up")
    assert found.status == status
    assert [claim.text for claim in found.claims] == ([text] if status == "fail" else [])
    assert result.passed == (status == "pass")


@pytest.mark.parametrize(
    ("text", "base", "passed"),
    [
        ("“三年”保修 3 次", "三年保修3次。", True),
        ("7–10天发货", "7-10 天发货", True),
        ("Ships in “7–10 days”.", "Ships in 7-10 days", True),
        ("Ships in 7-10 days", "Ships in 710 days", False),
    ],
)
def test_quotation_marks_and_dashes_make_no_new_claim(text, base, passed):
    assert gate(claims(text), claims(base), {"no_new_made_up": True}).passed is passed


def test_a_claim_the_baseline_had_as_right_without_a_source_is_not_new():
    """A run without answer_correctness cannot tell it from a made-up one."""
    text = "The leave is 7 days."
    wide = Run.from_scores([*claims(text).rows_of("s"), corrected(text)])
    assert list(ragstone.diagnose(wide).claims_of("ungrounded_correct")) == ["s"]
    assert gate(claims(text), wide, {"no_new_made_up": "any"}).passed
    assert not gate(claims(text, "And 8."), wide, {"no_new_made_up": "any"}).passed


def corrected(text):
    line = {"kind": "answer_claim", "id": "a1", "text": text, "verdict": "supported", "evidence": [], "reason": None}
    return {"sample_id": "s", "metric": "answer_correctness", "value": 1.0, "status": "ok", "verdicts": [line]}


def test_a_run_against_itself_is_told(tmp_path):
    lines = "".join(json.dumps(row) + "\n" for row in rows_of(A))
    (tmp_path / "scores.jsonl").write_text(lines, encoding="utf-8")
    for rules in (None, {"metrics": {"faithfulness": {"max_drop": 0.0}}}, {"no_new_made_up": True}):
        result = gate(tmp_path, tmp_path, rules)
        assert [notice.code for notice in result.warnings].count("same_run") == 1
        assert all(warning["text"] for lang in ("en", "zh") for warning in result.to_dict(lang)["warnings"])


def test_a_claim_the_contexts_carry_is_not_made_up():
    assert gate(claims("It is 7 days.", verdict="supported"), claims("x"), {"no_new_made_up": "any"}).passed


@LANGUAGES
def test_without_faithfulness_nobody_can_tell(lang):
    result = gate(run(A, "context_recall"), run(A, "context_recall"), {"no_new_made_up": True})
    assert (only(result, "no_new_made_up").status, result.passed) == ("skipped", True)
    assert "rule_unchecked" in [notice.code for notice in result.warnings]
    (told,) = [w["text"] for w in result.to_dict(lang)["warnings"] if w["code"] == "rule_unchecked"]
    assert {"en": "this run has no score of faithfulness", "zh": "本次运行没有忠实度的分数"}[lang] in told


@LANGUAGES
def test_a_metric_the_baseline_does_not_have_yet_is_told_and_passes(lang):
    """Else a newly added metric would stay red until the baseline is measured again."""
    new = Run.from_scores([*rows_of(A), *rows_of(A, "context_recall")])
    result = gate(new, run(A), {"metrics": {"context_recall": {"max_drop": 0.1}}})
    assert (only(result).status, only(result).lacking, result.passed) == ("skipped", "base", True)
    (told,) = [w["text"] for w in result.to_dict(lang)["warnings"] if w["code"] == "rule_unchecked"]
    assert {"en": "no sample of the baseline has a score", "zh": "基准没有任何样本有分数"}[lang] in told
    assert result.to_markdown(lang).count({"en": "cannot be checked", "zh": "无从检查"}[lang]) == 1
    gone = gate(run([None] * 40), run(A), {"metrics": {"faithfulness": {"max_drop": 0.1}}, "min_coverage": 0.0})
    assert (only(gone).lacking, gone.passed) == ("run", False)


def test_scores_of_different_samples_are_no_drop():
    halves = run([0.5] * 20 + [None] * 20), run([None] * 20 + [0.5] * 20)
    result = gate(*halves, {"metrics": {"faithfulness": {"max_drop": 0.1}}, "min_coverage": 0.5})
    assert (only(result).status, only(result).lacking, result.passed) == ("skipped", "pairs", True)


@LANGUAGES
def test_a_slice_no_sample_is_in_names_those_there_are(lang):
    rule = {"by": "category", "value": "leaf", "metric": "faithfulness"}
    for limit, base in (({"min_mean": 0.1}, None), ({"max_drop": 0.1}, run(A))):
        result = gate(run(A), base, {"slices": [{**rule, **limit}]})
        text = result.to_dict(lang)["rules"][-1]["text"]
        assert not result.passed
        assert [word for word in ("leaf", "pay", "leave", "faithfulness" if lang == "en" else "忠实度") if word not in text] == []


# ------------------------------------------------------------------ what is refused
@LANGUAGES
@pytest.mark.parametrize(
    ("rules", "base", "parts"),
    [
        ({"metrics": {"faithfulness": {"max_drop": 0.1}}}, None, ["--baseline", "[gate.metrics.faithfulness] max_drop"]),
        (
            {"slices": [{"by": "category", "value": "x", "metric": "faithfulness", "max_drop": 0.1}]},
            None,
            ["--baseline", "[[gate.slices]] 1"],
        ),
        ({"no_new_made_up": True}, None, ["--baseline", "no_new_made_up"]),
        ({"metrics": {"faithfullness": {"min_mean": 0.1}}}, None, ["faithfullness", "faithfulness"]),
        ({"metrics": {"faithfulness(x=1)": {"min_mean": 0.1}}}, None, ["faithfulness(x=1)"]),
        ({"slices": [{"by": "categroy", "value": "x", "metric": "faithfulness", "min_mean": 0.1}]}, None, ["categroy", "category"]),
        ({"min_coverge": 1}, None, ["min_coverge", "min_coverage"]),
    ],
)
def test_what_cannot_be_is_refused_in_words(rules, base, parts, lang, monkeypatch):
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    with pytest.raises(ConfigError) as refused:
        gate(run(A), base, rules)
    assert [part for part in parts if part not in str(refused.value)] == []
    assert bool(re.search("[一-鿿]", str(refused.value))) == (lang == "zh")


def test_a_known_metric_the_run_lacks_is_skipped_and_fails():
    result = gate(run(A), rules={"metrics": {"context_recall": {"min_mean": 0.1}}})
    assert (only(result, "min_mean").status, result.passed) == ("skipped", False)


@pytest.mark.parametrize(
    ("base", "new", "code"),
    [
        ({"judge": {"model": "a", "endpoint": "x"}}, {"judge": {"model": "b", "endpoint": "x"}}, "judge_differs"),
        ({"embedder": {"model": "a"}, "judge": {"model": "j"}}, {"embedder": {"model": "b"}, "judge": {"model": "j"}}, "embedder_differs"),
        ({"prompts": {"en": "1"}}, {"prompts": {"en": "2"}}, "prompts_differ"),
        ({"metrics": {"faithfulness": {"version": 1}}}, {"metrics": {"faithfulness": {"version": 2}}}, "metric_version_differs"),
        ({"signature": "a"}, {"signature": "b"}, "signature_differs"),
    ],
)
def test_runs_that_were_not_measured_alike_are_refused_unless_told(base, new, code):
    with pytest.raises(ConfigError, match="--allow-different-signature"):
        gate(run(A, manifest=new), run(A, manifest=base))
    result = gate(run(A, manifest=new), run(A, manifest=base), allow_different_signature=True)
    assert code in [notice.code for notice in result.warnings]
    assert all(warning["text"] for warning in result.to_dict("en")["warnings"])


def test_another_gold_set_is_only_warned_of():
    result = gate(run(A, manifest={"gold_fingerprint": "1"}), run(A, manifest={"gold_fingerprint": "2"}))
    assert [notice.code for notice in result.warnings] == ["signature_unknown", "gold_differs"]


def test_runs_without_a_common_sample_cannot_be_compared():
    other = Run.from_scores([{"sample_id": "x", "metric": "faithfulness", "value": 1.0, "status": "ok"}])
    with pytest.raises(RunFolderError, match="0 of 40"):
        gate(run(A), other)


def test_a_baseline_no_rule_looks_at_is_told():
    base, new = (run(A, manifest={"signature": "same"}) for _ in range(2))
    assert [n.code for n in gate(new, base, {"min_coverage": 0.9}).warnings] == ["baseline_unused"]
    assert gate(new, base).warnings == ()


@LANGUAGES
def test_a_seed_below_zero_is_refused(lang, monkeypatch):
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    with pytest.raises(ConfigError, match="-1"):
        gate(run(A), seed=-1)


def test_what_had_to_be_left_out_is_told(tmp_path):
    lines = "".join(json.dumps(row) + "\n" for row in rows_of(A))
    (tmp_path / "scores.jsonl").write_text(lines + '{"sample_id": "s40", "met', encoding="utf-8")
    result = gate(tmp_path)
    assert [notice.code for notice in result.warnings] == ["line_torn"]
    assert all(warning["text"] for lang in ("en", "zh") for warning in result.to_dict(lang)["warnings"])
