"""`ragstone history`: one line a claim, one document with --json, and exit codes."""

import json

import pytest
from support.histories import claim_row, write_history_run

from ragstone.cli.app import run
from ragstone.cli.width import width


@pytest.fixture
def call(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)

    def history(*args, lang="en"):
        monkeypatch.setenv("RAGSTONE_LANG", lang)
        code = run(["history", *args], lang, {})
        out, err = capfd.readouterr()
        return code, out, err

    return history


@pytest.fixture
def runs(tmp_path):
    for day in range(1, 31):
        row = claim_row("a-sample-with-a-very-long-name-" + "x" * 40, "+-" if day < 29 else "-+")
        row["verdicts"][0]["text"] = "要点\x1b[31m" + "很长的论断" * 40
        write_history_run(tmp_path / "runs" / f"a-run-with-a-very-long-name-{day}", [row], min(day, 28))
    return tmp_path / "runs"


PAGE = {
    "en": """Gold claims over 2 runs of runs
1 lost · 1 pass

2 claims of gold set gold1, by answer_correctness. Oldest run: r1 (2026-03-01);
newest: r2 (2026-03-02).

Lost: covered before, missing now (1)
  ✓✗  a  lost in r2, not answered  Claim 2 of a.

Each mark stands for one run, the oldest at the left: ✓ covered, ✗ missing, ~
the repeats disagree, · the run does not say (failed, not applicable, not
measured).

not retrieved: no context held the claim; not answered: a context held it, the
answer does not say it.
""",
    "zh": """runs 中 2 次运行的金标准论断
新丢失 1 · 通过 1

金标准集 gold1 共 2 条论断，依据答案正确性。最早的运行：r1（2026-03-01）；最近的
运行：r2（2026-03-02）。

新丢失：以前覆盖到，现在缺失（1）
  ✓✗  a  丢于 r2，没答出  Claim 2 of a.

每个记号代表一次运行，越靠右越新：✓ 覆盖到，✗ 缺失，~ 重复评测结果不一，· 该次运
行没有说明（失败、不适用或未评测）。

未检索到：检索片段里没有这条内容；没答出：检索片段里有，但回答没有说到。
""",
}


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page(tmp_path, call, lang):
    for day, marks in enumerate(["++", "+-"], 1):
        write_history_run(tmp_path / "runs" / f"r{day}", [claim_row("a", marks), claim_row("a", "++", "context_recall")], day)
    assert call(lang=lang) == (0, PAGE[lang], "")  # DIR is `runs` unless told


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_claim_takes_one_line_of_the_screen(runs, call, lang):
    _, out, _ = call(lang=lang)
    assert "\x1b" not in out
    assert max(map(width, out.splitlines())) <= 80
    assert sum("要点" in line for line in out.splitlines()) == 1


def test_one_document(runs, call):
    code, out, err = call("--json", "--last", "3")
    document = json.loads(out)
    assert (code, err) == (0, "")
    assert list(document) == ["dir", "gold_fingerprint", "metric", "runs", "claims", "counts", "warnings"]
    assert [claim["states"] for claim in document["claims"]] == [["pass", "fail", "fail"], ["fail", "pass", "pass"]]


def test_how_many_are_listed(tmp_path, call):
    write_history_run(tmp_path / "runs" / "r1", [claim_row("a", "-" * 12)])
    assert call()[1].count("Claim ") == 10
    _, out, _ = call("--worst", "2")
    assert out.count("Claim ") == 2
    assert "and 10 more" in out
    assert call("--worst", "0")[1].count("Claim ") == 0


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["nowhere"], "nowhere"),
        (["empty"], "holds no run"),
        (["runs/a-run-with-a-very-long-name-1"], "is a run"),
        (["--only", "lots"], "flaky"),
        (["--last", "0"], "--last"),
        (["--gold", "z"], "gold1"),
    ],
)
def test_what_cannot_be_shown_ends_with_2_and_words(runs, tmp_path, call, args, said):
    (tmp_path / "empty").mkdir()
    code, out, err = call(*args)
    assert (code, out) == (2, "")
    assert said in err
