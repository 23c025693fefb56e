"""Plans: the document, the words in both languages, the scatter read from runs, and what is refused."""

import json
import math
import random
import re

import pytest

import ragstone
from ragstone import Run, plan
from ragstone.analysis.planning import needed_n
from ragstone.errors import ConfigError, RunFolderError

KEYS = {
    "metric",
    "sd",
    "sd_source",
    "correlation",
    "alpha",
    "power",
    "gap",
    "n",
    "n_needed",
    "detectable",
    "table",
    "repeats",
    "method",
    "text",
}
LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])


def run(values, metric="faithfulness", manifest=None, samples=None):
    """Make a run; a list of values is one sample's repeats, None a failed cell."""
    rows = []
    for i, value in enumerate(values):
        for repeat, one in enumerate(value if isinstance(value, list) else [value]):
            status = {"status": "failed", "reason": "timeout"} if one is None else {"status": "ok"}
            rows.append({"sample_id": f"s{i}", "metric": metric, "value": one, "repeat": repeat, **status})
    return Run.from_scores(rows, samples, manifest)


def noisy(n, seed, judge=0.0, repeats=1):
    draw = random.Random(seed)
    easy = [draw.uniform(0.2, 0.8) for _ in range(n)]
    return [[min(1, max(0, e + draw.gauss(0, judge))) for _ in range(repeats)] for e in easy]


A, B = [0.5, 0.88] * 20, [0.83, 0.61] * 20


# ------------------------------------------------------------------ the document
@pytest.mark.parametrize(
    "given", [{"sd": 0.254, "gap": 0.03}, {"sd": 0.254, "n": 40}, {"sd": 0.2, "gap": 0.05, "n": 40, "judge_sd": 0.1, "repeats": 2}]
)
def test_the_document_holds_every_key_and_only_numbers_json_knows(given):
    document = plan(**given).to_dict("en")
    assert set(document) >= KEYS
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert plan(**given).to_dict("en") == document


def test_a_scatter_that_is_given():
    document = plan(sd=0.254, gap=0.03).to_dict("en")
    assert (document["sd_source"], document["metric"], document["n"], document["detectable"]) == ("given", None, None, None)
    assert document["n_needed"] == 565
    assert document["repeats"] is None
    assert "565 samples" in document["text"]


def test_one_run_assumes_a_correlation_and_says_so():
    found = plan(run(A), gap=0.03).to_dict("en")
    sd = 0.19 * math.sqrt(40 / 39)
    assert (found["sd_source"], found["correlation"], found["metric"], found["n"]) == (
        "one_run_assumed_correlation",
        0.5,
        "faithfulness",
        40,
    )
    assert found["sd"] == pytest.approx(sd)
    assert "correlate by 0.5" in found["text"]
    assert plan(run(A), gap=0.03, correlation=0.0).spread.sd == pytest.approx(sd * math.sqrt(2))


def test_two_runs_are_measured_pair_by_pair():
    found = plan(run(A), run(B), gap=0.03).to_dict("en")
    assert (found["sd_source"], found["correlation"], found["n"], found["method"]) == ("two_runs", None, 40, "formula")
    assert found["sd"] == pytest.approx(0.3 * math.sqrt(40 / 39))
    assert found["n_needed"] == needed_n(found["sd"], 0.03) + 2


def test_pairs_are_found_by_id_and_failed_cells_left_out():
    rows = [{"sample_id": f"s{i}", "metric": "faithfulness", "value": v, "status": "ok"} for i, v in enumerate(B)]
    shuffled = Run.from_scores([*reversed(rows[:30]), {"sample_id": "s30", "metric": "faithfulness", "value": None, "status": "failed"}])
    found = plan(run(A), shuffled, gap=0.03)
    assert found.n == 30
    assert found.spread.sd == pytest.approx(0.3 * math.sqrt(30 / 29))


def test_a_sample_whose_question_changed_is_no_pair():
    texts = [{"id": f"s{i}", "question": f"q{i}"} for i in range(40)]
    changed = [*texts[:39], {"id": "s39", "question": "another"}]
    assert plan(run(A, samples=texts), run(B, samples=changed), gap=0.03).n == 39


