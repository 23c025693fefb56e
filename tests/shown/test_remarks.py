"""What is said under the table, in both languages."""

import pytest

from ragstone import Run
from ragstone.analysis.levels import Levels
from ragstone.cli.blocks import screen
from ragstone.cli.width import width
from ragstone.shown.remarks import bars, failed_bounds, narrower, remarks

LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])


def ok(sample_id, value, metric="faithfulness", **more):
    return {"sample_id": str(sample_id), "metric": metric, "value": value, "status": "ok", **more}


def said(rows, lang="en", samples=None, **wanted):
    return " ".join(screen(remarks(Run.from_scores(rows, samples).summary(**wanted), lang)).split())


@pytest.mark.parametrize(
    ("counts", "drawn"),
    [
        ([0] * 10, "··········"),
        ([1, 0, 0, 0, 0, 0, 0, 0, 0, 1000], "▁········█"),
        ([1, 2, 3, 4, 5, 6, 7, 8, 0, 8], "▁▂▃▄▅▆▇█·█"),
        ([5] * 10, "██████████"),
    ],
)
def test_bars(counts, drawn):
    assert bars(counts) == drawn


SPREAD = [ok(i, i / 11) for i in range(12)]


@pytest.mark.parametrize(
    ("rows", "wanted", "en", "zh"),
    [
        pytest.param(SPREAD, {}, "95% interval: with another set", "95% 区间：换一批同类问题", id="interval"),
        pytest.param(SPREAD, {"confidence": 0.9}, "90% interval:", "90% 区间：", id="confidence"),
        pytest.param(
            [ok(i, 1.0) for i in range(20)],
            {},
            "faithfulness: few scores, or few that differ",
            "忠实度：分数太少，或与最常见分数不同的太少",
            id="bounded",
        ),
        pytest.param(
            [ok(1, 0.5)],
            {},
            "No interval for faithfulness: it takes at least two scores",
            "没有区间，因为至少要有两个分数：忠实度",
            id="one",
        ),
        pytest.param(
            [ok(i, 1.0) for i in range(50)],
            {},
            "all 50 scores are 1. Up to 5.8% of",
            "50 个分数全部为 1。同类问题中仍可能有多达 5.8%",
            id="three",
        ),
        pytest.param(
            SPREAD, {"levels": Levels(0.9, 0.6)}, "Level: high from 0.9, middle from 0.6.", "等级：0.9 起为高，0.6 起为中。", id="levels"
        ),
        pytest.param(SPREAD, {}, "every cell was judged once", "每项只评判过一次", id="judged once"),
        pytest.param(
            [ok(i, v, repeat=k) for i, pair in enumerate([(0, 0.5), (1, 1), (0.5, 1), (0, 0)]) for k, v in enumerate(pair)],
            {},
            "of the spread of single judgements 26.1% is the judge's own noise",
            "单次评判的离散中，26.1% 是评判模型自身的噪声",
            id="noise",
        ),
        pytest.param(
            [ok(i, v, repeat=k) for i, v in enumerate([0, 1]) for k in range(2)], {}, "all repeats agree", "各次重复结果一致", id="no noise"
        ),
        pytest.param(
            [ok(1, v, repeat=k) for k, v in enumerate([0.0, 1.0])], {}, "with one sample its share cannot", "只有一个样本", id="alone"
        ),
    ],
)
def test_what_is_said(rows, wanted, en, zh):
    assert en in said(rows, "en", **wanted)
    assert "".join(zh.split()) in "".join(said(rows, "zh", **wanted).split())


def test_what_does_not_hold_is_not_said():
    text = said(SPREAD)
    for words in ("few scores", "No interval", "Nothing went wrong", "Level:", "repeats agree", "own noise, the rest", "groups"):
        assert words not in text


def test_clusters_are_counted():
    samples = [{"id": str(i), "meta": {"doc": i // 4}} for i in range(12)]
    assert 'Samples with the same "doc" belong together and count as one of 3 groups.' in said(SPREAD, samples=samples, cluster="doc")
    perfect = said([ok(i, 1.0) for i in range(12)], samples=samples, cluster="doc")
    assert "Up to 63.2% of groups like these may still score lower (95% certain)." in perfect  # 1 - 0.05^(1/3)
    assert "faithfulness: all scores are equal, and an interval computed like this has no width" in perfect
    assert "no width" not in said([ok(i, 1.0) for i in range(12)])
    assert "scores of at least two groups" in said(SPREAD[:3], samples=samples[:3], cluster="doc")


def test_metrics_judged_once_are_named_where_others_have_repeats():
    rows = [ok(1, 0.5), ok(1, 1.0, repeat=1), ok(2, 0.0), ok(1, 0.5, "context_recall"), ok(1, 1.0, "keyword_recall")]
    assert "Judged only once, so unknown: context_recall. Mistakes" in said(rows)


@LANGUAGES
def test_nothing_measured_nothing_said(lang):
    failed = {"sample_id": "a", "metric": "faithfulness", "value": None, "status": "failed", "reason": "timeout"}
    summary = Run.from_scores([failed]).summary()
    assert list(remarks(summary, lang)) == []
    assert "0.000–1.000" in failed_bounds(summary.metrics, lang)
    assert failed_bounds(Run.from_scores(SPREAD).summary().metrics, lang) == ""


@LANGUAGES
def test_every_line_fits_80_columns(lang):
    lines = [{"kind": "answer_claim", "id": "a1", "text": "x", "verdict": "supported"}] * 3
    metrics = ("faithfulness", "context_precision", "context_recall", "keyword_recall", "my_own_metric_with_a_name(of=some_length)")
    rows = [ok(i, i % 4 / 3, metric, repeat=k, verdicts=lines) for i in range(20) for metric in metrics for k in range(2)]
    text = screen(remarks(Run.from_scores(rows).summary(), lang))
    assert [line for line in text.split("\n") if width(line) > 80] == []


def test_one_more_repeat_narrows_by_what_the_formula_says():
    # three samples of 2 repeats: variance of the mean (s + j/2)/3 now, (s + j/3)/3 then
    rows = [ok(i, v, repeat=k) for i, pair in enumerate([(0.0, 0.4), (1.0, 0.8), (0.5, 0.5)]) for k, v in enumerate(pair)]
    found = Run.from_scores(rows).summary().metrics[0].variance
    before, after = found.samples + found.judge / 2, found.samples + found.judge / 3
    assert narrower(found, 3) == pytest.approx(1 - (after / before) ** 0.5)
