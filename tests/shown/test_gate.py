"""What became of a gate's rules: document, page, JUnit XML, whatever the texts hold."""

import json
import re
from xml.etree import ElementTree

import pytest
from support.gated import A, run

import ragstone
from ragstone import Run, gate

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


def test_hostile_names_stay_text():
    name = "<b>&\x1b[31m|`x`"
    rows = [{"sample_id": f"s{i}", "metric": name, "value": None, "status": "failed", "reason": "timeout"} for i in range(3)]
    result = gate(Run.from_scores(rows))
    assert "<b>" not in result.to_markdown("en")
    assert "<b>" not in result._repr_html_()
    assert ElementTree.fromstring(result.to_junit("en").encode())[0][0].get("name") == "<b>&[31m|`x`: coverage"


def test_it_is_a_public_name():
    assert isinstance(gate(run(A)), ragstone.GateResult)


def test_it_shows_itself_in_a_line():
    assert repr(gate(run(A))) == "GateResult(passed=True, faithfulness: coverage=pass)"
