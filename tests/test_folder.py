import subprocess
import sys
from pathlib import Path

import pytest

from ragstone.errors import RunFolderError
from ragstone.folder import FolderLock, check_folder, create, set_aside, unanswered


def test_a_second_writer_is_refused_until_the_first_lets_go(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    with pytest.raises(RunFolderError, match=str(tmp_path)):
        FolderLock(tmp_path)
    lock.release()
    FolderLock(tmp_path).release()


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from ragstone.folder import FolderLock;"
        "lock = FolderLock(Path(sys.argv[1])); print('held', flush=True); input()"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, stdin=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    with pytest.raises(RunFolderError):
        FolderLock(tmp_path)
    process.kill()
    process.communicate()
    FolderLock(tmp_path).release()


def test_a_folder_with_files_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "samples.jsonl").write_text("mine")
    with pytest.raises(RunFolderError, match=r"samples\.jsonl"):
        check_folder(tmp_path)
    assert (tmp_path / "samples.jsonl").read_text() == "mine"
    with pytest.raises(RunFolderError):
        check_folder(tmp_path / "samples.jsonl")
    with pytest.raises(RunFolderError):
        create(tmp_path / "samples.jsonl" / "run")


def test_no_folder_an_empty_one_and_a_run_may_be_used(tmp_path: Path) -> None:
    check_folder(tmp_path / "none")
    check_folder(tmp_path)
    create(tmp_path / "deep" / "run")
    assert (tmp_path / "deep/run").stat().st_mode & 0o077 == 0
    (tmp_path / "deep/run/manifest.json").write_text("{}")
    (tmp_path / "deep/run/notes.txt").write_text("mine")
    check_folder(tmp_path / "deep/run")


def test_setting_aside_moves_the_whole_run(tmp_path: Path) -> None:
    assert set_aside(tmp_path / "run") is None
    create(tmp_path / "run")
    (tmp_path / "run/manifest.json").write_text("{}")
    moved = set_aside(tmp_path / "run")
    assert moved is not None
    assert (moved / "manifest.json").exists()
    assert not (tmp_path / "run").exists()


def test_a_run_under_way_is_not_set_aside(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    lock = FolderLock(tmp_path)
    with pytest.raises(RunFolderError):
        set_aside(tmp_path)
    lock.release()
    assert (tmp_path / "manifest.json").exists()


@pytest.mark.parametrize(("content", "open_still"), [(None, False), (b"", True), (b"{}\n", False)])
def test_a_run_of_ours_without_any_reply_is_unanswered(tmp_path: Path, content: bytes | None, open_still: bool) -> None:
    if content is not None:
        (tmp_path / "replies.jsonl").write_bytes(content)
    assert unanswered(tmp_path) is open_still
