"""Every rule of the readings, fired by a small run in both languages, and silent where there is nothing to say."""

import pytest
from support.made_runs import facts
from support.rule_runs import FIRED, PERFECT, intent, values

from ragstone.analysis.readings import METRICS, RULES

SILENT = [
    ("faithfulness_short", values(faithfulness=0.8)),
    ("coverage_low", [*[{"claims": "s"}] * 19, {"failed": {"faithfulness": "timeout"}}]),
    ("coverage_low", [{"claims": "s"}, {"not_applicable": {"faithfulness": "no_claims"}}]),
    ("answer_relevancy_short", [{"cosines": [0.6]}]),
    ("faithfulness_high_answer_correctness_low", values(faithfulness=0.82, answer_correctness=0.78)),
    ("faithfulness_high_answer_relevancy_low", values(faithfulness=0.9, answer_relevancy=0.6)),
    ("faithfulness_high_answer_correctness_low", values(faithfulness=0.9)),
    ("faithful_but_badly_fed", values(faithfulness=0.82, context_recall=0.79)),
    ("good_good", [{"claims": "s", "recall": "s"}, {"claims": "n", "recall": "n"}, {"claims": "n", "recall": "n"}]),
    ("shrink_top_k", [*[{"chunks": "10000"}] * 9, {"chunks": "01000"}]),
    ("shrink_top_k", [{"chunks": "11110"}] * 10),
    ("shrink_top_k", [{"chunks": "10000"}] * 9),
    ("shrink_top_k", [{"chunks": "10000", "recall": "sn"}] * 10),
    ("rerank_first", [{"chunks": "01"}, {"chunks": "00"}]),
    ("noisy", values(context_precision=0.4)),
    (
        "context_precision_low_context_recall_low",
        [
            {"values": {"context_precision": 0.0, "context_recall": 0.0}, "reason": "no_context"},
            *values(context_precision=0.2, context_recall=0.2),
        ],
    ),
    ("nothing_useful", [*[{"chunks": "01"}] * 19, {"chunks": "01"}]),
    ("unsupported_and_not_fed", [{"claims": "nn"}]),
    ("unsupported_and_not_fed", [{"claims": "nn", "recall": "n"}, *[{"claims": "n"}] * 30]),
    ("fed_but_missing", [{"points": "m", "answer": "x", "recall": "s", "match": {"a1": ["r1"]}}]),
    ("fed_but_missing", [{"points": "cm", "answer": "s", "recall": "ss", "cosines": [0.3]}]),
    ("weak_groups", [*[{"recall": "s"}] * 9, *[{"recall": "n", "sample": {"meta": {"category": "contacts"}}}] * 2]),
    ("tail_needed", [{"values": {"context_precision": 0.0, "context_recall": 0.0}}]),
    ("answers_refuse", [{"cosines": [0.3] * 3, "noncommittal": True, "sample": {"expected_behavior": "refuse"}}]),
    ("answer_relevancy_short", [{"cosines": [0.9] * 3}, {"cosines": [0.4] * 3, "sample": {"expected_behavior": "refuse"}}]),
    ("good_bad", [{"chunks": "1", "points": "m", "cosine": 0.0, "sample": {"expected_behavior": "refuse"}}]),
    (
        "refusals_look_faithful",
        [{"claims": "s"}, {"not_applicable": {"faithfulness": "no_claims"}, "sample": {"expected_behavior": "refuse"}}],
    ),
    ("rerank_first", [{"chunks": "10000"}]),
    ("tail_needed", [{"chunks": "01", "recall": "ss"}]),
    ("unsupported_and_not_fed", [{"claims": "nn", "recall": "s"}]),
    ("intent_wrong", [{"cosines": [0.3, 0.3], "sample": intent(True)}]),
    ("intent_right", [{"cosines": [0.3, 0.3], "sample": intent(False)}]),
    ("intent_right", [{"cosines": [0.3, 0.3]}]),
    ("rewritten_away", [{"cosines": [0.3, 0.3], "recall": "n", "sample": intent(False)}]),
    ("only_faithfulness", values(faithfulness=0.9, context_recall=0.9)),
    ("thin_gold", [{"values": {"faithfulness": 0.9}}] * 25),
    ("refusals_look_faithful", [{"claims": "n"}, {"not_applicable": {"faithfulness": "no_claims"}}]),
]


