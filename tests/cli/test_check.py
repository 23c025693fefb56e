"""`ragstone check` on the command line."""

import json
from pathlib import Path

import pytest

from ragstone.cli.app import run
from ragstone.cli.width import width

GOLDEN = Path(__file__).parent / "golden"
ROWS = [
    {"id": "leave-1", "question": "年假可以休几天？", "reference": "工作满一年的员工每年 5 天，满十年的 10 天。"},
    {"id": "leave-2", "question": "年假可以休几天?", "reference": "每年 7 天。"},
    {"id": "meal-1", "question": "食堂几点开门？", "reference": "早上七点半。"},
    {"id": "meal-2", "question": "Does the canteen serve breakfast on Sundays?", "reference": "Itâ€™s closed on Sundays."},
    {"id": "car-1", "question": "班车从哪里出发？", "reference": "知识库中没有相关信息。"},
    {"id": "car-2", "question": "班车司机怎么联系？", "reference": "请联系司机，手机 13912340678。"},
    {"question": "宿舍怎么申请？", "referense": "在系统里提交申请。"},
    *({"id": f"room-{i}", "question": f"{i} 号会议室能坐多少人？"} for i in range(1, 8)),
    {"id": "meal-3", "question": "食堂几点开门", "reference": "早上七点半。"},
]
CLEAN = [{"id": f"q{i}", "question": f"{i} 号会议室能坐多少人？", "reference": f"能坐 {i + 10} 人。"} for i in range(1, 41)]


@pytest.fixture
def call(capfd, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def go(rows, *args, lang="en"):
        Path("gold.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        monkeypatch.setenv("RAGSTONE_LANG", lang)
        code = run(["check", "gold.jsonl", *args], lang, {})
        out, err = capfd.readouterr()
        return code, out, err

    return go


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page(call, lang):
    code, out, _ = call(ROWS, lang=lang)
    assert code == 0
    assert out == (GOLDEN / f"check.{lang}.txt").read_text(encoding="utf-8")
    assert max(width(line) for line in out.splitlines()) <= 80


def test_the_document_holds_every_finding_by_row_and_is_the_same_each_time(call):
    first, second = (call(ROWS, "--json") for _ in range(2))
    assert first == second
    document = json.loads(first[1])
    assert (first[0], document["file"], document["rows"]) == (0, "gold.jsonl", 15)
    assert len(document["gold_fingerprint"]) == 16
    findings = document["findings"]
    assert {tuple(finding) for finding in findings} == {("row", "id", "column", "kind", "severity", "text", "fix")}
    assert [f["row"] for f in findings] == sorted(f["row"] for f in findings)
    held = {(f["row"], f["id"], f["column"], f["kind"], f["severity"]) for f in findings}
    assert held >= {
        (15, "meal-3", "question", "duplicate_question", "warning"),
        (4, "meal-2", "reference", "mojibake", "warning"),
        (5, "car-1", "reference", "no_answer_reference", "warning"),
        (6, "car-2", "reference", "personal_data", "warning"),
        (14, "room-7", "reference", "missing_reference", "warning"),
        (1, None, "referense", "misspelt_column", "note"),
    }
    assert "13912340678" not in first[1]


def test_strict_ends_with_1_for_an_error_or_a_warning_only(call):
    assert call(ROWS, "--strict")[0] == 1
    assert call(ROWS, "--strict", "--json")[0] == 1
    assert call(CLEAN, "--strict")[0] == 0
    assert call(CLEAN[:5], "--strict")[0] == 1


def test_all_shows_what_the_page_counts(call):
    short, long = call(ROWS)[1], call(ROWS, "--all")[1]
    assert "room-7" not in short
    assert "room-7" in long
    assert "and 3 more (--all or --json shows them)" in short


def test_quiet_leaves_out_what_was_seen_while_reading(call):
    assert "referense" in call(CLEAN + ROWS[6:7])[2]
    assert "referense" in call(CLEAN + ROWS[6:7], "--json")[2]
    assert call(CLEAN + ROWS[6:7], "--quiet")[2] == ""
    assert call(CLEAN + ROWS[6:7], "--quiet", "--json")[2] == ""


def test_a_misspelt_variable_is_told(call, capfd):
    call(CLEAN)
    assert run(["check", "gold.jsonl", "--json"], "en", {"RAGSTONE_ENCODNG": "gbk"}) == 0
    assert "did you mean RAGSTONE_ENCODING?" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("lang", "said"),
    [
        ("en", "no row has a column of this name. Columns to cluster by: team; did you mean team?"),
        ("zh", "没有哪一行有这一列。可用来成组的列：team；是否指 team？"),
    ],
)
def test_a_cluster_that_no_row_names_is_refused_with_the_nearest(call, lang, said):
    code, out, err = call([{**row, "team": "hr"} for row in CLEAN], "--cluster", "taem", lang=lang)
    assert (code, out) == (2, "")
    assert said in err


def test_an_unreadable_file_ends_with_2_and_every_problem(call):
    code, out, err = call([{"id": "a", "question": "x"}, {"id": "a", "question": "y"}, {"id": "b", "question": 3}])
    assert (code, out) == (2, "")
    assert "row 2" in err
    assert "row 3" in err


def test_columns_are_read_under_other_names_and_told_under_their_own(call):
    rows = [{"id": row["id"], "提问": row["question"], "标答": row["reference"]} for row in [*ROWS[:6], ROWS[-1]]]
    code, out, _ = call(rows, "--map", "question=提问", "--map", "reference=标答", "--json")
    assert code == 0
    assert {(f["kind"], f["column"]) for f in json.loads(out)["findings"] if f["id"]} >= {
        ("duplicate_question", "提问"),
        ("mojibake", "标答"),
    }


def test_encoding_limit_and_cluster(call, capfd):
    text = "id,question,reference,variant_of\na,年假几天？,五天。,a\nb,年假有几天呢？,五天。,a\nc,年假几天？,五天。,\n"
    Path("gold.csv").write_bytes(text.encode("gbk"))
    assert run(["check", "gold.csv", "--encoding", "gbk", "--limit", "2", "--cluster", "variant_of", "--json"], "en", {}) == 0
    document = json.loads(capfd.readouterr().out)
    assert document["rows"] == 2
    assert [f["kind"] for f in document["findings"]] == ["too_few"]
    assert document["findings"][0]["text"].startswith("Questions: 1 (2 rows")


@pytest.mark.parametrize(("key", "parts"), [("varient_of", ["varient_of", "variant_of"]), ("x", ["--cluster x", "category"])])
def test_a_cluster_that_no_row_names_ends_with_2(call, key, parts):
    code, out, err = call([row | {"variant_of": "q1", "category": "room"} for row in CLEAN], "--cluster", key)
    assert (code, out) == (2, "")
    assert [part for part in parts if part not in err] == []


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_settings_file_is_named_and_counts_before_the_variable(call, capfd, lang):
    Path("mine.toml").write_text('encoding = "gbk"\n', encoding="utf-8")
    Path("other.toml").write_text('encoding = "big5"\n', encoding="utf-8")
    Path("gold.csv").write_bytes("id,question,reference\na,年假几天？,五天。\n".encode("gbk"))
    environ = {"RAGSTONE_CONFIG": "other.toml"}
    assert run(["check", "gold.csv", "--config", "mine.toml", "--json"], lang, environ) == 0
    assert json.loads(capfd.readouterr().out)["rows"] == 1
    assert run(["check", "gold.csv", "--config", "none.toml"], lang, environ) == 2
    assert "none.toml" in capfd.readouterr().err
