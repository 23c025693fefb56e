import os
import stat
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone import store
from ragstone.errors import RunFolderError, StoppedError
from ragstone.store import (
    SAMPLES,
    SCORES,
    Appender,
    read_lines,
    read_manifest,
    read_rows,
    rewrite_scores,
    stored_ids,
    write_atomically,
    write_manifest,
)


def cell(sample: str, metric: str, value: float, repeat: int = 0) -> dict[str, object]:
    return {"sample_id": sample, "metric": metric, "repeat": repeat, "value": value, "status": "ok"}


def write(path: Path, rows: list[dict[str, object]], tail: bytes = b"") -> None:
    path.write_bytes(b"".join(orjson.dumps(r, option=orjson.OPT_APPEND_NEWLINE) for r in rows) + tail)


def test_lines_are_read_back_with_their_offsets(tmp_path: Path) -> None:
    file = Appender(tmp_path / "x.jsonl")
    offsets = [file.append({"n": i, "text": "退货\u2028" * i}) for i in range(5)]
    assert [file.row_at(o)["n"] for o in offsets] == [0, 1, 2, 3, 4]
    assert [o for o, _ in read_lines(tmp_path / "x.jsonl")] == offsets
    file.close()


@pytest.mark.parametrize("tail", [b'{"n": 3, "te', b"\xff\xfe", b"\x00" * 70_000, b'{"n":3}'])
def test_a_torn_end_is_cut_off_before_appending(tmp_path: Path, tail: bytes) -> None:
    path = tmp_path / "x.jsonl"
    write(path, [{"n": 1}, {"n": 2}], tail)
    assert [orjson.loads(line)["n"] for _, line in read_lines(path)] == [1, 2]
    file = Appender(path)
    file.append({"n": 4})
    file.close()
    assert [orjson.loads(line)["n"] for _, line in read_lines(path)] == [1, 2, 4]


def test_a_file_that_is_all_torn_starts_over(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"n": 1')
    Appender(path).close()
    assert path.read_bytes() == b""


@given(st.binary(max_size=200))
def test_law_opening_leaves_exactly_the_whole_lines(content: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_bytes(content)
        Appender(path).close()
        assert path.read_bytes() == content[: content.rfind(b"\n") + 1]


def test_files_are_for_their_owner_only(tmp_path: Path) -> None:
    Appender(tmp_path / "x").close()
    write_atomically(tmp_path / "y", [b"1\n"])
    for name in ("x", "y"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


def test_scores_are_rewritten_in_sample_metric_repeat_order_and_the_last_line_wins(tmp_path: Path) -> None:
    rows = [
        cell("s2", "m", 0.1),
        cell("s1", "n", 0.2),
        cell("s1", "m", 0.3),
        cell("s2", "m", 0.9),
        cell("gone", "m", 0),
        cell("s1", "old", 0),
    ]
    rows += [cell("s1", "m", 0.4, 1)]
    write(tmp_path / SCORES, rows, b'{"torn')
    rewrite_scores(tmp_path, ["s1", "s2", "s3"], ["m", "n"], 2)
    found = [orjson.loads(line) for _, line in read_lines(tmp_path / SCORES)]
    assert [(r["sample_id"], r["metric"], r["repeat"], r["value"]) for r in found] == [
        ("s1", "m", 0, 0.3),
        ("s1", "m", 1, 0.4),
        ("s1", "n", 0, 0.2),
        ("s2", "m", 0, 0.9),
    ]
    assert sorted(p.name for p in tmp_path.iterdir()) == [SCORES]


@pytest.mark.parametrize("name", ["s1", "问题 1", 'a "b" \\ c', "tab\t", "é"])
def test_lines_are_told_apart_whatever_the_names(tmp_path: Path, name: str) -> None:
    write(tmp_path / SAMPLES, [{"id": "x", "question": "q"}, {"id": name}, {"question": "q", "id": "y"}])
    assert list(stored_ids(tmp_path)) == ["x", name, "y"]
    rows = [cell(sample_id, metric, 0.5, repeat) for sample_id in ("y", name) for metric in ("m", name) for repeat in (11, 0)]
    by_hand = {"metric": "m", "sample_id": "x", "value": 1, "status": "ok", "verdicts": []}
    write(tmp_path / SCORES, [*rows, by_hand])
    rewrite_scores(tmp_path, stored_ids(tmp_path), ["m", name], 12)
    assert [row for _, row in read_rows(tmp_path / SCORES)] == [by_hand, *(rows[at] for at in (5, 4, 7, 6, 1, 0, 3, 2))]


def test_a_failed_atomic_write_leaves_the_old_file_and_no_draft(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")

    def lines() -> object:
        yield b"new"
        raise OSError(28, "No space left on device")

    with pytest.raises(StoppedError, match="No space left"):
        write_atomically(path, lines())  # type: ignore[arg-type]
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


def test_a_file_that_was_removed_is_noticed_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = Appender(tmp_path / "f.jsonl")
    file.append({"n": 1})
    file.check()
    file.path.unlink()
    with pytest.raises(StoppedError, match=r"f\.jsonl"):
        file.check()
    monkeypatch.setattr(store, "LOOK", 0.0)
    with pytest.raises(StoppedError, match=r"f\.jsonl"):
        file.append({"n": 2})
    file.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_stops_the_run_with_the_file_named() -> None:
    fd_file = Appender.__new__(Appender)
    fd_file.path, fd_file.size = Path("/dev/full"), 0
    fd_file._fd = os.open("/dev/full", os.O_RDWR)
    with pytest.raises(StoppedError, match="/dev/full"):
        fd_file.append({"n": 1})
    fd_file.close()


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff", b"1", b""])
def test_an_unreadable_manifest_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "manifest.json").write_bytes(content)
    with pytest.raises(RunFolderError, match=r"manifest\.json"):
        read_manifest(tmp_path)


def test_the_manifest_is_read_back(tmp_path: Path) -> None:
    assert read_manifest(tmp_path) == {}
    write_manifest(tmp_path, {"run_id": "甲"})
    assert read_manifest(tmp_path) == {"run_id": "甲"}
