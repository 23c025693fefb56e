"""`ragstone runs`: the list, the latest, tags."""

import json
import shutil

import pytest
from support.rounds import Rounds

from ragstone.cli.app import run
from ragstone.cli.width import width


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A work folder with two runs."""
    with Rounds(tmp_path_factory.mktemp("made")) as rounds:
        first = rounds.run().run
        rounds.write(seed=1)
        second = rounds.run().run
        yield rounds.folder, first, second


@pytest.fixture
def call(made, tmp_path, capfd, monkeypatch):
    shutil.copytree(made[0], tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")

    def go(*args, lang="en"):
        monkeypatch.setenv("RAGSTONE_LANG", lang)
        code = run(["runs", *args], lang, {})
        return code, *capfd.readouterr()

    return go


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("where", [[], ["runs"], ["pipeline.toml"]], ids=str)
def test_the_newest_run_stands_first(made, call, where, lang):
    _, first, second = made
    code, out, err = call(*where, lang=lang)
    assert (code, err) == (0, "")
    assert out.index(f"{second} ") < out.index(f"{first} ")
    assert {"en": "latest", "zh": "最新"}[lang] in next(line for line in out.splitlines() if line.startswith(second))
    assert [line for line in out.splitlines() if width(line) > 80] == []
    assert out.count("1.000") == 4


def test_the_document_holds_everything(made, call):
    _, first, second = made
    document = json.loads(call("--json")[1])
    assert [one["name"] for one in document["runs"]] == [first, second]
    assert document["latest"] == second
    assert document["runs"][0]["steps"]["evaluate"]["numbers"]["means"] == {"faithfulness": 1.0, "context_recall": 1.0}


def tags(out):
    return json.loads(out)["tags"]


def test_tags_are_given_moved_and_taken_away(made, call):
    _, first, second = made
    assert tags(call("--tag", "good", "--json")[1]) == {"good": second}
    assert tags(call("--tag", f"good={first}", "--tag", f"best={first}", "--json")[1]) == {"good": second, "best": first}
    assert tags(call("--tag", "good=best", "--json")[1]) == {"good": first, "best": first}
    assert "best, good" in "".join(sorted(call("runs")[1].splitlines())) or "good, best" in call("runs")[1]
    assert tags(call("--untag", "best", "--json")[1]) == {"good": first}
    assert tags(call("--json")[1]) == {"good": first}
    assert tags(call("--tag", f"发布=runs/{first}", "--untag", "good", "--json")[1]) == {"发布": first}


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["--tag", "last"], "last"),
        (["--tag", "a b"], "a b"),
        (["--tag", "=x"], "tag"),
        (["--tag", "good=2026"], "2026"),
        (["--tag", "good="], "no run"),
        (["--untag", "good"], "good"),
        (["gone"], "gone"),
        (["gold.jsonl"], "gold.jsonl"),
    ],
    ids=str,
)
def test_mistakes_are_2_and_change_nothing(call, args, named):
    before = call("--json")[1]
    code, out, err = call(*args)
    assert (code, out) == (2, "")
    assert named in err
    assert call("--json")[1] == before
