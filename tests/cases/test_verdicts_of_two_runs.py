"""Sisters of H25: what is said of two runs whose means tell one story and whose pairs tell another, in both languages."""

import json

import pytest
from support.twins import GROUPS, names, run, samples, scores

from ragstone import Run, compare

LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])
BASE = [0.50, 0.88] * 20
HARD = [*[1.0] * 24, *[0.5] * 16]


def only(a, b, lang="en", **options):
    document = compare(a, b, **options).to_dict(lang)
    json.dumps(document, allow_nan=False)
    (metric,) = document["metrics"]
    return document, metric


def codes(document):
    return [warning["code"] for warning in document["warnings"]]


# name -> scores of the base run, of the new one, verdict, what else must be so
PAIRS = {
    "the mean rises by 0.03, the pairs go everywhere": (BASE, [0.83, 0.61] * 20, "cannot_tell", {"wins": 20, "losses": 20}),
    "the mean rises by 0.03, every pair a little": (BASE, [0.52, 0.92] * 20, "better", {"wins": 40, "losses": 0}),
    "the mean falls by 0.03, every pair a little": (BASE, [0.48, 0.84] * 20, "worse", {"wins": 0, "losses": 40}),
    "the mean stands, the pairs have swapped": (BASE, [0.88, 0.50] * 20, "cannot_tell", {"difference": 0.0, "needed_n": None, "p": 1.0}),
    "not one score has moved": (BASE, BASE, "identical", {"p": 1.0, "sd": 0.0, "effect_size": None, "ties": 40}),
    "0.1 + 0.2 is 0.3": ([0.1 + 0.2] * 8, [0.3] * 8, "identical", {"ties": 8, "difference": 0.0}),
    "five of five better": ([0.4] * 5, [0.5, 0.6, 0.7, 0.8, 0.9], "too_few", {"p": 2 / 32}),
    "six of six better": ([0.4] * 6, [0.5, 0.6, 0.7, 0.8, 0.9, 1.0], "better", {"p": 2 / 64}),
    "all up by the same": ([0.4] * 8, [0.5] * 8, "better", {"sd": 0.0, "effect_size": None}),
    "one pair": ([0.2], [1.0], "too_few", {"p": None, "ci": None, "sd": None}),
    "one catastrophe near the ceiling": ([1.0] * 50, [*[1.0] * 49, 0.0], "cannot_tell", {"losses": 1, "p": 1.0}),
    "one rescue near the floor": ([0.0] * 50, [1.0, *[0.0] * 49], "cannot_tell", {"wins": 1, "p": 1.0}),
    "39 small gains, one collapse": ([0.9] * 40, [*[0.91] * 39, 0.0], "cannot_tell", {"wins": 39, "losses": 1}),
    "39 gains outweigh one collapse": ([0.5] * 40, [*[0.7] * 39, 0.0], "better", {"wins": 39, "losses": 1}),
    "yes and no: 10 won, 2 lost": ([*[0] * 10, *[1] * 2, *[1] * 28], [*[1] * 10, *[0] * 2, *[1] * 28], "better", {"p": 158 / 4096}),
    "yes and no: 7 won, 2 lost": ([*[0] * 7, *[1] * 2, *[1] * 31], [*[1] * 7, *[0] * 2, *[1] * 31], "cannot_tell", {"p": 92 / 512}),
    "every answer new, none of them failed": ([0.0, 1.0] * 20, [1.0, 0.0] * 20, "cannot_tell", {"difference": 0.0}),
    "each cell of the new run failed": ([0.5] * 9, ["timeout"] * 9, "too_few", {"n": 0, "difference": None, "ci": None, "p": None}),
    "no cell of either run applies": ([None] * 9, [None] * 9, "too_few", {"n": 0, "bounds": {"low": None, "high": None}}),
    "the hard ones failed in the new run": (HARD, [*[1.0] * 24, *["timeout"] * 16], "identical", {"n": 24, "base_mean": 1.0}),
    "the hard ones failed, the rest fell": (HARD, [*[0.9] * 12, *[0.95] * 12, *["timeout"] * 16], "worse", {"n": 24}),
}


