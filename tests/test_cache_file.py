"""The file of the reply cache: what goes in comes out, for its owner only, from several processes, up to its size."""

import contextlib
import os
import random
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone import cache_file
from ragstone.cache_file import NAME, CacheFile, clear, look

LARGE = 1000


@pytest.fixture
def file(tmp_path: Path):
    opened = CacheFile(tmp_path / "cache", LARGE)
    yield opened
    opened.close()


@given(st.dictionaries(st.binary(min_size=1, max_size=20), st.binary(max_size=200), max_size=30), st.lists(st.binary(max_size=20)))
@settings(max_examples=25)
def test_what_was_written_is_read_and_nothing_else(tmp_path_factory, held, others):
    file = CacheFile(tmp_path_factory.mktemp("c") / "cache", LARGE)
    file.write([(key, False, value) for key, value in held.items()])
    assert file.read([*held, *others]) == held
    file.close()


def test_more_keys_than_one_statement_takes(file):
    entries = {i.to_bytes(4, "big"): str(i).encode() for i in range(cache_file.AT_ONCE * 2 + 3)}
    file.write([(key, False, value) for key, value in entries.items()])
    assert file.read(list(entries)) == entries


def test_the_last_value_of_a_key_counts(file):
    file.write([(b"k", False, b"old")])
    file.write([(b"k", False, "新".encode())])
    assert file.read([b"k"]) == {b"k": "新".encode()}


def test_only_its_owner_may_look(tmp_path):
    old = os.umask(0)
    try:
        file = CacheFile(tmp_path / "a" / "cache", LARGE)
        file.write([(b"k", False, b"v")])
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in file.path.parent.iterdir()}
        assert set(modes) == {NAME, NAME + "-wal", NAME + "-shm"}
        assert set(modes.values()) == {0o600}
        assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700
        file.close()
    finally:
        os.umask(old)


def test_a_loose_folder_of_its_own_is_closed_and_a_shared_one_is_left_alone(tmp_path):
    own, shared = tmp_path / "own", tmp_path / "shared"
    for folder in (own, shared):
        folder.mkdir(mode=0o755)
    (shared / "别人的.txt").touch()
    (own / NAME).touch(mode=0o644)
    for folder in (own, shared):
        CacheFile(folder, LARGE).close()
        assert stat.S_IMODE((folder / NAME).stat().st_mode) == 0o600
    assert stat.S_IMODE(own.stat().st_mode) == 0o700
    assert stat.S_IMODE(shared.stat().st_mode) == 0o755


def test_a_folder_of_another_user_that_may_be_written_in_is_used(tmp_path, monkeypatch):
    (tmp_path / "cache").mkdir(mode=0o777)
    (tmp_path / "cache").chmod(0o777)
    chmod = Path.chmod

    def refused(path, mode):
        if path.is_dir():
            raise PermissionError(1, "Operation not permitted")
        chmod(path, mode)

    monkeypatch.setattr(Path, "chmod", refused)
    file = CacheFile(tmp_path / "cache", LARGE)
    file.write([(b"k", False, b"v")])
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    file.close()


def test_the_least_recently_used_go_first(tmp_path):
    file = CacheFile(tmp_path / "cache", 1)
    value = random.Random(0).randbytes(50_000)
    keys = [bytes([i]) for i in range(40)]
    for i, key in enumerate(keys):
        file.write([(key, False, value)], used={keys[0]: 2e9 + i} if i else {})
        file.trim()
    held = file.read(keys)
    assert keys[0] in held, "used all the time"
    assert keys[-1] in held, "the newest"
    assert list(held) == sorted(held)
    assert keys[1] not in held
    assert 12 < len(held) < 21
    assert file.info().bytes <= 1_000_000
    file.close()
    assert file.path.stat().st_size < 1_500_000, "room is given back to the system"


def test_an_entry_larger_than_the_cache_does_not_stay(tmp_path):
    file = CacheFile(tmp_path / "cache", 0.05)
    file.write([(b"k", False, b"x" * 100_000)])
    file.trim()
    assert file.read([b"k"]) == {}
    file.close()


def test_info_counts_replies_and_vectors_apart(file):
    file.write([(b"a", False, b"1"), (b"b", True, b"2"), (b"c", True, b"3")])
    info = file.info()
    assert (info.replies, info.vectors) == (1, 2)
    assert info.bytes > 0
    assert info.oldest is not None


def test_looking_makes_nothing(tmp_path):
    info = look(tmp_path / "none")
    assert (info.replies, info.vectors, info.bytes, info.oldest) == (0, 0, 0, None)
    assert not (tmp_path / "none").exists()
    assert clear(tmp_path / "none").replies == 0
    assert not (tmp_path / "none").exists()


def test_clearing_leaves_no_text_behind_and_other_writers_go_on(tmp_path):
    folder = tmp_path / "cache"
    other = CacheFile(folder, LARGE)
    other.write([(b"k", False, "工资单".encode() * 2000)])
    assert clear(folder).replies == 1
    assert look(folder).replies == 0
    assert not any("工资单".encode() in path.read_bytes() for path in folder.iterdir())
    other.write([(b"k2", False, b"v")])
    assert other.read([b"k", b"k2"]) == {b"k2": b"v"}
    other.close()


