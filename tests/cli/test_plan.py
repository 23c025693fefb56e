"""`ragstone plan` on the command line."""

import json

import pytest

from ragstone.cli.app import run
from ragstone.cli.width import width

A, B = [0.5, 0.88] * 20, [0.83, 0.61] * 20


def write(folder, values):
    folder.mkdir()
    lines = [{"sample_id": f"s{i}", "metric": "faithfulness", "value": v, "status": "ok"} for i, v in enumerate(values)]
    (folder / "scores.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(folder)


@pytest.fixture
def call(capfd, monkeypatch):
    def go(*args, lang="en"):
        monkeypatch.setenv("RAGSTONE_LANG", lang)
        code = run(["plan", *args], lang, {})
        out, err = capfd.readouterr()
        return code, out, err

    return go


@pytest.mark.parametrize(
    ("lang", "words"), [("en", ["565 samples", "smallest difference found"]), ("zh", ["565 个有分数的样本", "看得出的最小差值"])]
)
def test_the_page(call, lang, words):
    code, out, err = call("--sd", "0.254", "--gap", "0.03", lang=lang)
    assert (code, err) == (0, "")
    assert [word for word in words if word not in out] == []
    assert max(width(line) for line in out.splitlines()) <= 80


def test_the_document_is_alone_on_stdout_and_the_same_each_time(call):
    first, second = (call("--sd", "0.254", "--n", "40", "--json") for _ in range(2))
    assert first == second
    assert json.loads(first[1])["detectable"] == pytest.approx(0.1125, abs=1e-4)


def test_runs_are_given_after_from_or_with_from_twice(call, tmp_path):
    a, b = write(tmp_path / "a", A), write(tmp_path / "b", B)
    one = json.loads(call("--from", a, "--gap", "0.03", "--json")[1])
    assert one["sd_source"] == "one_run_assumed_correlation"
    two = [call("--from", a, b, "--gap", "0.03", "--json"), call("--from", a, "--from", b, "--gap", "0.03", "--json")]
    assert two[0] == two[1]
    assert json.loads(two[0][1])["sd_source"] == "two_runs"
    assert json.loads(call("--from", a, b, "--json")[1])["n"] == 40


@pytest.mark.parametrize(
    ("args", "part"),
    [
        ([], "--sd S"),
        (["--sd", "0.2"], "--gap G"),
        (["--sd", "0", "--gap", "0.1"], "--sd = 0"),
        (["--sd", "0.2", "--gap", "5"], "--gap = 5"),
        (["A"], "--from RUN"),
        (["--from", "A", "--from", "B", "C", "--gap", "0.1"], "3"),
        (["--from", "missing", "--gap", "0.1"], "missing"),
        (["--sd", "0.2", "--gap", "0.1", "--gpa", "1"], "--gap"),
    ],
)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_usage_errors_exit_2(call, args, part, lang):
    code, out, err = call(*args, lang=lang)
    assert (code, out) == (2, "")
    assert part in err


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_help_names_every_option(call, lang):
    code, out, _ = call("--help", lang=lang)
    assert code == 0
    for option in (
        "--from",
        "--sd",
        "--gap",
        "--n ",
        "--metric",
        "--alpha",
        "--power",
        "--repeats",
        "--judge-sd",
        "--correlation",
        "--json",
    ):
        assert option in out
