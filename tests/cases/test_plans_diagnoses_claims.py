"""Sisters of H25 for what comes after the number: how many questions it takes, what went wrong, which claims moved."""

import json

import pytest
from support.diagnosed_runs import EN, ZH, clean, refusal, sample_rows
from support.evidence_rows import line, row
from support.twins import run

from ragstone import Run, compare, diagnose, plan
from ragstone.analysis.quantiles import normal_quantile

LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])


# ------------------------------------------------------------------ plan and back
def differing(differences, base=0.5):
    return run("zh", [base] * len(differences)), run("zh", [base + difference for difference in differences])


SCATTER = {
    "half of the pairs tied": [0.0, 0.0, 0.3, -0.2] * 15,
    "thirds and halves": [1 / 3, -1 / 2, 1 / 6, 0.0, -1 / 3, 1 / 2] * 10,
    "every pair differs": [0.01 * (i % 41) - 0.2 for i in range(82)],
    "yes and no": [0.5, -0.5, 0.0, 0.0, 0.5, -0.5] * 10,
}


@pytest.mark.parametrize("gap", [0.03, 0.05])
@pytest.mark.parametrize("name", SCATTER)
def test_as_many_pairs_as_the_plan_of_two_runs_says_find_the_gap_in_four_of_five(name, gap):
    """Checked by a paired t test on pairs drawn from those of the two runs, moved to the gap."""
    import numpy as np
    from scipy import stats

    differences = np.array(SCATTER[name])
    found = plan(*differing(SCATTER[name]), gap=gap)
    assert (found.method, found.spread.source, found.metric) == ("formula", "two_runs", "faithfulness")
    draws = np.random.default_rng(7).choice(differences - differences.mean() + gap, (1000, found.n_needed))
    p = stats.ttest_1samp(draws, 0.0, axis=1).pvalue
    assert (p <= 0.05).mean() == pytest.approx(0.8, abs=0.045)


def test_with_most_pairs_tied_the_plan_counts_on_the_test_itself():
    """Yes and no, one pair in ten changes: then the sign-flip test is a binomial test of the changes."""
    import numpy as np
    from scipy import stats

    differences = [1.0, -1.0, *[0.0] * 18] * 5
    found = plan(run("en", [0.5 - d / 2 for d in differences]), run("en", [0.5 + d / 2 for d in differences]), gap=0.05)
    assert found.method == "simulation"
    draws = np.random.default_rng(7)
    changed = draws.binomial(found.n_needed, 0.1, 4000)
    won = draws.binomial(changed, 0.75)  # 0.075 up, 0.025 down: a gap of 0.05
    p = 2 * stats.binom.cdf(np.minimum(won, changed - won), changed, 0.5)
    assert (p <= 0.05).mean() == pytest.approx(0.8, abs=0.05)


@pytest.mark.parametrize(("sd", "gap"), [(0.254, 0.03), (0.254, 0.1), (0.4, 0.05), (0.05, 0.2)])
def test_the_gap_that_the_needed_pairs_detect_is_the_gap(sd, gap):
    needed = plan(sd=sd, gap=gap).n_needed
    assert plan(sd=sd, n=needed).detectable <= gap < plan(sd=sd, n=max(2, needed - 4)).detectable or needed <= 6
    assert needed - 3 <= ((normal_quantile(0.975) + normal_quantile(0.8)) * sd / gap) ** 2 <= needed


def test_a_comparison_and_a_plan_need_the_same_number_of_pairs():
    pair = differing([0.3, -0.2, 0.1, 0.0] * 10)
    (compared,) = compare(*pair).metrics
    assert plan(*pair, gap=compared.difference).n_needed == pytest.approx(compared.needed_n, abs=2)
    assert plan(*pair, gap=0.1).detectable == pytest.approx(compared.detectable, rel=0.03)


# ------------------------------------------------------------------ twins
def twin(texts, prefix):
    rows = [*sample_rows(f"{prefix}1", **texts), *refusal(f"{prefix}2"), *clean(f"{prefix}3")]
    told = [{"id": f"{prefix}{i}", "question": f"{texts['r1']}{i}", "answer": texts["a1"] * i, "meta": {"topic": "x"}} for i in (1, 2, 3)]
    told[1]["expected_behavior"] = "refuse"
    return Run.from_scores(rows, told)


def bare(part):
    """A document without texts, and ids without what tells the language."""
    if isinstance(part, dict):
        return {key: bare(value) for key, value in part.items() if key not in ("text", "looks", "means", "do", "remedies", "quote")}
    if isinstance(part, list):
        return [bare(one) for one in part]
    return part[3:] if isinstance(part, str) and part[:3] in ("zh-", "en-") else part


def test_a_chinese_run_and_its_english_twin_have_the_same_faults():
    found = {name: diagnose(twin(texts, name), by="topic") for name, texts in (("zh-", ZH), ("en-", EN))}
    zh, en = (found[name].to_dict("en") for name in ("zh-", "en-"))
    assert bare(zh) == bare(en)
    assert {sample["cause"] for sample in zh["samples"]} == {"contradicts_contexts", "refused", None}
    for document in (zh, en):
        for side in ("faithfulness", "answer_correctness"):
            told = sum(cause["points"][side] for cause in document["causes"]) + document["unattributed"][side]
            assert told == pytest.approx(document["lost"][side], abs=1e-9)
    assert ZH["a1"] in json.dumps(zh, ensure_ascii=False)
    assert ZH["a1"] not in json.dumps(en, ensure_ascii=False)