@pytest.mark.parametrize("content", [b"not a database " * 100, b"SQLite format 3\x00" + b"\xff" * 5000], ids=["text", "broken"])
def test_a_file_that_is_no_cache_is_refused_and_cleared(tmp_path, content):
    folder = tmp_path / "cache"
    folder.mkdir()
    (folder / NAME).write_bytes(content)
    with pytest.raises(sqlite3.DatabaseError):
        CacheFile(folder, LARGE)
    with pytest.raises(sqlite3.DatabaseError):
        look(folder)
    clear(folder)
    file = CacheFile(folder, LARGE)
    file.write([(b"k", False, b"v")])
    file.close()


def test_a_file_of_other_tables_is_cleared(tmp_path):
    with contextlib.closing(sqlite3.connect(tmp_path / NAME)) as db, db:
        db.execute("CREATE TABLE entries(x)")
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        look(tmp_path)
    clear(tmp_path)
    assert look(tmp_path).replies == 0


def test_a_full_disk_does_not_keep_a_cache_from_being_cleared(file, monkeypatch):
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL
    monkeypatch.setattr(CacheFile, "clear", lambda _: (_ for _ in ()).throw(full))
    clear(file.path.parent)
    assert not file.path.exists()


def test_opening_waits_for_no_writer(file, monkeypatch):
    monkeypatch.setattr(cache_file, "PATIENCE", 0.0)
    file._db.execute("BEGIN IMMEDIATE")
    other = CacheFile(file.path.parent, LARGE)
    assert other.read([b"k"]) == {}
    other.close()
    file._db.execute("ROLLBACK")


def test_a_write_that_would_have_to_wait_is_left_undone(file):
    other = CacheFile(file.path.parent, LARGE)
    other._db.execute("BEGIN IMMEDIATE")
    assert not file.write_if_free([(b"k", False, b"1")], {})
    other._db.execute("ROLLBACK")
    assert file.write_if_free([(b"k", False, b"1")], {})
    assert other.read([b"k"]) == {b"k": b"1"}
    other.close()


def test_trouble_that_no_waiting_mends_is_raised(file):
    file._db.execute("DROP TABLE entries")
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        file.write_if_free([(b"k", False, b"1")], {})


def test_a_file_holds_only_its_own_until_another_writes(file):
    assert file.only_own()
    file.write([(b"k", False, b"1")])
    assert file.only_own()
    other = CacheFile(file.path.parent, LARGE)
    assert not other.only_own(), "something was there when it was opened"
    other.tend()
    assert file.only_own(), "nothing was written"
    other.write([(b"o", False, b"2")])
    assert not file.only_own()
    file.write([(b"k", False, b"3")])
    assert not file.only_own(), "once for all"
    other.close()


def test_what_is_tended_elsewhere_gathers_in_the_log_until_then(tmp_path):
    folder = tmp_path / "cache"
    file, other = CacheFile(folder, LARGE, tended=True), CacheFile(folder, LARGE)
    for i in range(8):
        file.write([(bytes([i]), False, bytes(1_000_000))])
    before = file.path.stat().st_size
    other.tend()
    assert before < 1_000_000 < 8_000_000 < file.path.stat().st_size
    file.close()
    other.close()


WRITER = """
import sys
from pathlib import Path
from ragstone.cache_file import CacheFile

folder, name = Path(sys.argv[1]), sys.argv[2]
for i in range(60):
    file = CacheFile(folder, 1000) if i % 20 == 0 else file
    file.write([(f"{name}{i}-{j}".encode(), False, name.encode() * 100) for j in range(5)])
    file.read([f"{other}{i}-0".encode() for other in "abc"])
"""


def test_several_processes_write_at_once_and_nothing_is_lost(tmp_path):
    folder = tmp_path / "cache"
    command = [sys.executable, "-c", WRITER, str(folder)]
    writers = [subprocess.Popen([*command, name], stderr=subprocess.PIPE, text=True) for name in "abc"]
    for writer in writers:
        _, said = writer.communicate(timeout=300)
        assert (writer.returncode, said) == (0, "")
    assert look(folder).replies == 3 * 60 * 5


LOCK = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 510, 0x40000002)  # the bytes SQLite shares while a connection is open
"""


def test_opening_the_file_again_leaves_the_locks_of_this_process_on_it(tmp_path):
    first = CacheFile(tmp_path / "cache", LARGE)
    second = CacheFile(tmp_path / "cache", LARGE)
    other = subprocess.run([sys.executable, "-c", LOCK, str(first.path)], check=False, capture_output=True, text=True, timeout=300)
    assert "BlockingIOError" in other.stderr
    for file in (first, second):
        file.close()


def test_a_killed_writer_leaves_a_whole_file(tmp_path):
    folder = tmp_path / "cache"
    code = WRITER.replace("file.read(", "i > 30 and __import__('os').kill(__import__('os').getpid(), 9); file.read(")
    done = subprocess.run([sys.executable, "-c", code, str(folder), "a"], check=False, timeout=300)
    assert done.returncode == -9
    assert look(folder).replies == 32 * 5
