import json
from pathlib import Path

import pytest
from support.hand_made import MANIFEST, ROWS, SAMPLES

from ragstone.cli.app import run
from ragstone.cli.estimate import estimate_page
from ragstone.cli.money import money, spent_table
from ragstone.cli.tables import summary_table
from ragstone.cli.width import width
from ragstone.rehearsal import Estimate
from ragstone.results import Run

GOLDEN = Path(__file__).parent / "golden"
LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])
SPENT = {"requests": 2400, "exact": 1200, "prompt": 1_234_567, "completion": 98_765, "cached": 0}
FOUND = Estimate(
    samples=1200,
    cells=2400,
    standing=30,
    held=12,
    from_cache=5,
    by_metric={"faithfulness": SPENT, "answer_relevancy(strictness=1)": {**SPENT, "requests": 1200, "exact": 1200}},
    by_kind={"split_claims": {**SPENT, "requests": 2400}, "check_claims": {**SPENT, "requests": 1200, "exact": 0}},
    embeddings={"requests": 1200, "texts": 2300, "tokens": 40_000},
    cost={"total": 6.541, "by_metric": {"faithfulness": 3.26, "answer_relevancy(strictness=1)": 3.277}, "embeddings": 0.004},
    limits=(
        {"limit": "--max-calls", "most": 5000, "estimated": 4800, "fits": True},
        {"limit": "--max-tokens-total", "most": 1_000_000, "estimated": 2_706_664, "fits": False},
        {"limit": "--max-cost", "most": 7.5, "estimated": None, "fits": None},
    ),
    sends=False,
)
MANIFEST_OF_A_RUN = {
    **MANIFEST,
    "tokens": {
        "prompt": 30_000,
        "completion": 4_000,
        "cached": 9_000,
        "unknown": 2,
        "by_kind": {},
        "by_metric": {
            "answer_correctness": {"requests": 6, "prompt": 9_000, "completion": 1_000, "cached": 0},
            "faithfulness": {"requests": 14, "prompt": 20_000, "completion": 2_500, "cached": 9_000},
            "unassigned": {"requests": 1, "prompt": 1_000, "completion": 500, "cached": 0},
        },
    },
    "cost": {
        "total": 0.0432,
        "by_metric": {"answer_correctness": 0.012, "faithfulness": 0.0301, "unassigned": 0.001},
        "embeddings": 0.0001,
    },
}


@LANGUAGES
def test_the_page_of_an_estimate(lang):
    page = estimate_page(FOUND, lang)
    assert page + "\n" == (GOLDEN / f"estimate.{lang}.txt").read_text(encoding="utf-8")
    assert [line for line in page.split("\n") if width(line) > 80] == []


@LANGUAGES
def test_show_tells_tokens_and_cost_by_metric(lang):
    text = summary_table(Run.from_scores(ROWS, SAMPLES, MANIFEST_OF_A_RUN).summary(), lang)
    spent = "\n\n".join(text.split("\n\n")[-3:-1])
    assert spent + "\n" == (GOLDEN / f"spent.{lang}.txt").read_text(encoding="utf-8")
    assert [line for line in spent.split("\n") if width(line) > 80] == []


@pytest.mark.parametrize("held", [{}, {"faithfulness": {}}, {"faithfulness": 3}, {"faithfulness": {"requests": "many"}}])
def test_a_manifest_that_tells_nothing_shows_nothing(held):
    assert spent_table(held, None, "metric", "en") == []
    for tokens in ({"by_metric": held}, {"by_metric": [held]}, "none"):
        manifest = {**MANIFEST, "tokens": tokens, "cost": {"total": "x", "by_metric": 3}}
        summary_table(Run.from_scores(ROWS, SAMPLES, manifest).summary(), "en")


@pytest.mark.parametrize(("amount", "shown"), [(0, "0.00000"), (0.00012, "0.00012"), (1.5, "1.500"), (1234.5, "1,234.50")])
def test_money(amount, shown):
    assert money(amount) == shown


# ------------------------------------------------------------------ the command
ROW = {
    "id": "s1",
    "question": "保修多久？",
    "answer": "保修两年。",
    "contexts": ["保修期为两年。"],
    "reference": "保修期两年，自签收日起。",
}


@pytest.fixture
def samples(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("samples.jsonl").write_text(json.dumps(ROW, ensure_ascii=False) + "\n", encoding="utf-8")
    return "samples.jsonl"


@pytest.mark.parametrize(("lang", "words"), [("en", "nothing was sent"), ("zh", "没有发送，也没有写入")])
def test_dry_run_needs_no_judge_and_no_folder(samples, capsys, lang, words):
    assert run(["evaluate", samples, "--dry-run", "--no-cache"], lang, {}) == 0
    out, _ = capsys.readouterr()
    assert words in out
    assert sorted(path.name for path in Path().iterdir()) == ["samples.jsonl"]


def test_json_is_one_document(samples, capsys):
    endpoint = ["--judge", "m", "--base-url", "http://127.0.0.1:9/v1", "--max-calls", "3"]
    assert run(["evaluate", samples, "--dry-run", "--no-cache", "--json", *endpoint], "en", {"RAGSTONE_JUDGE_API_KEY": "k"}) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["dry_run"] is True
    assert (document["requests"], document["exact"]) == (7, 4)
    assert sum(part["requests"] for part in document["by_metric"].values()) == 7
    assert document["limits"] == [{"limit": "--max-calls", "most": 3, "estimated": 7, "fits": False}]
    assert document["cost"] is None


def test_what_is_wrong_with_samples_or_metrics_is_told_as_ever(samples, capsys):
    assert run(["evaluate", samples, "--dry-run", "--metrics", "faithfullness"], "en", {}) == 2
    assert "faithfulness" in capsys.readouterr().err
