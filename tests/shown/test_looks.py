import json
import os

import pytest

from ragstone.shown import looks as module
from ragstone.shown.looks import looks


@pytest.fixture
def runs(tmp_path):
    for name, held in (
        ("a", {"gold_fingerprint": "g"}),
        ("b", {"gold_fingerprint": "g"}),
        ("c", {"gold_fingerprint": "h"}),
        ("d", {}),
        ("e", []),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text(json.dumps(held))
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "manifest.json").write_text('{"gold_fingerprint": "g')
    (tmp_path / "empty").mkdir()
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "manifest.json")  # reading it would wait for ever
    (tmp_path / "file").write_text("x")
    return tmp_path


@pytest.mark.parametrize(("gold", "count"), [("g", 2), ("h", 1), ("x", 0), (None, 0)])
def test_runs_on_the_same_questions_are_counted(runs, gold, count):
    assert looks(str(runs / "a"), gold) == count


def test_a_run_in_memory_has_no_neighbours():
    assert looks(None, "g") == 0


def test_a_folder_that_is_gone_is_no_error(tmp_path):
    assert looks(str(tmp_path / "gone" / "run"), "g") == 0


def test_so_many_folders_are_enough(runs, monkeypatch):
    monkeypatch.setattr(module, "MOST", 1)
    assert looks(str(runs / "a"), "g") == 1
