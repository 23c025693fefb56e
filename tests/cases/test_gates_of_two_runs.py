"""Sisters of H25 at the gate: what must stop a release, what must not, and what is refused before anything is measured."""

import json

import pytest
from support.twins import GROUPS, names, samples, scores
from support.two_runs import write

from ragstone.cli.app import run as command

LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])
BASE = [0.50, 0.88] * 20
TOPICS = ("pay", "it", "leave", "pay")
LEAVE_FELL = [value - (0.3 if i % 4 == 2 else -0.1) + 0.01 * (i % 3) for i, value in enumerate(BASE)]
LEAVE_FAILED = [value if i % 4 != 2 else "timeout" for i, value in enumerate(BASE)]
DROP = "[gate.metrics.faithfulness]\nmax_drop = {}"
MEAN = "[gate.metrics.faithfulness]\nmin_mean = {}"
PART = '[[gate.slices]]\nby = "category"\nvalue = "{leave}"\nmetric = "faithfulness"\n{rule}'
ALIKE = {
    "judge": {"model": "a"},
    "embedder": {"model": "e"},
    "prompts": {"zh": "1"},
    "metrics": {"faithfulness": {"version": 1}},
    "signature": "s",
}


@pytest.fixture
def gate(tmp_path, capfd, monkeypatch):
    def call(lang, new, rules="", base=BASE, alone=False, manifest=None, args=()):
        monkeypatch.setenv("RAGSTONE_LANG", lang)
        monkeypatch.chdir(tmp_path)
        told = samples(lang, range(len(base)), TOPICS)
        for side, values, made in (("base", base, ALIKE), ("new", new, ALIKE | (manifest or {}))):
            held = values if isinstance(values, list) else list(values)
            write(tmp_path / side, scores(lang, held), told[: len(held)], made)
        given = ["gate", "new", *([] if alone else ["--baseline", "base"]), "--json", *args]
        if rules:
            (tmp_path / "rules.toml").write_text(rules.replace("{leave}", GROUPS[lang]["leave"]), encoding="utf-8")
            given += ["--rules", "rules.toml"]
        code = command(given, lang, {})
        out, err = capfd.readouterr()
        document = json.loads(out) if out else None
        assert document is None or (document["exit_code"], document["passed"]) == (code, code == 0)
        return code, document, err

    return call


# name -> scores of the new run, rules, exit code, how the last rule ended
OUTCOMES = {
    "every pair a little worse": ([0.48, 0.84] * 20, "", 1, "fail"),
    "the same loss, by luck": ([0.77, 0.55] * 20, "", 0, "flaky"),
    "the same loss, and doubt fails": ([0.77, 0.55] * 20, '[gate]\non_doubt = "fail"\n' + DROP.format(0.0), 1, "flaky"),
    "every pair a little better": ([0.52, 0.92] * 20, "", 0, "pass"),
    "nothing moved": (BASE, "", 0, "pass"),
    "a loss within what is allowed": ([0.48, 0.84] * 20, DROP.format(0.05), 0, "pass"),
    "a loss beyond what is allowed": ([0.44, 0.80] * 20, DROP.format(0.05), 1, "fail"),
    "one in ten failed": ([*BASE[:36], *["timeout"] * 4], "", 1, "pass"),
    "one in ten failed, which is allowed": ([*BASE[:36], *["timeout"] * 4], "[gate]\nmin_coverage = 0.9\n" + DROP.format(0.0), 0, "pass"),
    "one in forty failed": ([*BASE[:39], "timeout"], "", 0, "pass"),
    "the worst failed, and the mean rose": ([*["timeout", 0.88] * 4, *BASE[8:]], MEAN.format(0.69), 1, "pass"),
    "one catastrophe near the ceiling": ([0.5, 0.88] * 19 + [0.5, 0.0], "", 0, "flaky"),
    "all failed": (["timeout"] * 40, "", 1, "skipped"),
    "nothing applies any more": ([None] * 40, "", 1, "skipped"),
    "one topic fell, the total hides it": (LEAVE_FELL, DROP.format(0.02), 0, "pass"),
    "one topic fell, and has a rule": (LEAVE_FELL, PART.replace("{rule}", "max_drop = 0.05"), 1, "fail"),
    "every failure in one topic": (LEAVE_FAILED, PART.replace("{rule}", "max_drop = 0.05"), 1, "skipped"),
    "every failure in one topic, coverage allowed": (
        LEAVE_FAILED,
        "[gate]\nmin_coverage = 0.7\n" + PART.replace("{rule}", "min_mean = 0.1"),
        1,
        "skipped",
    ),
    "a topic nobody asks about": (BASE, PART.replace("{leave}", "none").replace("{rule}", "min_mean = 0.1"), 1, "skipped"),
    "mean well below": ([0.5, 0.6] * 20, MEAN.format(0.8), 1, "fail"),
    "mean below, but within noise": (BASE, MEAN.format(0.70), 0, "flaky"),
    "mean exactly on the limit": ([0.7] * 40, MEAN.format(0.7), 0, "pass"),
}


