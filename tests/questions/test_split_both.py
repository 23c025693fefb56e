"""Kind split_both: two lists of claims."""

import json

import pytest

from ragstone.questions.base import Failed
from ragstone.questions.split_both import KIND, BothClaims, ask
from ragstone.questions.split_claims import SplitClaim

EN = ("A locker is hired for 6 months.", "6 months; should not invent prices.")
ZH = ("储物柜可租6个月。", "6个月；不得编造价格。")


def talk(texts=EN, language="en", question="q"):
    return ask(question, *texts, language=language, repeat=0)


def both(answer, reference):
    return {"answer_claims": answer, "reference_claims": reference}


def test_the_user_json_is_that_of_the_contract(driver):
    driver.script(talk(question=None), both([], []))
    assert driver.inputs == [{"question": "", "answer": EN[0], "reference": EN[1]}]
    assert list(driver.inputs[0]) == ["question", "answer", "reference"]
    assert driver.asked[0].prompt.startswith("task: split_both/1\n")


@pytest.mark.parametrize(
    ("texts", "language", "anchor", "marked"),
    [(EN, "en", "6 months", "[behaviour] Does not invent prices."), (ZH, "zh", "6个月", "【行为】不编造价格。")],
)
def test_each_side_is_read_as_split_claims_reads_it(driver, texts, language, anchor, marked):
    said = both([{"text": "a", "anchor": anchor}, {"text": "a2", "anchor": "not there"}, {"text": "m", "meta": True}], ["b", marked])
    assert driver.script(talk(texts, language), said) == BothClaims(
        [SplitClaim("a", anchor), SplitClaim("a2")], [SplitClaim("b"), SplitClaim(marked, None, True)]
    )


def test_an_anchor_belongs_to_its_own_text(driver):
    said = both([{"text": "a", "anchor": "should not invent"}], [{"text": "b", "anchor": "locker"}])
    found = driver.script(talk(), said)
    assert (found.answer[0].anchor, found.reference[0].anchor) == (None, None)


def test_parsed_is_in_wire_shape():
    reading = KIND.read({}, json.dumps(both(["a", " "], [{"text": " b ", "anchor": "x", "more": 1}])))
    assert reading.parsed == both([{"text": "a", "anchor": None}], [{"text": "b", "anchor": "x"}])


@pytest.mark.parametrize(
    "said",
    [
        {"answer_claims": ["a"]},
        {"reference_claims": ["b"]},
        ["a", "b"],
        {"claims": ["a"]},
        both(["a"], [{"claim": "b"}]),
        both([3], ["b"]),
        both(None, ["b"]),
    ],
)
def test_a_reply_without_one_side_is_asked_again_and_no_claim_is_lost(driver, said):
    found = driver.script(talk(), said, both(["a"], ["b"]))
    assert found == BothClaims([SplitClaim("a")], [SplitClaim("b")])
    assert list(driver.inputs[1]) == ["question", "answer", "reference", "previous_reply", "problem"]


def test_a_side_may_be_empty(driver):
    assert driver.script(talk(), both([], ["b"])) == BothClaims([], [SplitClaim("b")])


def test_four_bad_replies_fail(driver):
    assert driver.script(talk(), "a", "b", "c", "d") == Failed("bad_reply")


@pytest.mark.parametrize("word", ["timeout", "truncated", "blocked"])
def test_a_failure_word_ends_it(driver, fails, word):
    assert driver.script(talk(), fails(word)) == Failed(word)