def test_where_most_pairs_are_tied_the_test_is_simulated():
    b = [1.0 if i % 5 == 0 else v for i, v in enumerate(A)]
    found = plan(run(A), run(b), gap=0.1)
    assert found.method == "simulation"
    assert found.to_dict("en") == plan(run(A), run(b), gap=0.1).to_dict("en")
    assert "80 % of the samples did not change" in found.to_dict("en")["text"]


# ------------------------------------------------------------------ metrics and repeats
def test_without_a_metric_the_widest_scatter_is_planned_for():
    both = Run.from_scores([*run(A).scores, *run([0.4, 0.5] * 20, "context_recall").scores])
    found = plan(both, gap=0.05)
    assert found.metric == "faithfulness"
    assert [m["metric"] for m in found.to_dict("en")["metrics"]] == ["faithfulness", "context_recall"]
    named = plan(both, gap=0.05, metric="context_recall")
    assert (named.metric, named.others) == ("context_recall", ())


def test_the_judge_s_noise_comes_from_repeats():
    values = noisy(400, 1, judge=0.1, repeats=3)
    found = plan(run(values), gap=0.03)
    assert found.spread.judge == pytest.approx(2 * 0.01, rel=0.15)
    assert found.spread.judge_held == pytest.approx(found.spread.judge / 3)
    assert found.repeats[2].n_needed == found.n_needed
    two = plan(run(values), run(noisy(400, 1, judge=0.1, repeats=1)), gap=0.03)
    assert two.spread.judge == pytest.approx(2 * 0.01, rel=0.15)
    assert two.spread.judge_held == pytest.approx(two.spread.judge * (1 / 3 + 1) / 2)
    assert plan(run(noisy(40, 2)), gap=0.03).repeats is None


# ------------------------------------------------------------------ words
@LANGUAGES
@pytest.mark.parametrize(
    "make",
    [
        lambda: plan(sd=0.254, gap=0.03),
        lambda: plan(sd=0.254, n=2),
        lambda: plan(sd=0.254, gap=0.03, judge_sd=0.1),
        lambda: plan(sd=0.1, gap=0.03, judge_sd=0.001),
        lambda: plan(sd=0.1, gap=0.03, judge_sd=0.5),
        lambda: plan(run(A), gap=0.03),
        lambda: plan(run(A), run([1.0 if i % 5 == 0 else v for i, v in enumerate(A)]), gap=1e-12),
        lambda: plan(run(A[:5]), run([*A[:4], 1.0])),
    ],
)
def test_every_page_is_in_one_language(make, lang):
    found = make()
    page = found.to_markdown(lang)
    chinese = len(re.findall("[一-鿿]", page))
    assert chinese > 50 if lang == "zh" else chinese == 0
    assert "None" not in page
    assert "nan" not in page
    assert page.startswith("### ")
    assert found._repr_html_().count("<table") >= 1


@LANGUAGES
def test_samples_or_repeats_is_answered(lang):
    text = plan(sd=0.254, gap=0.03, judge_sd=0.1).to_dict(lang)["text"]
    assert [word for word in ("478", "565", "6692", "3955") if word not in text] == []


JUDGED = [
    # repeats of the base run, of the new one; what is said of them
    (3, None, {"en": "judged 3 times, as in this run.", "zh": "每个回答评判 3 次（与这次运行相同）"}, (3, 3)),
    (3, 3, {"en": "judged 3 times, as in these runs.", "zh": "每个回答评判 3 次（与这两次运行相同）"}, (3, 3)),
    (1, 3, {"en": "judged 1 to 3 times, as in these runs.", "zh": "每个回答评判 1 至 3 次（与这两次运行相同）"}, (1, 3)),
]


@LANGUAGES
@pytest.mark.parametrize(("base", "new", "told", "judged"), JUDGED)
def test_numbers_from_repeats_hold_for_answers_judged_as_often(base, new, told, judged, lang):
    other = None if new is None else run(noisy(40, 2, 0.1, new))
    found = plan(run(noisy(40, 1, 0.1, base)), other, gap=0.05)
    document = found.to_dict(lang)
    assert told[lang] in document["text"].replace("every answer ", "")
    assert document["judged"] == dict(zip(("min", "max"), judged, strict=True))
    times = {"en": "samples, every answer judged {}", "zh": "个样本、每个回答评判 {}"}[lang].format(judged[0])
    assert times in document["text"]
    assert told[lang] in found.to_markdown(lang).replace("every answer ", "")


