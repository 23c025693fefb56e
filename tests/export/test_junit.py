"""Test reports: what a CI server counts is what the run holds."""

import io
from xml.etree import ElementTree

import pytest
from support.hand_made import METRICS, write_run
from support.hostile_texts import HOSTILE, REFUSED

import ragstone
from ragstone.export.base import Order
from ragstone.export.content import Content
from ragstone.export.junit import JunitExporter
from ragstone.text import say

ROW = {"sample_id": "s1", "metric": "faithfulness", "value": 0.5, "status": "ok"}


def written(run, lang="en"):
    file = io.BytesIO()
    JunitExporter().write(Content(run), file, Order(lang=lang))
    return file.getvalue()


def suites(run, lang="en"):
    return ElementTree.fromstring(written(run, lang))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return ragstone.load(write_run(tmp_path_factory.mktemp("junit") / "r"))


def test_a_suite_a_metric_and_a_test_a_sample(run):
    found = suites(run)
    assert [suite.get("name") for suite in found] == [f"ragstone.{metric}" for metric in METRICS]
    for suite, m in zip(found, run.summary().metrics, strict=True):
        cases = suite.findall("testcase")
        assert [case.get("name") for case in cases] == ["leave-days", "退货-寄回", "salary-of-ceo", "应急-联系"]
        told = [int(suite.get(name)) for name in ("tests", "failures", "errors", "skipped")]
        assert told == [m.total, 0, m.failed, m.not_applicable]
        assert told == [len(cases), 0, len(suite.findall("testcase/error")), len(suite.findall("testcase/skipped"))]
        assert {case.get("classname") for case in cases} == {f"ragstone.{m.metric}"}
    assert [int(found.get(name)) for name in ("tests", "errors")] == [20, sum(m.failed for m in run.summary().metrics)]


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_how_a_test_ended_and_why(run, lang):
    first, second, third, last = suites(run, lang)[0].findall("testcase")
    assert first.findtext("system-out") == "0.0", "a low value is no failure"
    assert second.find("error").get("message") == f"bad_reply: {say('show.why_bad_reply', lang)}"
    assert third.find("skipped").get("message") == f"no_claims: {say('show.why_no_claims', lang)}"
    assert last.find("error").text == f"collect:timeout: {say('show.why_collect', lang)}"
    assert suites(run, lang)[2][3].findtext("system-out") == "0.0 (no_context)"


def test_every_suite_says_what_it_rests_on(run):
    for suite, m in zip(suites(run), run.summary().metrics, strict=True):
        held = {one.get("name"): one.get("value") for one in suite.find("properties")}
        assert (held["signature"], held["notice"], held["run_id"]) == (run.signature, run.notice, "r1")
        assert (held["n"], held["total"], held.get("mean")) == (str(m.n), str(m.total), str(m.mean))


def test_what_is_not_known_is_left_out():
    (suite,) = suites(ragstone.Run.from_scores([{**ROW, "value": None, "status": "failed", "reason": "timeout"}]))
    assert {one.get("name") for one in suite.find("properties")} == {"metric", "n", "total", "coverage"}


def test_a_cell_that_is_not_there_is_no_test():
    rows = [ROW, {"sample_id": "s2", "metric": "m", "value": 1.0, "status": "ok"}]
    assert [[case.get("name") for case in suite.findall("testcase")] for suite in suites(ragstone.Run.from_scores(rows))] == [
        ["s1"],
        ["s2"],
    ]


def test_repeats_are_one_test():
    found = suites(ragstone.Run.from_scores([{**ROW, "repeat": n, "value": n / 2} for n in range(3)]))
    assert [case.findtext("system-out") for case in found.iter("testcase")] == ["0.5"]


def test_the_same_run_gives_the_same_bytes(run):
    assert written(run) == written(run)


def test_any_text_makes_valid_xml():
    texts = HOSTILE | REFUSED
    rows = [{**ROW, "sample_id": text, "value": None, "status": "failed", "reason": text} for text in texts.values()]
    rows += [{**ROW, "metric": text} for text in texts.values()]
    found = suites(ragstone.Run.from_scores(rows, None, {"signature": "\x00<&\ud800"}))
    assert len(found) == len(texts) + 1
    assert len(found[0].findall("testcase/error")) == len(texts)
    assert {one.get("value") for one in found.iter("property") if one.get("name") == "signature"} == {"<&"}


def test_suites_longer_than_what_is_held_in_memory_are_whole(monkeypatch):
    monkeypatch.setattr("ragstone.export.junit._HELD", 1000)
    run = ragstone.Run.from_scores([{**ROW, "sample_id": f"问{n}"} for n in range(200)])
    assert [case.get("name") for case in suites(run).iter("testcase")] == [f"问{n}" for n in range(200)]