@LANGUAGES
@pytest.mark.parametrize("name", PAIRS)
def test_the_pairs_decide_not_the_means(name, lang):
    base, new, verdict, more = PAIRS[name]
    document, metric = only(run(lang, base), run(lang, new), lang)
    assert metric["verdict"] == verdict
    assert {key: metric[key] for key in more} == {
        key: pytest.approx(value, abs=1e-12) if isinstance(value, float) else value for key, value in more.items()
    }
    assert document["pairs"]["common"] == len(base)
    assert metric["wins"] + metric["ties"] + metric["losses"] == metric["n"]


@pytest.mark.parametrize(
    ("margin", "new", "verdict"),
    [
        (0.05, [0.51, 0.87] * 20, "equivalent"),
        (None, [0.51, 0.87] * 20, "cannot_tell"),
        (0.05, [0.83, 0.61] * 20, "cannot_tell"),
        (0.05, [0.52, 0.92] * 20, "better"),
        (0.05, [0.48, 0.84] * 20, "worse"),
        (0.05, BASE, "identical"),
    ],
)
def test_a_margin_lets_small_differences_be_none_but_hides_no_real_one(margin, new, verdict):
    assert only(run("zh", BASE), run("zh", new), margin=margin)[1]["verdict"] == verdict


@LANGUAGES
def test_a_mean_that_rises_while_every_tenth_cell_fails_is_no_gain(lang):
    base = [*[0.9] * 36, *[0.1] * 4]
    new = [*[0.89, 0.91] * 18, *["timeout"] * 4]
    document, metric = only(run(lang, base), run(lang, new), lang)
    naive = run(lang, new).summary().metrics[0].mean - run(lang, base).summary().metrics[0].mean
    assert naive == pytest.approx(0.08)
    assert (metric["difference"], metric["verdict"]) == (pytest.approx(0.0), "cannot_tell")
    assert [(left["sample_id"], left["why"]) for left in metric["left_out"]] == [(id, "failed_new") for id in names(lang, range(36, 40))]
    assert "coverage_low" in codes(document)
    assert metric["bounds"] == {"low": pytest.approx(-0.01), "high": pytest.approx(0.09)}


def test_why_a_cell_makes_no_pair():
    base, new = [0.5, "timeout", 0.5, "blocked", None, "timeout", 0.5], [0.5, 0.5, "timeout", "timeout", 0.5, None, None]
    metric = only(run("zh", base), run("zh", new))[1]
    assert [left["why"] for left in metric["left_out"]] == ["failed_base", "failed_new", "failed_both", *["not_applicable"] * 3]
    assert metric["bounds"] == {"low": pytest.approx((-0.5 - 0.5 - 1) / 4), "high": pytest.approx((0.5 + 0.5 + 1) / 4)}


def test_one_gain_among_two_metrics_is_held_to_a_higher_bar():
    gain, noise = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0], [0.4, 0.6, 0.4, 0.6, 0.5, 0.5]
    base, new = (
        Run.from_scores([*scores("en", one), *scores("en", other, "context_recall")])
        for one, other in (([0.4] * 6, [0.5] * 6), (gain, noise))
    )
    both = compare(base, new).to_dict("en")
    assert both["family"] == ["faithfulness", "context_recall"]
    assert [(m["verdict"], m["p_adjusted"]) for m in both["metrics"]] == [("cannot_tell", 4 / 64), ("cannot_tell", 1.0)]
    assert compare(base, new, metrics="faithfulness").metrics[0].verdict == "better"


# ------------------------------------------------------------------ groups
@LANGUAGES
def test_a_regression_of_one_group_that_the_total_hides(lang):
    groups, base = ("pay", "it", "leave"), [0.8] * 60
    new = [0.8 + {0: 0.05, 1: 0.05, 2: -0.1}[i % 3] + 0.001 * (i % 5) - 0.002 for i in range(60)]
    document, metric = only(run(lang, base, groups), run(lang, new, groups), lang, by="category")
    assert (metric["verdict"], metric["difference"]) == ("cannot_tell", pytest.approx(0.0))
    assert {part["value"]: part["metrics"][0]["verdict"] for part in document["slices"]} == {
        GROUPS[lang]["pay"]: "better",
        GROUPS[lang]["it"]: "better",
        GROUPS[lang]["leave"]: "worse",
    }


