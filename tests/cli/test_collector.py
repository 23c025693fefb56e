import gc

import pytest

from ragstone.cli.collector import OFTEN, SELDOM, long_lived


def test_garbage_is_searched_for_less_often_and_then_as_before():
    before, kept = gc.get_threshold(), gc.get_freeze_count()
    with long_lived():
        assert gc.get_threshold()[:2] == (OFTEN, SELDOM)
        assert gc.get_freeze_count() > kept
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before, kept)


def test_a_run_that_fails_leaves_nothing_changed_either():
    before = gc.get_threshold()
    with pytest.raises(KeyError), long_lived():
        raise KeyError
    assert gc.get_threshold() == before
    assert not gc.get_freeze_count()
