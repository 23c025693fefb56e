"""What the exchange rules do where no single kind shows it."""

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.questions.base import Failed, Reading, Reply
from ragstone.questions.exchange import Cutting, failure, halves, halves_of_texts, in_parts, places, said_of, split_at, together, whole

BY_COUNT = Cutting(lambda some, _: halves(some), lambda some, _: len(some))


def steps(*results):
    """A talk of as many rounds as results but one, which is returned in the end."""
    *rounds, last = results
    for name in rounds:
        replies = yield [name]
        assert replies == [f"reply to {name}"]
    return last


def drive(talk):
    rounds = []
    try:
        asked = next(talk)
        while True:
            rounds.append(asked)
            asked = talk.send([f"reply to {name}" for name in asked])
    except StopIteration as done:
        return done.value, rounds


def test_talks_go_on_together_and_results_keep_their_order():
    assert drive(together([steps("a1", "a2", "A"), steps("B"), steps("c1", "C")])) == (["A", "B", "C"], [["a1", "c1"], ["a2"]])


def test_the_first_failure_ends_all():
    assert drive(together([steps("a1", "a2", "a3", "A"), steps("b1", Failed("timeout"))])) == (Failed("timeout"), [["a1", "b1"]])


def test_nothing_to_talk_about():
    assert drive(together([])) == ([], [])
    assert drive(in_parts([], lambda some: steps(some), BY_COUNT)) == ([], [])


def room_for(most, word="truncated"):
    """A talk that fails for more than `most` items, and says how many it was asked for."""

    def ask(items):
        replies = yield [len(items)]
        assert len(replies) == 1
        return Failed(word) if len(items) > most else tuple(items)

    return ask


def parts_of(works, most, word="truncated"):
    found, rounds = drive(in_parts(works, room_for(most, word), BY_COUNT))
    return (found if isinstance(found, Failed) else [list(said) for _, said in found]), rounds


def test_groups_are_asked_at_once():
    assert parts_of(split_at([1, 2, 3, 4, 5], 2), 2) == ([[1, 2], [3, 4], [5]], [[2, 2, 1]])


def test_what_fits_is_looked_for_once_and_the_rest_cut_alike():
    found, rounds = parts_of([list(range(60))], 15)
    assert [len(part) for part in found] == [15] * 4
    assert rounds == [[60], [30], [15], [15], [15, 15]], "no half is asked for whose like has failed"
    assert list(chain(*found)) == list(range(60))


@pytest.mark.parametrize("word", ["truncated", "too_long"])
def test_what_never_fits_ends_after_as_many_asks_as_halvings(word):
    assert parts_of([list(range(64))], 0, word) == (Failed(word), [[64], [32], [16], [8], [4], [2], [1]])


def test_other_words_are_not_cured_by_halving():
    assert parts_of([[1, 2, 3]], 0, "timeout") == (Failed("timeout"), [[3]])


@given(st.integers(1, 90), st.integers(1, 30), st.integers(1, 20))
def test_every_item_is_in_one_part_in_order_whatever_fits(count, group, most):
    found, rounds = parts_of(split_at(list(range(count)), group), most)
    assert list(chain(*found)) == list(range(count))
    asked = sum(len(batch) for batch in rounds)
    assert asked <= len(found) + (count // group + 1) * 6, "of each group only one branch is asked in vain"


def test_a_half_heavier_than_its_sibling_is_cut_further():
    heavy = [1, 1, 1, 1, 9, 1, 1, 9]

    def ask(items):
        yield [sum(items)]
        return Failed("too_long") if sum(items) > 9 else list(items)

    def drive_sums(talk):
        try:
            asked = next(talk)
            while True:
                asked = talk.send([None] * len(asked))
        except StopIteration as done:
            return done.value

    found = drive_sums(in_parts([heavy], ask, BY_COUNT))
    assert [said for _, said in found] == [[1, 1, 1, 1], [9], [1], [1], [9]]


def test_one_text_is_cut_only_if_the_prompt_is_too_long():
    text = "One. " * 60
    assert halves_of_texts([(3, text)], "truncated") is None
    assert halves_of_texts([(3, text)], "too_long") == [[(3, text[:149])], [(3, text[149:])]]
    assert halves_of_texts([(1, "a"), (2, "b")], "truncated") == [[(1, "a")], [(2, "b")]]


def test_what_a_part_left_out_is_not_whole():
    said = said_of([([("v", 1), ("v", 2)], {("v", 1): {"n": 1}}), ([("v", 1)], {("v", 1): {"n": 2}})])
    assert said == {("v", 1): [{"n": 1}, {"n": 2}], ("v", 2): [None]}
    assert whole(said) == {("v", 1): [{"n": 1}, {"n": 2}]}


def test_what_a_driver_notes_of_a_readable_reply_is_no_failure():
    assert failure(Reply("k", "raw", Reading(), "verdicts 1/2")) is None
    assert failure(Reply("k", "raw", Reading(), "bad_reply")) is None
    assert failure(Reply("k", None, Reading(), "bad_reply")) == "bad_reply"
    assert failure(Reply("k", "cut", Reading(), "truncated")) == "truncated"


def test_places():
    assert places((("answer", 2), ("reference", 1), ("answer", 3))) == "answer 2, 3; reference 1"
