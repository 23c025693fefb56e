"""How sure a judge was goes beside what it said."""

import pytest

from ragstone.questions import check_claims, match_claims, rate_contexts
from ragstone.questions.base import Reading
from ragstone.questions.check_claims import ClaimVerdict
from ragstone.questions.confidence import known, with_confidence

SAID = Reading({"verdicts": [{"id": 1, "verdict": 1}, {"id": 3, "verdict": 0}]}, None, (("verdicts", 2),), (), 3)


@pytest.mark.parametrize(
    ("held", "expected"),
    [
        ({"verdicts/1": 0.5, "verdicts/2": 1, "verdicts/3": 0}, {"verdicts/1": 0.5, "verdicts/2": 1.0, "verdicts/3": 0.0}),
        ({"verdicts/1": 1.5, "verdicts/2": -0.1, "verdicts/3": "0.5", "verdicts/4": True, "verdicts/5": None, 6: 0.5}, None),
        ({"verdicts/1": float("nan"), "判定/1": 0.25}, {"判定/1": 0.25}),
        ({}, None),
        (None, None),
        ([0.5], None),
        ("0.5", None),
    ],
)
def test_only_shares_are_known(held, expected):
    assert known(held) == expected


def test_items_are_found_by_their_id():
    sure = with_confidence(SAID, {"verdicts/3": 0.75, "verdicts/2": 0.5, "answer/1": 0.25})
    assert sure.parsed == {"verdicts": [{"id": 1, "verdict": 1}, {"id": 3, "verdict": 0, "confidence": 0.75}]}
    assert (sure.missing, sure.asked) == (SAID.missing, SAID.asked)
    assert "confidence" not in SAID.parsed["verdicts"][1]


def test_items_without_ids_are_found_by_their_place_in_the_reply():
    said = Reading({"questions": [{"noncommittal": False}, {"noncommittal": True}]}, None, (("questions", 2),), (), 3)
    sure = with_confidence(said, {"questions/1": 0.5, "questions/2": 0.6, "questions/3": 0.7})
    assert [item["confidence"] for item in sure.parsed["questions"]] == [0.5, 0.7]


@pytest.mark.parametrize(
    "reading",
    [
        Reading(problem="no_json"),
        Reading({"claims": [{"text": "a"}]}),  # places nobody asked for
        Reading({"cosines": [0.5]}, asked=1),
        Reading({"verdicts": []}, asked=1),
    ],
)
def test_what_has_no_places_stays_as_it_is(reading):
    sure = {f"{name}/{place}": 0.5 for name in ("claims", "cosines", "verdicts") for place in (0, 1)}
    assert with_confidence(reading, sure).parsed == reading.parsed


def test_nothing_told_costs_nothing():
    assert with_confidence(SAID, None) is SAID
    assert with_confidence(SAID, {"verdicts/1": "?"}) is SAID


# ------------------------------------------------------------------ of several lines on one claim
def line(verdict, confidence, evidence=()):
    return {"verdict": verdict, "evidence": list(evidence), "quote": None, "reason": None, "confidence": confidence}


def test_over_groups_of_contexts_the_winning_line_keeps_its_own():
    slot = ("verdicts", 1)
    parts = [{slot: line("not_found", 0.9)}, {slot: line("supported", 0.6, [13])}, {slot: line("supported", 0.8, [25])}]
    assert check_claims.verified(check_claims.merged(parts)[slot], []) == ClaimVerdict("supported", (13, 25), confidence=0.6)


@pytest.mark.parametrize(
    ("lines", "covered", "expected"),
    [
        ([{"verdict": "missing", "confidence": 0.9}, {"verdict": "covered", "confidence": 0.6}], True, 0.6),
        ([{"verdict": "missing", "confidence": 0.9}, {"verdict": "missing", "confidence": 0.6}], False, 0.9),
        ([None, {"verdict": "covered"}], True, None),
    ],
)
def test_over_groups_of_answer_claims_too(lines, covered, expected):
    parts = [
        (
            ([(n, "claim")], [(1, "point")]),
            {("answer", n): {"verdict": "not_found", "matches": [], "reason": None}} | ({("reference", 1): said} if said else {}),
        )
        for n, said in enumerate(lines, 1)
    ]
    matches = match_claims._matches(parts, list(range(1, len(lines) + 1)), [1])
    assert (matches.reference, matches.confidence) == ({1: covered}, {} if expected is None else {1: expected})


def test_a_rating_keeps_its_own():
    assert rate_contexts.rating({"verdict": 1, "reason": None, "confidence": 0.5}).confidence == 0.5
    assert rate_contexts.rating({"verdict": 1, "reason": None}).confidence is None
