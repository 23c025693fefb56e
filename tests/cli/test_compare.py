"""`ragstone compare BASE NEW`."""

import json
import re

import pytest
from support.two_runs import rows, write

from ragstone.cli.app import run

LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])
META = [{"id": f"q{i:02}", "meta": {"doc": i % 3}} for i in range(8)]


@pytest.fixture
def compare(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "base", rows([0.5] * 8), META)
    write(tmp_path / "new", rows([0.6] * 8))

    def call(*args, lang="en"):
        monkeypatch.setenv("RAGSTONE_LANG", lang)
        code = run(["compare", *(args if args and not args[0].startswith("-") else ("base", "new", *args))], lang, {})
        out, err = capfd.readouterr()
        return code, out, err

    return call


@LANGUAGES
def test_the_page(compare, lang):
    code, out, err = compare(lang=lang)
    assert (code, err) == (0, "")
    assert {"en": "Better: faithfulness.", "zh": "变好：忠实度。"}[lang] in out


@LANGUAGES
def test_the_document(compare, lang):
    code, out, err = compare("--json", lang=lang)
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["base"]["path"] == "base"
    assert {"en": "better", "zh": "变好"}[lang] in found["metrics"][0]["text"]
    assert compare("--json", lang=lang)[1] == out


def test_worse_is_no_failure(compare):
    assert compare("new", "base")[0] == 0


def test_options_reach_the_comparison(compare):
    _, out, _ = compare(
        *("--json", "--metrics", "faithfulness", "--by", "doc", "--cluster", "doc"),
        *("--margin", "0.2", "--ci", "cluster_t", "--alpha", "0.1", "--seed", "7"),
    )
    found = json.loads(out)
    (metric,) = found["metrics"]
    assert (found["alpha"], found["seed"], len(found["slices"])) == (0.1, 7, 3)
    assert (metric["margin"], metric["ci"]["method"], metric["ci"]["level"]) == (0.2, "cluster_t", 0.9)


@LANGUAGES
@pytest.mark.parametrize(
    "args",
    [
        ("--metrics", "faithful"),
        ("--cluster", "dok"),
        ("--alpha", "2"),
        ("--margin", "0"),
        ("--ci", "wald"),
        ("--seed", "-1"),
        ("base", "nowhere"),
        ("base", "base/scores.jsonl"),
        ("base",),
    ],
)
def test_what_cannot_be_is_refused_in_words(compare, args, lang):
    code, out, err = compare(*args, lang=lang)
    assert (code, out) == (2, "")
    assert args[-1] in err or args == ("base",)
    assert "Traceback" not in err
    assert bool(re.search("[\u4e00-\u9fff]", err)) == (lang == "zh")


@pytest.mark.parametrize(("content", "text"), [("", "is empty"), ("not json\n", "none of its lines"), ('{"sample_id": "a"}\n', "line 1")])
def test_a_run_that_cannot_be_read_is_refused(compare, tmp_path, content, text):
    (tmp_path / "new" / "scores.jsonl").write_text(content)
    code, out, err = compare("--json")
    assert (code, out) == (2, "")
    assert text in err


def test_claims_can_be_left_out(compare):
    assert compare("--claims", "0")[0] == 0
    assert compare("--claims", "-3")[0] == 0
