"""Kind rate_contexts."""

import json

import pytest

from ragstone.questions.base import Failed
from ragstone.questions.rate_contexts import KIND, ContextVerdict, ask

SHUFFLED = [(3, "c"), (1, "a"), (2, "b")]


def lines(**verdicts):
    return {"verdicts": [{"id": int(id[1:]), "reason": "why", "verdict": v} for id, v in verdicts.items()]}


def talk(contexts=SHUFFLED, question="q", reference="r", language="en"):
    return ask(contexts, question, reference, language=language, repeat=0)


def test_contexts_stand_first_in_the_order_given(driver):
    result = driver.script(talk(), lines(c1=1, c2=0, c3=1))
    assert result == {3: ContextVerdict(True, "why"), 1: ContextVerdict(True, "why"), 2: ContextVerdict(False, "why")}
    assert driver.inputs == [{"contexts": [{"id": i, "text": t} for i, t in SHUFFLED], "question": "q", "reference": "r"}]
    assert list(driver.inputs[0]) == ["contexts", "question", "reference"]


def test_absent_texts_are_empty_on_the_wire(driver):
    driver.script(talk(question=None, reference=None), lines(c1=1, c2=0, c3=1))
    assert (driver.inputs[0]["question"], driver.inputs[0]["reference"]) == ("", "")


@pytest.mark.parametrize(
    "spellings", [(1, 0, 1), (True, False, True), ("yes", "no.", "1"), ("有用", "无用", "相关"), ("useful", "not useful", "relevant")]
)
def test_spellings(driver, spellings):
    first, second, third = spellings
    result = driver.script(talk(), lines(c1=first, c2=second, c3=third))
    assert {id: v.useful for id, v in result.items()} == {1: True, 2: False, 3: True}


def test_parsed_verdicts_are_integers():
    reading = KIND.read({"contexts": [{"id": 1, "text": ""}]}, json.dumps(lines(c1="Yes.")))
    assert reading.parsed == {"verdicts": [{"id": 1, "reason": "why", "verdict": 1}]}
    assert type(reading.parsed["verdicts"][0]["verdict"]) is int


def test_missing_contexts_are_asked_again_alone(driver):
    assert len(driver.script(talk(), lines(c1=1, c2="maybe"), lines(c2=0, c3=0))) == 3
    assert [c["id"] for c in driver.inputs[1]["contexts"]] == [3, 2]
    assert "problem" in driver.inputs[1]


def test_never_rated(driver):
    assert driver.script(talk(), lines(c1=1), lines(c1=1), lines(c2=2)) == Failed("verdicts 1/3")


def test_groups_of_twelve(driver):
    many = [(id, f"t{id}") for id in range(30, 0, -1)]
    result = driver.run(talk(many), lambda asked: {"verdicts": [{"id": c["id"], "verdict": c["id"] % 2} for c in asked["contexts"]]})
    assert list(result) == [id for id, _ in many]
    assert all(v.useful == bool(id % 2) for id, v in result.items())
    assert driver.rounds == [3]


def test_truncated_groups_are_halved(driver, fails):
    result = driver.run(
        talk(), lambda asked: fails("truncated") if len(asked["contexts"]) > 1 else lines(**{f"c{asked['contexts'][0]['id']}": 1})
    )
    assert all(v.useful for v in result.values())
    assert driver.run(talk(language="zh"), lambda _: fails("truncated")) == Failed("truncated")


def test_no_contexts(driver):
    assert driver.script(talk([])) == {}


@pytest.mark.parametrize(
    ("sentence", "wanted"), [("第{}条规定了收费标准。", "第33条规定"), ("Rule {} is about fees. ", "Rule 33 is")], ids=["zh", "en"]
)
@pytest.mark.parametrize("room", [600, 300, 200])
def test_a_context_too_long_by_itself_is_useful_if_a_piece_is(driver, fails, sentence, wanted, room):
    contexts = [(2, "".join(sentence.format(n) for n in range(50))), (1, "x"), (3, "".join(sentence.format(n) for n in range(50, 90)))]

    def judge(asked):
        if sum(len(c["text"]) for c in asked["contexts"]) > room:
            return fails("too_long")
        return {"verdicts": [{"id": c["id"], "verdict": wanted in c["text"], "reason": c["text"][:40]} for c in asked["contexts"]]}

    result = driver.run(talk(contexts), judge)
    assert {id: v.useful for id, v in result.items()} == {2: True, 1: False, 3: False}
    assert result[2].reason in contexts[0][1]


def test_a_piece_without_a_verdict_leaves_its_context_without_one(driver, fails):
    text = "One fee is due. " * 20

    def judge(asked):
        (context,) = asked["contexts"]
        return fails("too_long") if context["text"] == text else lines(c1=1) if context["text"].startswith("One") else {"verdicts": []}

    assert driver.run(talk([(1, text)]), judge) == Failed("verdicts 0/1")


@pytest.mark.parametrize("word", ["too_long", "truncated"])
def test_one_short_context_that_does_not_fit_fails(driver, fails, word):
    assert driver.run(talk([(1, "One. Two. Three.")]), lambda _: fails(word)) == Failed(word)
    assert len(driver.asked) == 1