@LANGUAGES
def test_every_group_falls_while_the_mean_of_the_run_rises(lang):
    """Simpson: the new run lost most of the hard questions, so its mean is higher; on what both answered it is worse throughout."""
    groups = ("pay", "leave")
    base = {i: (0.9 if i % 2 == 0 else 0.3) + 0.002 * (i % 3) for i in range(60)}
    new = {i: value - 0.05 - 0.001 * (i % 4) for i, value in base.items() if i % 2 == 0 or i < 20}
    first, second = run(lang, base, groups), run(lang, new, groups)
    assert second.summary().metrics[0].mean > first.summary().metrics[0].mean + 0.05
    document, metric = only(first, second, lang, by="category")
    assert metric["verdict"] == "worse"
    assert [part["metrics"][0]["verdict"] for part in document["slices"]] == ["worse", "worse"]
    assert document["pairs"]["only_base"] == names(lang, range(21, 60, 2))
    assert {"coverage_low", "gold_differs"} <= set(codes(document))


def test_groups_of_four_are_marked_and_groups_of_five_cannot_be_told():
    def part(i):
        return {"topic": "few" if i < 4 else "five" if i < 9 else None}

    sides = [run("zh", [value] * 20, meta=part) for value in (0.4, 0.9)]
    slices = compare(*sides, by="topic").to_dict("zh")["slices"]
    assert [(s["value"], s["small"], s["metrics"][0]["n"], s["metrics"][0]["verdict"]) for s in slices] == [
        ("few", True, 4, "too_few"),
        ("five", False, 5, "too_few"),
        (None, False, 11, "better"),
    ]


# ------------------------------------------------------------------ ids and gold
@LANGUAGES
@pytest.mark.parametrize("short", ["base", "new"])
def test_rows_only_one_run_has_are_named_on_the_side_that_has_them(short, lang):
    long, less = run(lang, BASE), run(lang, BASE[:30])
    document, metric = only(*((less, long) if short == "base" else (long, less)), lang)
    missing = names(lang, range(30, 40))
    assert (document["pairs"]["only_base"], document["pairs"]["only_new"]) == (([], missing) if short == "base" else (missing, []))
    assert (metric["n"], metric["left_out"]) == (30, [])
    assert {"coverage_low", "gold_differs"} <= set(codes(document))


@LANGUAGES
def test_renamed_ids_are_told_and_not_paired(lang):
    told = samples(lang, range(10))
    other = [{**told[i], "id": f"neu-{i}"} if i < 3 else told[i] for i in range(10)]
    values = {sample["id"]: 0.5 for sample in other}
    new = Run.from_scores([{"sample_id": id, "metric": "faithfulness", "value": v, "status": "ok"} for id, v in values.items()], other)
    document, metric = only(Run.from_scores(scores(lang, [0.5] * 10), told), new, lang)
    assert document["pairs"]["renamed"] == [{"base": id, "new": f"neu-{i}"} for i, id in enumerate(names(lang, range(3)))]
    assert (document["pairs"]["common"], metric["n"]) == (7, 7)


@pytest.mark.parametrize("numbered", ["base", "new"])
def test_ids_written_as_numbers_and_as_texts_are_the_same(numbered):
    def held(kind, values):
        rows = [{"sample_id": kind(i), "metric": "faithfulness", "value": v, "status": "ok"} for i, v in enumerate(values)]
        return Run.from_scores(rows, [{"id": kind(i), "question": f"第 {i} 题？"} for i in range(len(values))])

    kinds = (int, str) if numbered == "base" else (str, int)
    document, metric = only(held(kinds[0], BASE), held(kinds[1], [0.52, 0.92] * 20))
    assert (document["pairs"]["common"], metric["verdict"]) == (40, "better")
    assert document["pairs"]["only_base"] == document["pairs"]["only_new"] == document["pairs"]["changed"] == []


@LANGUAGES
@pytest.mark.parametrize("column", ["question", "reference"])
def test_gold_that_was_edited_in_three_rows_leaves_three_rows_out(column, lang):
    old, now = {"en": ("12 days.", "15 days."), "zh": ("十二天。", "十五天。")}[lang]
    base = run(lang, BASE, **{column: lambda i: old + str(i)})
    new = run(lang, [0.52, 0.92] * 20, **{column: lambda i: (now if i in (4, 7, 9) else old) + str(i)})
    document, metric = only(base, new, lang)
    assert document["pairs"]["changed"] == names(lang, (4, 7, 9))
    assert (document["pairs"]["common"], metric["n"], metric["verdict"]) == (37, 37, "better")
    assert "gold_differs" in codes(document)


