import json

import orjson
import pytest

import ragstone
from ragstone.cli.app import run
from ragstone.embed.scripted import ScriptedEmbedder
from ragstone.judge.scripted import ScriptedJudge

SAMPLE = {
    "id": "s1",
    "question": "How long is the warranty?",
    "answer": "Two years. It is free.",
    "contexts": ["The warranty runs two years."],
}
TRUTH = {
    "claims": {"Two years. It is free.": ["The warranty is two years", "The warranty is free"]},
    "checks": {"The warranty is two years": {"supported": ["The warranty runs two years."]}, "The warranty is free": {}},
}


@pytest.fixture
def folder(tmp_path):
    judge, embedder = ScriptedJudge.from_dict(TRUTH), ScriptedEmbedder.from_dict(TRUTH)
    ragstone.evaluate([SAMPLE], metrics="faithfulness", judge=judge, embeddings=embedder, out=tmp_path / "run")
    return tmp_path / "run"


@pytest.mark.parametrize(
    ("lang", "said"),
    [("en", "1 cells computed again from the stored replies: all the same."), ("zh", "根据已存的回复重新计算了 1 项：全部一致。")],
)
def test_a_run_that_comes_out_the_same(folder, lang, said, capsys):
    assert run(["replay", str(folder)], lang, {}) == 0
    assert capsys.readouterr().out == said + "\n"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_folder_that_does_not_exist_is_told_as_show_tells_it(lang, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    told = set()
    for command in ("replay", "show"):
        assert run([command, str(tmp_path / "none")], lang, {}) == 2
        told.add(capsys.readouterr().err)
    assert len(told) == 1
    assert str(tmp_path / "none") in told.pop()


def test_a_changed_score_is_told_and_exits_1_and_write_mends_it(folder, capsys):
    scores = folder / "scores.jsonl"
    right = scores.read_bytes()
    scores.write_bytes(orjson.dumps({**orjson.loads(right), "value": 0.25}, option=orjson.OPT_APPEND_NEWLINE))
    wrong = scores.read_bytes()
    assert run(["replay", str(folder)], "en", {}) == 1
    out = capsys.readouterr().out
    assert "s1  faithfulness  0: 0.25 -> 0.5" in out
    assert "--write" in out
    assert scores.read_bytes() == wrong
    assert run(["replay", str(folder), "--write"], "en", {}) == 1
    assert scores.read_bytes() == right
    assert run(["replay", str(folder)], "en", {}) == 0


def test_many_changes_are_counted_not_listed(folder, capsys):
    rows = [{**json.loads((folder / "scores.jsonl").read_text()), "repeat": k, "value": 0.25} for k in range(25)]
    (folder / "scores.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "repeats": 25}))
    assert run(["replay", str(folder)], "en", {}) == 1
    out = capsys.readouterr().out
    assert "of 25 cells" in out
    assert len([line for line in out.splitlines() if "0.25 ->" in line]) <= 20


@pytest.mark.parametrize("what", ["gone", "empty"])
def test_a_folder_that_cannot_be_replayed_exits_2(what, tmp_path, capsys):
    if what == "empty":
        (tmp_path / "empty").mkdir()
    assert run(["replay", str(tmp_path / what)], "en", {}) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert what in err
    assert not (tmp_path / "gone").exists()
