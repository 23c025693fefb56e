"""Kind check_all: claims checked and contexts rated in one request."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.questions.base import Failed
from ragstone.questions.check_all import KIND, ask
from ragstone.questions.exchange import Gathered

CONTEXTS = [(2, "Leave left over is lost."), (1, "满两年有12天年假。")]
CLAIMS = [(1, "12天"), (2, "lost"), (3, "paid out")]


def check(id, verdict="supported", evidence=(1,)):
    return {"id": id, "evidence": list(evidence), "quote": None, "reason": "r", "verdict": verdict}


def rate(id, verdict=1):
    return {"id": id, "reason": "r", "verdict": verdict}


GOOD = {"claims": [check(1), check(2, "contradicted", [2]), check(3, "not_found", [])], "contexts": [rate(2, 0), rate(1)]}
ITEMS = {(name, line["id"]): line for name, lines in GOOD.items() for line in lines}


def talk(question="q", reference="R"):
    return ask(CONTEXTS, CLAIMS, question, reference, language="zh", repeat=0)


def test_contexts_come_first_and_the_reference_after_the_claims(driver):
    assert driver.script(talk(), GOOD) == Gathered(ITEMS)
    assert list(driver.inputs[0]) == ["contexts", "claims", "question", "reference"]
    assert driver.inputs[0]["contexts"] == [{"id": id, "text": text} for id, text in CONTEXTS]
    assert driver.inputs[0]["claims"] == [{"id": id, "text": text} for id, text in CLAIMS]
    assert (driver.inputs[0]["question"], driver.inputs[0]["reference"]) == ("q", "R")
    assert driver.asked[0].prompt.startswith("task: check_all/1\n")


def test_parsed_has_the_wire_shape_in_the_order_asked():
    input = {"contexts": [{"id": 2}, {"id": 1}], "claims": [{"id": 1}, {"id": 2}]}
    said = {"contexts": [{"id": 1, "verdict": "有用"}, rate(2, "no")], "claims": [check(2, "不支持", [1, 9]), check("1", "yes"), check(7)]}
    reading = KIND.read(input, json.dumps(said))
    assert reading.parsed == {
        "claims": [check(1), check(2, "not_found", [1])],
        "contexts": [rate(2, 0), {"id": 1, "reason": None, "verdict": 1}],
    }
    assert (reading.missing, reading.notes, reading.asked) == ((), ("claims: unknown id 7",), 4)


@given(st.permutations(GOOD["claims"]), st.permutations(GOOD["contexts"]))
def test_the_order_of_verdicts_changes_nothing(claims, contexts):
    input = {"contexts": [{"id": id} for id, _ in CONTEXTS], "claims": [{"id": id} for id, _ in CLAIMS]}
    assert KIND.read(input, json.dumps({"claims": claims, "contexts": contexts})) == KIND.read(input, json.dumps(GOOD))


def test_the_missing_are_asked_again_whole_and_nothing_else_is_taken(driver):
    first = {"claims": [check(1), check(3, "not_found", [])], "contexts": [rate(1)]}
    second = {"claims": [check(1, "contradicted"), *GOOD["claims"][1:]], "contexts": [rate(2, 0), rate(1, 0)]}
    assert driver.script(talk(), first, second) == Gathered(ITEMS)
    assert driver.inputs[1] == driver.inputs[0] | {"problem": driver.inputs[1]["problem"]}
    assert "claims 2; contexts 2" in driver.inputs[1]["problem"]


def test_what_never_comes_is_left_out(driver):
    first = {"claims": GOOD["claims"][:2], "contexts": GOOD["contexts"]}
    assert driver.script(talk(), first, first, first) == Gathered({slot: line for slot, line in ITEMS.items() if slot != ("claims", 3)})


def test_a_re_ask_that_does_not_come_leaves_what_is_there(driver, fails):
    first = {"claims": GOOD["claims"][:2], "contexts": GOOD["contexts"]}
    kept = {slot: line for slot, line in ITEMS.items() if slot != ("claims", 3)}
    assert driver.script(talk(), first, fails("timeout")) == Gathered(kept, Failed("timeout"))


@pytest.mark.parametrize("half", ["claims", "contexts"])
def test_a_reply_without_one_list_is_asked_again(driver, half):
    assert driver.script(talk(), {half: GOOD[half]}, GOOD) == Gathered(ITEMS)
    assert "previous_reply" in driver.inputs[1]


@pytest.mark.parametrize("word", ["timeout", "truncated", "blocked"])
def test_a_failure_word_ends_it(driver, fails, word):
    assert driver.script(talk(), fails(word)) == Failed(word)


def test_four_bad_replies_fail(driver):
    assert driver.script(talk(), "a", "b", "c", "d") == Failed("bad_reply")
