"""What endpoints taught is kept with a date, for its owner only, and never costs a run."""

import os

import orjson
import pytest

from ragstone.transport.memory import DAYS, FILE, Memory

URL, DAY = "http://127.0.0.1/v1", 86400.0
NOON = 1_795_000_000.0


def test_what_was_kept_is_recalled_with_its_day(tmp_path):
    memory = Memory(tmp_path / "new", now=lambda: NOON)
    assert memory.recall(URL, "m") == {}
    memory.keep(URL, "m", {"limit_name": "max_completion_tokens"})
    memory.keep(URL, "other", {"batch_size": 10})
    assert Memory(tmp_path / "new", now=lambda: NOON).recall(URL, "m") == {
        "limit_name": "max_completion_tokens",
        "at": int(NOON),
        "since": "2026-11-18",
    }
    assert memory.recall(URL, "other")["batch_size"] == 10
    assert memory.recall("http://127.0.0.1/v2", "m") == {}


def test_nothing_kept_forgets_one_and_leaves_the_others(tmp_path):
    memory = Memory(tmp_path)
    memory.keep(URL, "m", {"a": 1})
    memory.keep(URL, "n", {"a": 2})
    memory.keep(URL, "m", {})
    assert memory.recall(URL, "m") == {}
    assert memory.recall(URL, "n")["a"] == 2


@pytest.mark.parametrize(("days", "known"), [(0, True), (DAYS - 1, True), (DAYS, False), (-1, False)])
def test_it_is_forgotten_in_time_and_never_comes_from_the_future(tmp_path, days, known):
    Memory(tmp_path, now=lambda: NOON).keep(URL, "m", {"a": 1})
    assert bool(Memory(tmp_path, now=lambda: NOON + days * DAY).recall(URL, "m")) == known


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'{"m @ http://127.0.0.1/v1": 3}', b'{"m @ http://127.0.0.1/v1": {"at": "x"}}', b"\xff"])
def test_a_damaged_file_is_an_empty_one(tmp_path, raw):
    (tmp_path / FILE).write_bytes(raw)
    memory = Memory(tmp_path)
    assert memory.recall(URL, "m") == {}
    memory.keep(URL, "m", {"a": 1})
    assert memory.recall(URL, "m")["a"] == 1


@pytest.mark.skipif(os.name == "nt", reason="no such modes there")
def test_it_is_its_owners_alone_and_leaves_no_drafts(tmp_path):
    folder = tmp_path / "cache"
    Memory(folder).keep(URL, "m", {"a": 1})
    assert (folder.stat().st_mode & 0o777, (folder / FILE).stat().st_mode & 0o777) == (0o700, 0o600)
    assert [path.name for path in folder.iterdir()] == [FILE]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_that_cannot_be_written_costs_the_memory_only(tmp_path):
    tmp_path.chmod(0o500)
    Memory(tmp_path).keep(URL, "m", {"a": 1})
    assert Memory(tmp_path).recall(URL, "m") == {}


def test_a_file_in_the_place_of_the_folder_costs_the_memory_only(tmp_path):
    (tmp_path / "cache").write_text("")
    Memory(tmp_path / "cache").keep(URL, "m", {"a": 1})
    assert orjson.loads(orjson.dumps(Memory(tmp_path / "cache").recall(URL, "m"))) == {}


def test_all_that_is_known_is_counted_and_forgotten(tmp_path):
    memory = Memory(tmp_path / "new", now=lambda: NOON)
    assert (memory.count(), memory.forget()) == (0, 0)
    memory.keep(URL, "m", {"a": 1})
    memory.keep(URL, "n", {"a": 1})
    assert Memory(tmp_path / "new", now=lambda: NOON + DAYS * DAY).count() == 0, "what is too old is known no more"
    assert (memory.count(), memory.forget(), memory.count(), memory.recall(URL, "m")) == (2, 2, 0, {})
