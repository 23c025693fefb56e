import asyncio
import os
import signal
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.answering import FakeApplication, body, gold, lines, settings
from support.rag_server import Asked, RagServer, Reply, tell

from ragstone.api import run_sync
from ragstone.collect.base import Kept, Received, Row, Trouble
from ragstone.collect.http import HttpApplication
from ragstone.collect.journal import WriterLock, raw_of
from ragstone.collect.spec import Spec
from ragstone.collecting import Collected, collect_source
from ragstone.config import Config
from ragstone.errors import AuthError, ConfigError, DataError, Interrupted, RunFolderError, StoppedError
from ragstone.progress import RowProgress
from ragstone.samples import SampleSource, scan


def collect(
    source: SampleSource,
    application: FakeApplication,
    to: Path,
    config: Config | None = None,
    notices: list[str] | None = None,
    **more: Any,
) -> Collected:
    heard = None if notices is None else notices.append
    return run_sync(collect_source(source, application, to=to, config=config or settings(), on_notice=heard, **more))


def ids(path: Path) -> list[str]:
    return [row["id"] for row in lines(path)]


def failing(*names: str, word: str = "platform_error") -> FakeApplication:
    return FakeApplication(lambda row, nth: Trouble(word, "boom") if row.id in names else body(row, nth))


# ------------------------------------------------------------------ one call
def test_every_question_is_asked_once_and_rows_stand_in_gold_order(tmp_path: Path) -> None:
    names = [f"q{n}" for n in range(20)]

    async def slower_first(row: Any) -> None:
        for _ in range(40 - 2 * int(row.id[1:])):
            await asyncio.sleep(0)

    application = FakeApplication(wait=slower_first)
    to = tmp_path / "deep" / "samples.jsonl"
    found = collect(gold(*names), application, to)
    assert ids(to) == names
    assert application.counts == Counter(names)
    assert application.expected == [20]
    assert application.closed == 1
    assert (found.rows, found.ok, found.failed, found.asked, found.kept, found.requests) == (20, 20, 0, 20, 0, 20)
    assert found.coverage == 1
    first = lines(to)[0]
    assert (first["answer"], first["contexts"], first["error"]) == ("q0/0", ["chunk of q0"], None)
    assert (first["question"], first["reference"]) == ("What is q0?", "It is q0.")
    assert raw_of(to).stat().st_mode & 0o077 == 0
    assert [p.name for p in sorted(to.parent.iterdir())] == ["samples.jsonl", "samples.jsonl.raw.jsonl"]


def test_the_raw_file_begins_with_what_was_asked_and_holds_what_came(tmp_path: Path) -> None:
    source, to = gold("a"), tmp_path / "s.jsonl"
    collect(source, FakeApplication(), to)
    head, line = lines(raw_of(to))
    assert head["collect"] == {"platform": "fake", "url": "http://127.0.0.1:1"}
    assert head["mapping"] == {"answer": "text", "contexts": "chunks"}
    assert head["gold_fingerprint"] == source.gold_fingerprint
    assert head.keys() == {"collect", "mapping", "gold_fingerprint", "version", "created_at"}
    assert (line["id"], line["received"][0]["body"]) == ("a", {"text": "a/0", "chunks": ["chunk of a"]})


def test_a_failed_row_stops_nothing_and_is_told_by_its_word(tmp_path: Path) -> None:
    found = collect(gold("a", "b", "c", "d"), failing("b", "d"), tmp_path / "s.jsonl")
    assert (found.ok, found.failed, found.coverage) == (2, 2, 0.5)
    assert found.reasons["platform_error"].to_dict() == {"count": 2, "examples": ["b", "d"], "message": "boom"}
    assert not found.covered(0.95)
    assert found.covered(0.5)
    rows = lines(tmp_path / "s.jsonl")
    assert [row["error"] for row in rows] == [None, "platform_error: boom", None, "platform_error: boom"]
    told = found.to_dict()
    assert told["reasons"] == {"platform_error": {"count": 2, "examples": ["b", "d"], "message": "boom"}}
    assert told["samples"] == str(tmp_path / "s.jsonl")