@LANGUAGES
def test_of_answers_judged_once_nothing_is_said(lang):
    found = plan(run(A), run(B), gap=0.05).to_dict(lang)
    assert found["judged"] == {"min": 1, "max": 1}
    assert {"en": "judged", "zh": "每个回答评判"}[lang] not in found["text"].split("40")[0]
    assert plan(sd=0.2, gap=0.05).to_dict(lang)["judged"] is None


def test_failed_repeats_count_as_not_judged():
    values = noisy(40, 1, 0.1, 3)
    values[0][2] = None
    assert plan(run(values), gap=0.05).spread.judged == (2, 3)


# ------------------------------------------------------------------ what is refused
@LANGUAGES
@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({}, "--sd S"),
        ({"sd": 0.2}, "--gap G"),
        ({"sd": 0.0, "gap": 0.1}, "--sd = 0.0"),
        ({"sd": 25.4, "gap": 3}, "--gap = 3"),
        ({"sd": -0.1, "gap": -0.1}, "--gap = -0.1"),
        ({"sd": float("nan"), "gap": 0.1}, "--sd = nan"),
        ({"sd": float("inf"), "gap": 0.1}, "--sd = inf"),
        ({"sd": True, "gap": 0.1}, "--sd"),
        ({"sd": 0.2, "gap": 0.1, "alpha": 0.0}, "--alpha"),
        ({"sd": 0.2, "gap": 0.1, "seed": 10**30}, "--seed"),
        ({"sd": 0.2, "gap": 0.1, "power": 1.0}, "--power"),
        ({"sd": 0.2, "n": 1}, "--n = 1"),
        ({"sd": 0.2, "n": 2.5}, "--n = 2.5"),
        ({"sd": 0.2, "gap": 0.1, "repeats": 0}, "--repeats"),
        ({"sd": 0.2, "gap": 0.1, "judge_sd": -1}, "--judge-sd"),
        ({"sd": 0.2, "gap": 0.1, "metric": "faithfulness"}, "--metric"),
        ({"sd": 0.2, "gap": 0.1, "correlation": 0.5}, "--correlation"),
        ({"run": run(A), "sd": 0.2, "gap": 0.1}, "--from"),
        ({"run": run(A), "other": run(B), "gap": 0.1, "correlation": 0.5}, "--correlation"),
        ({"run": run(A), "gap": 0.1, "correlation": 1.0}, "--correlation"),
        ({"run": run(A), "gap": 0.1, "metric": "faithfullness"}, "faithfulness"),
        ({"run": run(A), "other": run(B), "gap": 0.1, "metric": "context_recall"}, "context_recall"),
        ({"run": run([1.0] * 30), "gap": 0.1}, "30"),
        ({"run": run(A), "other": run(A), "gap": 0.1}, "40"),
        ({"run": run([0.5]), "gap": 0.1}, "--sd"),
        ({"run": run([None] * 3), "gap": 0.1}, "--sd"),
        ({"run": run(A), "other": run(B, "context_recall"), "gap": 0.1}, "context_recall"),
        (
            {
                "run": run(A),
                "other": Run.from_scores([{"sample_id": "x", "metric": "faithfulness", "value": 1, "status": "ok"}]),
                "gap": 0.1,
            },
            "0",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_words(given, part, lang, monkeypatch):
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    with pytest.raises((ConfigError, RunFolderError)) as refused:
        plan(**given)
    assert part in str(refused.value)
    assert bool(re.search("[一-鿿]", str(refused.value))) == (lang == "zh")


def test_it_is_a_public_name():
    assert isinstance(plan(sd=0.2, gap=0.1), ragstone.Plan)


def test_it_shows_itself_in_a_line():
    assert repr(plan(sd=0.2, gap=0.1)) == "Plan(sd=0.2, gap=0.1, n_needed=34)"
