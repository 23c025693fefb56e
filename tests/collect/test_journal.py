import contextlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.collect.base import Kept, Received, Row, Trouble
from ragstone.collect.journal import Journal, WriterLock, raw_of
from ragstone.errors import ConfigError, RunFolderError, StoppedError
from ragstone.types import Sample

HEAD = {"collect": {"url": "u"}, "mapping": {}}


def row(name: str, question: str = "Q?", **more: Any) -> Row:
    return Row(Sample(id=name, question=question, **more))


def kept(name: str, body: Any = None, **more: Any) -> Kept:
    return Kept(
        name, (Received("ask", body, 200, "POST", "http://h/ask"), Received("then", [1], 404, "GET", "http://h/c", 0)), 1.5, 2, **more
    )


Opening = Callable[[Path], Journal]


@pytest.fixture
def opening() -> Iterator[Opening]:
    """Open raw files that are closed at the end."""
    with ExitStack() as closing:

        def open_one(path: Path) -> Journal:
            return closing.enter_context(contextlib.closing(Journal(path)))

        yield open_one


# ------------------------------------------------------------------ what is written comes back
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
NAMES = st.sampled_from(["a", "b#0", "问", 'q"\n'])


@given(st.lists(st.tuples(NAMES, JSON, st.none() | st.builds(Trouble, st.just("timeout"), st.text(max_size=4))), max_size=8))
def test_the_last_line_of_a_row_counts(tmp_path_factory: pytest.TempPathFactory, written: list[Any]) -> None:
    path = tmp_path_factory.mktemp("j") / "raw"
    journal, last = Journal(path), dict[str, Kept]()
    for name, body, trouble in written:
        last[name] = kept(name, body, trouble=trouble)
        journal.keep(row(name), last[name])
    for opened in (journal, Journal(path)):
        assert len(opened) == len(last)
        for name, wanted in last.items():
            held = opened.find(name)
            assert held is not None
            assert (held.kept, held.again) == (wanted, False)
        assert opened.find("never asked") is None
        opened.close()


@given(st.integers(0, 400), st.integers(1, 6))
def test_of_a_file_cut_at_any_byte_the_whole_lines_are_left(tmp_path_factory: pytest.TempPathFactory, cut: int, rows: int) -> None:
    path = tmp_path_factory.mktemp("j") / "raw"
    journal = Journal(path)
    for number in range(rows):
        journal.keep(row(f"r{number}"), Kept(f"r{number}", attempts=number))
    journal.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:cut])
    again = Journal(path)
    left = whole[:cut].count(b"\n")
    assert [again.find(f"r{number}") is not None for number in range(rows)] == [number < left for number in range(rows)]
    again.keep(row("new"), Kept("new"))
    again.close()
    assert path.read_bytes().splitlines()[:left] == whole.splitlines()[:left]
    assert orjson.loads(path.read_bytes().splitlines()[left])["id"] == "new"


class Odd:
    def __str__(self) -> str:
        return "odd"


@pytest.mark.parametrize(
    ("body", "stored"),
    [
        (Odd(), "odd"),
        ({"a": {1, 2}}, {"a": "{1, 2}"}),
        (2**70, 1180591620717411303424),
        (float("nan"), None),
        ("\ud800", "?"),
        ((1, 2), [1, 2]),
        ({1: "x"}, {"1": "x"}),
    ],
    ids=["object", "set", "large", "nan", "surrogate", "tuple", "number as a key"],
)
def test_what_json_cannot_hold_is_kept_as_text(opening: Opening, tmp_path: Path, body: Any, stored: Any) -> None:
    journal = opening(tmp_path / "raw")
    journal.keep(row("a"), kept("a", body))
    held = journal.find("a")
    assert held is not None
    assert held.kept.received[0].body == stored


def test_only_its_owner_reads_the_file(tmp_path: Path) -> None:
    path = raw_of(tmp_path / "s.jsonl")
    Journal(path).close()
    assert path.name == "s.jsonl.raw.jsonl"
    assert path.stat().st_mode & 0o777 == 0o600