def test_a_word_comes_with_the_message_of_its_first_row_in_gold_order(tmp_path: Path) -> None:
    to = tmp_path / "s.jsonl"
    collect(gold("a", "b"), failing("a", word="app"), to)  # so `a` is asked last, and its line stands last until the end
    application = FakeApplication(lambda row, nth: body(row, nth) if row.id == "b" else Trouble("refused", f"no: {row.id} " * 40))
    found = collect(gold("a", "b", "c"), application, to, settings(concurrency=1))
    assert application.order == ["c", "a"]
    assert found.reasons["refused"].message == "no: a " * 40
    assert found.reasons["refused"].examples == ("a", "c")


def test_repeats_are_rows_of_their_own_that_name_their_question(tmp_path: Path) -> None:
    found = collect(gold("a", "b", kind="easy"), FakeApplication(), tmp_path / "s.jsonl", repeat=2)
    rows = lines(tmp_path / "s.jsonl")
    assert [row["id"] for row in rows] == ["a#0", "a#1", "b#0", "b#1"]
    assert rows[1]["meta"] == {"kind": "easy", "question_id": "a"}
    assert found.rows == 4


def test_an_answer_collected_once_is_the_first_of_several(tmp_path: Path) -> None:
    to, application = tmp_path / "s.jsonl", FakeApplication()
    collect(gold("a"), application, to)
    assert collect(gold("a"), application, to, repeat=3).asked == 2
    assert application.order == ["a", "a#1", "a#2"]
    assert [(row["id"], row["answer"]) for row in lines(to)] == [("a#0", "a/0"), ("a#1", "a#1/0"), ("a#2", "a#2/0")]
    assert collect(gold("a"), application, to).asked == 0
    assert ids(to) == ["a"]
    first = tmp_path / "t.jsonl"
    collect(gold("b"), application, first, repeat=2)
    assert collect(gold("b"), application, first).kept == 1


def test_what_a_gold_row_says_of_an_application_gives_way(tmp_path: Path) -> None:
    source = scan([{"id": "a", "question": "A?", "answer": "old", "contexts": ["old"], "error": "old"}, {"id": "b", "question": "B?"}])
    collect(source, failing("b"), tmp_path / "s.jsonl")
    first, second = lines(tmp_path / "s.jsonl")
    assert (first["answer"], first["contexts"], first["error"]) == ("a/0", ["chunk of a"], None)
    assert (second["answer"], second["contexts"]) == (None, None)


def test_a_gold_row_without_a_question_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    application = FakeApplication()
    with pytest.raises(DataError, match="row 2") as told:
        collect(scan([{"id": "a", "question": "A?"}, {"id": "b", "answer": "B."}]), application, tmp_path / "s.jsonl")
    assert told.value.exit_code == 2
    assert (application.order, application.closed) == ([], 1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("chunks", "said"), [(None, "No row exposes"), ([], "No answered row (2) came back"), (["c"], None)], ids=["null", "[]", "some"]
)
def test_samples_without_chunks_are_told(tmp_path: Path, chunks: Any, said: str | None) -> None:
    found = collect(
        gold("a", "b", "c"),
        FakeApplication(lambda row, _: {"text": "x", "chunks": chunks} if row.id != "c" else Trouble("blocked", "")),
        tmp_path / "s.jsonl",
    )
    assert (said in found.notices[0]) if said else found.notices == ()
    assert (found.exposed, found.empty) == ((0, 0) if chunks is None else (2, 0 if chunks else 2))


# ------------------------------------------------------------------ going on
@pytest.mark.parametrize(
    "change",
    [
        lambda raw: raw.replace(b"a/0", b"mended by hand"),
        lambda _: b'{"id":"zz","question":"Another set?","answer":"mine"}\n',
        lambda raw: raw + b"notes\n",
        lambda raw: raw + b'{"question":"no id"}\n',
    ],
    ids=["answer", "other set", "no JSON", "no id"],
)
def test_what_somebody_else_wrote_into_the_samples_is_copied_before_they_are_written_anew(tmp_path: Path, change: Any) -> None:
    to, notices = tmp_path / "s.jsonl", list[str]()
    collect(gold("a", "b"), FakeApplication(), to)
    whole = to.read_bytes()
    to.write_bytes(mended := change(whole))
    collect(gold("a", "b"), FakeApplication(), to, notices=notices)
    assert to.read_bytes() == whole
    (copy,) = (path for path in tmp_path.iterdir() if path.name not in ("s.jsonl", "s.jsonl.raw.jsonl"))
    assert copy.read_bytes() == mended
    assert copy.name in notices[0]


