"""The table of causes: each condition both ways, with Chinese and English claims."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.evidence_rows import line, lost_cell, row

from ragstone.analysis.causes import CAUSES, causes_of
from ragstone.analysis.claims import UNSURE
from ragstone.analysis.evidence import Evidence, about, evidence

TEXTS = {
    "zh": {"a1": "质保期为 5 年。", "a2": "热线是 400-0012。", "r1": "质保期为 1 年。", "r2": "凭发票保修。"},
    "en": {"a1": "The warranty is 5 years.", "a2": "The hotline is 400-0012.", "r1": "The warranty is 1 year.", "r2": "Keep the receipt."},
}
Lines = list[tuple[str, ...]]
"""(id, sign of the verdict, what it names…)"""


def made(
    lang: str = "en",
    *,
    faith: Lines | None = None,
    recall: Lines | None = None,
    match: Lines | None = None,
    rated: str | None = None,
    relevancy: float | None = None,
    expects: str | None = "answer",
    flags: tuple[str, ...] = (),
) -> Evidence:
    """Evidence of one sample; a metric that is not given is not there."""
    rows = []
    for metric, given_ in (("faithfulness", faith), ("context_recall", recall), ("answer_correctness", match)):
        if given_ is not None:
            lines = [line(id, word, *names, text=TEXTS[lang].get(id, id)) for id, word, *names in given_]
            rows.append(row(metric, *lines))
    if rated is not None:
        rows.append(row("context_precision", *(line(f"c{n}", word) for n, word in enumerate(rated, 1))))
    if relevancy is not None or flags:
        rows.append(row("answer_relevancy", value=relevancy or 0.0, **({"flags": list(flags)} if flags else {})))
    sample = {"id": "s", "expected_behavior": expects}
    return evidence("s", rows, about(sample) if expects else None)


GOOD_A2 = {"faith": [("a1", "+", "c1"), ("a2", "+", "c1")]}
LOST_R1 = {"match": [("a2", "+", "r2"), ("r1", "0"), ("r2", "=")], "faith": [("a2", "+", "c1")]}

TABLE: list[tuple[str, dict[str, Any], str, str]] = [
    # (what is shown, evidence, lost claim, cause)
    ("no claims in the answer", {"match": [("r1", "0")], "recall": [("r1", "+", "c1")]}, "r1", "refused"),
    ("claims in the answer", {**LOST_R1, "recall": [("r1", "+", "c1")]}, "r1", "not_used"),
    ("flagged as a refusal", {**LOST_R1, "flags": ("refusal",)}, "r1", "refused"),
    ("flagged as something else", {**LOST_R1, "flags": ("other",)}, "r1", "off_topic"),
    ("a refused claim of the answer", {"faith": [("a1", "-")], "flags": ("refusal",)}, "a1", "refused"),
    ("should have refused", {"faith": [("a1", "-")], "expects": "refuse"}, "a1", "should_not_answer"),
    ("should have asked back", {**LOST_R1, "expects": "clarify"}, "r1", "should_not_answer"),
    ("should have answered", {"faith": [("a1", "-")], "expects": "answer"}, "a1", "made_up"),
    ("asked back as it should", {"match": [("r1", "0")], "expects": "clarify"}, "r1", "refused"),
    ("refused before it should not answer", {"faith": [("a1", "-")], "flags": ("refusal",), "expects": "refuse"}, "a1", "refused"),
    # ---- answer claims
    ("contexts say otherwise", {"faith": [("a1", "!", "c1")]}, "a1", "contradicts_contexts"),
    (
        "contexts and reference say otherwise",
        {"faith": [("a1", "!", "c1")], "match": [("a1", "!", "r1"), ("r1", "0")]},
        "a1",
        "contradicts_contexts",
    ),
    (
        "contexts say otherwise, the reference agrees",
        {"faith": [("a1", "!", "c1")], "match": [("a1", "+", "r1"), ("r1", "=")]},
        "a1",
        "contradicts_contexts",
    ),
    ("in the reference only", {"faith": [("a1", "-")], "match": [("a1", "+", "r1"), ("r1", "=")]}, "a1", "ungrounded_correct"),
    ("in neither", {"faith": [("a1", "-")], "match": [("a1", "-"), ("r1", "0")]}, "a1", "made_up"),
    ("not in contexts, the reference says otherwise", {"faith": [("a1", "-")], "match": [("a1", "!", "r1"), ("r1", "0")]}, "a1", "made_up"),
    ("in neither, off topic", {"faith": [("a1", "-")], "match": [("a1", "-")], "relevancy": 0.1}, "a1", "made_up"),
    (
        "a useful chunk against the reference",
        {"faith": [("a1", "+", "c1", "c2")], "match": [("a1", "!", "r1"), ("r1", "0")], "rated": "nu"},
        "a1",
        "reference_doubtful",
    ),
    (
        "a chunk of no use against the reference",
        {"faith": [("a1", "+", "c1")], "match": [("a1", "!", "r1"), ("r1", "0")], "rated": "nu"},
        "a1",
        "misled",
    ),
    (
        "chunks nobody rated against the reference",
        {"faith": [("a1", "+", "c1")], "match": [("a1", "!", "r1"), ("r1", "0")]},
        "a1",
        "reference_doubtful",
    ),
    (
        "an unknown chunk beside one of no use",
        {"faith": [("a1", "+", "c1", "c9")], "match": [("a1", "!", "r1"), ("r1", "0")], "rated": "nu"},
        "a1",
        "misled",
    ),
    ("not asked for", {**GOOD_A2, "match": [("a1", "-"), ("a2", "-")], "relevancy": 0.49}, "a1", "off_topic"),
    ("asked for", {**GOOD_A2, "match": [("a1", "-"), ("a2", "-")], "relevancy": 0.5}, "a1", "beyond_reference"),
    ("off topic before misled", {**GOOD_A2, "match": [("a1", "-")], "relevancy": 0.2, "rated": "nu"}, "a1", "off_topic"),
    ("from a chunk of no use", {**GOOD_A2, "match": [("a1", "-")], "rated": "nu"}, "a1", "misled"),
    ("from a useful chunk", {**GOOD_A2, "match": [("a1", "-")], "rated": "un"}, "a1", "beyond_reference"),
    ("from a chunk nobody rated", {**GOOD_A2, "match": [("a1", "-")]}, "a1", "beyond_reference"),
    ("supported by no named chunk", {"faith": [("a1", "+")], "match": [("a1", "-")], "rated": "nn"}, "a1", "beyond_reference"),
    # ---- reference claims
    (
        "contradicted: that claim's cause",
        {"faith": [("a1", "!", "c1")], "match": [("a1", "!", "r1"), ("r1", "0")], "recall": [("r1", "+", "c1")]},
        "r1",
        "contradicts_contexts",
    ),
    (
        "another one is contradicted",
        {"faith": [("a1", "!", "c1")], "match": [("a1", "!", "r2"), ("r1", "0"), ("r2", "0")], "recall": [("r1", "-")]},
        "r1",
        "not_retrieved",
    ),
    ("contexts say otherwise", {**LOST_R1, "recall": [("r1", "!", "c1")]}, "r1", "reference_doubtful"),
    ("not in contexts", {**LOST_R1, "recall": [("r1", "-")]}, "r1", "not_retrieved"),
    ("not in contexts, off topic", {**LOST_R1, "recall": [("r1", "-")], "relevancy": 0.1}, "r1", "not_retrieved"),
    ("in contexts, off topic", {**LOST_R1, "recall": [("r1", "+", "c1")], "relevancy": 0.49}, "r1", "off_topic"),
    ("in contexts, on topic", {**LOST_R1, "recall": [("r1", "+", "c1")], "relevancy": 0.5}, "r1", "not_used"),
    ("low, noise above", {**LOST_R1, "recall": [("r1", "+", "c3")], "rated": "nuu"}, "r1", "ranked_low"),
    ("low, no noise above", {**LOST_R1, "recall": [("r1", "+", "c3")], "rated": "uuu"}, "r1", "not_used"),
    ("low, noise below", {**LOST_R1, "recall": [("r1", "+", "c3")], "rated": "uuun"}, "r1", "not_used"),
    ("the middle of five is not low", {**LOST_R1, "recall": [("r1", "+", "c3")], "rated": "nuuuu"}, "r1", "not_used"),
    ("the fourth of five is low", {**LOST_R1, "recall": [("r1", "+", "c4")], "rated": "nuuuu"}, "r1", "ranked_low"),
    ("the third of four is low", {**LOST_R1, "recall": [("r1", "+", "c3")], "rated": "nuuu"}, "r1", "ranked_low"),
    ("the second of two is not low", {**LOST_R1, "recall": [("r1", "+", "c2")], "rated": "nu"}, "r1", "not_used"),
    ("the best chunk counts", {**LOST_R1, "recall": [("r1", "+", "c5", "c2")], "rated": "nuuuu"}, "r1", "not_used"),
    ("low, nobody rated", {**LOST_R1, "recall": [("r1", "+", "c5")]}, "r1", "not_used"),
    ("an unknown chunk has no rank", {**LOST_R1, "recall": [("r1", "+", "c9")], "rated": "nuu"}, "r1", "not_used"),
    ("off topic before ranked low", {**LOST_R1, "recall": [("r1", "+", "c3")], "rated": "nuu", "relevancy": 0.1}, "r1", "off_topic"),
    # ---- missing metrics leave their conditions out
    ("faithfulness alone", {"faith": [("a1", "!", "c1")]}, "a1", "contradicts_contexts"),
    ("faithfulness alone", {"faith": [("a1", "-")]}, "a1", "made_up"),
    ("correctness alone, the reference says otherwise", {"match": [("a1", "!", "r1"), ("r1", "0")]}, "a1", "made_up"),
    ("correctness alone, not in the reference", {"match": [("a1", "-"), ("r1", "=")]}, "a1", "beyond_reference"),
    ("correctness alone, missing", {"match": [("a2", "+", "r2"), ("r2", "="), ("r1", "0")]}, "r1", "not_used"),
]


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize(("shown", "given_", "claim", "cause"), TABLE, ids=[f"{shown}: {cause}" for shown, _, _, cause in TABLE])
def test_the_table(lang, shown, given_, claim, cause):
    found = {c.claim: c for c in causes_of(made(lang, **given_)).claims}
    assert found[claim].cause == cause, shown
    assert found[claim].text == TEXTS[lang][claim]
    assert (found[claim].expected is not None) is (cause == "refused")


def test_every_cause_is_in_the_table():
    assert {cause for *_, cause in TABLE} == set(CAUSES) - {"judge_unsure"}  # that one needs confidence and repeats: below


@pytest.mark.parametrize(("expects", "told"), [("refuse", "yes"), ("clarify", "yes"), ("answer", "no"), (None, "unknown")])
def test_a_refusal_tells_whether_it_was_expected(expects, told):
    (claim,) = causes_of(made(match=[("r1", "0")], expects=expects)).claims
    assert (claim.cause, claim.expected) == ("refused", told)


# ------------------------------------------------------------------ judge_unsure
@pytest.mark.parametrize(
    ("confidence", "cause"), [(0.59, "judge_unsure"), (0.6, "made_up"), (None, "made_up"), (0, "judge_unsure"), ("low", "made_up")]
)
def test_a_verdict_of_little_confidence(confidence, cause):
    rows = [row("faithfulness", {**line("a1", "-"), "confidence": confidence})]
    assert [c.cause for c in causes_of(evidence("s", rows)).claims] == [cause]


def test_the_verdict_of_either_metric_may_lack_confidence():
    rows = [
        row("faithfulness", line("a1", "+", "c1")),
        row("context_recall", line("r1", "-", confidence=0.5)),
        row("answer_correctness", line("a1", "-"), line("r1", "0", confidence=0.9)),
    ]
    assert [(c.claim, c.cause) for c in causes_of(evidence("s", rows)).claims] == [("a1", "beyond_reference"), ("r1", "judge_unsure")]


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        ("--", "made_up"),
        ("-!", "judge_unsure"),
        ("-+", "judge_unsure"),
        ("--+", "made_up"),
        ("-+!", "judge_unsure"),
        ("-++", None),
        ("---++", "judge_unsure"),
    ],
)
def test_repeats_need_two_thirds(words, cause):
    rows = [row("faithfulness", line("a1", word), line("a2", "+"), repeat=n) for n, word in enumerate(words)]
    found = causes_of(evidence("s", rows))
    assert found.cause == cause
    assert [c.cause for c in found.claims] == ([cause] if cause else [])


def test_points_of_a_sample_whose_majority_lost_nothing_are_nobodys():
    rows = [row("faithfulness", line("a1", word), repeat=n) for n, word in enumerate("-++")]
    found = causes_of(evidence("s", rows))
    assert (found.claims, found.lost.faithfulness) == ((), pytest.approx(1 / 3))
    assert found.unattributed.faithfulness == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("match", "causes"),
    [
        ([("a1", "+", "r1"), ("r1", "0")], {"r1": "judge_unsure"}),
        ([("a1", "+", "r2"), ("r1", "0"), ("r2", "=")], {"r1": "not_used"}),
        ([("a1", "+", "r1"), ("a2", "!", "r1"), ("r1", "0")], {"a2": "reference_doubtful", "r1": "judge_unsure"}),
    ],
)
def test_two_sides_of_a_match_that_contradict_each_other(match, causes):
    found = causes_of(made(faith=[("a1", "+", "c1"), ("a2", "+", "c1")], match=match))
    assert {c.claim: c.cause for c in found.claims} == causes


# ------------------------------------------------------------------ points
def test_points_are_split_evenly_over_lost_claims():
    found = causes_of(
        made(
            faith=[("a1", "-"), ("a2", "!", "c1"), ("a3", "+", "c1"), ("a4", "+", "c1")],
            match=[("a1", "-"), ("a2", "+", "r1"), ("a3", "-"), ("a4", "+", "r1"), ("r1", "="), ("r2", "0")],
        )
    )
    assert {c.claim: (c.points.faithfulness, c.points.answer_correctness) for c in found.claims} == {
        "a1": (0.25, pytest.approx(0.375 / 3)),
        "a2": (0.25, 0.0),
        "a3": (0.0, pytest.approx(0.375 / 3)),
        "r2": (0.0, pytest.approx(0.375 / 3)),
    }
    assert found.unattributed.faithfulness == 0
    assert found.unattributed.answer_correctness == pytest.approx(0.125)


def test_the_metrics_own_weights_count():
    lines = [line("a1", "-"), line("r1", "0")]
    found = causes_of(evidence("s", [row("answer_correctness(weights=[1,0])", *lines, value=0.0, f1=0.0, weights=[1, 0], cosine=None)]))
    assert [c.points.answer_correctness for c in found.claims] == [0.5, 0.5]
    assert found.unattributed.total == 0


def test_lost_points_without_verdict_lines_are_nobodys():
    rows = [row("faithfulness", value=0.25), row("answer_correctness", value=0.5), lost_cell("context_recall")]
    found = causes_of(evidence("s", rows))
    assert (found.cause, found.claims, found.unattributed) == (None, (), found.lost)
    assert found.lost.total == pytest.approx(1.25)


def test_an_empty_answer_loses_no_claim():
    rows = [{**row("answer_correctness", value=0.0), "reason": "empty_answer"}, row("context_recall", line("r1", "+", "c1"))]
    found = causes_of(evidence("s", rows))
    assert (found.cause, found.claims, found.unattributed.answer_correctness) == (None, (), 1.0)


def test_the_cause_of_most_points_and_of_equal_ones_the_first():
    equal = made(faith=[("a1", "+", "c1")], match=[("a1", "-"), ("r1", "0")], recall=[("r1", "-")])
    assert causes_of(equal).cause == "beyond_reference"
    more = made(faith=[("a1", "+", "c1")], match=[("a1", "-"), ("r1", "0"), ("r2", "0")], recall=[("r1", "-"), ("r2", "-")])
    assert causes_of(more).cause == "not_retrieved"


# ------------------------------------------------------------------ laws
WORDS = st.sampled_from(["+", "!", "-"])
NAMES = st.lists(st.sampled_from(["c1", "c2", "c3", "c9", "r1", "r2", "a1", ""]), max_size=2)
CONFIDENCES = st.none() | st.floats(0, 1)


@st.composite
def samples(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Rows of one sample, consistent or not, with or without repeats."""
    rows = []
    for repeat in range(draw(st.integers(1, 3))):
        sides = {side: [f"{side}{n}" for n in range(1, draw(st.integers(0, 4)) + 1)] for side in "ar"}
        checked = {side: [line(id, draw(WORDS), *draw(NAMES), confidence=draw(CONFIDENCES)) for id in ids] for side, ids in sides.items()}
        matched = [line(id, draw(WORDS), *draw(NAMES)) for id in sides["a"]]
        matched += [line(id, draw(st.sampled_from("=0"))) for id in sides["r"]]
        cosine = draw(st.floats(0, 1))
        for metric, lines in (("faithfulness", checked["a"]), ("context_recall", checked["r"])):
            if lines and draw(st.booleans()):
                rows.append(row(metric, *lines, repeat=repeat))
        if sides["r"] and draw(st.booleans()):
            rows.append(row("answer_correctness", *matched, repeat=repeat, cosine=cosine))
        if draw(st.booleans()):
            rows.append(row("answer_relevancy", value=draw(st.floats(0, 1)), repeat=repeat))
        if draw(st.booleans()):
            rows.append(row("context_precision", *(line(f"c{n}", draw(st.sampled_from("un"))) for n in (1, 2, 3)), repeat=repeat))
    return rows


