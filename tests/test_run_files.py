"""What tells a run folder from anything else."""

import pytest
from support import hand_made

from ragstone.errors import RunFolderError
from ragstone.run_files import MANIFEST, REPLIES, SAMPLES, SCORES, existing, files_of


def test_a_run_folder_needs_scores_alone(tmp_path):
    folder = hand_made.write_run(tmp_path / "run")
    whole = files_of(folder)
    assert (whole.manifest, whole.notices) == (hand_made.MANIFEST, ())
    assert None not in (whole.samples, whole.replies)
    for name in (MANIFEST, REPLIES, SAMPLES):
        (folder / name).unlink()
    bare = files_of(str(folder))
    assert (bare.samples, bare.replies, bare.manifest) == (None, None, {})
    assert [notice.code for notice in bare.notices] == ["manifest_missing"]
    assert [row for *_, row in bare.scores.read([])] == [row for *_, row in whole.scores.read([])]


def test_a_run_that_was_killed_before_its_first_score_is_one(tmp_path):
    folder = hand_made.write_run(tmp_path / "run")
    (folder / SCORES).write_bytes(b"")
    assert list(files_of(folder).scores.read([])) == []
    (folder / MANIFEST).unlink()
    with pytest.raises(RunFolderError, match=r"scores\.jsonl"):
        files_of(folder)


@pytest.mark.parametrize("name", ["nothing", "file", "empty"])
def test_what_is_no_run_folder_is_refused(tmp_path, name):
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "empty").mkdir()
    with pytest.raises(RunFolderError, match=name):
        files_of(tmp_path / name)
    assert existing(tmp_path / "empty") == tmp_path / "empty"