@pytest.mark.parametrize(
    ("old", "now"), [("café?", "cafe\u0301?"), ("豈", "\uf900"), ("が", "か\u3099"), ("几天？", " 几天？\n"), ("a\nb", "a\r\nb")]
)
def test_the_same_text_in_another_normal_form_or_from_another_kind_of_file_is_no_edit(old, now):
    base, new = (run("zh", BASE, **dict.fromkeys(("question", "reference"), lambda i, text=text: text)) for text in (old, now))
    assert compare(base, new).pairs.changed == ()


# ------------------------------------------------------------------ the judge
JUDGE = {"judge": {"model": "a"}, "embedder": {"model": "e"}, "prompts": {"zh": "1"}, "metrics": {"faithfulness": {"version": 1}}}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"judge": {"model": "b"}}, "judge_differs"),
        ({"embedder": {"model": "f"}}, "embedder_differs"),
        ({"prompts": {"zh": "2"}}, "prompts_differ"),
        ({"metrics": {"faithfulness": {"version": 2}}}, "metric_version_differs"),
        ({}, None),
    ],
)
def test_what_changed_between_the_runs_is_warned_of(change, code):
    document = only(run("zh", BASE, manifest=JUDGE), run("zh", BASE, manifest=JUDGE | change))[0]
    assert [found for found in codes(document) if found.endswith(("differs", "differ"))] == ([code] if code else [])


@LANGUAGES
@pytest.mark.parametrize(
    ("judge", "code", "word"),
    [
        ("a", "judge_noise_alone", {"en": "judge noise alone", "zh": "评判噪声"}),
        ("b", "measuring_alone", {"en": "measuring alone", "zh": "来自测量"}),
    ],
)
def test_the_same_answers_judged_twice(judge, code, word, lang):
    contexts = {"contexts": lambda i: [str(i)]}
    base = run(lang, BASE, manifest={"judge": {"model": "a"}}, **contexts)
    new = run(lang, [0.55, 0.83] * 20, manifest={"judge": {"model": judge}}, **contexts)
    document, metric = only(base, new, lang)
    assert code in codes(document)
    assert word[lang] in metric["text"]


def repeated(lang, *lanes):
    return Run.from_scores(
        [row for k, values in enumerate(lanes) for row in scores(lang, values, repeat=k)], samples(lang, range(len(lanes[0])))
    )


@LANGUAGES
def test_repeats_that_disagree_are_the_judges_part_of_the_scatter(lang):
    sides = [repeated(lang, [0.4, 0.8] * 20, [0.6, 1.0] * 20), repeated(lang, [0.6, 0.8] * 20, [0.4, 1.0] * 20)]
    document, metric = only(*sides, lang)
    assert (metric["n"], metric["verdict"]) == (40, "identical")  # the means of the repeats are the scores
    assert metric["judge_noise"]["judge"] == pytest.approx(0.02 / 2 + 0.02 / 2)
    assert metric["judge_noise"]["judge_share"] is None
    assert "judge_noise_unknown" not in codes(document)
    assert "judge_noise_unknown" in codes(only(sides[0], run(lang, [0.5, 0.9] * 20))[0])


def test_a_repeat_that_failed_and_a_row_that_came_twice_cost_no_sample():
    spoiled = repeated("zh", [0.4, 0.8] * 20, [*["timeout"] * 20, *[0.6, 1.0] * 10])
    metric = only(spoiled, repeated("zh", [0.4, 0.8] * 20, [0.4, 0.8] * 20))[1]
    assert (metric["n"], metric["left_out"], metric["losses"]) == (40, [], 20)
    twice = Run.from_scores([*scores("zh", [0.0] * 40), *scores("zh", [0.4, 0.8] * 20)])
    metric = only(twice, run("zh", [0.4, 0.8] * 20))[1]
    assert (metric["n"], metric["verdict"]) == (40, "identical")
