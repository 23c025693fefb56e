"""`ragstone diagnose` from the command line."""

import json

import orjson
import pytest
from support.diagnosed_runs import ZH, mixed, sample_rows
from support.evidence_rows import lost_cell

import ragstone
from ragstone.cli.app import run
from ragstone.cli.width import width


@pytest.fixture
def folder(tmp_path):
    return written(tmp_path, mixed())


def written(folder, found):
    rows = [row for sample_id in [row["id"] for row in found.samples] for row in found.rows_of(sample_id)]
    (folder / "scores.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    (folder / "samples.jsonl").write_bytes(b"\n".join(map(orjson.dumps, found.samples)))
    (folder / "manifest.json").write_bytes(orjson.dumps(found.manifest))
    return folder


def told(args, capsys, lang="en"):
    assert run(["diagnose", *map(str, args)], lang, {}) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_page_says_first_what_is_wrong_and_fits_the_screen(folder, lang, capsys):
    out = told([folder, "--by", "topic"], capsys, lang)
    lead = {"zh": "最主要的是：与检索片段相矛盾", "en": "First: says the opposite"}[lang]
    assert lead in " ".join(out[:300].split())
    assert max(map(width, out.splitlines())) <= 80
    assert out.index({"zh": "原因 ", "en": "cause "}[lang]) < out.index({"zh": "是检索的问题", "en": "Retrieval or generation?"}[lang])


def test_the_document_is_that_of_python(folder, capsys):
    document = json.loads(told([folder, "--json", "--by", "topic"], capsys))
    found = ragstone.diagnose(ragstone.load(folder), by="topic")
    assert document == found.to_dict("en")
    assert document["run"]["path"] == str(folder)


def test_the_language_of_the_document_is_chosen(folder, capsys):
    document = json.loads(told([folder, "--json", "--lang", "zh"], capsys))
    assert "在提示词里" in document["causes"][1]["remedies"][0]


@pytest.mark.parametrize(("lang", "name"), [("zh", "与检索片段相矛盾"), ("en", "says the opposite of the chunks")])
def test_one_sample(folder, lang, name, capsys):
    out = told([folder, "zh-1"], capsys, lang)
    assert name in out.splitlines()[0]
    assert all(ZH[claim] in out for claim in ("a1", "r2"))
    assert ZH["a2"] not in out
    assert max(map(width, out.splitlines())) <= 80
    document = json.loads(told([folder, "zh-1", "--json"], capsys, lang))
    assert (document["sample_id"], document["cause"], len(document["causes"])) == ("zh-1", "contradicts_contexts", 2)


def test_a_clean_sample_and_an_expected_refusal(folder, capsys):
    assert "no claim lost" in told([folder, "zh-3"], capsys)
    out = told([folder, "zh-2"], capsys)
    assert "as it should" in out.splitlines()[0]
    assert "Nothing to do" in out


def test_an_unknown_sample_is_told_with_the_nearest(folder, capsys):
    assert run(["diagnose", str(folder), "zh-9"], "en", {}) == 2
    assert "zh-1" in capsys.readouterr().err
    assert run(["diagnose", str(folder), "en-3"], "zh", {}) == 2  # it failed, so there is nothing to diagnose
    assert "en-3" in capsys.readouterr().err


def test_slices_say_nothing_of_one_sample(folder, capsys):
    assert run(["diagnose", str(folder), "zh-1", "--by", "topic"], "en", {}) == 2
    assert "--by" in capsys.readouterr().err


def test_there_is_no_such_run(tmp_path, capsys):
    assert run(["diagnose", str(tmp_path / "nowhere")], "en", {}) == 2
    assert "nowhere" in capsys.readouterr().err


def test_the_limit_comes_from_the_flag_or_the_file(folder, tmp_path, capsys):
    def quadrants(*args):
        return json.loads(told([folder, "--json", *args], capsys))["quadrants"]["retrieval_generation"]

    assert quadrants()["good_good"] == 1
    assert quadrants("--level-high", "0", "--level-middle", "0")["good_good"] == 5
    file = tmp_path / "limits.toml"
    file.write_text("[levels]\nhigh = 0\nmiddle = 0\n", encoding="utf-8")
    assert quadrants("--config", str(file))["good_good"] == 5


def test_a_run_where_everything_failed_is_told_in_words(tmp_path, capsys):
    found = ragstone.Run.from_scores([lost_cell("faithfulness")], [{"id": "s"}], {})
    assert "No sample has a score" in told([written(tmp_path, found)], capsys)


def test_sample_text_cannot_move_the_cursor(tmp_path, capsys):
    found = ragstone.Run.from_scores(sample_rows("s", a1="\x1b[2Jgone\x07"), [{"id": "s"}], {})
    for args in ([written(tmp_path, found)], [tmp_path, "s"]):
        out = told(args, capsys)
        assert "gone" in out
        assert "\x1b" not in out