@pytest.mark.parametrize("name", RULES)
def test_every_rule_fires(name):
    fired = RULES[name](facts(*FIRED[name]))
    assert fired is not None
    assert 1 <= len(fired.metrics) <= 2
    assert fired.pattern
    assert 0 <= fired.weight <= 1
    assert fired.tally is None or 0 < fired.tally.count <= fired.tally.of


@pytest.mark.parametrize(("name", "samples"), SILENT)
def test_a_rule_claims_no_more_than_the_numbers_show(name, samples):
    assert RULES[name](facts(*samples)) is None


@pytest.mark.parametrize("name", RULES)
def test_no_rule_trips_over_a_run_that_shows_nothing(name):
    assert RULES[name](facts({"failed": {"style": "timeout"}})) is None


def test_a_clean_run_fires_what_is_no_fault():
    found = facts(*[PERFECT] * 25)
    assert sorted(name for name, rule in RULES.items() if rule(found)) == sorted(
        [
            *(f"{metric}_high" for metric in METRICS),
            *(name for name in RULES if name.count("_high") == 2),
            *("good_good", "full_set", "any_run"),
        ]
    )


def test_means_of_different_samples_are_not_read_together():
    refusals = [{"not_applicable": {"faithfulness": "no_claims"}, "points": "m", "cosine": 0.0}] * 3
    found = facts({"claims": "s", "answer": "s", "points": "c"}, *refusals)
    assert RULES["faithfulness_high_answer_correctness_low"](found) is None
    fired = RULES["faithfulness_high_answer_correctness_high"](found)
    assert fired is not None
    assert fired.together is not None
    assert (fired.together.means, fired.together.n, fired.together.all) == ((1.0, 1.0), 2, False)


def test_a_sign_weighs_what_it_concerns_of_the_run():
    fired = RULES["rerank_first"](facts({"chunks": "01"}, {"claims": "s"}, {"claims": "s"}, {"claims": "s"}))
    assert fired is not None
    assert (fired.weight, fired.tally and fired.tally.share) == (0.25, 1.0)


@pytest.mark.parametrize(
    ("means", "pattern"),
    [((0.9, 0.3), "high_low"), ((0.9, 0.6), "high_middle"), ((0.3, 0.9), "low_high"), ((0.7, 0.6), "middle_middle")],
)
def test_a_pair_says_where_each_metric_stands(means, pattern):
    found = facts(*values(faithfulness=means[0], answer_correctness=means[1]))
    fired = [f for name in RULES if name.startswith("faithfulness_") and "_answer_correctness_" in name and (f := RULES[name](found))]
    assert [(f.metrics, f.pattern) for f in fired] == [(("faithfulness", "answer_correctness"), pattern)]


def test_of_two_middling_means_far_apart_the_upper_one_is_read_as_high():
    assert RULES["faithfulness_high_answer_correctness_low"](facts(*values(faithfulness=0.79, answer_correctness=0.48)))
    assert RULES["faithfulness_low_answer_correctness_high"](facts(*values(faithfulness=0.51, answer_correctness=0.75)))
    assert RULES["faithfulness_low_answer_correctness_low"](facts(*values(faithfulness=0.45, answer_correctness=0.1)))


def test_the_shorter_list_that_loses_nothing_is_named():
    fired = RULES["shrink_top_k"](facts(*[{"chunks": "11000"}, {"chunks": "10000"}] * 5))
    assert fired is not None
    assert fired.values == {"k": 2, "chunks": 5}


@pytest.mark.parametrize("metric", ["faithfulness", "answer_correctness"])
@pytest.mark.parametrize("mean", [0.0, 0.3, 0.5, 0.79, 0.8, 1.0])
def test_a_metric_has_exactly_one_level(metric, mean):
    found = facts(*values(**{metric: mean}))
    assert sum(RULES[f"{metric}_{level}"](found) is not None for level in ("high", "middle", "low")) == 1
