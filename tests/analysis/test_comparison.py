"""Two runs compared, over all their metrics: family, parts, slices, clusters, judge noise, warnings."""

import math
import random
import statistics

import pytest
from support.two_runs import compared, document, only, row, rows

from ragstone.analysis.holm import holm
from ragstone.analysis.intervals import DIFFERENCES, interval
from ragstone.analysis.signflip import sign_flip


def drawn(seed, n=20):
    rng = random.Random(seed)
    return [round(rng.random(), 2) for _ in range(n)]


def by_name(found):
    return {m["metric"]: m for m in found["metrics"]}


def codes(found):
    return [warning["code"] for warning in found["warnings"]]


# ------------------------------------------------------------------ metrics
def test_holm_goes_over_the_metrics_with_a_p():
    base = [*rows(drawn(1)), *rows(drawn(2), "b"), *rows(drawn(3), "c"), *rows([0.5], "lonely")]
    new = [*rows(drawn(4)), *rows([min(1, v + 0.1) for v in drawn(2)], "b"), *rows(drawn(6), "c"), *rows([0.6], "lonely")]
    found = document(base, new)
    assert found["family"] == ["faithfulness", "b", "c"]
    told = [by_name(found)[name] for name in found["family"]]
    assert [m["p_adjusted"] for m in told] == holm([m["p"] for m in told])
    assert by_name(found)["lonely"]["p_adjusted"] is None


def test_metrics_of_one_run_are_named_and_not_compared():
    found = document([*rows([0.5] * 6), *rows([0.5] * 6, "old")], [*rows([0.6] * 6), *rows([0.5] * 6, "new")])
    assert list(by_name(found)) == ["faithfulness"]
    assert {"metrics_only_base", "metrics_only_new"} <= set(codes(found))
    assert any("old" in warning["text"] for warning in found["warnings"])


def test_names_with_parameters_stay_as_they_are():
    name = "answer_relevancy(strictness=1,x=2)"
    both = [*rows([0.5] * 6, name), *rows([0.5] * 6)]
    assert [m["metric"] for m in document(both, both, metrics=f"faithfulness, {name}")["metrics"]] == [name, "faithfulness"]


def correct(name, value, f1, cosine, repeat=0):
    return row(name, value, "answer_correctness", detail={"f1": f1, "cosine": cosine, "weights": [0.75, 0.25]}, repeat=repeat)


def test_f1_and_cosine_are_compared_apart_and_outside_the_family():
    base = [correct(f"q{i}", 0.5, 0.4, 0.8) for i in range(8)]
    new = [correct(f"q{i}", 0.5, 0.6, -0.2 if i else 0.2) for i in range(8)]
    found = by_name(document(base, new))
    assert document(base, new)["family"] == ["answer_correctness"]
    assert list(found) == ["answer_correctness", "answer_correctness.f1", "answer_correctness.cosine"]
    f1, cosine = found["answer_correctness.f1"], found["answer_correctness.cosine"]
    assert (f1["difference"], f1["verdict"], f1["p_adjusted"]) == (pytest.approx(0.2), None, None)
    assert cosine["new_mean"] == pytest.approx(0.2 / 8), "a cosine below 0 counts as 0, as in the score"
    assert f1["p"] == 2 / 2**8
    assert "not tested" in f1["text"]


# ------------------------------------------------------------------ slices and clusters
def categories(n, key="category", **more):
    return [{"id": f"q{i:02}", "meta": {key: "ab"[i % 2]} if i < n - 3 else {}, **more} for i in range(n)]


def test_slices_share_one_correction():
    base, new = [*rows(drawn(1)), *rows(drawn(2), "b")], [*rows(drawn(3)), *rows(drawn(4), "b")]
    found = document(base, new, by="category", base_samples=categories(20))
    assert [(part["key"], part["value"], part["small"]) for part in found["slices"]] == [
        ("category", "a", False),
        ("category", "b", False),
        ("category", None, True),
    ]
    every = [m for part in found["slices"] for m in part["metrics"]]
    assert [m["p_adjusted"] for m in every] == holm([m["p"] for m in every])
    assert sum(m["n"] for m in every) == 40


def test_a_slice_is_compared_as_a_run_of_its_own_would_be():
    base, new = rows(drawn(1)), rows([*drawn(2, 17), "timeout", None, 0.5])
    found = document(base, new, by="category", base_samples=categories(20))
    mine = [r for i, r in enumerate(base) if i % 2 == 0 and i < 17], [r for i, r in enumerate(new) if i % 2 == 0 and i < 17]
    alone = only(*mine)
    part = found["slices"][0]["metrics"][0]
    assert {k: v for k, v in part.items() if k not in ("p_adjusted", "text")} == {
        k: v for k, v in alone.items() if k not in ("p_adjusted", "text")
    }


def test_slices_by_what_only_the_new_run_tells():
    found = document(rows([0.5] * 8), rows([0.6] * 8), by="category", new_samples=categories(8))
    assert [part["value"] for part in found["slices"]] == ["a", "b", None]


def test_an_unknown_slice_key_is_told():
    found = document(rows([0.5] * 8), rows([0.6] * 8), by="nothing", base_samples=categories(8))
    assert "key_unknown" in codes(found)
    assert [part["value"] for part in found["slices"]] == [None]


