"""The ledger: what was taken and has not changed is known again, whatever became of the process that noted it."""

import os
import re

import pytest

from ragstone.errors import RunFolderError
from ragstone.langfuse.ledger import Ledger, ledger_path
from ragstone.langfuse.units import Unit
from ragstone.text import say

HOST, PROJECT = "https://lf.example", "p1"
ONE, OTHER, CHANGED = Unit("score", "s1", {"value": 0}), Unit("trace", "s1", []), Unit("score", "s1", {"value": 1})


def opened(folder, **changes):
    return Ledger(folder, **{"host": HOST, "project_id": PROJECT, "run_name": "r", "timestamp": "2026-11-30T00:00:00.000Z", **changes})


def lines(folder):
    return ledger_path(folder, HOST, PROJECT).read_bytes().splitlines()


def test_what_was_taken_is_known_by_the_next_export(tmp_path):
    with opened(tmp_path) as ledger:
        assert not ledger.holds(ONE)
        ledger.add([ONE])
        assert ledger.holds(ONE)
        assert not ledger.holds(OTHER)
    with opened(tmp_path) as ledger:
        assert ledger.noted
        assert ledger.notice("en") is None
        assert len(ledger) == 1
        assert ledger.holds(ONE)
        assert not ledger.holds(OTHER)


def test_what_changed_is_sent_again_and_what_changed_back_too(tmp_path):
    for unit in (ONE, CHANGED, ONE):
        with opened(tmp_path) as ledger:
            assert not ledger.holds(unit)
            ledger.add([unit])
    with opened(tmp_path) as ledger:
        assert ledger.holds(ONE)
        assert not ledger.holds(CHANGED)


def test_noting_twice_writes_once(tmp_path):
    with opened(tmp_path) as ledger:
        ledger.add([ONE, ONE])
    assert len(lines(tmp_path)) == 2


def test_projects_and_servers_have_ledgers_of_their_own(tmp_path):
    with opened(tmp_path) as ledger:
        ledger.add([ONE])
    for changes in ({"project_id": "p2"}, {"host": "https://other.example"}):
        with opened(tmp_path, **changes) as ledger:
            assert not ledger.holds(ONE)


def test_the_first_timestamp_stays(tmp_path):
    opened(tmp_path).close()
    with opened(tmp_path, timestamp="2027-01-01T00:00:00.000Z") as ledger:
        assert ledger.timestamp == "2026-11-30T00:00:00.000Z"


@pytest.mark.parametrize("kept", range(0, 200, 7))
def test_a_torn_end_costs_only_what_it_held(tmp_path, kept):
    with opened(tmp_path) as ledger:
        ledger.add([ONE, OTHER])
    path = ledger_path(tmp_path, HOST, PROJECT)
    whole = path.read_bytes()
    path.write_bytes(whole[:kept])
    with opened(tmp_path) as ledger:
        held = [unit for unit in (ONE, OTHER) if ledger.holds(unit)]
        assert len(held) == max(whole[:kept].count(b"\n") - 1, 0)
        ledger.add([ONE, OTHER])
    assert path.read_bytes() == whole


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_two_exports_at_once_are_refused_until_the_first_ends(tmp_path, monkeypatch, lang):
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    said = say("observed.locked", lang, path=tmp_path / "exports")
    with opened(tmp_path), pytest.raises(RunFolderError, match=re.escape(said)):
        opened(tmp_path)
    opened(tmp_path).close()


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (b'{"kind":"score","id":"s1","digest":"0123456789abcdef"}\n', "p1"),
        (b'{"ledger":"langfuse/9","host":"https://lf.example","project_id":"p1","timestamp":"t"}\n', "p1"),
        (b'{"ledger":"langfuse/1","host":"https://lf.example","project_id":"p2","timestamp":"t"}\n', "p1"),
        (b'{"ledger":"langfuse/1","host":"https://lf.example","project_id":"p1"}\n', "p1"),
        (b"[1]\n", "0"),
        (b"what is this\n", "0"),
        (
            b'{"ledger":"langfuse/1","host":"https://lf.example","project_id":"p1","timestamp":"t"}\n{"kind":"score","id":"s","digest":"x"}\n',
            "digest",
        ),
        (b'{"ledger":"langfuse/1","host":"https://lf.example","project_id":"p1","timestamp":"t"}\nnull\n', "86"),
    ],
)
def test_a_file_that_is_no_ledger_is_named_and_let_be(tmp_path, written, told):
    path = ledger_path(tmp_path, HOST, PROJECT)
    path.parent.mkdir()
    path.write_bytes(written)
    with pytest.raises(RunFolderError, match=re.escape(str(path))) as caught:
        opened(tmp_path)
    assert told in str(caught.value)
    assert path.read_bytes() == written
    with pytest.raises(RunFolderError):  # and the lock was let go
        opened(tmp_path)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_without_a_folder_it_remembers_while_it_lives_and_says_so(lang):
    with opened(None) as ledger:
        ledger.add([ONE])
        assert ledger.holds(ONE)
        assert not ledger.noted
        assert ledger.notice(lang) == say("observed.no_ledger", lang)


def test_a_folder_that_cannot_be_written_is_read(tmp_path):
    with opened(tmp_path) as ledger:
        ledger.add([ONE])
    path = ledger_path(tmp_path, HOST, PROJECT)
    lock = path.with_name(".lock")
    lock.unlink()
    lock.mkdir()  # stands for a file that cannot be opened, for root may write everything
    with opened(tmp_path) as ledger:
        assert ledger.holds(ONE)
        assert not ledger.noted
        ledger.add([OTHER])
    assert len(lines(tmp_path)) == 2


def test_looking_makes_nothing(tmp_path):
    with opened(tmp_path, read_only=True) as ledger:
        assert not ledger.holds(ONE)
        ledger.add([ONE])
    assert os.listdir(tmp_path) == []
    with opened(tmp_path) as ledger:
        ledger.add([ONE])
        with opened(tmp_path, read_only=True) as looking:  # also while another export is under way
            assert looking.holds(ONE)
