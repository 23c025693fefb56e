"""H25: 0.69 and then 0.72: better, or luck? And what of the rows that are missing."""

import json
import re

import pytest
from support.two_runs import rows, write

from ragstone.cli.app import run

OLD = [0.50, 0.88] * 20
LUCK, REAL = [0.83, 0.61] * 20, [0.52, 0.92] * 20
LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])


@pytest.fixture
def compare(tmp_path, capfd, monkeypatch):
    def call(new, lang, *args):
        monkeypatch.setenv("RAGSTONE_LANG", lang)
        folders = [write(tmp_path / lang / str(len(args)) / name, held) for name, held in (("a", rows(OLD)), ("b", new))]
        code = run(["compare", *map(str, folders), *args], lang, {})
        out, err = capfd.readouterr()
        assert (code, err) == (0, "")
        return out

    return call


def only(out):
    found = json.loads(out)
    (metric,) = found["metrics"]
    assert (metric["base_mean"], metric["new_mean"]) == (pytest.approx(0.69), pytest.approx(0.72))
    assert metric["difference"] == pytest.approx(0.03)
    return found, metric


@LANGUAGES
def test_h25a_a_difference_that_luck_would_bring_is_told_as_such(compare, lang):
    found, metric = only(compare(rows(LUCK), lang, "--json"))
    assert metric["ci"]["low"] == pytest.approx(-0.06, abs=0.01)
    assert metric["ci"]["high"] == pytest.approx(0.12, abs=0.01)
    assert metric["p"] == pytest.approx(0.55, abs=0.02)
    assert metric["verdict"] == "cannot_tell"
    assert found["pairs"]["common"] == metric["n"] == 40
    text = " ".join(compare(rows(LUCK), lang).split())
    assert {"en": "cannot tell; this may be luck", "zh": "无法判断"}[lang] in text
    assert not re.search(r"better|变好", text)


@LANGUAGES
def test_h25b_a_small_difference_that_holds_everywhere_is_real(compare, lang):
    _, metric = only(compare(rows(REAL), lang, "--json"))
    assert metric["ci"]["low"] == pytest.approx(0.027, abs=0.0005)
    assert metric["ci"]["high"] == pytest.approx(0.033, abs=0.0005)
    assert metric["p"] < 0.001
    assert metric["verdict"] == "better"
    assert {"en": "better", "zh": "变好了"}[lang] in compare(rows(REAL), lang)


@LANGUAGES
def test_h25c_missing_rows_are_named(compare, lang):
    short = rows(LUCK[:30])
    missing = [f"q{i}" for i in range(30, 40)]
    found, metric = only(compare(short, lang, "--json"))
    assert found["pairs"]["only_base"] == missing
    assert metric["n"] == 30
    assert "coverage_low" in [warning["code"] for warning in found["warnings"]]
    page = compare(short, lang)
    assert all(name in page for name in missing)
    assert not re.search(r"better|变好", page)
