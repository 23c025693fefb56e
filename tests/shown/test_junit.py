"""JUnit XML: valid whatever the texts hold, and counted right."""

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.shown.junit import Case, junit

CASES = [
    Case("忠实度：均值", "gate.min_mean", None, "fine"),
    Case("drop", "gate.max_drop", "failure", "dropped by 0.1"),
    Case("doubt", "gate.max_drop", "skipped", "noise"),
    Case("no data", "gate.max_drop", "skipped", "none"),
]


def test_one_test_a_case_with_its_ending():
    suite = ElementTree.fromstring(junit("gate", CASES).encode()).find("testsuite")
    assert suite is not None
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["4", "1", "0", "2"]
    assert [case.get("name") for case in suite] == [case.name for case in CASES]
    assert [next(iter(case)).tag for case in suite] == ["system-out", "failure", "skipped", "skipped"]
    assert suite[1][0].get("message") == "dropped by 0.1"


@pytest.mark.parametrize("ending", [None, "failure", "skipped"])
@given(text=st.text())
def test_any_text_makes_valid_xml(ending, text):
    suite = ElementTree.fromstring(junit(text, [Case(text, text, ending, text)]).encode())
    assert len(suite[0]) == 1


def test_markup_stays_text_and_control_characters_go():
    text = "<b>&\"'\x00\x1b[31m]]>\ud800\uffff"
    case = ElementTree.fromstring(junit("s", [Case(text, "g", "failure", text)]).encode())[0][0]
    assert case.get("name") == "<b>&\"'[31m]]>"
    assert case[0].text == "<b>&\"'[31m]]>"
