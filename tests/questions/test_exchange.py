"""What the exchange rules do where no single kind shows it."""

from ragstone.questions.base import Failed, Reading, Reply
from ragstone.questions.exchange import failure, in_groups, places, together


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
    assert drive(in_groups([], 5, lambda some: steps(some))) == ([], [])


def test_groups():
    result, rounds = drive(in_groups([1, 2, 3, 4, 5], 2, lambda some: steps(str(some), some)))
    assert result == [[1, 2], [3, 4], [5]]
    assert rounds == [["[1, 2]", "[3, 4]", "[5]"]]


def test_what_a_driver_notes_of_a_readable_reply_is_no_failure():
    assert failure(Reply("k", "raw", Reading(), "verdicts 1/2")) is None
    assert failure(Reply("k", "raw", Reading(), "bad_reply")) is None
    assert failure(Reply("k", None, Reading(), "bad_reply")) == "bad_reply"
    assert failure(Reply("k", "cut", Reading(), "truncated")) == "truncated"


def test_places():
    assert places((("answer", 2), ("reference", 1), ("answer", 3))) == "answer 2, 3; reference 1"