# ------------------------------------------------------------------ heads
def test_a_head_that_asks_otherwise_ends_what_was_held(opening: Opening, tmp_path: Path) -> None:
    path = tmp_path / "raw"
    journal = opening(path)
    journal.begin(HEAD)
    journal.keep(row("a"), kept("a"))
    journal.begin({**HEAD, "mapping": {"answer": "x"}})
    assert len(journal) == 1
    journal.begin({**HEAD, "collect": {"url": "other"}})
    journal.keep(row("b"), kept("b"))
    for opened in (journal, opening(path)):
        assert (len(opened), opened.find("a"), opened.find("b") is None) == (1, None, False)
        assert opened.head["collect"] == {"url": "other"}


# ------------------------------------------------------------------ which row was asked
def test_a_row_is_the_same_as_long_as_question_and_history_are(opening: Opening, tmp_path: Path) -> None:
    journal = opening(tmp_path / "raw")
    turns = ({"role": "user", "content": "hi"},)
    journal.keep(row("a", history=turns), kept("a"))
    held = journal.find("a")
    assert held is not None
    assert held.asks(row("a", history=turns, reference="other"))
    assert not held.asks(row("a"))
    assert not held.asks(row("a", "other?", history=turns))


def test_rows_the_call_stopped_over_are_marked_until_they_are_asked_again(opening: Opening, tmp_path: Path) -> None:
    path = tmp_path / "raw"
    journal = opening(path)
    for name in "abc":
        journal.keep(row(name), kept(name), stopped=("b", "c") if name == "c" else ())
    journal.keep(row("c"), kept("c"))
    for opened in (journal, opening(path)):
        assert [held.again for name in "abc" if (held := opened.find(name))] == [False, True, False]


# ------------------------------------------------------------------ files that cannot be used
@pytest.mark.parametrize(
    "line",
    [
        b"3",
        b"{}",
        b'{"id":1}',
        b'{"id":"a","received":[1]}',
        b'{"id":"a","received":[{}]}',
        b'{"id":"a","latency_s":"x"}',
        b'{"id":"a","trouble":{"word":1}}',
        b'{"id":"a","attempts":null}',
        b'{"id":"a","stopped":"b"}',
        b'{"collect":[]}',
        b"\xff",
    ],
)
def test_a_line_that_is_none_of_ours_is_named(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "raw"
    path.write_bytes(b'{"id":"a"}\n' + line + b"\n")
    with pytest.raises(RunFolderError, match="byte 11"):
        Journal(path)
    assert path.read_bytes() == b'{"id":"a"}\n' + line + b"\n"


def test_a_folder_and_a_file_taken_away_are_told(opening: Opening, tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="it is a folder"):
        opening(tmp_path)
    journal = opening(tmp_path / "raw")
    (tmp_path / "raw").unlink()
    with pytest.raises(StoppedError, match="deleted"):
        journal.keep(row("a"), kept("a"))


FULL = """
import resource, signal, sys
from pathlib import Path
from ragstone.collect.base import Kept, Row
from ragstone.collect.journal import Journal
from ragstone.errors import StoppedError
from ragstone.types import Sample

journal = Journal(Path(sys.argv[1]))
journal.keep(Row(Sample(id="a", question="Q?")), Kept("a"))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (journal.path.stat().st_size + 10,) * 2)
try:
    journal.keep(Row(Sample(id="b", question="Q?")), Kept("b"))
except StoppedError as full:
    print(full, journal.find("b"))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no limits of files")
def test_a_disk_that_takes_no_more_is_told_and_leaves_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "raw"
    done = subprocess.run([sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, check=False)
    assert f"cannot write {path}" in done.stdout, done.stderr
    assert done.stdout.strip().endswith("None")
    assert [orjson.loads(line)["id"] for line in path.read_bytes().splitlines()] == ["a"]


# ------------------------------------------------------------------ one writer
def test_a_second_writer_is_refused_until_the_first_lets_go(tmp_path: Path) -> None:
    lock = WriterLock(tmp_path / "s")
    with pytest.raises(ConfigError, match="another ragstone process"):
        WriterLock(tmp_path / "s")
    WriterLock(tmp_path / "other").release()
    lock.release()
    assert list(tmp_path.iterdir()) == []
    WriterLock(tmp_path / "s").release()


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from ragstone.collect.journal import WriterLock;"
        "lock = WriterLock(Path(sys.argv[1])); print('held', flush=True); input()"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "s")], stdout=subprocess.PIPE, stdin=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    with pytest.raises(ConfigError):
        WriterLock(tmp_path / "s")
    process.kill()
    process.communicate()
    WriterLock(tmp_path / "s").release()


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"folder .*no such file .*--to"):
        WriterLock(tmp_path / "none" / "s")