def test_clusters_stay_together():
    base, new = drawn(1), drawn(2)
    found = only(rows(base), rows(new), cluster="category", base_samples=categories(20))
    differences = [b - a for a, b in zip(base, new, strict=True)]
    groups = [i % 2 if i < 17 else i for i in range(20)]
    ci = interval(differences, DIFFERENCES, clusters=groups)
    assert found["ci"] == {**ci.to_dict(), "low": pytest.approx(ci.low), "high": pytest.approx(ci.high)}
    assert found["ci"]["method"] == "cluster_t"
    assert found["p"] == pytest.approx(sign_flip(differences, groups).p)


def test_one_cluster_tells_nothing():
    samples = [{"id": f"q{i:02}", "meta": {"doc": "x"}} for i in range(8)]
    found = only(rows([0.5] * 8), rows([0.6] * 8), cluster="doc", new_samples=samples)
    assert (found["ci"], found["verdict"]) == (None, "cannot_tell")
    assert "one group" in found["text"]


def test_a_slice_keeps_its_clusters():
    samples = [{"id": f"q{i:02}", "meta": {"doc": i // 4, "half": i // 10}} for i in range(20)]
    found = document(rows(drawn(1)), rows(drawn(2)), cluster="doc", by="half", base_samples=samples)
    assert {m["ci"]["method"] for part in found["slices"] for m in part["metrics"]} == {"cluster_t"}


# ------------------------------------------------------------------ judge noise
def test_judge_noise_from_the_repeats_of_both_runs():
    rng = random.Random(5)
    old = {f"q{i:02}": [rng.random() for _ in range(2 if i % 2 else 3)] for i in range(12)}
    now = {f"q{i:02}": [rng.random() for _ in range(4)] for i in range(12)}
    base, new = ([row(name, v, repeat=k) for name, values in held.items() for k, v in enumerate(values)] for held in (old, now))
    found = document(base, new)
    (metric,) = found["metrics"]

    def within(held):
        squares = sum((v - statistics.fmean(values)) ** 2 for values in held.values() for v in values)
        return squares / (sum(map(len, held.values())) - len(held))

    judge = statistics.fmean(within(old) / len(old[name]) + within(now) / len(now[name]) for name in old)
    assert metric["judge_noise"] == {
        "judge": pytest.approx(judge),
        "judge_share": pytest.approx(min(1, judge / metric["sd"] ** 2)),
        "se_judge": pytest.approx(math.sqrt(judge / 12)),
    }
    assert "judge_noise_unknown" not in codes(found)
    assert "judge itself" in metric["text"]


@pytest.mark.parametrize("repeated", ["base", "new"])
def test_judge_noise_needs_repeats_on_both_sides(repeated):
    once, twice = rows([0.5] * 8), [*rows([0.5] * 8), *rows([0.6] * 8, repeat=1)]
    found = document(*((twice, once) if repeated == "base" else (once, twice)))
    assert found["metrics"][0]["judge_noise"] is None
    (text,) = [w["text"] for w in found["warnings"] if w["code"] == "judge_noise_unknown"]
    assert "--repeat" in text


@pytest.mark.parametrize("value", ["a", "产品"])
def test_a_slice_has_the_judge_noise_of_its_own_samples(value):
    rng = random.Random(7)
    names = [f"q{i:02}" for i in range(16)]
    samples = [{"id": name, "meta": {"category": value if i % 2 else "other"}} for i, name in enumerate(names)]
    base, new = ([row(name, rng.random(), repeat=k) for name in names for k in range(3)] for _ in range(2))
    found = document(base, new[::-1], by="category", base_samples=samples)
    mine = {name for i, name in enumerate(names) if i % 2}
    alone = only(*([r for r in rows_ if r["sample_id"] in mine] for rows_ in (base, new)))
    (part,) = [part for part in found["slices"] if part["value"] == value]
    noise = part["metrics"][0]["judge_noise"]
    assert noise == pytest.approx(alone["judge_noise"])
    assert noise != pytest.approx(found["metrics"][0]["judge_noise"])


# ------------------------------------------------------------------ the document
def test_same_input_same_seed_same_document():
    base, new = rows(drawn(1, 60)), rows([v * 0.9 + 0.01 * (i % 7) for i, v in enumerate(drawn(1, 60))])
    first, again, other = (document(base, new, ci="bca", seed=seed) for seed in (0, 0, 1))
    assert first == again
    assert first["metrics"][0]["ci"] != other["metrics"][0]["ci"]
    assert (first["seed"], other["seed"], first["alpha"]) == (0, 1, 0.05)


def test_the_level_of_intervals_follows_alpha():
    base, new = rows(drawn(1)), rows(drawn(2))
    wide, narrow = (only(base, new, alpha=alpha)["ci"] for alpha in (0.01, 0.2))
    assert (wide["level"], narrow["level"]) == (0.99, 0.8)
    assert wide["low"] < narrow["low"]


def test_resamples_are_those_of_the_test():
    small = document(rows([0.5] * 6), rows([0.6] * 6))
    assert small["resamples"] == 0
    rng = random.Random(1)
    base, new = ([rng.random() for _ in range(40)] for _ in range(2))
    large = document(rows(base), rows(new))
    assert (large["metrics"][0]["p_method"], large["resamples"]) == ("monte_carlo", 9999)


def test_a_comparison_shows_itself_in_a_line():
    assert repr(compared(rows([0.5] * 6), rows([0.6] * 6))) == "Comparison(pairs=6, faithfulness=better)"
