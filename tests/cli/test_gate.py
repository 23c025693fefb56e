"""`ragstone gate` on the command line: exit codes, files, rules."""

import json
from xml.etree import ElementTree

import pytest

from ragstone.cli.app import run
from ragstone.cli.width import width

A = [0.5, 0.88] * 20


def write(folder, values, manifest=None):
    folder.mkdir()
    lines = [
        {
            "sample_id": f"s{i}",
            "metric": "faithfulness",
            "value": v,
            "status": "failed" if v is None else "ok",
            "reason": "timeout" if v is None else None,
        }
        for i, v in enumerate(values)
    ]
    (folder / "scores.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (folder / "manifest.json").write_text(json.dumps(manifest or {}), encoding="utf-8")


def test_a_file_of_rules_may_allow_another_judge(call, tmp_path):
    rules = tmp_path / "rules.toml"
    for said, code in (("", 2), ("allow_different_signature = true", 0)):
        rules.write_text(f"[gate]\nmin_coverage = 0.9\n{said}\n", encoding="utf-8")
        assert call("judged", "--baseline", "otherwise", "--rules", "rules.toml")[0] == code


@pytest.fixture
def call(tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "base", A)
    write(tmp_path / "worse", [0.48, 0.84] * 20)
    write(tmp_path / "fewer", [*A[:30], *[None] * 10])
    write(tmp_path / "judged", A, {"judge": {"model": "b", "endpoint": "x"}})
    write(tmp_path / "otherwise", A, {"judge": {"model": "a", "endpoint": "x"}})

    def go(*args, lang="en"):
        monkeypatch.setenv("RAGSTONE_LANG", lang)
        code = run(["gate", *args], lang, {})
        out, err = capfd.readouterr()
        return code, out, err

    return go


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["base"], 0),
        (["base", "--baseline", "base"], 0),
        (["worse"], 0),
        (["worse", "--baseline", "base"], 1),
        (["fewer"], 1),
        (["fewer", "--baseline", "base"], 1),
        (["judged", "--baseline", "otherwise"], 2),
        (["judged", "--baseline", "otherwise", "--allow-different-signature"], 0),
        (["missing"], 2),
        (["base", "--rules", "missing.toml"], 2),
        (["base", "--junit", "no/such/folder.xml"], 2),
    ],
)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_exit_codes(call, args, code, lang):
    found, out, err = call(*args, lang=lang)
    assert found == code, err
    if "--junit" not in args:
        assert bool(out) == (code != 2)
    assert bool(err) == (code == 2)
    assert all(width(line) <= 80 for line in out.splitlines())


def test_the_document_is_alone_on_stdout(call):
    code, out, err = call("worse", "--baseline", "base", "--json")
    document = json.loads(out)
    assert (code, err, document["passed"], document["exit_code"]) == (1, "", False, 1)
    assert call("worse", "--baseline", "base", "--json")[1] == out


def test_files_are_written_whatever_the_outcome(call, tmp_path):
    for name, code in (("base", 0), ("worse", 1)):
        assert call(name, "--baseline", "base", "--junit", "j.xml", "--markdown", "m.md", lang="zh")[0] == code
        suite = ElementTree.parse(tmp_path / "j.xml").getroot()[0]
        assert suite.get("failures") == str(code)
        assert (tmp_path / "m.md").read_text(encoding="utf-8").startswith(f"### 质量门禁：{name}，基准为 base\n")


def test_rules_of_the_working_folder_hold_unless_others_are_named(call, tmp_path):
    (tmp_path / "ragstone.toml").write_text("[gate.metrics.faithfulness]\nmin_mean = 0.9\n", encoding="utf-8")
    (tmp_path / "mild.toml").write_text("[gate]\nmin_coverage = 0.5\n", encoding="utf-8")
    assert call("base")[0] == 1
    assert call("base", "--rules", "mild.toml")[0] == 0
    (tmp_path / "ragstone.toml").write_text('lang = "en"\n', encoding="utf-8")
    assert call("base")[0] == 0
    (tmp_path / "ragstone.toml").write_text("[gate\n", encoding="utf-8")
    assert call("base")[0] == 2


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_help_names_every_option(call, lang):
    code, out, _ = call("--help", lang=lang)
    assert code == 0
    for option in ("--baseline", "--rules", "--junit", "--markdown", "--allow-different-signature", "--seed", "--json"):
        assert option in out


@pytest.mark.parametrize("text", ["[gate]\nmin_coverage = " + "9" * 5000, "lang = " + "[" * 5000 + "]" * 5000])
def test_a_settings_file_too_large_to_read_is_refused(call, tmp_path, text):
    (tmp_path / "ragstone.toml").write_text(text, encoding="utf-8")
    code, _, err = call("base")
    assert code == 2
    assert "ragstone.toml" in err
