"""A folder that is no run, and a row that no run may hold, in both languages."""

import json

import pytest

from ragstone.errors import RunFolderError
from ragstone.results import load


@pytest.mark.parametrize(
    ("lang", "words"), [("en", "Scores run from 0 to 1: 85 % is 0.85."), ("zh", "分数的范围是 0 到 1：85% 应写成 0.85。")]
)
@pytest.mark.parametrize("value", [85, 85.0, 850, -1])
def test_a_percentage_is_told_with_its_folder(value, lang, words, tmp_path, monkeypatch):
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    path = tmp_path / "run"
    path.mkdir()
    row = {"sample_id": "a", "metric": "m", "value": value, "status": "ok"}
    (path / "scores.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    for read in (lambda: load(path).summary(), lambda: load(path).scores):
        with pytest.raises(RunFolderError) as caught:
            read()
        assert str(path / "scores.jsonl") in str(caught.value)
        assert (words in str(caught.value)) == (value == 85)


@pytest.mark.parametrize(
    ("lang", "empty", "other", "runs"),
    [("en", "is an empty folder", "it holds x.txt", "holds runs: "), ("zh", "是空文件夹", "其中有 x.txt", "存放着多次运行：")],
)
def test_a_folder_that_is_no_run(tmp_path, lang, empty, other, runs, monkeypatch):
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    with pytest.raises(RunFolderError, match=empty):
        load(tmp_path)
    (tmp_path / "x.txt").write_text("")
    with pytest.raises(RunFolderError, match=other):
        load(tmp_path)
    for name in "abcdefg":
        (tmp_path / name).mkdir()
        (tmp_path / name / "scores.jsonl").write_text("{}\n")
    with pytest.raises(RunFolderError) as caught:
        load(tmp_path)
    assert runs + str(tmp_path / "a") in str(caught.value)
    assert str(tmp_path / "e") + ", …" in str(caught.value)
    assert str(tmp_path / "f") not in str(caught.value)
