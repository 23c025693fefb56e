"""Sisters of H25 and H01 in one run: means that hide a catastrophe, a group, failures; and how sure any of it is, in both languages."""

import pytest
from support.twins import GROUPS, names, run, samples, scores

from ragstone import Run

LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])
TOPICS = ("pay", "it", "leave")

# name -> scores, what must be so
RUNS = {
    "half 0 and half 1 has the mean of all 0.5": (
        [0.0, 1.0] * 20,
        {"mean": 0.5, "median": 0.5, "level": "middle", "histogram": [20, *[0] * 8, 20]},
    ),
    "all 0.5": ([0.5] * 40, {"mean": 0.5, "sd": 0.0, "level": "middle", "histogram": [*[0] * 5, 40, *[0] * 4]}),
    "one catastrophe near the ceiling": ([*[1.0] * 49, 0.0], {"mean": 0.98, "level": "high", "median": 1.0}),
    "fifty perfect": ([1.0] * 50, {"mean": 1.0, "sd": 0.0, "level": "high"}),
    "just below high": ([0.79] * 40, {"level": "middle"}),
    "0.8 on the dot": ([0.8] * 40, {"level": "high"}),
    "just below middle": ([0.49] * 40, {"level": "low"}),
    "the hard ones failed": (
        [*[1.0] * 24, *["timeout"] * 16],
        {"mean": 1.0, "coverage": 0.6, "bounds": {"low": 0.6, "high": 1.0}, "reasons": {"timeout": 16}},
    ),
    "those that do not apply are no failures": ([*[1.0] * 24, *[None] * 16], {"coverage": 1.0, "total": 40, "n": 24, "not_applicable": 16}),
    "all failed": (["timeout"] * 9, {"mean": None, "ci": None, "coverage": 0.0, "bounds": {"low": 0.0, "high": 1.0}, "level": None}),
    "nothing applies": ([None] * 9, {"mean": None, "ci": None, "coverage": None, "level": None}),
    "one sample": ([0.7], {"mean": 0.7, "sd": None, "ci": None}),
}


@LANGUAGES
@pytest.mark.parametrize("name", RUNS)
def test_what_stands_beside_a_mean(name, lang):
    values, wanted = RUNS[name]
    document = run(lang, values).summary().to_dict()
    (metric,) = document["metrics"]
    assert {key: metric[key] for key in wanted} == {k: pytest.approx(v) if isinstance(v, float) else v for k, v in wanted.items()}
    assert document["covered"] == (metric["coverage"] is None or metric["coverage"] >= 0.95)
    if metric["ci"]:
        assert 0 <= metric["ci"]["low"] <= metric["mean"] <= metric["ci"]["high"] <= 1


@LANGUAGES
def test_perfect_scores_are_no_certainty(lang):
    (metric,) = run(lang, [1.0] * 50).summary().metrics
    assert (metric.ci.method, metric.ci.low, metric.ci.high) == ("bounded", pytest.approx(0.93, abs=0.01), 1.0)
    assert 0.055 < metric.unseen < 0.062  # 1 - 0.05 ** (1 / 50); the rule of three says 0.06
    page = run(lang, [1.0] * 50).summary().to_markdown(lang)
    assert {"en": "3 divided by 50", "zh": "3 除以 50"}[lang] in page


@LANGUAGES
def test_the_catastrophe_heads_the_worst_and_the_interval_reaches_below_its_mean(lang):
    summary = run(lang, [*[1.0] * 30, 0.0, *[1.0] * 19]).summary()
    (id,) = names(lang, [30])
    assert (summary.worst[0].sample_id, summary.worst[0].value) == (id, 0.0)
    page = summary.to_markdown(lang)
    assert id in page
    assert not any(other in page for other in names(lang, range(30)))
    assert summary.metrics[0].ci.low < 0.95


@LANGUAGES
def test_failures_that_all_sit_in_one_group_show_in_the_group(lang):
    values = ["timeout" if i % 3 == 2 and i < 50 else 0.9 for i in range(60)]
    document = run(lang, values, TOPICS).summary().to_dict()  # by category, without being asked
    (whole,) = document["metrics"]
    groups = {part["value"]: part["metrics"][0] for part in document["slices"]}
    assert whole["coverage"] == pytest.approx(44 / 60)
    assert {value: found["coverage"] for value, found in groups.items()} == {
        GROUPS[lang]["pay"]: 1.0,
        GROUPS[lang]["it"]: 1.0,
        GROUPS[lang]["leave"]: pytest.approx(4 / 20),
    }
    assert sum(found["failed"] for found in groups.values()) == whole["failed"] == 16
    assert groups[GROUPS[lang]["leave"]]["bounds"] == {"low": pytest.approx(0.18), "high": pytest.approx(0.98)}


@LANGUAGES
def test_groups_add_up_to_the_run(lang):
    values = [[0.2, 0.9, 0.5, None, "timeout"][i % 5] for i in range(60)]
    document = run(lang, values, TOPICS).summary().to_dict()
    (whole,), parts = document["metrics"], [part["metrics"][0] for part in document["slices"]]
    for key in ("n", "total", "failed", "not_applicable"):
        assert sum(part[key] for part in parts) == whole[key]
    assert sum(part["mean"] * part["n"] for part in parts) == pytest.approx(whole["mean"] * whole["n"])
    assert [sum(bins) for bins in zip(*(part["histogram"] for part in parts), strict=True)] == whole["histogram"]


def test_repeats_that_disagree_split_the_scatter_and_change_no_count():
    lanes = [[0.4, 0.8] * 20, [0.6, 1.0] * 20]
    (metric,) = (
        Run.from_scores([row for k, lane in enumerate(lanes) for row in scores("zh", lane, repeat=k)]).summary().to_dict()["metrics"]
    )
    assert (metric["n"], metric["total"], metric["mean"]) == (40, 40, pytest.approx(0.7))
    assert metric["variance"]["judge"] == pytest.approx(0.02)
    assert metric["variance"]["se_judge"] == pytest.approx((0.02 * 40 / 2) ** 0.5 / 40)
    assert metric["variance"]["samples"] == pytest.approx(0.04 * 40 / 39 - 0.01)
    agreeing = Run.from_scores([row for k in range(2) for row in scores("zh", lanes[0], repeat=k)]).summary().metrics[0]
    assert (agreeing.variance.judge, agreeing.variance.judge_share) == (0.0, 0.0)


def test_a_cluster_of_equal_answers_is_less_sure_than_as_many_unlike_ones():
    told = [{**sample, "meta": {"document": f"d{i // 10}"}} for i, sample in enumerate(samples("zh", range(40)))]
    alike, mixed = ([0.9] * 10 + [0.2] * 10) * 2, [0.9, 0.2] * 20
    widths = []
    for values in (alike, mixed):
        summary = Run.from_scores(scores("zh", values), told).summary(cluster="document")
        ci = summary.metrics[0].ci
        widths.append(ci.high - ci.low)
    assert widths[0] > 5 * widths[1]
