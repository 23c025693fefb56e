"""For every rule of the readings a small run that fires it, and a sample at which nothing is wrong."""

from collections.abc import Mapping
from typing import Any

from ragstone.analysis.facts import PAIRS
from ragstone.analysis.readings import LEVELS, METRICS

Samples = list[dict[str, Any]]

CLARIFY = {"expected_behavior": "clarify"}
LEVEL_MEANS = {"high": 0.8, "middle": 0.7, "low": 0.4}
SIDES = {"high": 0.9, "low": 0.3}


def values(**means: float) -> Samples:
    return [{"values": means}]


def intent(right: bool) -> dict[str, Any]:
    return {"meta": {"intent_top1": right}}


ALL = dict.fromkeys(METRICS, 0.9)

FIRED: Mapping[str, Samples] = {
    **{f"{metric}_short": values(**{metric: 0.4}) for metric in METRICS},
    **{f"{m}_{level}": values(**{m: LEVEL_MEANS[level]}) for m, levels in LEVELS.items() for level in levels},
    **{f"{a}_{x}_{b}_{y}": values(**{a: SIDES[x], b: SIDES[y]}) for a, b in PAIRS for x in SIDES for y in SIDES},
    "good_good": [{"claims": "s", "recall": "s"}],
    "good_bad": [{"claims": "n", "recall": "s"}],
    "bad_good": [{"claims": "s", "recall": "n"}],
    "bad_bad": [{"claims": "n", "recall": "n"}],
    "faithful_but_badly_fed": values(faithfulness=0.85, context_precision=0.4, context_recall=0.45),
    "weak_groups": [*[{"recall": "s"}] * 9, *[{"recall": "n", "sample": {"meta": {"category": "contacts"}}}] * 3],
    "coverage_low": [{"claims": "s"}, {"failed": {"faithfulness": "timeout"}}],
    "claims_unsupported": [{"claims": "sn"}],
    "points_missing": [{"points": "cm", "answer": "s"}],
    "noise_first": [{"chunks": "01"}],
    "unsupported_and_not_fed": [{"claims": "nn", "recall": "n"}],
    "unsupported_though_fed": [{"claims": "nn", "recall": "s"}],
    "rerank_first": [{"chunks": "01"}],
    "shrink_top_k": [{"chunks": "10000"}] * 10,
    "nothing_useful": [{"chunks": "00"}],
    "contradicted": [{"claims": "sx"}],
    "answers_refuse": [{"cosines": [0.4, 0.4, 0.4], "noncommittal": True}],
    "fed_but_missing": [{"points": "cm", "answer": "s", "recall": "ss"}],
    "intent_wrong": [{"cosines": [0.3, 0.3, 0.3], "sample": intent(False)}],
    "intent_right": [{"cosines": [0.3, 0.3, 0.3], "sample": intent(True)}],
    "rewritten_away": [{"cosines": [0.3, 0.3, 0.3], "recall": "n"}],
    "should_not_answer": [{"claims": "s", "sample": CLARIFY}],
    "judged_on_less": [{"values": {"faithfulness": 0.5}, "detail": {"clipped": {"contexts_cut": ["c1"]}}}],
    "reply_cut": [{"failed": {"faithfulness": "truncated"}}],
    "more_than_asked": [{"cosines": [0.3, 0.3, 0.3], "answer": "nn", "points": "m"}],
    "part_answered": [{"cosines": [0.7, 0.2, 0.2]}],
    "one_question": [{"cosines": [0.9]}],
    "embedding_lost": [{"failed": {"answer_relevancy": "embedding_dimension"}}],
    "ranked_badly": [{"chunks": "001"}],
    "noisy": [{"chunks": "01"}],
    "mostly_noise": [{"chunks": "0001"}],
    "keywords_unheard": [{"chunks": "01", "keywords": "nns"}],
    "chunks_dropped": [{"values": {"context_precision": 0.9}, "detail": {"clipped": {"contexts_dropped": 3}}}],
    "nothing_covered": [{"recall": "n"}],
    "not_met": [{"recall": "n", "chunks": "00"}],
    "list_too_short": [{"recall": "sn", "chunks": "1"}],
    "partly_covered": [{"recall": "sn"}],
    "gold_too_fine": [{"recall": "nnnsss"}],
    "refusals_look_faithful": [{"claims": "s"}, {"not_applicable": {"faithfulness": "no_claims"}}],
    "tail_needed": [{"chunks": "01", "recall": "sn"}],
    "unlevelled_relevancy": [{"cosines": [0.7, 0.7, 0.7]}],
    "counted_conduct": [{"recall": "nn", "behaviour": True}],
    "one_chunk": [{"chunks": "1"}],
    "lent_points": [{"answer": "x", "points": "m", "cosine": 0.9}],
    "reference_doubtful": [{"claims": "s", "answer": "x", "points": "m"}],
    "only_faithfulness": values(faithfulness=0.9),
    "only_retrieval": values(context_precision=0.9, context_recall=0.9),
    "full_set": values(**ALL),
    "cheap_pair": values(faithfulness=0.9, context_precision=0.9),
    "thin_gold": values(faithfulness=0.9),
    "any_run": values(faithfulness=0.9),
}

PERFECT = {
    "claims": "ss",
    "recall": "ss",
    "chunks": "110",
    "answer": "ss",
    "points": "cc",
    "cosines": [0.95, 0.9, 0.9],
    "sample": {"contexts": ["甲", "乙", "丙"], "meta": {"category": "leave", "intent_top1": True}},
}
