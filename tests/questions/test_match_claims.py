"""Kind match_claims: two lists."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.questions.base import Failed
from ragstone.questions.match_claims import KIND, AnswerMatch, Matches, ask

A = [(1, "12 days"), (2, "unused days are paid out")]
R = [(1, "12天"), (2, "不得折现")]


def answer(id, verdict="supported", matches=(1,)):
    return {"id": id, "matches": list(matches), "reason": "r", "verdict": verdict}


def reference(id, verdict="covered"):
    return {"id": id, "verdict": verdict}


GOOD = {"answer": [answer(1), answer(2, "contradicted", [2])], "reference": [reference(1), reference(2, "missing")]}
RESULT = Matches({1: AnswerMatch("supported", (1,), "r"), 2: AnswerMatch("contradicted", (2,), "r")}, {1: True, 2: False})


def talk(answers=A, references=R, question="q"):
    return ask(question, answers, references, language="zh", repeat=0)


def test_both_sides(driver):
    assert driver.script(talk(), GOOD) == RESULT
    assert list(driver.inputs[0]) == ["question", "answer_claims", "reference_claims"]


def test_ids_outside_the_request_and_matches_of_not_found_are_left_out(driver):
    said = {"answer": [answer(1, "supported", [1, 9]), answer(2, "not_found", [2])], "reference": GOOD["reference"]}
    result = driver.script(talk(question=None), said)
    assert result.answer == {1: AnswerMatch("supported", (1,), "r"), 2: AnswerMatch("not_found", (), "r")}
    assert driver.inputs[0]["question"] == ""


@pytest.mark.parametrize(
    ("said", "missing"),
    [
        ({"answer": GOOD["answer"], "reference": [reference(1)]}, [("reference", 2)]),
        ({"answer": [answer(2)], "reference": GOOD["reference"]}, [("answer", 1)]),
        ({"answer": [answer(1), answer(2, "maybe")], "reference": []}, [("answer", 2), ("reference", 1), ("reference", 2)]),
        (
            {"answer": [answer(1), answer(1, "no"), answer(2)], "reference": [reference(1), reference(1, "missing"), reference(2)]},
            [("answer", 1), ("reference", 1)],
        ),
    ],
)
def test_missing_places_name_their_list(said, missing):
    input = {
        "question": "",
        "answer_claims": [{"id": i, "text": t} for i, t in A],
        "reference_claims": [{"id": i, "text": t} for i, t in R],
    }
    reading = KIND.read(input, json.dumps(said))
    assert (list(reading.missing), reading.asked) == (missing, 4)


@pytest.mark.parametrize("said", [{"answer": GOOD["answer"]}, GOOD["answer"], {"answer": GOOD["answer"], "reference": "none"}])
def test_both_lists_are_needed(driver, said):
    assert driver.script(talk(), said, GOOD) == RESULT
    assert "previous_reply" in driver.inputs[1]


def test_the_whole_request_is_asked_again_and_only_what_is_missing_is_taken(driver):
    first = {"answer": GOOD["answer"], "reference": [reference(1)]}
    second = {"answer": [answer(1, "not_found"), answer(2, "not_found")], "reference": [reference(1, "missing"), reference(2, "missing")]}
    assert driver.script(talk(), first, second) == RESULT
    assert driver.inputs[1] == driver.inputs[0] | {"problem": driver.inputs[1]["problem"]}
    assert "reference 2" in driver.inputs[1]["problem"]


def test_never_complete(driver):
    first = {"answer": GOOD["answer"], "reference": [reference(1)]}
    assert driver.script(talk(), first, first, first) == Failed("verdicts 3/4")


@given(st.permutations(GOOD["answer"]), st.permutations(GOOD["reference"]))
def test_the_order_of_verdicts_changes_nothing(answers, references):
    input = {"answer_claims": [{"id": i} for i, _ in A], "reference_claims": [{"id": i} for i, _ in R]}
    assert KIND.read(input, json.dumps({"answer": answers, "reference": references})) == KIND.read(input, json.dumps(GOOD))


def honest(asked):
    """Answer claim n matches reference claim n."""
    ids = {claim["id"] for claim in asked["answer_claims"]} & {claim["id"] for claim in asked["reference_claims"]}
    return {
        "answer": [answer(c["id"], *(("supported", [c["id"]]) if c["id"] in ids else ("not_found", []))) for c in asked["answer_claims"]],
        "reference": [reference(c["id"], "covered" if c["id"] in ids else "missing") for c in asked["reference_claims"]],
    }


def test_groups_of_answer_claims_against_all_reference_claims(driver):
    answers, references = [(i, f"a{i}") for i in range(1, 46)], [(i, f"r{i}") for i in (1, 25, 44, 60)]
    result = driver.run(talk(answers, references), honest)
    assert result.reference == {1: True, 25: True, 44: True, 60: False}
    assert [id for id, m in result.answer.items() if m.verdict == "supported"] == [1, 25, 44]
    assert driver.rounds == [3]
    assert all(len(i["reference_claims"]) == 4 for i in driver.inputs)


def test_truncated_work_is_halved_by_answer_claims(driver, fails):
    answers, references = [(i, f"a{i}") for i in range(1, 6)], [(i, f"r{i}") for i in range(1, 4)]
    cut = driver.run(talk(answers, references), lambda asked: fails("truncated") if len(asked["answer_claims"]) > 2 else honest(asked))
    assert cut == driver.run(talk(answers, references, question="other"), honest)


def test_a_reference_claim_unread_in_one_group_is_settled_by_another_that_covers_it(driver, fails):
    def judge(asked):
        if len(asked["answer_claims"]) > 1:
            return fails("truncated")
        said = honest(asked)
        return said if asked["answer_claims"][0]["id"] == 1 else said | {"reference": [reference(2, said["reference"][1]["verdict"])]}

    assert driver.run(talk(), judge).reference == {1: True, 2: True}
    assert driver.run(talk([(3, "x"), (2, "y")]), judge) == Failed("verdicts 3/4")


@pytest.mark.parametrize(("answers", "references"), [([], R), (A, []), ([], [])])
def test_nothing_to_match_is_not_asked(driver, answers, references):
    result = driver.script(talk(answers, references))
    assert result == Matches({id: AnswerMatch("not_found") for id, _ in answers}, {id: False for id, _ in references})


def test_a_failure_word_ends_it(driver, fails):
    assert driver.script(talk(), fails("blocked")) == Failed("blocked")


def pairs(asked, table):
    """A judge that knows of each answer claim the reference claims it matches and those it contradicts."""
    ids = {c["id"] for c in asked["reference_claims"]}
    lines, hit = [], set()
    for claim in asked["answer_claims"]:
        same, against = (sorted(ids & set(part)) for part in table.get(claim["id"], ((), ())))
        hit |= set(same)
        lines.append(answer(claim["id"], "supported" if same else "contradicted" if against else "not_found", same or against))
    return {"answer": lines, "reference": [reference(id, "covered" if id in hit else "missing") for id in sorted(ids)]}


TABLE = {1: ([3, 55], [7]), 2: ([], [2, 59]), 3: ([60], [1]), 30: ([31], []), 60: ([], [])}
SIXTY = [(i, f"claim {i}") for i in range(1, 61)]


@pytest.mark.parametrize("word", ["truncated", "too_long"])
@pytest.mark.parametrize("room", [100, 40, 20, 10, 6])
def test_both_sides_are_halved_where_one_alone_does_not_fit(driver, fails, room, word):
    def judge(asked):
        size = 5 * len(asked["answer_claims"]) + len(asked["reference_claims"])
        return fails(word) if size > room else pairs(asked, TABLE)

    cut = driver.run(talk(SIXTY, SIXTY), judge)
    assert cut == driver.run(talk(SIXTY, SIXTY, question="other"), lambda asked: pairs(asked, TABLE))
    assert cut.answer[1] == AnswerMatch("supported", (3, 55), "r")
    assert cut.answer[2] == AnswerMatch("contradicted", (2, 59), "r")
    assert [id for id, covered in cut.reference.items() if covered] == [3, 31, 55, 60]


def test_one_answer_claim_against_too_many_reference_claims(driver, fails):
    result = driver.run(
        talk(A[:1], SIXTY), lambda asked: fails("truncated") if len(asked["reference_claims"]) > 15 else pairs(asked, TABLE)
    )
    assert result.answer == {1: AnswerMatch("supported", (3, 55), "r")}
    assert [len(i["reference_claims"]) for i in driver.inputs] == [60, 30, 15, 15, 15, 15]


def test_an_answer_claim_missing_in_one_part_of_the_reference_is_missing(driver, fails):
    def judge(asked):
        said = pairs(asked, {1: ([3], [])})
        return (
            fails("truncated")
            if len(asked["reference_claims"]) > 30
            else said
            if asked["reference_claims"][0]["id"] == 1
            else said | {"answer": []}
        )

    assert driver.run(talk(A[:1], SIXTY), judge) == Failed("verdicts 60/61")


def test_one_pair_that_does_not_fit_fails(driver, fails):
    assert driver.run(talk(A[:1], R[:1]), lambda _: fails("too_long")) == Failed("too_long")
