"""Claims as unit tests: what a row of passes and fails amounts to, and how a claim is found again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.histories import claim_row, failed_row

from ragstone.analysis.history import WORST_FIRST, ClaimBook, counted, course

STATES = {"+": "pass", "-": "fail", "~": "mixed", ".": None}


def states(marks):
    return tuple(STATES[mark] for mark in marks)


@pytest.mark.parametrize(
    ("marks", "status", "changes", "lost_at", "fixed_at"),
    [
        ("", "unknown", 0, None, None),
        ("..", "unknown", 0, None, None),
        ("+", "pass", 0, None, None),
        ("+.+", "pass", 0, None, None),
        ("-", "fail", 0, None, None),
        ("-.-.", "fail", 0, None, None),
        ("++--", "lost", 1, 2, None),
        ("+.-.", "lost", 1, 2, None),
        ("--+", "fixed", 1, None, 2),
        ("-+.+", "fixed", 1, None, 1),
        ("+-+", "flaky", 2, None, 2),
        ("-+--", "flaky", 2, 2, None),
        ("+-+-", "flaky", 3, 3, None),
        ("+~+", "flaky", 0, None, None),
        ("~", "flaky", 0, None, None),
        ("+~-", "flaky", 1, 2, None),
    ],
)
def test_what_states_amount_to(marks, status, changes, lost_at, fixed_at):
    found = course(states(marks))
    assert (found.status, found.changes, found.lost_at, found.fixed_at) == (status, changes, lost_at, fixed_at)


@given(st.lists(st.sampled_from(list(STATES.values())), max_size=12))
def test_a_run_that_says_nothing_changes_nothing(row):
    assert course(row).status == course([state for state in row if state is not None]).status


@given(st.lists(st.sampled_from(["pass", "fail"]), min_size=1, max_size=12))
def test_the_present_row_begins_where_it_is_told(row):
    found = course(row)
    start = found.lost_at if found.lost_at is not None else found.fixed_at
    assert (found.lost_at is None) or (found.fixed_at is None)
    assert start is None if found.changes == 0 else set(row[start:]) == {row[-1]} and row[start - 1] != row[-1]


def book(*runs):
    found = ClaimBook(str.casefold)
    for rows in runs:
        found.add(rows)
    return found


def told(claims):
    return {claim.claim: "".join(next(m for m, s in STATES.items() if s == state) for state in claim.states) for claim in claims}


def test_a_claim_is_found_again_by_sample_and_key():
    found = book([claim_row("a", "+-"), claim_row("b", "+")], [claim_row("a", "--"), claim_row("b", "+")]).claims()
    assert told(found) == {"a/1": "+-", "a/2": "--", "b/1": "++"}


@pytest.mark.parametrize("order", [(True, False, True), (False, True, False)])
def test_a_run_without_keys_is_matched_by_folded_text(order):
    runs = [[claim_row("a", "+-", keys=keys)] for keys in order]
    runs[1][0]["verdicts"][0]["text"] = "CLAIM 1 OF A."
    assert told(book(*runs).claims()) == {"a/1": "+++", "a/2": "---"}


def test_two_keys_are_two_claims_though_their_text_is_one():
    row = claim_row("a", "+-")
    for line in row["verdicts"]:
        line["text"] = "same"
    assert told(book([row]).claims()) == {"a/1": "+", "a/2": "-"}


def test_a_failed_cell_says_nothing():
    assert told(book([claim_row("a", "+")], [failed_row("a")], [claim_row("a", "+")]).claims()) == {"a/1": "+.+"}


@pytest.mark.parametrize(
    ("repeats", "state"),
    [("++", "pass"), ("--", "fail"), ("+-", "mixed"), ("++-", "pass"), ("+--", "fail"), ("++--+", "mixed")],
)
def test_two_thirds_of_the_repeats_decide(repeats, state):
    rows = [claim_row("a", mark, repeat=i) for i, mark in enumerate(repeats)]
    assert book(rows).claims()[0].states == (state,)


def test_an_empty_answer_covers_nothing():
    empty = {"sample_id": "a", "metric": "answer_correctness", "value": 0.0, "status": "ok", "reason": "empty_answer", "verdicts": []}
    assert told(book([empty], [claim_row("a", "++")], [empty]).claims()) == {"a/1": "-+-", "a/2": "-+-"}


@pytest.mark.parametrize(
    ("answered", "retrieved", "stage"),
    [
        ("+-", "+-", "retrieval"),
        ("+-", "++", "generation"),
        ("+--", "+-+", "retrieval"),  # in the run it was lost in, not in the newest
        ("--", "-+", "generation"),  # never covered: the newest run
        ("++", "--", None),
        ("+-", "+.", None),
        (".", "-", None),
    ],
)
def test_where_a_claim_is_lost(answered, retrieved, stage):
    def rows(a, r):
        return [claim_row("a", mark, metric) for mark, metric in ((a, "answer_correctness"), (r, "context_recall")) if mark != "."]

    assert book(*(rows(a, r) for a, r in zip(answered, retrieved, strict=True))).claims()[0].stage == stage


def test_retrieval_alone_can_be_followed():
    found = book([claim_row("a", "+", "context_recall")], [claim_row("a", "-", "context_recall")])
    assert told(found.claims("context_recall")) == {"a/1": "+-"}
    assert found.claims("context_recall")[0].stage is None


def test_parameters_of_a_metric_and_other_metrics():
    row = {**claim_row("a", "+"), "metric": "answer_correctness(beta=2)"}
    other = {**claim_row("a", "-"), "metric": "faithfulness"}
    assert ClaimBook(str).add([row, other]) == {"answer_correctness"}
    assert told(book([row, other]).claims()) == {"a/1": "+"}


def test_the_worst_come_first():
    runs = ["+-+-++", "++--++", "+-+++-", "+--+++"]  # claims: pass, flaky, flaky, lost?, pass, lost
    found = book(*([claim_row("a", marks)] for marks in runs)).claims()
    ranks = [WORST_FIRST.index(claim.course.status) for claim in found]
    assert ranks == sorted(ranks)
    late = book(*([claim_row("a", marks)] for marks in ("++", "-+", "--"))).claims()
    assert [claim.claim for claim in late] == ["a/2", "a/1"]  # the fresher loss


def test_counts_name_every_status():
    assert counted(book([claim_row("a", "+-")]).claims()) == {"lost": 0, "flaky": 0, "fail": 1, "fixed": 0, "unknown": 0, "pass": 1}