@LANGUAGES
@pytest.mark.parametrize("name", OUTCOMES)
def test_what_stops_a_release(gate, name, lang):
    new, rules, code, status = OUTCOMES[name]
    found, document, err = gate(lang, new, rules)
    assert (found, document["rules"][-1]["status"], err) == (code, status, "")
    assert all(rule["text"] for rule in document["rules"])


@LANGUAGES
@pytest.mark.parametrize(("missing", "stopped"), [(2, False), (10, True), (20, True)])
def test_questions_that_are_gone_are_named_at_the_gate_and_stop_it_where_they_are_many(gate, missing, stopped, lang):
    """Coverage is a share of the run's own cells, so rows that are not there at all must be told apart."""
    code, document, _ = gate(lang, [0.52, 0.92] * ((40 - missing) // 2))
    rule = document["rules"][-1]
    assert (rule["rule"], rule["metric"], rule["observed"]) == ("min_coverage", None, (40 - missing) / 40)
    assert (code, rule["status"]) == ((1, "fail") if stopped else (0, "pass"))
    (warning,) = [warning for warning in document["warnings"] if warning["code"] == "questions_missing"]
    shown = names(lang, range(40 - missing, 40))[:10]
    assert all(id in warning["text"] for id in shown)
    assert (("10 more" if lang == "en" else "另有 10 个") in warning["text"]) == (missing == 20)


def test_edited_questions_are_named_at_the_gate(tmp_path, capfd):
    for side, tail in (("base", ""), ("new", "！")):
        told = samples("zh", range(40))
        told[3] = {**told[3], "question": told[3]["question"] + tail}
        write(tmp_path / side, scores("zh", BASE), told)
    assert command(["gate", str(tmp_path / "new"), "--baseline", str(tmp_path / "base")], "zh", {}) == 0
    page = capfd.readouterr().out
    assert "换了问法或参考答案" in page
    assert names("zh", [3])[0] in page


@LANGUAGES
@pytest.mark.parametrize(
    ("rules", "options", "word"),
    [
        (DROP.format(0.1), {"alone": True}, "--baseline"),
        ("[gate.metrics.faithfullness]\nmin_mean = 0.5", {}, "faithfullness"),
        (PART.replace("category", "categroy").replace("{rule}", "min_mean = 0.1"), {}, "categroy"),
        ("[gate]\nmin_coverge = 0.5", {}, "min_coverge"),
        (MEAN.format(1.5), {}, "min_mean"),
        ("", {"manifest": {"judge": {"model": "b"}}}, "--allow-different-signature"),
        ("", {"manifest": {"prompts": {"zh": "2"}}}, "--allow-different-signature"),
    ],
)
def test_what_is_no_rule_or_no_fair_comparison_is_refused(gate, rules, options, word, lang):
    code, document, err = gate(lang, BASE, rules, **options)
    assert (code, document) == (2, None)
    assert word in err


@pytest.mark.parametrize(("new", "code"), [(BASE, 0), ([0.48, 0.84] * 20, 1)])
def test_another_judge_may_be_allowed_and_is_told(gate, new, code):
    found, document, _ = gate("zh", new, manifest={"judge": {"model": "b"}}, args=["--allow-different-signature"])
    assert found == code
    assert "judge_differs" in [warning["code"] for warning in document["warnings"]]


def test_as_many_questions_may_be_gone_as_the_rules_allow(gate):
    code, document, _ = gate("zh", [0.52, 0.92] * 15, "[gate]\nmin_coverage = 0.75\n" + DROP.format(0.0))
    assert (code, document["rules"][-1]["status"]) == (0, "pass")


@LANGUAGES
def test_a_metric_that_was_measured_on_fewer_questions_is_told_at_the_gate(lang, tmp_path, capfd, monkeypatch):
    """Cells that are not there are no failed cells either."""
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    for side, recalled in (("base", BASE), ("new", BASE[:20])):
        write(tmp_path / side, [*scores(lang, BASE), *scores(lang, recalled, "context_recall")])
    assert command(["gate", str(tmp_path / "new"), "--baseline", str(tmp_path / "base"), "--json"], lang, {}) == 0
    (warning,) = [warning for warning in json.loads(capfd.readouterr().out)["warnings"] if warning["code"] == "coverage_low"]
    assert {"en": "only 20 of 40 questions", "zh": "40 个问题中只有 20 个"}[lang] in warning["text"]