def test_samples_that_do_not_apply_or_failed_bring_no_cause():
    plain = diagnose(twin(ZH, "zh-")).to_dict("zh")
    rows = [
        {"sample_id": f"x{i}", "metric": "faithfulness", "value": None, "status": s, "reason": r}
        for i, (s, r) in enumerate([("failed", "timeout"), ("not_applicable", "no_claims")])
    ]
    made = twin(ZH, "zh-")
    more = diagnose(Run.from_scores([*(score.to_dict() for score in made.scores), *rows], made.samples)).to_dict("zh")
    assert (more["causes"], more["lost"], more["unattributed"]) == (plain["causes"], plain["lost"], plain["unattributed"])
    assert more["skipped"] == [{"sample_id": "x0", "reason": "timeout"}, {"sample_id": "x1", "reason": "no_claims"}]


# ------------------------------------------------------------------ claims
R = {"en": "Leave is 12 days.", "zh": "年假为十二天。"}
OTHER = {"en": "Leave is 15 days.", "zh": "年假为十五天。"}


def correct(*said, lang, text=None, key=None):
    """answer_correctness of one sample, repeat by repeat: = covered, 0 missing."""
    more = {} if key is None else {"key": key}
    return [
        row("answer_correctness", line("r1", word, text=text or R[lang], **more), line("r2", "=", text="x"), repeat=k)
        for k, word in enumerate(said)
    ]


def faithful(*said, lang, text=None):
    return [row("faithfulness", line("a1", word, text=text or R[lang]), line("a2", "+", text="x"), repeat=k) for k, word in enumerate(said)]


def moved(base, new):
    claims = compare(Run.from_scores(base), Run.from_scores(new)).to_dict("en")["claims"]
    return {kind: [claim["text"] for claim in found] for kind, found in claims.items() if found}


# said in the base run, in the new run (a word a repeat), what is told
GOLD = [
    ("=", "0", "lost"),
    ("0", "=", "gained"),
    ("=", "=", None),
    ("0", "0", None),
    ("===", "00=", "lost"),
    ("=", "0=", None),
    ("0=0", "==0", "gained"),
]
SAID = [
    ("+", "!", "newly_contradicted"),
    ("+", "-", "newly_unsupported"),
    ("-", "!", "newly_contradicted"),
    ("!", "-", "newly_unsupported"),
    ("-", "-", None),
    ("!", "!", None),
    ("-", "+", None),
    ("+", "+", None),
    ("+++", "--+", "newly_unsupported"),
    ("+", "-+", None),
]


@LANGUAGES
@pytest.mark.parametrize(("old", "now", "kind"), GOLD)
def test_claims_of_the_gold_answer_that_were_gained_or_lost(old, now, kind, lang):
    assert moved(correct(*old, lang=lang), correct(*now, lang=lang)) == ({kind: [R[lang]]} if kind else {})
    mirror = {"lost": "gained", "gained": "lost"}
    assert moved(correct(*now, lang=lang), correct(*old, lang=lang)) == ({mirror[kind]: [R[lang]]} if kind else {})


@LANGUAGES
@pytest.mark.parametrize(("old", "now", "kind"), SAID)
def test_claims_of_the_answer_that_turned_out_wrong_or_unfounded(old, now, kind, lang):
    assert moved(faithful(*old, lang=lang), faithful(*now, lang=lang)) == ({kind: [R[lang]]} if kind else {})


@LANGUAGES
def test_a_claim_that_was_never_made_before_is_new_and_one_that_was_edited_is_another(lang):
    assert moved(faithful("+", lang=lang), faithful("!", lang=lang, text=OTHER[lang])) == {"newly_contradicted": [OTHER[lang]]}
    assert moved(correct("=", lang=lang), correct("0", lang=lang, text=OTHER[lang])) == {}
    assert moved(correct("=", lang=lang, key="k"), correct("0", lang=lang, text=OTHER[lang], key="k")) == {"lost": [OTHER[lang]]}


def test_a_failed_cell_loses_no_claim():
    failed = [{"sample_id": "s", "metric": "answer_correctness", "value": None, "status": "failed", "reason": "timeout"}]
    assert moved(correct("=", lang="zh"), failed) == {}
    assert moved(failed, correct("0", lang="zh")) == {}


def test_claims_are_told_in_the_order_of_the_base_run_each_with_its_sample():
    def held(word, order):
        return [{**one, "sample_id": f"s{i}"} for i in order for one in correct(word, lang="zh")]

    claims = compare(Run.from_scores(held("=", (2, 0, 1))), Run.from_scores(held("0", (0, 1, 2)))).to_dict("zh")["claims"]
    assert [claim["sample_id"] for claim in claims["lost"]] == ["s2", "s0", "s1"]