@given(samples(), st.sampled_from(["answer", "refuse", "clarify", None]))
def test_causes_and_what_is_nobodys_add_up_to_what_is_lost(rows, expects):
    found = causes_of(evidence("s", rows, about({"expected_behavior": expects}) if expects else None))
    for metric in ("faithfulness", "answer_correctness"):
        parts = [getattr(c.points, metric) for c in found.claims]
        assert math.fsum([*parts, getattr(found.unattributed, metric)]) == pytest.approx(getattr(found.lost, metric), abs=1e-9)
        assert getattr(found.unattributed, metric) >= -1e-9
        values = [r["value"] for r in rows if r["metric"] == metric]
        assert getattr(found.lost, metric) == pytest.approx(1 - sum(values) / len(values) if values else 0, abs=1e-9)
    assert (found.cause is None) is (found.claims == ())
    assert {c.cause for c in found.claims} <= set(CAUSES)


@given(samples())
def test_one_lost_claim_is_named_once(rows):
    found = causes_of(evidence("s", rows))
    assert len({c.claim for c in found.claims}) == len(found.claims)
    assert UNSURE not in {c.cause for c in found.claims}


@pytest.mark.parametrize("failed", [0, 1, 3])
def test_a_refusal_is_one_whatever_repeats_have_failed(failed):
    flagged = row("faithfulness", line("a1", "-"), flags=["refusal"])
    lost = [lost_cell("faithfulness") | {"repeat": i} for i in range(1, failed + 1)]
    (claim,) = causes_of(evidence("s", [flagged, *lost], about({"expected_behavior": "answer"}))).claims
    assert claim.cause == "refused"


def test_a_lost_claim_goes_by_its_id_in_the_metric_that_lost_it():
    recall = row("context_recall", line("r1", "+", "c1", text="two days", key="k2"), line("r2", "+", "c1", text="one day", key="k1"))
    correct = row(
        "answer_correctness",
        line("a1", "+", "r1", text="one day"),
        line("r1", "=", text="one day", key="k1"),
        line("r2", "0", text="two days", key="k2"),
    )
    (claim,) = causes_of(evidence("s", [recall, correct])).claims
    assert (claim.claim, claim.text, claim.evidence) == ("r2", "two days", ("c1",))
