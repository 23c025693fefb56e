"""Verdicts in plain words, and numbers that never contradict them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.two_runs import compared, rows

from ragstone.shown.verdicts import about, chance, headline, odds, questions, score, signed, verdict_text

LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])
HALF = [0.50, 0.88] * 20


def told(base, new, lang="en", **options):
    found = compared(rows(base), rows(new), **options)
    return verdict_text(found.metrics[0], lang, family=len(found.family), alone=found.alone)


TEXTS = {
    "cannot_tell": (
        (HALF, [0.83, 0.61] * 20, {}),
        "faithfulness 0.690 → 0.720 (+0.030 on 40 questions): cannot tell; this may be luck. The true change may be anything from"
        " -0.067 to +0.127. Up on 20, down on 20, the same on 0."
        " Telling a difference of this size from luck takes about 810 questions; you have 40.",
        "忠实度 0.690 → 0.720（40 个问题，差 +0.030）：无法判断，可能只是运气。真实的变化可能在 -0.067 到 +0.127 之间的任何位置。"
        "上升 20 个，下降 20 个，不变 0 个。要确定这么大的差值不是运气，约需 810 个问题；现在有 40 个。",
    ),
    "better": (
        (HALF, [0.52, 0.92] * 20, {}),
        "faithfulness 0.690 → 0.720 (+0.030 on 40 questions): better. The true gain very likely lies between 0.027 and 0.033; had nothing"
        " changed, luck alone would bring a difference this large in fewer than 1 of 1000 cases. Up on 40, down on 0, the same on 0.",
        "忠实度 0.690 → 0.720（40 个问题，差 +0.030）：变好了。真实的提升很可能在 0.027 到 0.033 之间；"
        "假如其实没有变化，单凭运气出现这么大差值的机会不到 1000 分之一。上升 40 个，下降 0 个，不变 0 个。",
    ),
    "worse": (
        ([0.52, 0.92] * 20, HALF, {}),
        "faithfulness 0.720 → 0.690 (-0.030 on 40 questions): worse. The true loss very likely lies between 0.027 and 0.033; had nothing"
        " changed, luck alone would bring a difference this large in fewer than 1 of 1000 cases. Up on 0, down on 40, the same on 0.",
        "忠实度 0.720 → 0.690（40 个问题，差 -0.030）：变差了。真实的下降很可能在 0.027 到 0.033 之间；"
        "假如其实没有变化，单凭运气出现这么大差值的机会不到 1000 分之一。上升 0 个，下降 40 个，不变 0 个。",
    ),
    "equivalent": (
        ([0.5] * 40, [0.51, 0.49] * 20, {"margin": 0.02}),
        "faithfulness 0.500 → 0.500 (0.000 on 40 questions): no difference that matters (equivalent). The true change lies between -0.003"
        " and +0.003, within the margin of ±0.02. Up on 20, down on 20, the same on 0.",
        "忠实度 0.500 → 0.500（40 个问题，差 0.000）：相当，没有值得在意的差别。真实的变化在 -0.003 到 +0.003 之间，未超出设定的 ±0.02。"
        "上升 20 个，下降 20 个，不变 0 个。",
    ),
    "identical": (
        ([0.5] * 10, [0.5] * 10, {}),
        "faithfulness 0.500: the same score on each of 10 questions. On other questions of this kind, the true change may still be"
        " anything from -0.308 to +0.308.",
        "忠实度 0.500：10 个问题的分数全部相同。换成其他同类问题，真实的变化仍可能在 -0.308 到 +0.308 之间。",
    ),
    "too_few": (
        ([0.5, 0.7, 0.2], [0.6, 0.6, 0.4], {}),
        "faithfulness 0.467 → 0.533 (+0.067 on 3 questions): too few to tell. Fewer than 6 questions can never rule out luck."
        " Up on 2, down on 1, the same on 0. Telling a difference of this size from luck takes about 42 questions; you have 3.",
        "忠实度 0.467 → 0.533（3 个问题，差 +0.067）：问题太少，无法判断。少于 6 个问题时，永远不能排除运气。"
        "上升 2 个，下降 1 个，不变 0 个。要确定这么大的差值不是运气，约需 42 个问题；现在有 3 个。",
    ),
    "one": (
        ([0.5], [0.6], {}),
        "faithfulness 0.500 → 0.600 (+0.100 on 1 question): too few to tell. Fewer than 6 questions can never rule out luck."
        " Up on 1, down on 0, the same on 0.",
        "忠实度 0.500 → 0.600（1 个问题，差 +0.100）：问题太少，无法判断。少于 6 个问题时，永远不能排除运气。"
        "上升 1 个，下降 0 个，不变 0 个。",
    ),
    "none": (
        (["timeout"] * 8, [0.5] * 8, {}),
        "faithfulness: nothing to compare. There is no question on which both runs have a score. 8 more failed in one of the runs;"
        " wherever their scores had come out, the difference over all would be between -0.500 and +0.500.",
        "忠实度：无可比较。没有一个问题在两次运行中都有分数。另有 8 个在某次运行中失败；"
        "无论它们本来得多少分，全部算上的差值都在 -0.500 到 +0.500 之间。",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_every_verdict_in_words(name):
    (base, new, options), english, chinese = TEXTS[name]
    assert told(base, new, "en", **options) == english
    assert told(base, new, "zh", **options) == chinese


def test_a_difference_that_leans_is_not_called_anything_and_nothing():
    rising = [0.1 * (i % 3) for i in range(10)]
    base = [r for name in "abcde" for r in rows([0.5] * 10, name)]
    new = [r for name in "abcde" for r in rows([0.5 + v for v in rising], name)]
    found = compared(base, new).metrics[0]
    assert found.ci.low > 0
    assert found.verdict == "cannot_tell"
    text = verdict_text(found, "en", family=5)
    assert "cannot tell for sure. It looks like a change" in text
    assert "anything" not in text


@LANGUAGES
@pytest.mark.parametrize(("new", "options"), [([0.5] * 8, {"ci": "t"}), ([0.5] * 8, {"ci": "bca"}), ([0.6] * 8, {}), ([0.4] * 8, {})])
def test_an_interval_without_width_is_not_read_out_as_a_range(new, options, lang):
    text = told([0.5] * 8, new, lang, **options)
    assert not re.search(r"(\d\.\d+) (and|to|到) \1", text.replace("+", "").replace("-", ""))
    even = {"en": ("no certainty", "by the same on every question"), "zh": ("并不表示确定无疑", "都一样")}[lang]
    assert even[new[0] != 0.5] in text


@LANGUAGES
def test_the_same_answers_are_judge_noise_alone(lang):
    samples = [{"id": f"q{i:02}", "answer": "a", "contexts": ["c"]} for i in range(8)]
    more = {"base_samples": samples, "new_samples": samples}
    phrase = {"en": "judge noise alone", "zh": "评判噪声"}[lang]
    assert phrase in told([0.5] * 8, [0.6] * 8, lang, **more)
    assert phrase not in told([0.5] * 8, [0.5] * 8, lang, **more)
    drift = {"en": "the judge itself now reads these answers differently", "zh": "是评判模型现在判得不一样了"}[lang]
    assert drift in told([0.5] * 8, [0.6] * 8, lang, **more)
    assert drift not in told([0.5] * 8, [0.6, 0.4] * 4, lang, **more)
    assert drift not in told([0.5] * 8, [0.6] * 8, lang)
    top = {"en": "the judge's own noise", "zh": "评判噪声"}[lang]
    assert top in headline(compared(rows([0.5] * 8), rows([0.6] * 8), **more), lang)
    assert top not in headline(compared(rows([0.5] * 8), rows([0.5] * 8), **more), lang)
    unlike = {"base_manifest": {"signature": "a"}, "new_manifest": {"signature": "b"}}
    other = told([0.5] * 8, [0.6] * 8, lang, **more, **unlike)
    assert phrase not in other
    assert {"en": "measured in different ways", "zh": "测量方式不同"}[lang] in other


@LANGUAGES
def test_the_headline_names_metrics_by_verdict_and_what_is_missing(lang):
    base = [*rows([0.5] * 9), *rows([0.5] * 9, "b"), *rows([0.5] * 9, "c")]
    new = [*rows([0.4] * 8), *rows([0.6] * 8, "b"), *rows([0.5] * 8, "c")]
    assert (
        headline(compared(base, new), lang)
        == {
            "en": "8 questions compared. Not compared, because only one run has them or they have changed: 1 question."
            " Worse: faithfulness. Better: b. The same scores: c.",
            "zh": "比较了 8 个问题。另有 1 个问题仅一次运行有或已改动，未参与比较。变差：忠实度。变好：b。分数完全相同：c。",
        }[lang]
    )


def test_a_mean_that_is_nothing_but_rounding_needs_no_number_of_questions():
    text = told([0.3, 0.2, 0.7, 0.1] * 4, [0.1 + 0.3, 0.1, 0.7 + 0.1, 0.0] * 4)
    assert "(0.000 on 16 questions)" in text
    assert "only a true difference of about" in text


def test_a_number_of_questions_nobody_has_is_not_named():
    text = told([0.5] * 21, [*([0.9, 0.1] * 10), 0.50001])
    assert "No number of questions" in text


def test_the_document_says_beside_each_metric_what_could_not_be_paired():
    (metric,) = compared(rows([0.5] * 9), rows([0.6] * 8)).to_dict("en")["metrics"]
    assert metric["text"].endswith("Not compared, because only one run has them or they have changed: 1 question.")


@LANGUAGES
def test_the_headline_says_where_runs_were_not_measured_alike(lang):
    found = compared(rows([0.5] * 8), rows([0.6] * 8), base_manifest={"signature": "a"}, new_manifest={"signature": "b"})
    assert {"en": "not measured alike", "zh": "测量条件不同"}[lang] in headline(found, lang)


# ------------------------------------------------------------------ numbers
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.03, "+0.030"),
        (-0.0304, "-0.030"),
        (0.0005, "+0.001"),
        (0.0004, "+0.0004"),
        (-0.00004, "-0.00004"),
        (3e-8, "+0.00000003"),
        (1e-12, "0.000"),
        (-0.0, "0.000"),
        (1.0, "+1.000"),
        (None, "–"),
    ],
)
def test_a_difference_never_looks_like_none(value, text):
    assert signed(value) == text


@pytest.mark.parametrize(("value", "text"), [(0.9999, "0.999"), (1, "1.000"), (0.0001, "0.001"), (0, "0.000"), (None, "–")])
def test_only_what_is_perfect_looks_perfect(value, text):
    assert score(value) == text


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=9))
def test_what_is_shown_goes_the_way_the_numbers_go(pairs):
    found = compared(rows([a for a, _ in pairs]), rows([b for _, b in pairs])).metrics[0]
    match = re.match(r"faithfulness ([\d.]+) → ([\d.]+) \(([-+]?)([\d.]+) on", verdict_text(found, "en"))
    if match is None:
        assert found.verdict == "identical"
        return
    base, new, sign, size = float(match[1]), float(match[2]), match[3], float(match[4])
    if abs(found.difference) >= 1e-8:
        assert (new > base) == (sign == "+")
        assert (new < base) == (sign == "-")
        assert size > 0
    assert ("better" in verdict_text(found, "en").partition(".")[0]) <= (sign == "+")


@pytest.mark.parametrize(
    ("count", "text"),
    [(1, "1"), (42, "42"), (101, "110"), (558, "560"), (12_345, "13,000"), (99_999, "100,000")],
)
def test_so_many_questions(count, text):
    assert about(count) == text


@pytest.mark.parametrize(
    ("p", "english", "chinese"),
    [
        (0.0001, "in fewer than 1 of 1000 cases", "不到 1000 分之一"),
        (0.001, "in about 1 of 1,000 cases", "约为 1,000 分之一"),
        (0.04, "in about 1 of 25 cases", "约为 25 分之一"),
        (0.3, "in about 1 of 3 cases", "约为 3 分之一"),
        (0.56, "in about 56% of cases", "约为 56%"),
        (None, "–", "–"),
    ],
)
def test_chances_in_words(p, english, chinese):
    assert (odds(p, "en"), odds(p, "zh")) == (english, chinese)


@pytest.mark.parametrize(
    ("p", "text"),
    [(None, "–"), (0.0002, "<0.001"), (0.0444, "0.044"), (1, "1.000"), (0.0502, "0.0502"), (0.05, "0.050"), (0.0500001, "0.0500001")],
)
def test_chances_in_a_table_stand_on_the_right_side_of_the_limit(p, text):
    assert chance(p, 0.05) == text


def test_one_question_is_no_plural():
    assert [questions(n, "en") for n in (0, 1, 2)] == ["0 questions", "1 question", "2 questions"]


@LANGUAGES
def test_the_same_answers_with_the_same_scores_say_nothing_of_other_questions(lang):
    samples = [{"id": f"q{i:02}", "answer": "a", "contexts": ["c"]} for i in range(8)]
    told_of = {"en": "On other questions", "zh": "换成其他同类问题"}[lang]
    assert told_of in told([0.5] * 8, [0.5] * 8, lang)
    assert told_of not in told([0.5] * 8, [0.5] * 8, lang, base_samples=samples, new_samples=samples)
    assert told_of not in told([0.5] * 8, [0.5] * 8, lang, base_manifest={"run_id": "r"}, new_manifest={"run_id": "r"})


@LANGUAGES
def test_a_change_of_the_measuring_is_not_called_better_or_worse(lang):
    samples = [{"id": f"q{i:02}", "answer": "a", "contexts": ["c"]} for i in range(12)]
    unlike = {"base_manifest": {"signature": "a"}, "new_manifest": {"signature": "b"}}
    text = told([0.5] * 12, [0.6 + i / 100 for i in range(12)], lang, base_samples=samples, new_samples=samples, **unlike)
    assert {"en": "higher this time.", "zh": "这次分数更高。"}[lang] in text
    assert not re.search("better|变好|true gain|真实的提升", text)


@LANGUAGES
@pytest.mark.parametrize(("step", "offered"), [(0.001, True), (0.2, False)])
def test_a_margin_is_offered_where_no_difference_could_matter(lang, step, offered):
    new = [0.5 + step * (i % 3 - 1) + step / 50 for i in range(60)]
    assert ("--margin 0.02" in told([0.5] * 60, new, lang)) is offered
    assert "--margin" not in told([0.5] * 60, new, lang, margin=0.0001 if offered else 0.01)


@LANGUAGES
def test_a_change_that_is_even_but_for_rounding_has_no_range(lang):
    base = [0.1 * (i % 7) for i in range(20)]
    text = told(base, [value + 0.03 for value in base], lang)
    assert {"en": "better, by the same on every question", "zh": "变好"}[lang] in text
    assert not re.search("very likely|很可能", text)