@pytest.mark.parametrize(
    "change",
    [
        lambda raw: b"",
        lambda raw: raw[: len(raw) // 2],
        lambda raw: raw.replace(b'"id":"a"', b'"id":"a","more":1'),
        lambda raw: b"".join(reversed(raw.splitlines(keepends=True))),
    ],
    ids=["emptied", "torn", "another column", "another order"],
)
def test_samples_of_which_nothing_would_be_lost_are_not_copied(tmp_path: Path, change: Any) -> None:
    to, notices = tmp_path / "s.jsonl", list[str]()
    collect(gold("a", "b"), failing("b"), to)
    to.write_bytes(change(to.read_bytes()))
    collect(gold("a", "b", "c"), FakeApplication(), to, settings(retry_failed=True), notices=notices, repeat=2)
    collect(gold("a", "c"), FakeApplication(mapping={"answer": "text", "contexts": "none"}), to)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.jsonl", "s.jsonl.raw.jsonl"]


def test_what_is_held_is_not_asked_again(tmp_path: Path) -> None:
    to, notices = tmp_path / "s.jsonl", list[str]()
    collect(gold("a", "b"), FakeApplication(), to)
    before = to.read_bytes()
    application = FakeApplication()
    found = collect(gold("a", "b"), application, to, notices=notices)
    assert (application.order, found.asked, found.kept) == ([], 0, 2)
    assert to.read_bytes() == before
    assert "nothing left to ask" in notices[0]
    later = FakeApplication()
    found = collect(gold("new", "b", "a"), later, to)
    assert (later.order, found.asked, found.kept) == (["new"], 1, 2)
    assert ids(to) == ["new", "b", "a"]
    collect(gold("b"), FakeApplication(), to)
    assert ids(to) == ["b"]
    assert len(lines(raw_of(to))) > 4, "what was answered stays in the raw file"


@pytest.mark.parametrize(
    ("word", "retry", "again"),
    [("platform_error", False, False), ("platform_error", True, True), ("key", False, True), ("app", False, True), ("quota", False, True)],
)
def test_which_failed_rows_are_asked_again(tmp_path: Path, word: str, retry: bool, again: bool) -> None:
    to = tmp_path / "s.jsonl"
    collect(gold("a", "b"), failing("b", word=word), to)
    application, notices = FakeApplication(), list[str]()
    found = collect(gold("a", "b"), application, to, settings(retry_failed=retry), notices)
    assert application.order == (["b"] if again else [])
    assert again or "(failed: 1). --retry-failed" in notices[0]
    assert found.failed == (0 if again else 1)


def test_rows_that_failed_are_asked_after_those_never_asked(tmp_path: Path) -> None:
    to = tmp_path / "s.jsonl"
    collect(gold("a", "b"), failing("a", word="app"), to)
    application = FakeApplication()
    collect(gold("a", "b", "c"), application, to, settings(concurrency=1))
    assert application.order == ["c", "a"]


def test_an_application_hears_that_earlier_answers_were_good(tmp_path: Path) -> None:
    class Listening(FakeApplication):
        told: tuple[str, ...] = ()

        def accepted(self) -> None:
            self.told += ("accepted",)

        def hear(self, tell: Any) -> None:
            self.told += ("hear",)

    to = tmp_path / "s.jsonl"
    first, second = Listening(), Listening()
    collect(gold("a"), first, to)
    collect(gold("a", "b"), second, to)
    assert (first.told, second.told) == (("hear",), ("hear", "accepted"))


def test_a_changed_mapping_reads_kept_responses_anew(tmp_path: Path) -> None:
    to, notices = tmp_path / "s.jsonl", list[str]()
    reply = {"text": "short", "full": "long", "chunks": []}
    collect(gold("a", "b"), FakeApplication(lambda *_: reply), to)
    application = FakeApplication(mapping={"answer": "full", "contexts": "chunks"})
    found = collect(gold("a", "b"), application, to, notices=notices)
    assert (application.order, found.kept) == ([], 2)
    assert [row["answer"] for row in lines(to)] == ["long", "long"]
    assert "kept responses (2) are read anew" in notices[0]


def test_rows_whose_reading_now_fails_are_counted_as_failed(tmp_path: Path) -> None:
    to = tmp_path / "s.jsonl"
    collect(gold("a"), FakeApplication(), to)
    found = collect(gold("a"), FakeApplication(mapping={"answer": "typo", "contexts": "chunks"}), to)
    assert (found.ok, list(found.reasons)) == (0, ["no_answer"])


def test_asking_otherwise_is_refused_and_names_the_difference(tmp_path: Path) -> None:
    to = tmp_path / "s.jsonl"
    collect(gold("a"), FakeApplication(), to)
    before = (to.read_bytes(), raw_of(to).read_bytes())
    other = FakeApplication(asked={"platform": "fake", "url": "http://127.0.0.1:1", "app": "x"})
    with pytest.raises(ConfigError, match=r"app\): then \(not set\), now x") as told:
        collect(gold("a"), other, to)
    assert "--force" in str(told.value)
    assert (other.order, other.closed) == ([], 1)
    assert (to.read_bytes(), raw_of(to).read_bytes()) == before
    notices: list[str] = []
    found = collect(gold("a"), other, to, settings(force=True), notices)
    assert (found.asked, found.kept) == (1, 0)
    aside = next(p for p in tmp_path.iterdir() if p.name.startswith("s.jsonl.2") and not p.name.endswith("raw.jsonl"))
    assert (aside.read_bytes(), raw_of(aside).read_bytes()) == before
    assert str(aside) in notices[0]


def test_an_application_that_cannot_read_what_is_held_does_not_take_its_place(tmp_path: Path) -> None:
    to = tmp_path / "s.jsonl"
    collect(gold("a"), FakeApplication(), to)
    other = FakeApplication(asked={"platform": "call"}, mapping={"answer": "other", "contexts": "chunks"})
    with pytest.raises(ConfigError, match="platform"):
        collect(gold("a"), other, to)


def test_where_nothing_good_is_held_other_things_may_be_asked(tmp_path: Path) -> None:
    to = tmp_path / "s.jsonl"
    collect(gold("a", "b"), failing("a", "b"), to)
    application = FakeApplication(asked={"platform": "fake", "url": "http://127.0.0.1:2"})
    found = collect(gold("a", "b"), application, to)
    assert (sorted(application.order), found.ok) == (["a", "b"], 2)
    again = FakeApplication(asked=application.asked)
    assert collect(gold("a", "b"), again, to).kept == 2


def test_a_row_is_asked_again_if_a_column_that_its_request_uses_has_changed(tmp_path: Path) -> None:
    class Sorted(FakeApplication):
        def uses(self, row: Row) -> Any:
            return {"category": row.gold.meta.get("category")}

    def rows(*categories: str) -> SampleSource:
        return scan([{"id": str(n), "question": "Q?", "category": one, "note": len(categories)} for n, one in enumerate(categories)])

    to, notices = tmp_path / "s.jsonl", list[str]()
    collect(rows("a", "b"), Sorted(), to)
    application = Sorted()
    found = collect(rows("a", "c", "d"), application, to, notices=notices)
    assert (application.order, found.kept) == (["1", "2"], 1)
    assert "else is sent of them: 1." in notices[0]
    assert collect(rows("a", "c", "d"), Sorted(), to).asked == 0


def test_requests_beside_the_question_are_counted(tmp_path: Path) -> None:
    def reply(row: Row, nth: int) -> Kept:
        return Kept(row.id, (Received("ask", body(row, nth)),), 0.1, 2, requests={"a": 5, "b": None}[row.id])

    told: list[RowProgress] = []
    found = collect(gold("a", "b"), FakeApplication(reply), tmp_path / "s.jsonl", on_progress=told.append)
    assert (found.requests, told[-1].requests) == (7, 7)


def test_a_changed_question_is_asked_again_and_a_changed_reference_is_not(tmp_path: Path) -> None:
    to, notices = tmp_path / "s.jsonl", list[str]()
    rows = [{"id": "a", "question": "A?", "reference": "A."}, {"id": "b", "question": "B?", "reference": "B."}]
    collect(scan(rows), FakeApplication(), to)
    changed = [{**rows[0], "reference": "other"}, {**rows[1], "question": "other?"}]
    application = FakeApplication()
    found = collect(scan(changed), application, to, notices=notices)
    assert (application.order, found.kept) == (["b"], 1)
    assert lines(to)[0]["reference"] == "other"
    assert "else is sent of them: 1." in notices[0]


def test_a_smaller_limit_keeps_the_other_rows(tmp_path: Path) -> None:
    to = tmp_path / "s.jsonl"
    rows = [{"id": name, "question": f"{name}?"} for name in "abc"]
    collect(scan(rows), FakeApplication(), to)
    application = FakeApplication()
    found = collect(scan(rows, limit=1), application, to, settings(limit=1))
    assert (application.order, found.rows) == ([], 1)
    assert ids(to) == ["a", "b", "c"]


def test_deleted_samples_begin_anew(tmp_path: Path) -> None:
    to, notices = tmp_path / "s.jsonl", list[str]()
    collect(gold("a"), FakeApplication(), to)
    to.unlink()
    application = FakeApplication()
    collect(gold("a"), application, to, notices=notices)
    assert application.order == ["a"]
    assert "was deleted" in notices[0]
    assert len(lines(raw_of(to))) == 2


def test_a_torn_end_and_samples_out_of_order_are_mended(tmp_path: Path) -> None:
    to = tmp_path / "s.jsonl"
    collect(gold("a", "b", "c"), FakeApplication(), to)
    whole, raw = to.read_bytes(), raw_of(to).read_bytes()
    to.write_bytes(b"".join(reversed(whole.splitlines(keepends=True)))[:-3])
    raw_of(to).write_bytes(raw + b'{"id":"d","rec')
    assert collect(gold("a", "b", "c"), FakeApplication(), to).kept == 3
    assert (to.read_bytes(), raw_of(to).read_bytes()) == (whole, raw)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have a name on POSIX systems only")
@pytest.mark.parametrize("name", ["s.jsonl", "s.jsonl.raw.jsonl"])
def test_a_device_or_pipe_is_not_put_aside_for_a_file(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    application = FakeApplication()
    with pytest.raises(ConfigError, match="no ordinary file") as told:
        collect(gold("a"), application, tmp_path / "s.jsonl")
    assert name in str(told.value)
    assert (tmp_path / name).is_fifo()
    assert application.order == []


# ------------------------------------------------------------------ files that cannot be used
def test_files_that_are_not_ours_are_left_alone(tmp_path: Path) -> None:
    mine = tmp_path / "mine.jsonl"
    mine.write_text('{"id":"a","question":"A?"}\n')
    application = FakeApplication()
    with pytest.raises(ConfigError, match="gold set itself"):
        collect(scan(mine), application, mine)
    with pytest.raises(ConfigError, match=r"mine\.jsonl\.raw\.jsonl"):
        collect(gold("a"), application, mine)
    with pytest.raises(ConfigError, match="is a folder"):
        collect(gold("a"), application, tmp_path)
    with pytest.raises(ConfigError, match="cannot create the folder"):
        collect(gold("a"), application, mine / "s.jsonl")
    gold_raw = tmp_path / "s.jsonl.raw.jsonl"
    mine.rename(gold_raw)
    with pytest.raises(ConfigError, match="gold set itself"):
        collect(scan(gold_raw), application, tmp_path / "s.jsonl", settings(force=True))
    assert application.order == []
    assert gold_raw.read_text() == '{"id":"a","question":"A?"}\n'


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    to, application = tmp_path / "s.jsonl", FakeApplication()
    lock = WriterLock(to)
    with pytest.raises(ConfigError, match="another ragstone process"):
        collect(gold("a"), application, to)
    lock.release()
    assert collect(gold("a"), application, to).ok == 1


@pytest.mark.parametrize("line", [b"[1]\n", b'{"x":1}\n', b'{"id":7}\n', b'{"id":"a","received":3}\n', b"{\n"])
def test_a_raw_file_with_a_strange_line_names_its_byte(tmp_path: Path, line: bytes) -> None:
    to, application = tmp_path / "s.jsonl", FakeApplication()
    collect(gold("a"), application, to)
    size = raw_of(to).stat().st_size
    with raw_of(to).open("ab") as file:
        file.write(line)
    with pytest.raises(RunFolderError, match=f"byte {size}"):
        collect(gold("a"), application, to)
    assert application.order == ["a"]


# ------------------------------------------------------------------ ends before the end
def test_answers_on_their_way_are_taken_in_before_the_call_stops(tmp_path: Path) -> None:
    stopped = asyncio.Event()

    async def wait(row: Any) -> None:
        if row.id == "a":
            await asyncio.sleep(0)
            stopped.set()
        else:
            await stopped.wait()
            for _ in range(20):
                await asyncio.sleep(0)

    def reply(row: Any, nth: int) -> Any:
        if row.id == "a" and not nth:
            return Kept("a", (Received("ask", body(row, nth)),), 0.1, 1, stop=ConfigError("no such key"))
        return body(row, nth)

    application, to = FakeApplication(reply, wait=wait), tmp_path / "s.jsonl"
    with pytest.raises(ConfigError, match="no such key"):
        collect(gold("a", "b", "c", "d", "e", "f"), application, to)
    assert application.counts == Counter("abcd")
    assert ids(to) == ["a", "b", "c", "d"]
    collect(gold("a", "b", "c", "d", "e", "f"), application, to)
    assert application.counts == Counter("abcdef")


def test_what_would_fail_every_row_stops_the_call_and_is_kept(tmp_path: Path) -> None:
    to, notices = tmp_path / "s.jsonl", list[str]()

    def reply(row: Any, nth: int) -> Any:
        if row.id in "cd" and nth == 0:
            stop = AuthError("the quota is used up") if row.id == "d" else None
            return Kept(row.id, attempts=1, trouble=Trouble("login_page", "sign in"), stop=stop)
        return body(row, nth)

    application = FakeApplication(reply)
    with pytest.raises(AuthError, match="used up"):
        collect(gold(*"abcdef"), application, to, settings(concurrency=1), notices)
    assert application.order == list("abcd")
    assert [row["error"] for row in lines(to)] == [None, None, "login_page: sign in", "login_page: sign in"]
    assert "s.jsonl: 4 of 6 (failed: 2)." in notices[0]
    assert "(failed: 2)" in notices[0]
    found = collect(gold(*"abcdef"), application, to, settings(concurrency=1))
    assert application.order == [*"abcd", *"efcd"], "those the call stopped over say nothing of the row"
    assert found.ok == 6


def test_a_mapping_that_fits_nothing_keeps_the_responses(tmp_path: Path) -> None:
    to = tmp_path / "s.jsonl"

    def reply(row: Any, nth: int) -> Any:
        return Kept(row.id, (Received("ask", body(row, nth)),), 0.1, 1, stop=ConfigError("no such key") if row.id == "c" else None)

    with pytest.raises(ConfigError, match="no such key"):
        collect(gold(*"abcd"), FakeApplication(reply, mapping={"answer": "txt", "contexts": "chunks"}), to, settings(concurrency=1))
    mended = FakeApplication()
    found = collect(gold(*"abcd"), mended, to)
    assert (mended.order, found.ok) == (["d"], 4)


def test_what_the_application_raises_ends_the_call_in_order(tmp_path: Path) -> None:
    to = tmp_path / "s.jsonl"
    application = FakeApplication(lambda row, nth: StoppedError("gone") if row.id == "c" else body(row, nth))
    with pytest.raises(StoppedError, match="gone"):
        collect(gold(*"abcd"), application, to, settings(concurrency=1))
    assert ids(to) == ["a", "b"]
    assert application.closed == 1


def stuck_at(name: str, reached: Any) -> FakeApplication:
    async def wait(row: Any) -> None:
        if row.id == name:
            reached()
            await asyncio.Event().wait()

    return FakeApplication(wait=wait)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_the_finished_rows_in_order(tmp_path: Path, number: int) -> None:
    to, notices = tmp_path / "s.jsonl", list[str]()
    application = stuck_at("c", lambda: signal.raise_signal(number))
    with pytest.raises(Interrupted):
        collect(gold(*"abc"), application, to, settings(concurrency=1), notices)
    assert ids(to) == ["a", "b"]
    assert "s.jsonl: 2 of 3 (failed: 0)." in notices[0]
    later = FakeApplication()
    collect(gold(*"abc"), later, to)
    assert later.order == ["c"]


def test_a_row_that_was_not_asked_any_more_ends_nothing_that_is_on_its_way(tmp_path: Path) -> None:
    refused = asyncio.Event()

    async def wait(row: Any) -> None:
        if row.id == "a":
            refused.set()
        else:
            await refused.wait()
            for _ in range(20):
                await asyncio.sleep(0)

    def reply(row: Any, nth: int) -> Any:
        return StoppedError("no more is asked") if row.id == "a" else body(row, nth)

    to = tmp_path / "s.jsonl"
    with pytest.raises(StoppedError, match="no more is asked"):
        collect(gold(*"abcdef"), FakeApplication(reply, wait=wait), to, settings(concurrency=3))
    assert ids(to) == ["b", "c"]


def test_a_deadline_while_answers_are_waited_for_does_not_hide_why_the_call_stops(tmp_path: Path) -> None:
    async def wait(row: Any) -> None:
        await asyncio.sleep(0 if row.id == "a" else 3600)

    def reply(row: Any, nth: int) -> Any:
        return Kept("a", (Received("ask", body(row, nth)),), 0.1, 1, stop=AuthError("no such key"))

    with pytest.raises(AuthError, match="no such key"):
        collect(gold("a", "b"), FakeApplication(reply, wait=wait), tmp_path / "s.jsonl", settings(concurrency=2, deadline=0.2))


def test_a_time_out_that_an_application_raises_is_not_taken_for_the_end(tmp_path: Path) -> None:
    with pytest.raises(TimeoutError, match="its own"):
        collect(gold(*"ab"), FakeApplication(lambda row, nth: TimeoutError("its own")), tmp_path / "s.jsonl")


def test_a_deadline_leaves_the_finished_rows_in_order(tmp_path: Path) -> None:
    to, reached = tmp_path / "s.jsonl", threading.Event()
    with pytest.raises(StoppedError, match="deadline") as told:
        collect(gold(*"abc"), stuck_at("c", reached.set), to, settings(concurrency=1, deadline=0.2))
    assert told.value.exit_code == 3
    assert reached.is_set()
    assert ids(to) == ["a", "b"]


# ------------------------------------------------------------------ trouble that passes
def test_rows_lost_to_passing_trouble_get_one_more_try_at_the_end(tmp_path: Path) -> None:
    def reply(row: Any, nth: int) -> Any:
        if row.id == "a" and nth == 0:
            return Trouble("timeout", "too slow")
        return Trouble("rate_limited", "busy") if row.id == "b" else Trouble("blocked", "no") if row.id == "c" else body(row, nth)

    application, told = FakeApplication(reply), list[RowProgress]()
    found = collect(gold(*"abcdefg"), application, tmp_path / "s.jsonl", settings(concurrency=1), on_progress=told.append)
    assert application.order == [*"abcdefg", *"ab"]
    assert list(found.reasons) == ["rate_limited", "blocked"] or list(found.reasons) == ["blocked", "rate_limited"]
    assert (found.ok, found.asked, found.requests) == (5, 7, 9)
    assert (told[-1].done, told[-1].total, told[-1].failed, told[-1].requests) == (7, 7, 2, 9)


def test_trouble_that_lasts_is_not_met_once_more(tmp_path: Path) -> None:
    application = failing(*"abcde", word="timeout")
    collect(gold(*"abcdefg"), application, tmp_path / "s.jsonl")
    assert len(application.order) == 7


# ------------------------------------------------------------------ progress
def test_progress_counts_what_this_call_asks(tmp_path: Path) -> None:
    to, told = tmp_path / "s.jsonl", list[RowProgress]()
    collect(gold("a"), FakeApplication(), to)
    collect(gold(*"abc"), failing("b"), to, on_progress=told.append)
    assert [(p.done, p.total) for p in told] == [(1, 2), (2, 2)]
    assert told[-1].failed == 1
    assert told[-1].left_s == 0


# ------------------------------------------------------------------ over HTTP
async def test_rows_that_failed_do_not_look_like_a_mapping_that_fits_nothing(tmp_path: Path) -> None:
    names, silent = ["q4", "q5", "q0", "q1", "q2"], ("q0", "q1", "q2")

    def reply(asked: Asked) -> Reply:
        return tell({"text": None if asked.body["id"] in silent else "yes", "hits": []})

    async with RagServer(reply) as server:
        spec = Spec(url=server.url, path="/ask", body={"id": "$id"}, answer="text", contexts="hits", context_text="body", concurrency=1)
        for retry, asked in ((False, 5), (True, 3)):
            application = HttpApplication(spec, None, environ={})
            config = settings(retry_failed=retry, concurrency=1)
            found = await collect_source(gold(*names), application, to=tmp_path / "s.jsonl", config=config)
            assert (found.asked, found.ok, found.reasons["no_answer"].count) == (asked, 2, 3)


async def test_a_changed_mapping_that_fits_nothing_is_told_and_leaves_the_samples(tmp_path: Path) -> None:
    to, spec = tmp_path / "s.jsonl", {"path": "/ask", "body": {"id": "$id"}, "contexts": "hits", "context_text": "body"}
    async with RagServer(lambda _: tell({"data": {"text": "yes"}, "hits": []})) as server:

        async def answered_by(path: str) -> Collected:
            application = HttpApplication(Spec(url=server.url, answer=path, **spec), None, environ={})
            return await collect_source(gold("a", "b"), application, to=to, config=settings())

        assert (await answered_by("data.text")).ok == 2
        before = to.read_bytes()
        with pytest.raises(ConfigError, match=r"data\.txt(.|\n)*text"):
            await answered_by("data.txt")
        assert to.read_bytes() == before
        found = await answered_by("data.text || data.txt")
        assert (found.ok, found.asked, len(server.seen)) == (2, 0, 2)


@pytest.mark.parametrize(("lang", "told"), [("en", "Nothing was asked"), ("zh", "本次没有提问")])
async def test_a_mapping_that_fits_nothing_is_told_from_what_is_kept_without_asking_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lang: str, told: str
) -> None:
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    to, names = tmp_path / "s.jsonl", [f"q{n}" for n in range(9)]
    async with RagServer(lambda _: tell({"data": {"text": "yes"}})) as server:

        async def answered_by(path: str, **more: Any) -> Collected:
            spec = Spec(url=server.url, path="/ask", body={"id": "$id"}, answer=path, concurrency=1)
            application = HttpApplication(spec, None, environ={})
            return await collect_source(gold(*names), application, to=to, config=settings(concurrency=1, **more))

        with pytest.raises(ConfigError, match="text"):
            await answered_by("data.txt")
        assert len(server.seen) == 3
        for path in ("data.txt", "data.txxt"):
            with pytest.raises(ConfigError, match=rf"{path}(.|\n)*text(.|\n)*{told}"):
                await answered_by(path)
        assert len(server.seen) == 3
        with pytest.raises(ConfigError, match=r"data\.txt"):
            await answered_by("data.txt", retry_failed=True)
        assert len(server.seen) == 6
        found = await answered_by("data.text")
    assert (found.ok, found.kept, found.asked) == (9, 6, 3)


def test_the_last_that_is_told_of_a_call_that_stops_is_that_it_has_stopped(tmp_path: Path) -> None:
    told: list[RowProgress] = []
    application = FakeApplication(lambda row, nth: StoppedError("no more") if row.id == "c" else body(row, nth))
    with pytest.raises(StoppedError):
        collect(gold("a", "b", "c", "d"), application, tmp_path / "s.jsonl", settings(concurrency=1), on_progress=told.append)
    assert [(one.done, one.stopped) for one in told[-2:]] == [(2, False), (2, True)]
    assert told[-1].left_s is None


@pytest.mark.parametrize(("lang", "told"), [("en", "holds responses as they came"), ("zh", "原始响应")])
def test_the_raw_file_in_the_place_of_samples_or_gold_is_told_with_the_name_of_the_samples(tmp_path: Path, lang: Any, told: str) -> None:
    to = tmp_path / "s.jsonl"
    collect(gold("a", "b"), FakeApplication(), to)
    for as_gold in (False, True):
        with pytest.raises(DataError) as refused:
            scan(raw_of(to), gold=as_gold, lang=lang)
        assert told in str(refused.value)
        assert str(to) in refused.value.problems[0].text
    other = tmp_path / "mine.raw.jsonl"
    other.write_text('{"question": "a?", "answer": "b"}\n', encoding="utf-8")
    assert scan(other).count == 1


def test_samples_as_a_gold_set_are_asked_again_whole_failed_rows_too(tmp_path: Path) -> None:
    first, second = tmp_path / "s.jsonl", tmp_path / "t.jsonl"
    collect(gold("a", "b", "c"), failing("b"), first)
    found = collect(scan(first, gold=True), FakeApplication(), second)
    assert (found.rows, found.ok, found.asked) == (3, 3, 3)
    assert [(row["id"], row["answer"], row["error"]) for row in lines(second)] == [(name, f"{name}/0", None) for name in "abc"]
    assert lines(second)[1]["reference"] == "It is b."
