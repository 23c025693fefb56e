"""The runs of a folder: in what order, and which are none."""

import os

import pytest
from support.histories import claim_row, write_history_run

from ragstone.errors import RunFolderError
from ragstone.run_folders import runs_in

ROWS = [claim_row("a", "+")]


def names(folder):
    return [run.path.name for run in runs_in(folder)[0]]


def test_oldest_first_by_the_manifest(tmp_path):
    for name, day in (("a", 3), ("b", 1), ("c", 2)):
        write_history_run(tmp_path / name, ROWS, day)
    assert names(tmp_path) == ["b", "c", "a"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2026-03-01T09:00:00+08:00", "2026-03-01T02:00:00+00:00"),  # 01:00 UTC
        ("2026-03-01T01:00:00", "2026-03-01T02:00:00Z"),
        ("2026-03-01", "2026-03-02T00:00:00.5Z"),
    ],
)
def test_dates_are_compared_in_one_zone(tmp_path, first, second):
    write_history_run(tmp_path / "z", ROWS, created_at=first)
    write_history_run(tmp_path / "a", ROWS, created_at=second)
    assert names(tmp_path) == ["z", "a"]


def test_equal_dates_are_ordered_by_name_as_people_count(tmp_path):
    for name in ("run-10", "run-9", "run-1"):
        write_history_run(tmp_path / name, ROWS)
    assert names(tmp_path) == ["run-1", "run-9", "run-10"]


@pytest.mark.parametrize("told", [{}, {"created_at": None}, {"created_at": "yesterday"}, {"created_at": 7}])
def test_without_a_date_the_file_tells(tmp_path, told):
    folder = write_history_run(tmp_path / "a", ROWS, None, **told)
    os.utime(folder / "scores.jsonl", (86400, 86400))
    (run,), _ = runs_in(tmp_path)
    assert (run.in_manifest, run.at.isoformat()) == (False, "1970-01-02T00:00:00+00:00")


def test_what_is_no_run_is_passed_over_and_what_is_broken_named(tmp_path):
    write_history_run(tmp_path / "fine", ROWS)
    (tmp_path / "notes").mkdir()
    (tmp_path / "file.txt").write_text("x")
    write_history_run(tmp_path / "broken", ROWS)
    (tmp_path / "broken" / "scores.jsonl").unlink()
    found, bad = runs_in(tmp_path)
    assert [run.path.name for run in found] == ["fine"]
    assert [path.name for path, _ in bad] == ["broken"]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe"])
def test_a_manifest_that_cannot_be_read_makes_a_run_unreadable(tmp_path, content):
    write_history_run(tmp_path / "a", ROWS)
    write_history_run(tmp_path / "b", ROWS)
    (tmp_path / "b" / "manifest.json").write_bytes(content)
    found, bad = runs_in(tmp_path)
    assert [run.path.name for run in found] == ["a"]
    assert [(path.name, "manifest.json" in problem) for path, problem in bad] == [("b", True)]


def test_a_run_written_by_hand_needs_no_manifest(tmp_path):
    (write_history_run(tmp_path / "a", ROWS) / "manifest.json").unlink()
    (write_history_run(tmp_path / "b", ROWS) / "manifest.json").write_text("{}")
    assert sorted(names(tmp_path)) == ["a", "b"]


def test_a_run_and_nothing_are_refused(tmp_path):
    run = write_history_run(tmp_path / "a", ROWS)
    with pytest.raises(RunFolderError, match="is a run"):
        runs_in(run)
    with pytest.raises(RunFolderError, match="no folder"):
        runs_in(tmp_path / "nowhere")
    with pytest.raises(RunFolderError):
        runs_in(run / "scores.jsonl")


def test_a_link_to_a_run_beside_it_is_no_second_run(tmp_path):
    write_history_run(tmp_path / "runs" / "one", ROWS)
    write_history_run(tmp_path / "other" / "two", ROWS, day=2)
    (tmp_path / "runs" / "latest").symlink_to("one")
    (tmp_path / "runs" / "loop").symlink_to("loop")
    (tmp_path / "runs" / "two").symlink_to(tmp_path / "other" / "two")
    found, bad = runs_in(tmp_path / "runs")
    assert [run.path.name for run in found] == ["one", "two"]
    assert bad == []
