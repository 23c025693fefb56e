"""What follows from what: skipped or done, gone on with or begun anew, and the exit code of the whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.pipeline.base import StepResult
from ragstone.pipeline.decisions import begun, exit_code_of, taken_up, unchanged
from ragstone.pipeline.index import Index, RunEntry, StepRecord

HELD = StepRecord(fingerprint="same", exit_code=0, at="t", files={"a": "1"})


@pytest.mark.parametrize(
    ("held", "print_", "files", "expected"),
    [
        (HELD, "same", {"a": "1"}, True),
        (HELD, "other", {"a": "1"}, False),
        (HELD, "same", {"a": "2"}, False),
        (HELD, "same", {"a": None}, False),
        (None, "same", {}, False),
        (StepRecord(fingerprint="same", exit_code=1, at="t", files={"a": "1"}), "same", {"a": "1"}, False),
    ],
    ids=["the same", "other inputs", "file changed", "file gone", "never done", "ended with 1"],
)
def test_a_step_is_skipped_only_if_nothing_changed(held, print_, files, expected):
    assert unchanged(held, print_, files) is expected


def run(name, identity, *, evaluated=True):
    return RunEntry(name=name, created_at="t", identity=identity, steps={"evaluate": HELD} if evaluated else {})


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([], None),
        ([run("a", "mine")], "a"),
        ([run("a", "mine", evaluated=False)], "a"),
        ([run("a", "mine"), run("b", "other")], None),
        ([run("a", "mine", evaluated=False), run("b", "other")], "a"),
        ([run("a", "mine", evaluated=False), run("b", "mine", evaluated=False), run("c", "other")], "b"),
    ],
    ids=["first", "the latest", "unfinished", "finished long ago", "unfinished long ago", "the newest unfinished"],
)
def test_which_run_is_gone_on_with(runs, expected):
    found = taken_up(Index(runs=tuple(runs)), "mine")
    assert (found and found.name) == expected


@given(st.lists(st.sampled_from([None, 0, 1, 2, 3]), max_size=7))
def test_the_exit_code_is_the_first_that_is_not_0(codes):
    results = [StepResult(step="s", status="done", exit_code=code, text="") for code in codes]
    assert exit_code_of(results) == next(iter([code for code in codes if code]), 0)


def test_steps_before_the_first_are_taken():
    steps = ("collect", "evaluate", "gate")
    assert begun(steps, None) == ((), steps)
    assert begun(steps, "evaluate") == (("collect",), ("evaluate", "gate"))
